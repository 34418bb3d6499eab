package cluster

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// partCells contains the records of a part in one split, column by column.
type partCells struct {
	Columns []dataset.ColumnData
	IDs     []uint64
}

var errMany = errors.New("there are more records than the plan allows in one place")

// Gather implements [mechanism.Capabilities.Gather] for small parts. It counts the records first and fails if their cells take
// more than [mechanism.Capabilities.GatherLimit] bytes. The plan bounds the number of records, so it fails with at most the
// probability that the plan's bound fails, which is below 2^-70.
func (e *Engine) Gather(ctx context.Context, p mechanism.Part) (dataset.View, error) {
	n, err := e.Sum(ctx, mechanism.Pass{Part: p, Statistic: mechanism.Number{}})
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
	all := noCells(schema)
	for _, content := range contents {
		some := &partCells{}
		if unpackAnswer(content, some) != nil || len(some.Columns) != len(all.Columns) {
			return dataset.View{}, passError(errAnswer)
		}
		for j := range all.Columns {
			if len(some.Columns[j].Floats)+len(some.Columns[j].Codes) != len(some.IDs) {
				return dataset.View{}, passError(errAnswer)
			}
			all.Columns[j].Floats = append(all.Columns[j].Floats, some.Columns[j].Floats...)
			all.Columns[j].Codes = append(all.Columns[j].Codes, some.Columns[j].Codes...)
		}
		all.IDs = append(all.IDs, some.IDs...)
	}
	return schema.Piece(len(all.IDs), 0, all.IDs, func(j int) dataset.ColumnData {
		return all.Columns[j]
	}).All(), nil
}

// noCells returns columns without records.
func noCells(s dataset.Schema) *partCells {
	out := &partCells{make([]dataset.ColumnData, len(s.Columns)), []uint64{}}
	for j, c := range s.Columns {
		if c.Kind == dataset.Category {
			out.Columns[j].Codes = []int32{}
		} else {
			out.Columns[j].Floats = []float64{}
		}
	}
	return out
}

// readRecords returns the cells of the records of a part.
func (s *split) readRecords(ctx context.Context, o *order) (content []byte, rows int, err error) {
	out := &partCells{Columns: make([]dataset.ColumnData, len(o.Pass.Part.Columns))}
	rows, err = s.forEachView(ctx, o, o.Pass.Part.ReadColumns(),
		func(v dataset.View, _ func(int) []string) error {
			v, err := o.Pass.Part.Select(ctx, v)
			if err != nil {
				return err
			}
			b := v.Block(0, v.Len())
			for j := range out.Columns {
				out.Columns[j].Floats = append(out.Columns[j].Floats, b.Float(j, nil)...)
				out.Columns[j].Codes = append(out.Columns[j].Codes, b.Labels(j, nil)...)
			}
			for k := range b.Len() {
				out.IDs = append(out.IDs, b.ID(k))
			}
			return nil
		})
	if err != nil {
		return nil, 0, err
	}
	content, err = packAnswer(out)
	return content, rows, err
}
