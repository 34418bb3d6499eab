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

// TestSizesFindTheBest: with a large budget and twelve tries one column does not win. The
// seeds are fixed, so is the outcome.
func TestSizesFindTheBest(t *testing.T) {
	p, tab := graded(t, 3000)
	p.Budget.Epsilon = 30
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for seed := range byte(5) {
		res, err := p.FitRecorded(context.Background(), plan, tab, Options{}, mechanism.NewRecorder(seed).ForceTries(12))
		if err != nil {
			t.Fatal(err)
		}
		if res.Sizes.Chosen == 1 {
			t.Errorf("seed %d: %+v", seed, res.Sizes)
		}
	}
}

// TestSizesHideTries: runs that tried once and runs that tried eight times tell the
// same things, whichever size won.
func TestSizesHideTries(t *testing.T) {
	p, tab := graded(t, 300)
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	type told struct {
		stages, notes []string
		events        []mechanism.Event
		sizes         SizeSearch
	}
	first, tries := map[int]told{}, map[int]map[int]bool{}
	for seed := range byte(10) {
		for _, k := range []int{1, 8} {
			var got told
			rec := mechanism.NewRecorder(seed).ForceTries(k)
			res, err := p.FitRecorded(context.Background(), plan, tab, Options{Progress: func(s string) { got.stages = append(got.stages, s) }}, rec)
			if err != nil {
				t.Fatal(err)
			}
			if n := rec.Tries("fit/train/model"); n != k {
				t.Fatalf("%d tries, want %d", n, k)
			}
			got.notes = slices.Sorted(maps.Keys(res.Curator.Seconds))
			got.sizes = *res.Sizes
			got.sizes.Right = 0
			for _, e := range res.Events {
				e.Scale, e.Sensitivity = 0, 0 // what they follow from was released
				got.events = append(got.events, e)
			}
			size := res.Sizes.Chosen
			if tries[size] == nil {
				tries[size] = map[int]bool{}
			}
			tries[size][k] = true
			if before, ok := first[size]; !ok {
				first[size] = got
			} else if !reflect.DeepEqual(before, got) {
				t.Errorf("seed %d, %d tries: %+v, before %+v", seed, k, got, before)
			}
		}
	}
	for _, ks := range tries {
		if len(ks) == 2 {
			return
		}
	}
	t.Error("no size won with every number of tries: the test compares nothing")
}
