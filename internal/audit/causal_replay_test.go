//go:build replay

package audit

import (
	"context"
	"crypto/sha256"
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/causal"
)

// exampleStudies lists the example recipes that request causal directions.
func exampleStudies(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../examples/causal/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example studies: %v", err)
	}
	return files
}

// loadStudy loads one of the studies, with its table.
func loadStudy(t *testing.T, file string) (*recipe.Recipe, causal.Study, *dataset.Table) {
	t.Helper()
	r, err := recipe.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	header, err := dataset.Header(r.DataFile(), dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Study(header)
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := dataset.Read(
		context.Background(),
		r.DataFile(),
		s.Schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r, s, table
}

// recordStudy runs a study under a recorder, writes its results as the command does, and returns the contents of
// release/.
func recordStudy(
	t *testing.T,
	r *recipe.Recipe,
	plan *causal.Plan,
	table *dataset.Table,
	rec *mechanism.Recorder,
) map[string]string {
	t.Helper()
	res, err := plan.RunRecorded(context.Background(), table, rec)
	if err != nil {
		t.Fatal(err)
	}
	var public []byte
	if r != nil {
		if public, err = r.Public(); err != nil {
			t.Fatal(err)
		}
	}
	dir := t.TempDir()
	err = report.Write(
		context.Background(),
		dir,
		report.Collect(report.NewCausal(res), nil, res.Curator, nil, public, ""),
		true,
	)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(filepath.Join(dir, report.ReleaseDir))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(dir, report.ReleaseDir, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		out[e.Name()] = string(content)
	}
	return out
}

// planStudy plans a study.
func planStudy(t *testing.T, s causal.Study) *causal.Plan {
	t.Helper()
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// replayStudy runs a study on a table and on each neighbour.
func replayStudy(
	t *testing.T,
	r *recipe.Recipe,
	s causal.Study,
	table *dataset.Table,
	first *mechanism.Recorder,
) (faults []string, closest float64) {
	t.Helper()
	neighbours, err := Neighbours(table, s.Budget.Relation)
	if err != nil {
		t.Fatal(err)
	}
	plan := planStudy(t, s)
	published := recordStudy(t, r, plan, table, first)
	return compareNeighbours(
		first,
		neighbours,
		func(table *dataset.Table, rec *mechanism.Recorder) bool {
			return maps.Equal(published, recordStudy(t, r, plan, table, rec))
		},
	)
}

// TestStudyRecordAndReplay replays every example study on its table and on neighbours of it. The bound of some
// release must be attained.
func TestStudyRecordAndReplay(t *testing.T) {
	for _, file := range exampleStudies(t) {
		r, s, table := loadStudy(t, file)
		for seed := byte(1); int(seed) <= testkit.Size(1, 2); seed++ {
			faults, closest := replayStudy(t, r, s, table, mechanism.NewRecorder(seed))
			for _, f := range faults {
				t.Errorf(
					"%s, seed %d: %s",
					filepath.Base(file), seed, f,
				)
			}
			if closest < 1-1e-9 {
				t.Errorf(
					"%s, seed %d: no input came closer to its bound than %v of it",
					filepath.Base(file),
					seed,
					closest,
				)
			}
		}
	}
}

// tinyStudy returns a study of a table of ten records under a relation, with declared ranges or without.
func tinyStudy(
	t *testing.T,
	rel budget.Relation,
	declared bool,
) (causal.Study, *dataset.Table) {
	t.Helper()
	s := causal.Study{Bins: 6, Budget: budget.Target{Epsilon: 5, Relation: rel}}
	for _, name := range []string{"a", "b"} {
		s.Schema.Columns = append(
			s.Schema.Columns,
			dataset.Column{
				Name:   name,
				Ranged: declared,
				Lower:  map[bool]float64{true: -1}[declared],
				Upper:  map[bool]float64{true: 1}[declared],
			},
		)
	}
	var x, y []float64
	for i := range 10 {
		at := float64(2*i-9) / 10
		x = append(x, at)
		y = append(y, at*at-.3+at/7)
	}
	table, err := dataset.NewTable(
		s.Schema,
		[]dataset.ColumnData{{Floats: x}, {Floats: y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return s, table
}

// TestStudyMovesOneCell checks that an added or removed record moves one cell of the histogram by 1, whatever its
// values, and that a replaced one moves at most two cells.
func TestStudyMovesOneCell(t *testing.T) {
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		s, table := tinyStudy(t, rel, true)
		neighbours, err := Neighbours(table, rel)
		if err != nil {
			t.Fatal(err)
		}
		plan := planStudy(t, s)
		cells := func(tab *dataset.Table) []int64 {
			rec := mechanism.NewRecorder(3)
			recordStudy(t, nil, plan, tab, rec)
			releases := rec.Releases()
			if len(releases) != 1 {
				t.Fatalf("%d releases", len(releases))
			}
			return releases[0].Input
		}
		base := cells(table)
		farthest := 0.
		for _, n := range neighbours {
			moved := 0.
			number := 0
			for i, x := range cells(n.Table) {
				d := math.Abs(float64(x-base[i])) / (1 << 20)
				if d != 0 {
					moved += d
					number++
				}
			}
			farthest = max(farthest, moved)
			most := 1 + float64(rel)
			if moved > most || float64(number) != moved {
				t.Errorf(
					"%v, %s: %d cells moved by %v in all",
					rel, n.Name, number, moved,
				)
			}
		}
		if farthest != 1+float64(rel) {
			t.Errorf(
				"%v: the farthest neighbour moved cells by %v",
				rel, farthest,
			)
		}
	}
}

// TestStudyFaults checks that planted faults are found, and that there are no findings without a fault.
func TestStudyFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		fault mechanism.Fault
		rel   budget.Relation
		says  string
	}{
		{"none", 0, budget.AddRemove, ""},
		{"none", 0, budget.Substitute, ""},
		{"bins at quantiles of the records", mechanism.BinsFromData, budget.AddRemove,
			"times the declared sensitivity"},
		{"range of the records", mechanism.RangeFromData, budget.AddRemove,
			"times the declared sensitivity"},
		{"noise 1/epsilon under substitution", mechanism.RelationMixed, budget.Substitute,
			"2 times the declared sensitivity"},
		{"redraws of exact counts", mechanism.RedrawsFromExact, budget.AddRemove,
			"what is published depends on the record"},
	} {
		s, table := tinyStudy(t, c.rel, true)
		faults, _ := replayStudy(
			t, nil, s, table,
			mechanism.NewRecorder(5).Plant(c.fault),
		)
		caught := strings.Contains(strings.Join(faults, "\n"), c.says)
		if (c.fault != 0) != (len(faults) > 0) || !caught {
			t.Errorf(
				"%s under %v: %d faults found, %q",
				c.name,
				c.rel,
				len(faults),
				faults[:min(len(faults), 3)],
			)
		}
	}
}

// TestBaselineRecordAndReplay checks that replacing a record at any position moves no release of the baseline by more
// than its bound if all records are protected, and moves no release at all if only the test records are.
func TestBaselineRecordAndReplay(t *testing.T) {
	for _, c := range []struct {
		score string
		test  bool
	}{
		{"hsic", false},
		{"hsic", true},
		{"spearman", true},
		{"kendall", true},
		{"iqr", true},
	} {
		s, table := tinyStudy(t, budget.Substitute, true)
		s.Bins = 0
		s.Score = c.score
		s.TestOnly = c.test
		first := mechanism.NewRecorder(7)
		plan := planStudy(t, s)
		recordStudy(t, nil, plan, table, first)
		neighbours, err := Neighbours(table, budget.Substitute)
		if err != nil {
			t.Fatal(err)
		}
		broken := 0
		moved := false
		for _, n := range neighbours {
			second := first.Replay()
			recordStudy(t, nil, plan, n.Table, second)
			faults, ratio := mechanism.Compare(first, second)
			moved = moved || ratio > 0
			if len(faults) > 0 {
				broken++
			}
		}
		if broken > 0 && !c.test || !moved {
			t.Errorf(
				"%s, test %v: %d of %d neighbours break the bound, moved %v",
				c.score,
				c.test,
				broken,
				len(neighbours),
				moved,
			)
		}
	}
}

// studyBytes lists the hashes of the releases of the example studies under one key.
func studyBytes(t *testing.T) []string {
	t.Helper()
	var lines []string
	for _, file := range exampleStudies(t) {
		r, s, table := loadStudy(t, file)
		for name, content := range recordStudy(
			t,
			r,
			planStudy(t, s),
			table,
			mechanism.NewRecorder(1),
		) {
			lines = append(
				lines,
				fmt.Sprintf(
					"%x  causal/%s/%s",
					sha256.Sum256([]byte(content)),
					filepath.Base(file),
					name,
				),
			)
		}
	}
	return lines
}
