package cluster

import (
	"context"
	"errors"
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// partFields contains the records of a part in one split: the columns of the part and the
// identities of the records, as fields of a block. There are no fields without records.
type partFields struct {
	Rows   int
	Fields [][]byte
}

var errMany = errors.New("there are more records than the plan allows in one place")

// Gather implements [mechanism.Capabilities.Gather] for small parts. It counts the records first and fails if their cells take
// more than [mechanism.Capabilities.GatherLimit] bytes. The plan bounds the number of records, so it fails with at most the
// probability that the plan's bound fails, which is below 2^-70.
func (e *Engine) Gather(
	ctx context.Context,
	p mechanism.Part,
) (dataset.View, error) {
	n, err := e.Sum(ctx, mechanism.Pass{
		Part:      p,
		Statistic: mechanism.Number{},
	})
	if err != nil {
		return dataset.View{}, err
	}
	schema := p.Schema(e.schema)
	if n[0] > e.most/int64(8*max(len(schema.Columns), 1)) {
		return dataset.View{}, passError(errMany)
	}
	contents, err := e.askAll(ctx, order{
		Asks: asksRecords,
		Pass: mechanism.Pass{Part: p},
	}, nil)
	if err != nil {
		return dataset.View{}, err
	}
	columns, ids, err := readParts(contents, schema)
	if err != nil {
		return dataset.View{}, passError(err)
	}
	return schema.Piece(len(ids), 0, ids, func(j int) dataset.ColumnData {
		return columns[j]
	}).View(), nil
}

// partColumns returns the columns of a part, and of the identities of its records. Words to be
// found have no lists here.
func partColumns(s dataset.Schema) []colblock.Column {
	var out []colblock.Column
	for _, c := range s.Columns {
		largest := int(c.MissingCode())
		if c.Found {
			largest = math.MaxInt32
		}
		out = append(out, colblock.NewColumn(c.Kind == dataset.Numeric, false, largest))
	}
	return append(out, colblock.Column{Kind: colblock.Identities})
}

// readParts joins the records of the answers of all splits.
func readParts(
	contents [][]byte,
	schema dataset.Schema,
) (columns []dataset.ColumnData, ids []uint64, err error) {
	columns = make([]dataset.ColumnData, len(schema.Columns))
	for j, c := range schema.Columns {
		if c.Kind == dataset.Category {
			columns[j].Codes = []int32{}
		} else {
			columns[j].Floats = []float64{}
		}
	}
	ids = []uint64{}
	kinds := partColumns(schema)
	for _, content := range contents {
		some := &partFields{}
		if unpackAnswer(content, some) != nil ||
			some.Rows < 0 || some.Rows > 0 && len(some.Fields) != len(kinds) {
			return nil, nil, errAnswer
		}
		for j, field := range some.Fields {
			x, err := kinds[j].ReadField(field, some.Rows)
			if err != nil {
				return nil, nil, errAnswer
			}
			ids = append(ids, x.IDs...)
			if j < len(columns) {
				columns[j].Floats = append(columns[j].Floats, x.Floats...)
				columns[j].Codes = append(columns[j].Codes, x.Codes...)
			}
		}
	}
	return columns, ids, nil
}

// readRecords returns the cells of the records of a part.
func (s *split) readRecords(
	ctx context.Context,
	o *order,
) (content []byte, rows int, err error) {
	var all *colblock.Cells
	var kinds []colblock.Column
	rows, err = s.forEachView(ctx, o, o.Pass.Part.ReadColumns(),
		func(v dataset.View, _ func(int) []string) error {
			v, err := o.Pass.Part.Select(ctx, v)
			if err != nil {
				return err
			}
			if all == nil {
				kinds = partColumns(v.Schema())
				all = colblock.NewBlock(kinds, 0)
			}
			some := colblock.NewTableCells(kinds)
			some.SetTable(v.Compact(), true)
			all.Append(some, 0, some.Rows())
			return nil
		})
	if err != nil {
		return nil, 0, err
	}
	var out partFields
	if all != nil && all.Rows() > 0 {
		out.Rows = all.Rows()
		for j := range kinds {
			out.Fields = append(out.Fields, all.AppendField(nil, j, &colblock.Encoder{}))
		}
	}
	content, err = packAnswer(out)
	return content, rows, err
}
