package compress

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/neighbour"
	"github.com/dptrain/dptrain/regression"
)

// A Score is how a classifier does on records that it has not seen.
type Score struct {
	Name      string
	Vectors   int
	Distances float64 // measured per prediction
	Error     float64 // share of the records in another class than predicted
}

// Judge tests the model on the records of a public table that have a class, and for comparison all training
// records, by linear search and by a tree. t must have the columns of the training table. It returns the number
// of records tested. Errors: [ErrRecords], or that of the model.
func (r *Result) Judge(t *dataset.Table) (records int, scores []Score, err error) {
	test, rows, err := encoded(t, r.coding)
	if err != nil {
		return 0, nil, err
	}
	prediction, err := r.Model.Predict(nil, rowsOf(t))
	if err != nil {
		return 0, nil, err
	}
	classes := make([]int32, len(rows))
	for k, i := range rows {
		classes[k] = int32(prediction[i])
	}
	n := len(r.Model.Vectors)
	scores = append(scores, Score{"the model", n, float64(n), errorShare(classes, test.Class)})

	all := r.scaling.Apply(r.given)
	placed := r.scaling.Apply(test)
	vote := neighbour.Vote{K: r.Model.K}
	if r.Model.Gamma2 > 0 {
		vote.K = 1
	}
	scores = append(scores, Score{
		"all records", r.Records, float64(r.Records),
		errorShare(neighbour.Search(all).Classes(placed, vote), test.Class),
	})
	tree, err := neighbour.NewTree(all)
	if err != nil {
		return 0, nil, err
	}
	classes, distances := tree.Classes(placed, vote)
	mean := float64(distances) / float64(len(rows))
	return len(rows),
		append(scores,
			Score{"all records, by a tree", r.Records, mean, errorShare(classes, test.Class)}), nil
}

// errorShare returns the share of predictions that are not the truth.
func errorShare(predicted, truth []int32) float64 {
	n := 0
	for i, c := range predicted {
		if c != truth[i] {
			n++
		}
	}
	return float64(n) / float64(len(truth))
}

// rowsOf returns the features of a table for a model.
func rowsOf(t *dataset.Table) regression.Rows {
	rows := regression.Rows{
		N:       t.Len(),
		Numeric: map[string][]float64{},
		Codes:   map[string]regression.Codes{},
	}
	columns := t.Schema().Columns
	for j, c := range columns[:len(columns)-1] {
		if c.Kind == dataset.Category {
			rows.Codes[c.Name] = regression.Codes{
				Values:     t.Codes(j),
				Categories: c.Categories,
			}
		} else {
			rows.Numeric[c.Name] = t.Float(j)
		}
	}
	return rows
}
