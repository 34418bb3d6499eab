package suite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// fakePlan returns a plan with two tables of two cells. It appends the executed trials to ran.
func fakePlan(trials int, ran *[]Key) *Plan {
	p := &Plan{
		Header: testHeader,
		Page: func([]Record) Page {
			return Page{Title: "fake"}
		},
	}
	var mu sync.Mutex
	for _, data := range []string{"a", "b"} {
		p.Tasks = append(p.Tasks, Task{
			Name:   data,
			Trials: trials,
			Cells: []Cell{
				{Data: data, Method: "m"},
				{
					Data:    data,
					Method:  "m",
					Setting: Setting{K: 3},
				},
			},
			Run: func(ctx context.Context, todo []Key, emit func(Key, Outcome)) error {
				return forEachTrial(
					ctx,
					todo,
					func(_ context.Context, k Key) Outcome {
						mu.Lock()
						defer mu.Unlock()
						*ran = append(*ran, k)
						return Outcome{
							Status: OK,
							Values: map[string]float64{"v": float64(k.Trial)},
						}
					},
					emit,
				)
			},
		})
	}
	return p
}

func TestRunResumes(t *testing.T) {
	dir := t.TempDir()
	var ran []Key
	for _, step := range []struct{ trials, want int }{{3, 12}, {3, 0}, {5, 8}, {2, 0}} {
		ran = nil
		s := openStore(t, dir)
		var seen []Progress
		err := fakePlan(step.trials, &ran).Run(t.Context(), s, func(p Progress) {
			seen = append(seen, p)
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(ran) != step.want {
			t.Errorf(
				"%d trials: %d were run, want %d",
				step.trials, len(ran), step.want,
			)
		}
		n := len(seen)
		if step.want > 0 &&
			(seen[n-1] != Progress{"b", 4 * step.trials, 4 * step.trials}) {
			t.Errorf(
				"%d trials: progress ends with %+v",
				step.trials, seen[n-1],
			)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	s := openStore(t, dir)
	defer s.Close()
	if len(s.Records()) != 20 {
		t.Errorf(
			"%d trials are kept",
			len(s.Records()),
		)
	}
}

func TestRunInterrupted(t *testing.T) {
	dir := t.TempDir()
	var ran []Key
	ctx, cancel := context.WithCancel(t.Context())
	s := openStore(t, dir)
	err := fakePlan(50, &ran).Run(ctx, s, func(p Progress) {
		if p.Done == 30 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || s.Close() != nil {
		t.Fatalf("got %v", err)
	}
	s = openStore(t, dir)
	kept := len(s.Records())
	if kept < 30 || kept > 40 {
		t.Errorf("%d trials are kept of 30 that ended", kept)
	}
	ran = nil
	err = fakePlan(50, &ran).Run(t.Context(), s, nil)
	if err != nil ||
		len(ran) != 200-kept ||
		len(s.Records()) != 200 {
		t.Errorf(
			"continued: %v, %d run, %d kept",
			err, len(ran),
			len(s.Records()),
		)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestRunEndsWhenTheStoreDoes(t *testing.T) {
	var ran []Key
	s := openStore(t, t.TempDir())
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	err := fakePlan(1000, &ran).Run(t.Context(), s, nil)
	if !errors.Is(err, ErrOutput) || len(ran) == 4000 {
		t.Errorf(
			"got %v after %d trials",
			err, len(ran),
		)
	}
}

func TestRunEndsWithATable(t *testing.T) {
	broken := errors.New("the table is damaged")
	p := &Plan{Header: testHeader, Tasks: []Task{{
		Name:   "a",
		Trials: 1,
		Cells:  []Cell{{Data: "a"}},
		Run: func(context.Context, []Key, func(Key, Outcome)) error {
			return broken
		},
	}}}
	s := openStore(t, t.TempDir())
	defer s.Close()
	err := p.Run(t.Context(), s, nil)
	if !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// TestKeysGoByTrial checks that trials are ordered so that an interrupted run has results for every cell.
func TestKeysGoByTrial(t *testing.T) {
	task := Task{
		Trials: 2,
		Cells:  []Cell{{Method: "a"}, {Method: "b"}},
	}
	var got []string
	for _, k := range task.Keys() {
		got = append(got, fmt.Sprint(k.Method, k.Trial))
	}
	want := []string{"a1", "b1", "a2", "b2"}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestWriteLeavesWholeFiles(t *testing.T) {
	dir := t.TempDir()
	var ran []Key
	p := fakePlan(1, &ran)
	records := []Record{trialRecord("a", "m", 1, .5)}
	for range 2 { // the second time overwrites the first
		if err := p.Write(dir, records); err != nil {
			t.Fatal(err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) != 4 {
		t.Errorf("%v, %v", files, err)
	}
	if err := p.Write(filepath.Join(dir, "none"), records); !errors.Is(err, ErrOutput) {
		t.Errorf("an absent folder: %v", err)
	}
}
