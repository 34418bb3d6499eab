package look

import (
	"context"
	"errors"
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Limits of a sample.
const (
	sampleRows  = 1000
	sampleCells = 400_000
)

// A Sample holds the first records of a table, at most 1,000, as texts.
type Sample struct {
	Names []string
	Notes []dataset.Note // about the header
	Rows  [][]string     // by record, with a trimmed text per column
}

// errSampled stops the reading of a table.
var errSampled = errors.New("the sample is complete")

// First reads the first records of the table at a path and stops soon after. Errors are those of [dataset.Read].
func First(
	ctx context.Context,
	path string,
	opts dataset.ReadOptions,
) (*Sample, error) {
	heading, err := dataset.ReadHeading(path, opts)
	if err != nil {
		return nil, err
	}
	s := &Sample{Names: heading.Names, Notes: heading.Notes}
	most := max(1, min(sampleRows, sampleCells/max(1, len(s.Names))))
	if kind, _, _ := tablefile.ParsePath(path); kind.Parquet {
		return s, s.readParquet(ctx, path, most)
	}
	opts.Workers = 1
	opts.BatchRows = most
	err = dataset.Stream(ctx, path, dataset.Schema{}, opts, dataset.Consumer[[][]string]{
		Begin: func(dataset.Head) error { return nil },
		Work:  s.batchTexts,
		Emit: func(rows [][]string) error {
			s.Rows = append(s.Rows, rows[:min(len(rows), most-len(s.Rows))]...)
			if len(s.Rows) == most {
				return errSampled
			}
			return nil
		},
	})
	if errors.Is(err, errSampled) {
		err = nil
	}
	return s, err
}

// batchTexts returns the texts of the records of a batch.
func (s *Sample) batchTexts(b *dataset.Batch) ([][]string, error) {
	var rows [][]string
	err := b.Text(func(_ int, fields []string) error {
		row := make([]string, len(s.Names))
		for j := range min(len(row), len(fields)) {
			row[j] = ownText(fields[j])
		}
		rows = append(rows, row)
		return nil
	})
	return rows, err
}

// readParquet reads the first rows of a Parquet file.
func (s *Sample) readParquet(ctx context.Context, path string, most int) error {
	columns := make([][]string, len(s.Names))
	err := dataset.ParquetText(ctx, path, most, func(j int, text []byte) {
		columns[j] = append(columns[j], ownText(string(text)))
	})
	longest := 0
	for _, texts := range columns {
		longest = max(longest, len(texts))
	}
	s.Rows = make([][]string, longest)
	for i := range s.Rows {
		s.Rows[i] = make([]string, len(s.Names))
		for j, texts := range columns {
			if i < len(texts) {
				s.Rows[i][j] = texts[i]
			}
		}
	}
	return err
}

// ownText returns a trimmed copy of a cell, so that the buffer of its file can be freed.
func ownText(text string) string {
	return string(slices.Clone([]byte(cell.Trim(text))))
}
