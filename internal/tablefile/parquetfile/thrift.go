package parquetfile

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// thriftDepth is how deep structs and lists may nest; six levels are in use.
const thriftDepth = 24

// Only part of a key's bytes is used: deeper fields get noKey.
const noKey = 1 << 63

var errKept = errors.New("too much to keep")

// scanner walks over a struct in Thrift's compact encoding and checks its form. It keeps no values, so that
// texts and lists may be as long as they claim to be.
//
// A field is identified by its key: the numbers of the fields that lead to it from the outermost struct, a byte
// each, the last one lowest. Items of a list have the key of the list.
type scanner struct {
	in *bufio.Reader
	// number is called with each integer, flag with each boolean of a struct, item at the end of each item of a
	// list. Each may be nil.
	number func(key uint64, v int64)
	flag   func(key uint64, v bool)
	item   func(key uint64)
	// text, if it is not nil, is called with each byte string's key and length. It returns the memory to read
	// it into, or nil to skip it.
	text func(key, n uint64) []byte

	keep    uint64 // the list whose bytes are copied to kept; 0 for no list
	most    int    // bytes of kept
	kept    []byte
	keeping bool
}

// ReadByte implements io.ByteReader.
func (s *scanner) ReadByte() (byte, error) {
	b, err := s.in.ReadByte()
	if err == nil && s.keeping {
		if len(s.kept) >= s.most {
			return 0, errKept
		}
		s.kept = append(s.kept, b)
	}
	return b, err
}

// scanStruct scans a struct up to its end. Field numbers must increase, as all writers ensure, so that no field
// occurs twice.
func (s *scanner) scanStruct(depth int, outer uint64) bool {
	if depth > thriftDepth {
		return false
	}
	for id := int64(0); ; {
		b, err := s.ReadByte()
		if err != nil || b == 0 {
			return err == nil
		}
		next := id + int64(b>>4)
		if b>>4 == 0 {
			if next, err = binary.ReadVarint(s); err != nil || next <= id {
				return false
			}
		}
		if next > math.MaxInt16 {
			return false
		}
		id = next
		key := outer<<8 | uint64(min(id, 0xFF))
		if outer>>48 != 0 {
			key = noKey
		}
		kind := b & 15
		if kind == 1 || kind == 2 { // the boolean is encoded in the kind
			if s.flag != nil {
				s.flag(key, kind == 1)
			}
			continue
		}
		if key == s.keep {
			s.keeping = kind == 9 // otherwise the same bytes would have another meaning when they are read again
		}
		if !s.scanValue(kind, depth, key) {
			return false
		}
		s.keeping = s.keeping && key != s.keep
	}
}

// scanValue scans one value of a kind.
func (s *scanner) scanValue(kind byte, depth int, key uint64) bool {
	switch kind {
	case 1, 2, 3: // a boolean in a list, one byte
		return s.skipBytes(1)
	case 4, 5, 6: // integers
		v, err := binary.ReadVarint(s)
		if err == nil && s.number != nil {
			s.number(key, v)
		}
		return err == nil
	case 7: // a float
		return s.skipBytes(8)
	case 8: // bytes
		n, err := binary.ReadUvarint(s)
		if err != nil {
			return false
		}
		if s.text != nil && !s.keeping {
			if room := s.text(key, n); room != nil {
				_, err := io.ReadFull(s.in, room)
				return err == nil
			}
		}
		return s.skipBytes(n)
	case 9, 10: // a list, a set
		return s.scanList(depth, key)
	case 12:
		return s.scanStruct(depth+1, key)
	}
	return false // maps are not used
}

// scanList scans a list, whose items take at least a byte each.
func (s *scanner) scanList(depth int, key uint64) bool {
	b, err := s.ReadByte()
	n := uint64(b >> 4)
	if err == nil && n == 15 {
		n, err = binary.ReadUvarint(s)
	}
	if err != nil || depth >= thriftDepth {
		return false
	}
	for range n {
		if !s.scanValue(b&15, depth+1, key) {
			return false
		}
		if s.item != nil {
			s.item(key)
		}
	}
	return true
}

// skipBytes skips n bytes.
func (s *scanner) skipBytes(n uint64) bool {
	if s.keeping {
		for ; n > 0; n-- {
			if _, err := s.ReadByte(); err != nil {
				return false
			}
		}
	}
	for n > 0 {
		step, err := s.in.Discard(int(min(n, 1<<30)))
		if n -= uint64(step); err != nil {
			return false
		}
	}
	return true
}
