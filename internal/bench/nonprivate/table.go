package nonprivate

import (
	"context"
	"strconv"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/regression"
)

// A TableTrainer fits a baseline to some columns of public rows: numbers unchanged, categories as 0/1 columns.
// It may be called from several goroutines at once.
type TableTrainer func(
	ctx context.Context, v dataset.View, target int, columns []int,
) (*TableModel, error)

// A TableModel predicts from views with the columns of the one that it was fitted to.
type TableModel struct {
	model   regression.Model
	columns []int
}

// ForTable returns the baseline of that name for targets that are numbers, or have
// classes. Rows in no class are left out by the baselines that read classes, and are 0
// between -1 and +1 to the others, as they are to the private trainers of numbers.
// Errors: [*UnknownBaselineError].
func ForTable(name string, classes bool) (TableTrainer, error) {
	if classes {
		return classesForTable(name)
	}
	baseline, err := Baseline(name)
	if err != nil {
		return nil, err
	}
	return func(
		ctx context.Context, v dataset.View, target int, columns []int,
	) (*TableModel, error) {
		all := v.Block(0, v.Len())
		d := regression.Design{
			Target: v.Schema().Columns[target].Name,
			Y:      all.Float(target, make([]float64, v.Len())),
		}
		d.Names, d.X = expandColumns(v, columns)
		m, err := baseline.Fit(ctx, d)
		if err != nil {
			return nil, err
		}
		return &TableModel{m, columns}, nil
	}, nil
}

func classesForTable(name string) (TableTrainer, error) {
	fit, err := asClassifier(name)
	if err != nil {
		return nil, err
	}
	return func(
		ctx context.Context, v dataset.View, target int, columns []int,
	) (*TableModel, error) {
		all := v.Block(0, v.Len())
		c := v.Schema().Columns[target]
		d := ClassDesign{
			Target:  c.Name,
			Classes: c.Categories,
			Labels:  all.Codes(target, make([]int32, v.Len())),
		}
		d.Names, d.X = expandColumns(v, columns)
		m, err := fit(ctx, d)
		if err != nil {
			return nil, err
		}
		return &TableModel{m, columns}, nil
	}, nil
}

// Predict returns the prediction of every row: a number, or the index of a class.
func (m *TableModel) Predict(v dataset.View) ([]float64, error) {
	return m.model.Predict(nil, rowsOf(v, m.columns))
}

// Scores returns the score of every row, above 0 for the second class. The target has two
// classes. Of logistic regression the score is the log odds.
func (m *TableModel) Scores(v dataset.View) ([]float64, error) {
	return m.model.(*regression.Classifier).Scores[0].Predict(nil, rowsOf(v, m.columns))
}

// fitClasses trains a classifier on public rows.
type fitClasses func(context.Context, ClassDesign) (*regression.Classifier, error)

// asClassifier returns a baseline as a classifier: one that reads classes as it
// is, one of numbers as its scores.
func asClassifier(name string) (fitClasses, error) {
	if t, err := ClassBaseline(name); err == nil {
		return t.Fit, nil
	}
	b, err := Baseline(name)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, d ClassDesign) (*regression.Classifier, error) {
		return fitScores(ctx, b, d)
	}, nil
}

// fitScores fits one score of -1 and +1 for two classes, else one for each class
// against the others.
func fitScores(
	ctx context.Context,
	b Trainer,
	d ClassDesign,
) (*regression.Classifier, error) {
	c := &regression.Classifier{
		Target:  d.Target,
		Classes: d.Classes,
	}
	numbers := regression.Design{
		Names:  d.Names,
		X:      d.X,
		Target: d.Target,
		Y:      make([]float64, len(d.Labels)),
	}
	for k := range d.Classes {
		if len(d.Classes) == 2 && k == 0 {
			continue
		}
		for i, code := range d.Labels {
			switch {
			case int(code) == k:
				numbers.Y[i] = 1
			case int(code) < len(d.Classes):
				numbers.Y[i] = -1
			default:
				numbers.Y[i] = 0
			}
		}
		model, err := b.Fit(ctx, numbers)
		if err != nil {
			return nil, err
		}
		c.Scores = append(c.Scores, model)
	}
	return c, nil
}

func rowsOf(v dataset.View, columns []int) regression.Rows {
	rows := regression.Rows{
		N:       v.Len(),
		Numeric: map[string][]float64{},
	}
	names, x := expandColumns(v, columns)
	for k, name := range names {
		rows.Numeric[name] = x[k]
	}
	return rows
}

// expandColumns returns columns of a view as numbers, a category as one 0/1 column a
// value (one for other values, too, where the column keeps them).
func expandColumns(
	v dataset.View,
	columns []int,
) (names []string, x [][]float64) {
	all := v.Block(0, v.Len())
	schema := v.Schema().Columns
	add := func(column []float64) {
		names = append(names, strconv.Itoa(len(names)))
		x = append(x, column)
	}
	for _, j := range columns {
		c := schema[j]
		if c.Kind == dataset.Numeric {
			add(all.Float(j, make([]float64, v.Len())))
			continue
		}
		levels := len(c.Categories)
		if c.Other {
			levels++
		}
		indicators := make([][]float64, levels)
		for k := range indicators {
			indicators[k] = make([]float64, v.Len())
			add(indicators[k])
		}
		for i, code := range all.Codes(j, make([]int32, v.Len())) {
			if int(code) < levels {
				indicators[code][i] = 1
			}
		}
	}
	return names, x
}
