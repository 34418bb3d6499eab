//go:build replay

package pipeline

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestSearchFindsTheBest checks that with a large budget and twelve tries the model with a curve wins. The seeds are
// fixed, and so is the outcome.
func TestSearchFindsTheBest(t *testing.T) {
	p, tab := searchPipeline(t, 3000)
	p.Budget.Epsilon = 20
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
		x := res.Search
		if x.Chosen != 2 ||
			res.Method != "boosted-additive" ||
			!(x.Score > .8) {
			t.Errorf("seed %d: %+v", seed, x)
		}
	}
}

// TestSearchHidesTries checks that runs with one try and runs with nine tries report the same facts.
func TestSearchHidesTries(t *testing.T) {
	p, tab := searchPipeline(t, 400)
	checkHidesTries(t, p, tab, "fit/train", 12, []int{1, 2, 9}, func(res *Result) (int, any) {
		told := *res.Search
		told.Score = 0
		return told.Chosen, told
	})
}
