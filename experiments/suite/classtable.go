package suite

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/baseline"
	"github.com/dptrain/dptrain/internal/bench"
)

// metricAccuracy is the share of the test rows whose class is predicted correctly.
const metricAccuracy = bench.MetricAccuracy

// readClassTable reads a public table whose last column is the class. Text columns and those listed in categories are
// categories; a missing cell is a category of its own. If codes is true, a category is converted to a number: its
// position in the order of the values, the empty one first.
func readClassTable(
	ctx context.Context,
	path string,
	drop, categories []string,
	codes bool,
) (*dataset.Table, error) {
	columns, err := bench.PublicColumns(ctx, path, "", categories)
	if err != nil {
		return nil, err
	}
	columns = slices.DeleteFunc(columns, func(c dataset.Column) bool {
		return slices.Contains(drop, c.Name)
	})
	t, _, err := dataset.Read(
		ctx,
		path,
		dataset.Schema{Columns: columns},
		dataset.ReadOptions{},
	)
	if err != nil {
		return nil, err
	}
	cells := make([]dataset.ColumnData, len(columns))
	last := len(columns) - 1
	for j := range columns {
		c := &columns[j]
		if cells[j].Floats = t.Float(j); c.Kind == dataset.Numeric {
			continue
		}
		cells[j].Codes = t.Codes(j)
		c.Other = j != last && slices.Contains(cells[j].Codes, int32(len(c.Categories)))
		if codes && j != last {
			cells[j] = dataset.ColumnData{Floats: orderCodes(cells[j].Codes, len(c.Categories))}
			*c = dataset.Column{Name: c.Name}
		}
	}
	return dataset.NewTable(dataset.Schema{Columns: columns}, cells, nil)
}

// orderCodes converts codes to numbers. The code after the last level becomes 0.
func orderCodes(codes []int32, levels int) []float64 {
	out := make([]float64, len(codes))
	for i, k := range codes {
		if int(k) < levels {
			out[i] = float64(k + 1)
		}
	}
	return out
}

// marked returns the columns with all features except the public ones marked private.
func marked(columns []dataset.Column, public []string) []dataset.Column {
	out := slices.Clone(columns)
	for j := range out[:len(out)-1] {
		out[j].Private = !slices.Contains(public, out[j].Name)
	}
	return out
}

// redeclare returns the records of a view with other column declarations.
func redeclare(
	v dataset.View,
	columns []dataset.Column,
) (*dataset.Table, error) {
	t := v.Compact()
	cells := make([]dataset.ColumnData, len(columns))
	for j := range columns {
		cells[j] = dataset.ColumnData{
			Floats: t.Float(j),
			Codes:  t.Codes(j),
		}
	}
	return dataset.NewTable(dataset.Schema{Columns: columns}, cells, nil)
}

// balanced returns an equal number of the given rows from each of two classes, in random order: the number of the
// rarer class.
func balanced(labels []int32, rows []int, g *generator) []int {
	var by [2][]int
	for _, i := range rows {
		if c := labels[i]; c < 2 {
			by[c] = append(by[c], i)
		}
	}
	n := min(len(by[0]), len(by[1]))
	var out []int
	for _, list := range by {
		for _, k := range g.permutation(len(list))[:n] {
			out = append(out, list[k])
		}
	}
	return reorder(out, g.permutation(len(out)))
}

func reorder(list, order []int) []int {
	out := make([]int, len(list))
	for k, at := range order {
		out[k] = list[at]
	}
	return out
}

// count returns the integers in [lo, hi).
func count(lo, hi int) []int {
	out := make([]int, 0, max(0, hi-lo))
	for i := lo; i < hi; i++ {
		out = append(out, i)
	}
	return out
}

// rowsOf returns a view of rows in any order.
func rowsOf(t *dataset.Table, rows []int) dataset.View {
	sorted := make([]int32, len(rows))
	for k, i := range rows {
		sorted[k] = int32(i)
	}
	slices.Sort(sorted)
	return t.Select(sorted)
}

// accuracy returns the share of the records of a view whose class is predicted correctly. If there are fewer
// predictions than records, only the first records count.
func accuracy(predicted []int32, v dataset.View) Outcome {
	columns := v.Schema().Columns
	got, err := bench.ScoreClasses(
		columns[len(columns)-1].Categories,
		baseline.Labels(v)[:len(predicted)],
		predicted,
	)
	if err != nil {
		return failed(err)
	}
	return Outcome{
		Status: OK,
		Values: map[string]float64{metricAccuracy: got.Accuracy},
	}
}

// tableNamed finds a table by a prefix of its name.
func tableNamed(tables []tableFile, name string) (tableFile, error) {
	for _, t := range tables {
		if strings.HasPrefix(t.name, name) {
			return t, nil
		}
	}
	return tableFile{}, fmt.Errorf("%w holds no table whose name begins with %s", ErrData, name)
}
