package main

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/regression"
)

// maxScoredRows is the maximum number of rows in a block of `scores`.
const maxScoredRows = 1 << 20

// errScores is the error for input that the Python package does not write.
var errScores = fault.WithKind(fault.Data,
	errors.New("the columns on standard input are not in the format of the Python package"))

// scoresCommand returns the internal command by which the Python package predicts many records. It reads columns and
// writes scores as binary numbers, because writing and reading them as text takes longer than the prediction.
//
// The input is a line of JSON, the [scoredColumns], and blocks of rows. A block is the number of rows (4 bytes) and the
// columns one after the other: numbers of 8 bytes, or places of categories of 4 bytes, where -1 is any other text. For
// each block the output has the rows of every score as numbers of 8 bytes. All are little-endian.
func scoresCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:    "scores",
		Hidden: true,
		Args:   exactly(1, "a model"),
		Short:  "Predict binary columns for the Python package",
		RunE: func(_ *cobra.Command, args []string) error {
			model, err := readModel(args[0], "")
			if err != nil {
				return err
			}
			return writeScores(a.data, bufio.NewReaderSize(a.stdin, 1<<20), model)
		},
	}
}

// scoredColumns lists the columns in the input of `scores`.
type scoredColumns struct {
	Columns []struct {
		Name       string   `json:"name"`
		Categories []string `json:"categories"` // null for numbers
	} `json:"columns"`
}

// writeScores writes the scores of all blocks.
func writeScores(w io.Writer, r *bufio.Reader, model regression.Model) error {
	var columns scoredColumns
	line, err := r.ReadBytes('\n')
	if err != nil || json.Unmarshal(line, &columns) != nil {
		return errScores
	}
	scores := []regression.Model{model}
	if c, ok := model.(*regression.Classifier); ok {
		scores = c.Scores
	}
	var values []float64
	var out []byte
	for {
		rows, err := readBlock(r, &columns)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		out = out[:0]
		for _, score := range scores {
			if values, err = score.Predict(values, rows); err != nil {
				return fault.WithKind(fault.Data, fmt.Errorf("scores: %w", err))
			}
			for _, v := range values {
				out = binary.LittleEndian.AppendUint64(out, math.Float64bits(v))
			}
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
}

// readBlock reads a block of rows. It returns io.EOF if there is no further block.
func readBlock(r io.Reader, columns *scoredColumns) (regression.Rows, error) {
	head := make([]byte, 4)
	if _, err := io.ReadFull(r, head); err != nil {
		if errors.Is(err, io.EOF) {
			return regression.Rows{}, io.EOF
		}
		return regression.Rows{}, errScores
	}
	n := binary.LittleEndian.Uint32(head)
	if n > maxScoredRows {
		return regression.Rows{}, errScores
	}
	rows := regression.Rows{
		N:       int(n),
		Numeric: map[string][]float64{},
		Codes:   map[string]regression.Codes{},
	}
	cells := make([]byte, 8*n)
	for _, c := range columns.Columns {
		if c.Categories != nil {
			if _, err := io.ReadFull(r, cells[:4*n]); err != nil {
				return regression.Rows{}, errScores
			}
			codes := make([]int32, n)
			for i := range codes {
				codes[i] = int32(binary.LittleEndian.Uint32(cells[4*i:]))
			}
			rows.Codes[c.Name] = regression.Codes{
				Values:     codes,
				Categories: c.Categories,
			}
			continue
		}
		if _, err := io.ReadFull(r, cells); err != nil {
			return regression.Rows{}, errScores
		}
		numbers := make([]float64, n)
		for i := range numbers {
			numbers[i] = math.Float64frombits(binary.LittleEndian.Uint64(cells[8*i:]))
		}
		rows.Numeric[c.Name] = numbers
	}
	return rows, nil
}
