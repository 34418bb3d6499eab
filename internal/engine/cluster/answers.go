package cluster

import (
	"bytes"
	"errors"
	"slices"

	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// sorted returns the contents of answers in the order of their tasks, which are those numbered from up to to. There must be
// exactly one for each, in all of its pieces.
func sorted(key [secret.KeySize]byte, answers [][]byte, from, to int) ([][]byte, error) {
	pieces := make([][][]byte, to-from)
	for _, text := range answers {
		p, err := readPiece(key, text)
		if err != nil || p.task < from || p.task >= to || p.index >= p.count {
			return nil, failed(errAnswer)
		}
		of := &pieces[p.task-from]
		if *of == nil {
			*of = make([][]byte, p.count)
		}
		if p.count != len(*of) || (*of)[p.index] != nil {
			return nil, failed(errAnswer)
		}
		(*of)[p.index] = p.content
	}
	var contents [][]byte
	for _, of := range pieces {
		if len(of) == 0 || slices.ContainsFunc(of, func(c []byte) bool { return len(c) == 0 }) {
			return nil, failed(errAnswer)
		}
		contents = append(contents, bytes.Join(of, nil))
	}
	for _, content := range contents {
		if content[0] >= answerNoFile {
			return nil, failed(errFile[min(content[0], answerSpoilt)])
		}
	}
	return contents, nil
}

// What answers without sums say.
var errFile = map[byte]error{
	answerNoFile:  errors.New("a worker does not find the table: it needs the same path on every machine of the cluster"),
	answerChanged: errors.New("a file of the table is another one than before"),
	answerDamaged: errors.New("a file of the table cannot be read to its end"),
	answerOther:   errors.New("the cluster computed some rows of the query anew, and they are others or in another order; add an ORDER BY over a key, or write the rows to a table first"),
	answerSpoilt:  errors.New("what the cluster keeps of the table is damaged"),
}

// failed is the error of a pass that is not whole.
func failed(err error) error {
	hint := "nothing was released; run again"
	if errors.Is(err, errAnswer) {
		err = errors.New("the cluster lost, repeated or changed a partial sum")
	}
	return &fault.Error{Kind: fault.Data, Err: err, Message: err.Error(), Hint: hint}
}
