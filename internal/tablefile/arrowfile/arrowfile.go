// Package arrowfile reads tables in the file and stream formats of Apache Arrow, which is what Feather has been
// since its version 2, as lines of comma-separated text.
//
// Messages are located first, and then read row by row with one cursor per column. Memory does not grow with
// the length of a batch: every buffer is read through a small window, compressed or not. Only the values of
// dictionaries and the long texts of compressed views are held as a whole. Package flatbuffers, which reads the
// metadata, panics on some damaged files; both entry points convert that to [ErrDamaged].
//
// The format: https://arrow.apache.org/docs/format/Columnar.html, "Serialization and Interprocess
// Communication".
package arrowfile

import (
	"encoding/binary"
	"errors"
	"io"
)

var (
	// ErrDamaged is returned for a file that is truncated or contradicts itself.
	ErrDamaged = errors.New("not a complete Arrow file")
	// ErrFeather1 is returned for a file of version 1 of Feather.
	ErrFeather1 = errors.New("version 1 of Feather")
	// ErrForeign is returned for big-endian files and for unknown types of compression.
	ErrForeign = errors.New("a variant of Arrow that is not supported")
	// ErrTooLarge is returned for a file whose dictionaries or windows would take far more memory than the file has bytes.
	ErrTooLarge = errors.New("expands too much")
)

// The public limit on data held as a whole: a number of bytes per byte of the file, and a constant.
const (
	heldPerByte = 64
	freeHeld    = 1 << 28
)

// maxMetadata is the longest metadata of a message, in bytes.
const maxMetadata = 1 << 26

// kinds of messages.
const (
	schemaMessage     = 1
	dictionaryMessage = 2
	batchMessage      = 3
)

// message locates a message in the file.
type message struct {
	kind      byte
	meta      int64 // start of the metadata
	metaBytes int64
	body      int64 // start of the body
	bodyBytes int64
}

// A File is an Arrow file whose schema was read.
type File struct {
	Fields []Field
	Rows   int64 // number of rows that its batches declare

	at       io.ReaderAt
	size     int64
	random   bool // dictionaries may come after the batches that use them
	version  int16
	messages []message // without the schema
}

// magic starts and ends a file; a stream does not have it.
const magic = "ARROW1"

// Open finds the messages of a file.
func Open(at io.ReaderAt, size int64) (f *File, err error) {
	defer recoverDamage(&err)
	f = &File{at: at, size: size}
	head := make([]byte, 8)
	if _, err := at.ReadAt(head, 0); err != nil {
		return nil, ErrDamaged
	}
	switch {
	case string(head[:4]) == "FEA1":
		return nil, ErrFeather1
	case string(head[:6]) == magic:
		return f, f.findFooterMessages()
	}
	return f, f.findStreamMessages()
}

// findStreamMessages finds the consecutive messages of a stream. Its end may be marked.
func (f *File) findStreamMessages() (err error) {
	pos := int64(0)
	ended := false
	for !ended && pos < f.size {
		var m message
		if m, pos, ended, err = f.messageAt(pos); err != nil {
			return err
		}
		if !ended {
			if err := f.addMessage(m); err != nil {
				return err
			}
		}
	}
	if f.Fields == nil {
		return ErrDamaged
	}
	return nil
}

// findFooterMessages finds the messages of a file from the list at its end. Some programs write no schema at
// the start.
func (f *File) findFooterMessages() error {
	f.random = true
	tail := make([]byte, 4+len(magic))
	end := f.size - int64(len(tail))
	if _, err := f.at.ReadAt(tail, max(0, end)); err != nil || end < 8 ||
		string(tail[4:]) != magic {
		return ErrDamaged
	}
	n := int64(binary.LittleEndian.Uint32(tail))
	if n > maxMetadata || n > end-8 {
		return ErrDamaged
	}
	b := make([]byte, n)
	if _, err := f.at.ReadAt(b, end-n); err != nil {
		return readError(err)
	}
	t := rootOf(b)
	f.version = t.int16(0, 0)
	schema, ok := t.tableField(1)
	if !ok {
		return ErrDamaged
	}
	if err := f.readSchema(schema); err != nil {
		return err
	}
	for _, kind := range []struct {
		list int
		kind byte
	}{{2, dictionaryMessage}, {3, batchMessage}} {
		blocks := t.int64s(kind.list, 3) // offset, bytes of the metadata, bytes of the body
		for ; len(blocks) > 0; blocks = blocks[3:] {
			if blocks[0] < 8 || blocks[0] > end {
				return ErrDamaged
			}
			m, _, ended, err := f.messageAt(blocks[0])
			if err != nil {
				return err
			}
			if ended || m.kind != kind.kind {
				return ErrDamaged
			}
			if err := f.addMessage(m); err != nil {
				return err
			}
		}
	}
	return nil
}

// recoverDamage converts a panic of package flatbuffers into an error. The package reports reads out of bounds by
// runtime panics.
func recoverDamage(err *error) {
	if recover() != nil {
		*err = ErrDamaged
	}
}

// messageAt finds the message at a position; ended is true for the end mark.
func (f *File) messageAt(pos int64) (m message, next int64, ended bool, err error) {
	word, err := f.uint32At(pos)
	if err != nil {
		return m, 0, false, err
	}
	if pos += 4; word == 0xffffffff { // absent before version 0.15
		if word, err = f.uint32At(pos); err != nil {
			return m, 0, false, err
		}
		pos += 4
	}
	if word == 0 {
		return m, pos, true, nil
	}
	m = message{meta: pos, metaBytes: int64(word)}
	if m.metaBytes > maxMetadata || m.metaBytes > f.size-pos {
		return m, 0, false, ErrDamaged
	}
	t, err := f.readMetadata(m)
	if err != nil {
		return m, 0, false, err
	}
	m.kind, m.bodyBytes = t.byteField(1), t.int64(3)
	m.body = pos + m.metaBytes
	if m.bodyBytes < 0 || m.bodyBytes > f.size-m.body {
		return m, 0, false, ErrDamaged
	}
	return m, m.body + m.bodyBytes, false, nil
}

func (f *File) uint32At(pos int64) (uint32, error) {
	var b [4]byte
	if _, err := f.at.ReadAt(b[:], pos); err != nil {
		return 0, readError(err)
	}
	return binary.LittleEndian.Uint32(b[:]), nil
}

// readError converts a read error: an unexpected end of the file becomes damage, and system errors are kept.
func readError(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return ErrDamaged
	}
	return err
}

// readMetadata reads the table of a message.
func (f *File) readMetadata(m message) (table, error) {
	b := make([]byte, m.metaBytes)
	if _, err := f.at.ReadAt(b, m.meta); err != nil {
		return table{}, readError(err)
	}
	return rootOf(b), nil
}

// addMessage adds a message to the file.
func (f *File) addMessage(m message) error {
	t, err := f.readMetadata(m)
	if err != nil {
		return err
	}
	header, ok := t.tableField(2)
	switch {
	case !ok || (m.kind == schemaMessage) != (f.Fields == nil):
		return ErrDamaged
	case m.kind == schemaMessage:
		f.version = t.int16(0, 0)
		return f.readSchema(header)
	case m.kind == batchMessage:
		rows := header.int64(0)
		if rows < 0 || f.Rows+rows < f.Rows {
			return ErrDamaged
		}
		f.Rows += rows
	case m.kind != dictionaryMessage:
		return ErrForeign // tensors
	}
	f.messages = append(f.messages, m)
	return nil
}
