//go:build replay

package pipeline

import (
	"context"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// checkHidesTries checks that the number of tries of a candidate of the selection at the path is not visible, for
// each of the given numbers and whichever candidate won. The runs must have the same stages, the same events apart
// from the order of noise, the same notes for the data owner, and the same second result of outcome. A candidate must
// have won with each number.
func checkHidesTries(
	t *testing.T,
	p *Pipeline,
	tab *dataset.Table,
	path string,
	seeds byte,
	tries []int,
	outcome func(*Result) (chosen int, told any),
) {
	t.Helper()
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	type told struct {
		stages, notes []string
		events        []mechanism.Event
		curator       Curator
		outcome       any
	}
	first := map[int]told{}
	won := map[int]map[int]bool{}
	for seed := range seeds {
		for _, k := range tries {
			var got told
			rec := mechanism.NewRecorder(seed).ForceTries(k)
			res, err := p.FitRecorded(
				context.Background(),
				plan,
				tab,
				Options{Progress: func(s string) {
					got.stages = append(got.stages, s)
				}},
				rec,
			)
			if err != nil {
				t.Fatal(err)
			}
			checkTries(t, rec, path, k)
			got.notes = slices.Sorted(maps.Keys(res.Curator.Seconds))
			got.curator = res.Curator
			// The numbers of records follow from the coins of the seed.
			got.curator.Seconds = nil
			got.curator.TrainRows = 0
			got.curator.HoldoutRows = 0
			got.curator.ScoreRows = 0
			for _, e := range res.Events {
				e.Scale = 0
				e.Sensitivity = 0 // they follow from released values
				got.events = append(got.events, e)
			}
			var c int
			c, got.outcome = outcome(res)
			if won[c] == nil {
				won[c] = map[int]bool{}
			}
			won[c][k] = true
			if before, ok := first[c]; !ok {
				first[c] = got
			} else if !reflect.DeepEqual(before, got) {
				t.Errorf(
					"seed %d, %d tries: %+v, before %+v",
					seed, k, got, before,
				)
			}
		}
	}
	for c, ks := range won {
		if len(ks) == len(tries) {
			return
		}
		t.Logf("candidate %d won with tries %v", c, ks)
	}
	t.Error("no candidate won with every number of tries: the test compares nothing")
}

// checkTries checks that a run made k tries, and that each try released a value.
func checkTries(t *testing.T, rec *mechanism.Recorder, path string, k int) {
	t.Helper()
	n := rec.Tries(path)
	if n != k {
		t.Fatalf("%d tries, want %d", n, k)
	}
	seen := map[int]bool{}
	for _, r := range rec.Releases() {
		seen[r.Try] = true
	}
	if len(seen) != k+1 { // and the releases outside the selection
		t.Errorf(
			"releases of %d tries, want %d",
			len(seen)-1, k,
		)
	}
}
