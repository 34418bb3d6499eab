package cluster

import (
	"bytes"
	"compress/flate"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"io"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/mechanism/secret"
)

// format begins every order and every answer. A worker of another version reads neither.
const format = "dptrain.cluster/1\n"

// A split is some consecutive records.
type split struct {
	Path   string
	Groups [2]int // of Parquet; zero for a whole file
	Size   int64  // bytes of the file
	First  uint64 // identity of the first record
	Rows   int    // negative before they are counted
}

// An order is what all tasks of a pass share.
type order struct {
	Key     [secret.KeySize]byte // of the MACs of the answers
	Schema  dataset.Schema
	Options dataset.ReadOptions
	Pass    *mechanism.Pass // nil: the records are to be counted
}

// A task is an order for one split.
type task struct {
	Format       string
	Index, Count int // which one of how many
	Split        split
	Order        []byte // packed
}

// The first byte of the content of an answer.
const (
	answerSums    = 0 // integers of 8 bytes
	answerStats   = 1 // what a reader counted, in gob
	answerNoFile  = 2 // the file cannot be opened
	answerChanged = 3 // it is not the file that was counted
	answerDamaged = 4 // it cannot be read
)

// pack encodes a value and compresses it.
func pack(v any) ([]byte, error) {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestSpeed)
	if err != nil {
		return nil, err
	}
	if err := gob.NewEncoder(w).Encode(v); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

func unpack(data []byte, v any) error {
	return gob.NewDecoder(flate.NewReader(bytes.NewReader(data))).Decode(v)
}

// line writes a task as text without line ends, which is what a cluster carries.
func (t *task) line() ([]byte, error) {
	var out bytes.Buffer
	w := base64.NewEncoder(base64.StdEncoding, &out)
	if err := gob.NewEncoder(w).Encode(t); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// errTask is returned for a line that is no task of this version.
var errTask = errors.New("no task of this version")

func readTask(line []byte) (*task, *order, error) {
	t, o := &task{}, &order{}
	err := gob.NewDecoder(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(line))).Decode(t)
	if err != nil || t.Format != format || unpack(t.Order, o) != nil {
		return nil, nil, errTask
	}
	return t, o, nil
}

// answer writes the answer to a task as text: format, number, length and content, and a MAC of it all.
func (t *task) answer(key [secret.KeySize]byte, content []byte) []byte {
	out := make([]byte, 0, len(format)+8+len(content)+sha256.Size)
	out = append(out, format...)
	out = binary.LittleEndian.AppendUint32(out, uint32(t.Index))
	out = binary.LittleEndian.AppendUint32(out, uint32(len(content)))
	out = append(out, content...)
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write(out)
	return base64.StdEncoding.AppendEncode(nil, mac.Sum(out))
}

// errAnswer is returned for bytes that are no whole answer of the pass.
var errAnswer = errors.New("no whole answer of this pass")

// readAnswer reads an answer.
func readAnswer(key [secret.KeySize]byte, text []byte) (index int, content []byte, err error) {
	data, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding.Strict(), bytes.NewReader(text)))
	head := len(format) + 8
	if err != nil || len(data) < head+sha256.Size {
		return 0, nil, errAnswer
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write(body)
	length := binary.LittleEndian.Uint32(body[len(format)+4:])
	if !hmac.Equal(mac.Sum(nil), sum) || string(body[:len(format)]) != format || int64(length) != int64(len(body)-head) {
		return 0, nil, errAnswer
	}
	return int(binary.LittleEndian.Uint32(body[len(format):])), body[head:], nil
}

// sumsOf writes integers as the content of an answer.
func sumsOf(values []int64) []byte {
	out := append(make([]byte, 0, 1+8*len(values)), answerSums)
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return out
}

// readSums reads so many integers.
func readSums(content []byte, n int) ([]int64, error) {
	if len(content) != 1+8*n || content[0] != answerSums {
		return nil, errAnswer
	}
	values := make([]int64, n)
	for i := range values {
		values[i] = int64(binary.LittleEndian.Uint64(content[1+8*i:]))
	}
	return values, nil
}
