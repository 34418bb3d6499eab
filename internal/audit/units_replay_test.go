//go:build replay

package audit

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/internal/train/tukey"
	"github.com/dptrain/dptrain/regression"
)

// unitRuns are runs that protect patients, each with the releases that it covers: ends of paths in the plan, each of
// which must occur. Together they make every existing release.
func unitRuns() map[string]struct {
	change   func(p *pipeline.Pipeline)
	releases []string
} {
	type run = struct {
		change   func(p *pipeline.Pipeline)
		releases []string
	}
	model := func(method string) func(*pipeline.Pipeline) {
		return func(p *pipeline.Pipeline) {
			p.Model = trainerInForm(method, "")
		}
	}
	selector := func(s selection.Selector) func(*pipeline.Pipeline) {
		return func(p *pipeline.Pipeline) {
			p.Selector = s
		}
	}
	classes := func(method string, s selection.Selector) func(*pipeline.Pipeline) {
		return func(p *pipeline.Pipeline) {
			p.Task = regression.TaskClassification
			p.Target = "ward"
			p.Model = trainerInForm(method, "")
			p.Selector = s
		}
	}
	return map[string]run{
		"auto": {
			func(p *pipeline.Pipeline) {
				p.Model = nil
				p.Selector = nil
			},
			[]string{"count"},
		},
		"additive": {
			model("boosted-additive"),
			[]string{"counts", "residuals", "linear", "shapes", "mean"},
		},
		"kernel": {
			model("boosted-kernel"),
			[]string{"counts", "residuals", "sums", "mean"},
		},
		"adassp": {
			model("adassp"),
			[]string{
				"eigenvalue", "r2/sums",
				"r2/sizes", "fine-bins",
			},
		},
		"boosted-adassp": {model("boosted-adassp"), []string{"gradients"}},
		"tukey": {
			func(p *pipeline.Pipeline) {
				p.Model = tukey.Tukey{}
				p.Budget.Epsilon = 60
				p.Selector = selection.Fixed{Features: []string{"age", "dose"}}
			},
			[]string{"tukey"},
		},
		"kendall": {
			selector(selection.Kendall{K: 3}),
			[]string{"kendall"},
		},
		"sublasso": {
			selector(selection.SubLasso{K: 2, Buckets: 20}),
			[]string{"sublasso"},
		},
		"sis": {
			selector(selection.SIS{K: 2}),
			[]string{"center", "choice"},
		},
		"lipschitz": {
			selector(
				selection.SIS{
					K:     2,
					Score: selection.ScoreProduct,
					TopK:  mechanism.Lipschitz,
				}),
			[]string{"choice"},
		},
		"tau": {
			selector(
				selection.SIS{
					K:     2,
					Score: selection.ScoreTau,
					TopK:  mechanism.Peeling,
				}),
			[]string{"choice"},
		},
		"brc": {
			classes("brc", nil),
			[]string{"records", "agreement", "confusion"},
		},
		"svm": {classes("svm", nil), []string{"svm"}},
		"logistic": {
			classes("logistic", selection.DPFSDR{K: 3, Exact: true}),
			[]string{"gradients", "stats"},
		},
		"prototypes": {
			classes("prototypes", nil),
			[]string{"moments", "spread", "cells", "steps"},
		},
		"class-gram": {
			classes("joint-gram", selection.CRFS{K: 3, Exact: true}),
			[]string{"gram"},
		},
	}
}

// TestUnitReplay checks, with patients protected, that no release of any method sees inputs farther apart than it
// declares when any whole unit is added or removed, that published values depend on the unit only through releases,
// and that some inputs come close to their bounds. The units are those of [replayedNeighbours].
func TestUnitReplay(t *testing.T) {
	runs := unitRuns()
	for i, name := range slices.Sorted(maps.Keys(runs)) {
		run := runs[name]
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, p, tab := loadExample(t, "../../examples/unit.yaml")
			run.change(p)
			if p.NoVocabulary() != "" {
				tab = numbersOnly(t, r, p)
			}
			rows := 1000
			if name == "tukey" {
				rows = tab.Len()
			}
			tab = blankTargets(t, tab.Select(firstRows(rows)).Compact(), p.Target, func(i int) bool {
				return i%9 == 0
			})
			plan := planPipeline(t, p)
			neighbours := replayedNeighbours(t, allNeighbours(t, p, tab), i)
			faults, closest := replayOn(t, r, p, plan, tab, 3, neighbours)
			for _, f := range faults {
				t.Error(f)
			}
			if closest < .5 || closest > 1 {
				t.Errorf(
					"the closest release came within %.3f of its declared sensitivity",
					closest,
				)
			}
			allReleased(t, p, tab, run.releases)
		})
	}
}

// allReleased checks that a run makes releases at paths with the given suffixes.
func allReleased(t *testing.T, p *pipeline.Pipeline, tab *dataset.Table, ends []string) {
	t.Helper()
	res, err := p.FitRecorded(
		context.Background(),
		planPipeline(t, p),
		tab,
		pipeline.Options{},
		mechanism.NewRecorder(3).KeepColumns(),
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, end := range ends {
		if !slices.ContainsFunc(res.Events, func(e mechanism.Event) bool {
			return strings.HasSuffix("/"+e.Path, "/"+end) && e.Released > 0
		}) {
			t.Errorf("%s was not released", end)
		}
	}
}

func firstRows(n int) []int32 {
	out := make([]int32, n)
	for i := range out {
		out[i] = int32(i)
	}
	return out
}

// TestUnitReplayOnTinyTables replays tables of 0 to 3 records, of one patient and of several, on [replayedNeighbours].
func TestUnitReplayOnTinyTables(t *testing.T) {
	r, p, tab := loadExample(t, "../../examples/unit.yaml")
	plan := planPipeline(t, p)
	for n := range 4 {
		for seed := range byte(3) {
			small := tab.Select(firstRows(n)).Compact()
			neighbours := replayedNeighbours(t, allNeighbours(t, p, small), n+int(seed))
			faults, _ := replayOn(t, r, p, plan, small, seed, neighbours)
			for _, f := range faults {
				t.Errorf("%d rows: %s", n, f)
			}
		}
	}
}

// TestReplayDetectsSeveralUnits checks that several whole units at once move releases farther than declared for one.
func TestReplayDetectsSeveralUnits(t *testing.T) {
	r, p, tab := loadExample(t, "../../examples/unit.yaml")
	priced := planPipeline(t, p)
	first := mechanism.NewRecorder(1).KeepColumns()
	recordRelease(t, r, p, priced, tab, first)
	seen := map[uint64]int{}
	for i := range tab.Len() {
		seen[tab.ID(i)]++
	}
	delete(seen, dataset.NoUnit)
	gone := map[uint64]bool{}
	for i := 0; len(gone) < 6; i++ {
		id := tab.ID(i)
		if seen[id] >= p.Budget.Unit.MaxRows {
			gone[id] = true
		}
	}
	fewer, err := rebuild(tab, func(id uint64) bool {
		return gone[id]
	}, nil)
	if err != nil {
		t.Fatal(err)
	}
	second := first.Replay()
	recordRelease(t, r, p, priced, fewer, second)
	faults, _ := mechanism.Compare(first, second)
	if len(faults) == 0 {
		t.Error("several units look like one")
	}
}
