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
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// format is the start of every order and every answer. Workers of another version reject both.
const format = "dptrain.cluster/5\n"

// A split is a list of consecutive records.
type split struct {
	Path   string
	Groups [2]int // of Parquet; zero for a whole file
	Size   int64  // bytes of the file
	First  uint64 // identity of the first record
	Rows   int    // negative before they are counted
	Left   []byte // positions of records that units do not keep, packed by packPlaces
	Block  string // head of the block that contains the records, if they are not in a file

	text []byte // the block, on the worker
}

// orderKind is a kind of order.
type orderKind uint8

const (
	asksCount   orderKind = iota // the number of records, in gob
	asksSums                     // the values of a pass
	asksRecords                  // the cells of the records of a part
	asksUnits                    // the number of records of each unit of a share
	asksLarge                    // the contents of the records of some units
	asksWords                    // the number of records with each word of a share
	asksRows                     // blocks of the rows that follow the task
)

// An order contains the data that all tasks of a pass share.
type order struct {
	Key     [secret.KeySize]byte // of the MACs of the answers
	Asks    orderKind
	Schema  dataset.Schema   // as files are read
	As      []dataset.Column // the columns after words were found, else nil
	Options dataset.ReadOptions
	Limited bool           // units keep some of their records
	Pass    mechanism.Pass // a part, and for sums the statistic
	Columns []int          // columns of the part whose words are counted, or columns of the schema that are the content of a record
	Share   hashShare
	Blocks  [secret.KeySize]byte // of the blocks that the cluster keeps
	Names   []string             // for asksRows, the columns of the rows
}

// A hashShare is one of Count sets to which units or words are assigned.
type hashShare struct {
	Index uint64
	Count uint64
	Salt  [16]byte // of the hash that assigns words
}

// A task contains the data that an order needs for one split.
type task struct {
	Format       string
	Index, Count int // index among Count tasks
	Split        split
	Units        []uint64 // for asksLarge, sorted
}

// The first byte of the content of an answer.
const (
	answerSums    = 0 // integers of 8 bytes
	answerPacked  = 1 // something else, in gob
	answerNoFile  = 2 // the file cannot be opened
	answerChanged = 3 // it is not the file that was counted
	answerDamaged = 4 // it cannot be read
	answerOther   = 5 // the block has other records than before
	answerSpoilt  = 6 // the block cannot be read
)

// packValue encodes a value and compresses it.
func packValue(v any) ([]byte, error) {
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

func unpackValue(data []byte, v any) error {
	return gob.NewDecoder(flate.NewReader(bytes.NewReader(data))).Decode(v)
}

// encodeLine returns a task as text without line ends.
func (t *task) encodeLine() ([]byte, error) {
	var out bytes.Buffer
	w := base64.NewEncoder(base64.StdEncoding, &out)
	if err := gob.NewEncoder(w).Encode(t); err != nil {
		return nil, err
	}
	err := w.Close()
	return out.Bytes(), err
}

// ErrVersion is returned for a line that is neither an order nor a task of this version.
var ErrVersion = errors.New("the run uses another version of dptrain than this worker; " +
	"install the same release on every machine")

// readTask parses a task. The text after a blank is its block, or the number of a part.
func readTask(line []byte) (*task, error) {
	t := &task{}
	line, rest, _ := bytes.Cut(line, []byte{' '})
	err := gob.NewDecoder(base64.NewDecoder(base64.StdEncoding, bytes.NewReader(line))).Decode(t)
	if err != nil || t.Format != format {
		return nil, ErrVersion
	}
	t.Split.text = rest
	return t, nil
}

// orderMark is the start of the line of an order. Tasks do not contain colons.
const orderMark = "order:"

// encodeLine returns an order as text. On every machine it precedes the tasks that it applies to.
func (o *order) encodeLine() ([]byte, error) {
	packed, err := packValue(o)
	return base64.StdEncoding.AppendEncode([]byte(orderMark), packed), err
}

// readOrder parses the text after the mark.
func readOrder(text []byte) (*order, error) {
	o := &order{}
	packed, err := base64.StdEncoding.AppendDecode(nil, text)
	if err != nil || unpackValue(packed, o) != nil {
		return nil, ErrVersion
	}
	return o, nil
}

// pieceBytes is the largest number of bytes of an answer on one line.
const pieceBytes = 1 << 20

// encodeAnswer returns the answer to a task as lines, one for each piece of its content.
func (t *task) encodeAnswer(key [secret.KeySize]byte, content []byte) []byte {
	var out []byte
	count := (len(content) + pieceBytes - 1) / pieceBytes
	for k := range count {
		p := answerPiece{t.Index, k, count,
			content[k*pieceBytes : min((k+1)*pieceBytes, len(content))]}
		out = append(p.appendText(out, key), '\n')
	}
	return out
}

// answerPiece is a piece of the content of the answer to a task.
type answerPiece struct {
	task    int
	index   int
	count   int
	content []byte
}

// appendText appends the piece as text: format, numbers, length and content, and a MAC of all of these.
func (p *answerPiece) appendText(to []byte, key [secret.KeySize]byte) []byte {
	out := make([]byte, 0, headBytes+len(p.content)+sha256.Size)
	out = append(out, format...)
	for _, n := range []int{p.task, p.index, p.count, len(p.content)} {
		out = binary.LittleEndian.AppendUint32(out, uint32(n))
	}
	out = append(out, p.content...)
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write(out)
	return base64.StdEncoding.AppendEncode(to, mac.Sum(out))
}

const headBytes = len(format) + 16

// errAnswer is returned for bytes that are not a complete answer of the pass.
var errAnswer = errors.New("no whole answer of this pass")

// readPiece parses the output of appendText.
func readPiece(key [secret.KeySize]byte, text []byte) (*answerPiece, error) {
	data, err := io.ReadAll(base64.NewDecoder(base64.StdEncoding.Strict(), bytes.NewReader(text)))
	if err != nil || len(data) < headBytes+sha256.Size {
		return nil, errAnswer
	}
	body := data[:len(data)-sha256.Size]
	sum := data[len(data)-sha256.Size:]
	mac := hmac.New(sha256.New, key[:])
	_, _ = mac.Write(body)
	var n [4]int
	for i := range n {
		n[i] = int(binary.LittleEndian.Uint32(body[len(format)+4*i:]))
	}
	if !hmac.Equal(mac.Sum(nil), sum) ||
		string(body[:len(format)]) != format ||
		n[3] != len(body)-headBytes {
		return nil, errAnswer
	}
	return &answerPiece{n[0], n[1], n[2], body[headBytes:]}, nil
}

// packAnswer encodes a value as the content of an answer.
func packAnswer(v any) ([]byte, error) {
	packed, err := packValue(v)
	return append([]byte{answerPacked}, packed...), err
}

func unpackAnswer(content []byte, v any) error {
	if content[0] != answerPacked || unpackValue(content[1:], v) != nil {
		return errAnswer
	}
	return nil
}

// sumsOf encodes integers as the content of an answer.
func sumsOf(values []int64) []byte {
	out := append(make([]byte, 0, 1+8*len(values)), answerSums)
	for _, v := range values {
		out = binary.LittleEndian.AppendUint64(out, uint64(v))
	}
	return out
}

// readSums decodes n integers.
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
