package evaluate

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/adapter/golearn"
	"github.com/dptrain/dptrain/budget"
)

// TestGolearnFindsTheSame compares the confusion matrix, the accuracy, the recalls and the precision of a run with a very
// large budget with those of golearn's package evaluation.
func TestGolearnFindsTheSame(t *testing.T) {
	for _, l := range []int{2, 3} {
		p := population{
			[]float64{.2, .3, .5}[:l],
			[]float64{.5, .9, .7}[:l],
			0, 0,
		}
		truth, prediction, score := p.drawRecords(
			rand.New(rand.NewPCG(7, uint64(l))),
			900,
		)
		bins := sixteenBins()
		if l == 2 {
			bins.Cutoff = slices.Index(bins.Edges, 0) + 1
		}
		codes := make([]int32, len(prediction))
		for i := range prediction {
			if l == 2 {
				prediction[i] = 0
				if score[i] > 0 {
					prediction[i] = 1
				}
			}
			codes[i] = int32(prediction[i])
		}
		matrix, err := golearn.ConfusionOfCodes(letterNames(l), truth, codes)
		if err != nil {
			t.Fatal(err)
		}
		scores := golearn.Scores(matrix) // in the order of the names
		got := releaseClasses(
			t,
			priceClasses(t, l, budget.Target{Epsilon: 600}),
			l,
			newLabels(t, l, truth, prediction, score, bins),
		)
		for k, row := range letterNames(l) {
			for c, column := range letterNames(l) {
				if got.Counts[k][c] != matrix[row][column] {
					t.Errorf(
						"%d classes, %s predicted as %s: %d, golearn counts %d",
						l,
						row,
						column,
						got.Counts[k][c],
						matrix[row][column],
					)
				}
			}
			want := scores[k].Recall
			if math.Abs(got.Recalls[k].Value-want) > 1e-9 {
				t.Errorf(
					"%d classes, recall of %s: %v, golearn has %v",
					l,
					row,
					got.Recalls[k].Value,
					want,
				)
			}
		}
		if want := golearn.Accuracy(matrix); math.Abs(got.Accuracy.Value-want) > 1e-9 {
			t.Errorf(
				"%d classes: accuracy %v, golearn has %v",
				l, got.Accuracy.Value, want,
			)
		}
		want := golearn.BalancedAccuracy(matrix)
		if math.Abs(got.Balanced.Value-want) > 1e-9 {
			t.Errorf(
				"%d classes: balanced accuracy %v, golearn has %v",
				l,
				got.Balanced.Value,
				want,
			)
		}
		if l > 2 {
			continue
		}
		threshold := got.Scores.Thresholds[bins.Cutoff-1]
		want = scores[1].Precision
		if math.Abs(threshold.Precision.Value-want) > 1e-9 {
			t.Errorf(
				"precision %v, golearn has %v",
				threshold.Precision.Value, want,
			)
		}
	}
}
