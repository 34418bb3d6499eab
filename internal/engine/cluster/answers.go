package cluster

import (
	"bytes"
	"errors"
	"slices"

	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/sys/fault"
)

// sortAnswers returns the contents of the answers to the tasks from to to-1, in order. It returns an error unless there is
// exactly one answer for each task, with all of its pieces.
func sortAnswers(
	key [secret.KeySize]byte,
	answers [][]byte,
	from, to int,
) ([][]byte, error) {
	pieces := make([][][]byte, to-from)
	for _, text := range answers {
		p, err := readPiece(key, text)
		if err != nil || p.task < from || p.task >= to || p.index >= p.count {
			return nil, passError(errAnswer)
		}
		of := &pieces[p.task-from]
		if *of == nil {
			*of = make([][]byte, p.count)
		}
		if p.count != len(*of) || (*of)[p.index] != nil {
			return nil, passError(errAnswer)
		}
		(*of)[p.index] = p.content
	}
	var contents [][]byte
	for _, of := range pieces {
		if len(of) == 0 || slices.ContainsFunc(of, func(c []byte) bool {
			return len(c) == 0
		}) {
			return nil, passError(errAnswer)
		}
		contents = append(contents, bytes.Join(of, nil))
	}
	for _, content := range contents {
		if content[0] >= answerNoFile {
			return nil, passError(errFile[min(content[0], answerSpoilt)])
		}
	}
	return contents, nil
}

// errFile contains the error for each answer without sums.
var errFile = map[byte]error{
	answerNoFile: errors.New(
		"a worker cannot find the table: it needs the same path on every machine of the cluster"),
	answerChanged: errors.New("a file of the table changed during the run"),
	answerDamaged: errors.New("a file of the table cannot be read completely"),
	answerOther: errors.New(
		"the cluster recomputed some rows of the query with a different result or order; add an ORDER BY over a key, or write the rows to a table first"),
	answerSpoilt: errors.New("the copy of the table on the cluster is damaged"),
}

// passError returns the error of an incomplete pass.
func passError(err error) error {
	hint := "nothing was released; run again"
	if errors.Is(err, errAnswer) {
		err = errors.New("the cluster lost, repeated or changed a partial sum")
	}
	return &fault.Error{
		Kind:    fault.Data,
		Err:     err,
		Message: err.Error(),
		Hint:    hint,
	}
}
