//go:build replay

package pipeline

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/mechanism"
)

// TestSearchFindsTheBest: with a large budget and twelve tries the curve that bends
// wins. The seeds are fixed, so is the outcome.
func TestSearchFindsTheBest(t *testing.T) {
	p, tab := searcher(t, 3000)
	p.Budget.Epsilon = 20
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range byte(5) {
		res, err := p.FitRecorded(context.Background(), plan, tab, Options{}, mechanism.NewRecorder(seed).ForceTries(12))
		if err != nil {
			t.Fatal(err)
		}
		if x := res.Search; x.Chosen != 2 || res.Method != BoostedAdditive || !(x.Score > .8) {
			t.Errorf("seed %d: %+v", seed, x)
		}
	}
}

// TestSearchHidesTries: runs that tried once and runs that tried nine times tell
// the same things, whichever candidate won: the same stages, the same events but
// for the order of noise, the same notes for the curator.
func TestSearchHidesTries(t *testing.T) {
	p, tab := searcher(t, 400)
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	type told struct {
		stages, notes []string
		events        []mechanism.Event
		curator       Curator
		search        Searched
	}
	first, tries := map[int]told{}, map[int]map[int]bool{}
	for seed := range byte(12) {
		for _, k := range []int{1, 2, 9} {
			var got told
			rec := mechanism.NewRecorder(seed).ForceTries(k)
			res, err := p.FitRecorded(context.Background(), plan, tab, Options{Progress: func(s string) { got.stages = append(got.stages, s) }}, rec)
			if err != nil {
				t.Fatal(err)
			}
			if rec.Tries("fit/train") != k {
				t.Fatalf("%d tries, want %d", rec.Tries("fit/train"), k)
			}
			seen := map[int]bool{}
			for _, r := range rec.Releases() {
				seen[r.Try] = true
			}
			if len(seen) != k+1 { // and the held-out metric
				t.Errorf("releases of %d tries, want %d", len(seen)-1, k)
			}
			got.notes = slices.Sorted(maps.Keys(res.Curator.Seconds))
			res.Curator.Seconds = nil
			got.curator, got.search = res.Curator, *res.Search
			got.search.Score = 0
			for _, e := range res.Events {
				e.Scale = 0 // what a scale follows from was released
				e.Sensitivity = 0
				got.events = append(got.events, e)
			}
			c := res.Search.Chosen
			if tries[c] == nil {
				tries[c] = map[int]bool{}
			}
			tries[c][k] = true
			// The numbers of records follow from the coins of the seed.
			got.curator.TrainRows, got.curator.HoldoutRows, got.curator.ScoreRows = 0, 0, 0
			if before, ok := first[c]; !ok {
				first[c] = got
			} else if !reflect.DeepEqual(before, got) {
				t.Errorf("seed %d, %d tries: %+v, before %+v", seed, k, got, before)
			}
		}
	}
	for c, ks := range tries {
		if len(ks) == 3 {
			return
		}
		t.Logf("candidate %d won with tries %v", c, ks)
	}
	t.Error("no candidate won with every number of tries: the test compares nothing")
}
