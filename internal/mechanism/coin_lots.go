package mechanism

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// Lots select the records that are kept of a privacy unit with more records than the plan's cap:
// those with the smallest lots. The lot of a record is a keyed pseudorandom function (HMAC-SHA-256)
// of its unit's identity, of its content and of the number of preceding records with the same unit
// and content, under a separate key of this run and path.
//
// The kept records of a unit are therefore a function of the run key and of the records of this
// unit. Adding or removing a unit does not change the lots of other units, which the bounds for
// units rely on. The position of a record in the file does not matter either, because equal
// records are interchangeable.
//
// A Lots value must not be used by several goroutines at once.
type Lots struct{ mac hash.Hash }

// Lots returns the lots of this session's path and the given name.
func (s *Session) Lots(name string) Lots {
	key := s.core.key.Derive("lot", s.childPath(name), 0)
	return Lots{hmac.New(sha256.New, key[:])}
}

// Draw returns the lot of a record. content is a digest of its cells, and nth is the
// number of preceding records of its unit with the same content.
func (l Lots) Draw(unit uint64, content [32]byte, nth int) uint64 {
	var head [16]byte
	binary.BigEndian.PutUint64(head[:8], unit)
	binary.BigEndian.PutUint64(head[8:], uint64(nth))
	l.mac.Reset()
	l.mac.Write(head[:])
	l.mac.Write(content[:])
	var sum [sha256.Size]byte
	return binary.BigEndian.Uint64(l.mac.Sum(sum[:0]))
}
