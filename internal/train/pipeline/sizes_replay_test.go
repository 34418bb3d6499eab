//go:build replay

package pipeline

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestSizesFindTheBest checks that with a large budget and twelve tries one column does not win. The seeds are fixed,
// and so is the outcome.
func TestSizesFindTheBest(t *testing.T) {
	p, tab := gradedPipeline(t, 3000)
	p.Budget.Epsilon = 30
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range byte(5) {
		res, err := p.FitRecorded(
			context.Background(),
			plan,
			tab,
			Options{},
			mechanism.NewRecorder(seed).ForceTries(12),
		)
		if err != nil {
			t.Fatal(err)
		}
		if res.Sizes.Chosen == 1 {
			t.Errorf(
				"seed %d: %+v",
				seed, res.Sizes,
			)
		}
	}
}

// TestSizesHideTries checks that runs with one try and runs with eight tries report the same facts.
func TestSizesHideTries(t *testing.T) {
	p, tab := gradedPipeline(t, 300)
	checkHidesTries(t, p, tab, "fit/train/model", 10, []int{1, 8}, func(res *Result) (int, any) {
		told := *res.Sizes
		told.Right = 0
		return told.Chosen, told
	})
}
