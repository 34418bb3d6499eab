//go:build replay

package audit

import (
	"context"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

var (
	recipes     = flag.Int("recipes", testkit.Size(20, 40), "random recipes that are replayed")
	firstRecipe = flag.Uint64("first", 1, "the seed of the first random recipe")
)

// outcomes counts the outcomes of the random recipes.
type outcomes struct {
	sync.Mutex
	ran, refused, pairs, failed, without int
	closest                              float64
	leaves                               map[string]int
}

// TestReplayRandomRecipes replays random recipes, each on its own table and on hostile neighbours of it. No release
// sees inputs farther apart than it declares, published values depend on the record or unit only through releases,
// and a run that fails does so on both tables. At least half of the recipes have a plan.
func TestReplayRandomRecipes(t *testing.T) {
	sum := &outcomes{leaves: map[string]int{}}
	t.Run("all", func(t *testing.T) {
		for seed := *firstRecipe; seed < *firstRecipe+uint64(*recipes); seed++ {
			t.Run(fmt.Sprint(seed), func(t *testing.T) {
				t.Parallel()
				replayRandom(t, seed, 0, sum)
			})
		}
	})
	t.Logf(
		"%d recipes ran, %d have no plan; %d pairs of tables, %d recipes end with an error on both, %d without a model; closest %.6f; releases %v",
		sum.ran,
		sum.refused,
		sum.pairs,
		sum.failed,
		sum.without,
		sum.closest,
		sum.leaves,
	)
	if 2*sum.ran < sum.ran+sum.refused {
		t.Errorf(
			"%d of %d recipes have a plan, want half",
			sum.ran, sum.ran+sum.refused,
		)
	}
	if 20*sum.failed > sum.ran {
		t.Errorf(
			"%d of %d recipes end with an error",
			sum.failed, sum.ran,
		)
	}
	if *recipes >= 20 && (sum.closest < .9 || sum.closest > 1) {
		t.Errorf(
			"the closest release came within %.3f of its declared sensitivity",
			sum.closest,
		)
	}
}

// TestReplayRandomRecipesSeeFaults checks that some of the recipes find a fault that is planted in the sessions.
func TestReplayRandomRecipesSeeFaults(t *testing.T) {
	for name, fault := range map[string]mechanism.Fault{
		"clip":  mechanism.ClipNotCharged,
		"count": mechanism.ExactCount,
	} {
		found := false
		for seed := uint64(1); seed <= 2000 && !found; seed++ {
			if fault == mechanism.ExactCount &&
				!strings.Contains(newMaker(seed).drawRecipe(), "method: svm") {
				continue // the count determines the penalty of svm only
			}
			found = len(randomFaults(
				t,
				seed,
				fault,
				&outcomes{leaves: map[string]int{}},
			)) > 0
		}
		if !found {
			t.Errorf("%s: not found", name)
		}
	}
}

func replayRandom(t *testing.T, seed uint64, fault mechanism.Fault, sum *outcomes) {
	t.Helper()
	for _, f := range randomFaults(t, seed, fault, sum) {
		t.Error(f)
	}
}

// randomFaults replays the recipe of a seed and returns the faults found.
func randomFaults(
	t *testing.T,
	seed uint64,
	fault mechanism.Fault,
	sum *outcomes,
) []string {
	t.Helper()
	m := newMaker(seed)
	text := m.drawRecipe()
	r, p, priced := planRecipe(t, m, text)
	sum.Lock()
	if p == nil {
		sum.refused++
	} else {
		sum.ran++
	}
	sum.Unlock()
	if p == nil {
		return nil
	}
	rows := []int{0, 1, 2, 10, 40, 200}[m.IntN(6)]
	if strings.Contains(text, "tukey") && m.chance(.5) {
		rows = 1500
	}
	tab := m.drawTable(t, p.Schema, rows)
	first := mechanism.NewRecorder(byte(seed)).ForceTries(3).Plant(fault)
	before, failed := publishRun(t, r, p, priced, tab, first)
	var faults []string
	closest := 0.
	pairs := 0
	for _, n := range m.drawNeighbours(t, p, tab) {
		second := first.Replay()
		after, failedToo := publishRun(t, r, p, priced, n.Table, second)
		pairs++
		found, ratio := mechanism.Compare(first, second)
		closest = max(closest, ratio)
		if failed != failedToo {
			found = append(
				found,
				fmt.Sprintf("one run ends with %q, the other with %q", failed, failedToo),
			)
		}
		if !maps.Equal(before, after) {
			found = append(found, "what is published depends on the record")
		}
		for _, f := range found {
			faults = append(
				faults,
				fmt.Sprintf(
					"seed %d, %d records, %s: %s\n%s",
					seed, rows, n.Name, f, text,
				),
			)
		}
	}
	sum.Lock()
	defer sum.Unlock()
	sum.pairs += pairs
	sum.closest = max(sum.closest, closest)
	if failed != "" {
		sum.failed++
		t.Logf(
			"seed %d ends with %s\n%s",
			seed, failed, text,
		)
	} else if before["model.json"] == "" {
		sum.without++
	}
	for _, rel := range first.Releases() {
		sum.leaves[rel.Path[strings.LastIndexByte(rel.Path, '/')+1:]]++
	}
	return faults
}

// planRecipe returns the run of a recipe and its plan, or nil values for a recipe that is refused.
func planRecipe(
	t *testing.T, m *maker, text string,
) (*recipe.Recipe, *pipeline.Pipeline, *pipeline.Plan) {
	t.Helper()
	r, problems := recipe.Parse("", []byte(text))
	if len(problems) > 0 {
		t.Logf("refused: %v", problems[0])
		return nil, nil, nil
	}
	names := m.names
	if m.unit {
		names = append(slices.Clone(names), "u")
	}
	p, err := r.Pipeline(names)
	if err != nil {
		t.Logf("refused: %v", err)
		return nil, nil, nil
	}
	priced, err := p.Plan()
	if err == nil {
		err = p.Rehearse(t.Context(), priced)
	}
	if err != nil {
		t.Logf("refused: %v", err)
		return nil, nil, nil
	}
	return r, p, priced
}

// drawNeighbours returns some of the neighbours of a table used by the other tests, of every kind of the relation, and
// some with a record, or a unit, whose cells are drawn independently.
func (m *maker) drawNeighbours(
	t *testing.T,
	p *pipeline.Pipeline,
	tab *dataset.Table,
) []Neighbour {
	t.Helper()
	all, err := Neighbours(tab, p.Budget.Relation)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(all, func(a, b Neighbour) int {
		return strings.Compare(a.Name, b.Name)
	})
	m.Shuffle(len(all), func(i, j int) {
		all[i], all[j] = all[j], all[i]
	})
	all = all[:min(4, len(all))]
	for range 4 {
		replace := p.Budget.Relation != budget.AddRemove
		if replace && tab.Len() == 0 {
			continue
		}
		at := m.IntN(tab.Len() + 1)
		if replace {
			at = min(at, tab.Len()-1)
		}
		record := m.drawRecord(p.Schema, true)
		if p.Budget.Relation == budget.SubstitutePrivateColumns {
			keepPublic(record, tab, at)
		}
		var n *dataset.Table
		if m.unit {
			fresh := unusedID(tab)
			extra := []placed{{at, fresh, record}}
			for range m.IntN(6) {
				extra = append(
					extra,
					placed{
						m.IntN(tab.Len() + 1),
						fresh,
						m.drawRecord(p.Schema, m.chance(.7)),
					},
				)
			}
			n, err = rebuild(tab, func(uint64) bool {
				return false
			}, extra)
		} else {
			n, err = editTable(tab, at, replace, record)
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(
			all,
			Neighbour{fmt.Sprintf("drawn cells %v at %d", record, at), n},
		)
	}
	return all
}

// publishRun runs a pipeline and returns the contents of release/, or the error of the run.
func publishRun(
	t *testing.T,
	r *recipe.Recipe,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	tab *dataset.Table,
	rec *mechanism.Recorder,
) (map[string]string, string) {
	t.Helper()
	res, err := p.FitRecorded(
		context.Background(), plan, tab,
		pipeline.Options{}, rec,
	)
	if err != nil {
		return nil, err.Error()
	}
	public, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := report.Collect(
		report.New(res),
		res.Model,
		res.Curator,
		&dataset.Stats{Rows: tab.Len()},
		public,
		"",
	)
	if err := report.Write(t.Context(), dir, files, true); err != nil {
		return nil, err.Error()
	}
	out := map[string]string{}
	err = filepath.WalkDir(
		filepath.Join(dir, report.ReleaseDir),
		func(path string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			content, err := os.ReadFile(path)
			out[filepath.Base(path)] = string(content)
			return err
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return out, ""
}
