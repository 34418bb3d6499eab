//go:build replay

package audit

import (
	"context"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/describe"
)

// A descriptionRun is a description of testdata/visits.csv.
type descriptionRun struct {
	name    string
	ask     recipe.Description
	change  func(*recipe.Recipe)
	rows    int // that are read; 0 for all
	epsilon string
	// releases are suffixes of the paths of steps that must have been released.
	releases []string
}

func descriptionRuns() []descriptionRun {
	low := 0.
	high := 120.
	ranges := map[string]recipe.Column{
		"age":      {Lower: &low, Upper: &high},
		"pressure": {Lower: &low, Upper: &high},
	}
	all := []string{
		"kinds", "exponents", "bins", "histogram",
		"moments", "matrix",
	}
	return []descriptionRun{
		{
			"undeclared",
			recipe.Description{},
			func(r *recipe.Recipe) {
				r.Data.Exclude = []string{"patient_id"}
			},
			0,
			"2",
			append(all, "counts", "words"),
		},
		{
			"by ward",
			recipe.Description{By: "ward"},
			func(r *recipe.Recipe) {
				r.Data.Exclude = []string{"patient_id"}
			},
			0,
			"3",
			append(all, "counts", "groups"),
		},
		{
			"numbers",
			recipe.Description{Columns: []string{"age", "dose", "weight"}},
			nil,
			0,
			"3",
			all,
		},
		{
			"declared, substitute",
			recipe.Description{Columns: []string{"age", "pressure"}, By: "ward"},
			func(r *recipe.Recipe) {
				r.Data.Columns = maps.Clone(ranges)
				r.Data.Columns["ward"] = recipe.Column{Categories: recipe.Names{List: []string{"day",
					"night"}}}
				r.Privacy.Relation = "substitute"
			},
			300,
			"1",
			[]string{"histogram", "moments", "matrix", "groups"},
		},
		{
			"undeclared, substitute",
			recipe.Description{By: "ward"},
			func(r *recipe.Recipe) {
				r.Data.Exclude = []string{"patient_id"}
				r.Privacy.Relation = "substitute"
			},
			0,
			"4",
			append(all, "counts", "groups"),
		},
		{
			"patients",
			recipe.Description{By: "ward"},
			func(r *recipe.Recipe) {
				r.Privacy.Unit = &recipe.Unit{Column: "patient_id", MaxRows: 3}
			},
			0,
			"6",
			append(all, "groups"),
		},
		{
			"ten records",
			recipe.Description{By: "ward"},
			func(r *recipe.Recipe) {
				r.Data.Exclude = []string{"patient_id"}
				r.Data.Columns = maps.Clone(ranges)
			},
			10,
			"1",
			[]string{"kinds", "exponents"},
		},
		{
			"no record",
			recipe.Description{By: "ward"},
			func(r *recipe.Recipe) {
				r.Data.Exclude = []string{"patient_id"}
			},
			-1,
			"1",
			[]string{"kinds"},
		},
	}
}

// descriptionOf reads the table of a run and plans the description.
func descriptionOf(
	t *testing.T, x descriptionRun,
) (*describe.Plan, *dataset.Table, budget.Relation) {
	t.Helper()
	const file = "../../testdata/visits.csv"
	r, problems := recipe.Options{
		Set: []recipe.Setting{
			recipe.SetText("--data", "data.path", file),
			recipe.SetNumber("--epsilon", "privacy.epsilon", x.epsilon),
		},
		Description: &x.ask,
	}.FromSettings()
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if x.change != nil {
		x.change(r)
	}
	header, err := dataset.Header(file, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := r.Describe(header)
	if err != nil {
		t.Fatal(err)
	}
	table, _, err := dataset.Read(
		context.Background(),
		file,
		s.Schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if x.rows != 0 {
		table = table.Select(firstRows(max(x.rows, 0))).Compact()
	}
	plan, err := s.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return plan, table, s.Budget.Relation
}

// recordDescription runs a description under a recorder, and returns the contents of release/ and the steps.
func recordDescription(
	t *testing.T,
	plan *describe.Plan,
	table *dataset.Table,
	rec *mechanism.Recorder,
) (map[string]string, []mechanism.Event) {
	t.Helper()
	res, err := plan.RunRecorded(context.Background(), table, rec)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	err = report.Write(
		context.Background(),
		dir,
		report.Collect(report.NewDescription(res), nil, res.Curator, nil, nil, ""),
		true,
	)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, name := range []string{"describe.json", "report.html"} {
		content, err := os.ReadFile(filepath.Join(dir, report.ReleaseDir, name))
		if err != nil {
			t.Fatal(err)
		}
		out[name] = string(content)
	}
	return out, res.Events
}

// replayDescription runs a description on a table and on each neighbour.
func replayDescription(
	t *testing.T, x descriptionRun, first *mechanism.Recorder,
) (faults []string, closest float64, events []mechanism.Event) {
	t.Helper()
	plan, table, relation := descriptionOf(t, x)
	neighbours, err := Neighbours(table, relation)
	if err != nil {
		t.Fatal(err)
	}
	published, events := recordDescription(t, plan, table, first)
	faults, closest = compareNeighbours(
		first,
		neighbours,
		func(table *dataset.Table, rec *mechanism.Recorder) bool {
			again, _ := recordDescription(t, plan, table, rec)
			return maps.Equal(published, again)
		},
	)
	return faults, closest, events
}

// TestDescriptionRecordAndReplay replays descriptions of every kind on a table and on neighbours of it. No input
// moves by more than its declared sensitivity, published values depend on the record only through releases, and some
// input comes close to its bound.
func TestDescriptionRecordAndReplay(t *testing.T) {
	for _, x := range descriptionRuns() {
		t.Run(x.name, func(t *testing.T) {
			faults, closest, events := replayDescription(t, x, mechanism.NewRecorder(1))
			for _, f := range faults {
				t.Error(f)
			}
			if closest < .5 || closest > 1+1e-9 {
				t.Errorf("the closest input came within %v of its bound", closest)
			}
			for _, end := range x.releases {
				if !slices.ContainsFunc(events, func(e mechanism.Event) bool {
					return strings.HasSuffix(e.Path, "/"+end) && e.Released > 0
				}) {
					t.Errorf("%s was not released", end)
				}
			}
		})
	}
}

// TestDescriptionFaults checks that planted faults are found.
func TestDescriptionFaults(t *testing.T) {
	for _, c := range []struct {
		name  string
		run   int
		fault mechanism.Fault
	}{
		{"sensitivities of add-remove under substitution", 3, mechanism.RelationMixed},
		{"half of the norm of the matrix", 3, mechanism.ClipNotCharged},
	} {
		faults, _, _ := replayDescription(
			t,
			descriptionRuns()[c.run],
			mechanism.NewRecorder(5).Plant(c.fault),
		)
		if len(faults) == 0 {
			t.Errorf("%s: not caught", c.name)
		}
	}
}

// TestDescriptionLeavesAreAudited checks that each leaf names a statistic that the audit can measure, and that the
// measure does not exceed the claim of the leaf.
func TestDescriptionLeavesAreAudited(t *testing.T) {
	for _, x := range descriptionRuns() {
		plan, _, relation := descriptionOf(t, x)
		for _, l := range plan.Leaves() {
			if _, err := statisticOf(l, relation); err != nil {
				t.Errorf("%s: %v", x.name, err)
			}
		}
	}
}

// TestDescriptionNumbersAreFinite checks that the published descriptions of the runs above contain no infinite
// number.
func TestDescriptionNumbersAreFinite(t *testing.T) {
	for _, x := range descriptionRuns() {
		plan, table, _ := descriptionOf(t, x)
		res, err := plan.RunRecorded(context.Background(), table, mechanism.NewRecorder(2))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range describe.Read(res.Released).Columns {
			for _, v := range []*float64{
				c.Mean.Value, c.Deviation.Upper,
				c.Missing.Upper,
			} {
				if v != nil && math.IsInf(*v, 0) {
					t.Errorf(
						"%s: %s has an infinite number",
						x.name, c.Name,
					)
				}
			}
		}
	}
}
