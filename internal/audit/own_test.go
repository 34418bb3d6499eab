package audit

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// ownPipeline is a small run whose columns a and y have no declared range.
func ownPipeline(rel budget.Relation, unit string) *pipeline.Pipeline {
	p := &pipeline.Pipeline{
		Schema: dataset.Schema{
			Columns: []dataset.Column{
				{Name: "a", Private: rel == budget.SubstitutePrivateColumns},
				{
					Name:   "b",
					Ranged: true,
					Lower:  0,
					Upper:  10,
				},
				{Name: "y"},
				{
					Name:       "k",
					Kind:       dataset.Category,
					Categories: []string{"u", "v"},
				},
			},
			Unit: unit,
		},
		Target: "y",
		Model:  adassp.JointGram{},
		Budget: budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: rel,
		},
		Holdout: .1,
	}
	if unit != "" {
		p.Budget.Unit = budget.Unit{Column: unit, MaxRows: 2}
	}
	return p
}

// ownTableOf has n ordinary records, except that the record with index far is an outlier in column a.
func ownTableOf(t *testing.T, p *pipeline.Pipeline, n, far int) *dataset.Table {
	t.Helper()
	columns := make([]dataset.ColumnData, 4)
	ids := make([]uint64, 0, n)
	for i := range n {
		a := float64(i % 5)
		if i == far {
			a = 1e4
		}
		columns[0].Floats = append(columns[0].Floats, a)
		columns[1].Floats = append(columns[1].Floats, float64(i%7))
		columns[2].Floats = append(
			columns[2].Floats,
			float64(3*(i%5)),
		)
		columns[3].Codes = append(columns[3].Codes, int32(i%2))
		id := uint64(i / 3)
		if i%10 == 9 {
			id = dataset.NoUnit
		}
		ids = append(ids, id)
	}
	if p.Schema.Unit == "" {
		ids = nil
	}
	tab, err := dataset.NewTable(p.Schema, columns, ids)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// neighboursOf returns all tables that OwnTable compares with one.
func neighboursOf(
	t *testing.T,
	p *pipeline.Pipeline,
	tab *dataset.Table,
	records int,
) (names []string, tables []*dataset.Table) {
	t.Helper()
	w := &owner{
		pipeline: p,
		table:    tab,
		ends:     endsOf(tab),
	}
	for _, c := range w.changes(records, func(i int) uint64 {
		return uint64(i * 7919 % 101)
	}) {
		n, err := c.make()
		if err != nil {
			t.Fatal(c.name, err)
		}
		names = append(names, c.name)
		tables = append(tables, n)
	}
	return names, tables
}

// rowsOf counts the records of a table by content and unit.
func rowsOf(tab *dataset.Table) map[string]int {
	out := map[string]int{}
	for i := range tab.Len() {
		var b strings.Builder
		for _, c := range recordOf(tab, i) {
			fmt.Fprintf(&b, "%d %v|", c.code, c.float)
		}
		if tab.Schema().Unit != "" {
			fmt.Fprint(&b, tab.ID(i))
		}
		out[b.String()]++
	}
	return out
}

// countMoved returns the number of records of a that b does not have.
func countMoved(a, b map[string]int) int {
	n := 0
	for k, v := range a {
		n += max(v-b[k], 0)
	}
	return n
}

// TestOwnNeighbours checks that each neighbour differs by one record, or by one whole unit, that outliers come first,
// and that no record is used twice.
func TestOwnNeighbours(t *testing.T) {
	const (
		n   = 40
		far = 17
	)
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute,
		budget.SubstitutePrivateColumns} {
		p := ownPipeline(rel, "")
		tab := ownTableOf(t, p, n, far)
		names, tables := neighboursOf(t, p, tab, 5)
		want := map[budget.Relation]int{budget.AddRemove: 8}[rel]
		if want == 0 {
			want = 5
		}
		if len(names) != want ||
			!strings.HasPrefix(names[0], "record 18 ") ||
			len(slices.Compact(slices.Sorted(slices.Values(names)))) != want {
			t.Fatalf("%v: %q", rel, names)
		}
		all := rowsOf(tab)
		for i, x := range tables {
			gone := countMoved(all, rowsOf(x))
			come := countMoved(rowsOf(x), all)
			wantGone := 1
			wantCome := 1
			switch {
			case strings.Contains(names[i], "removed"):
				wantCome = 0
			case strings.Contains(names[i], "added"):
				wantGone = 0
			}
			if gone != wantGone || come != wantCome {
				t.Errorf(
					"%v, %s: %d records are gone and %d have come",
					rel,
					names[i],
					gone,
					come,
				)
			}
			if rel == budget.SubstitutePrivateColumns &&
				(!slices.Equal(x.Float(1), tab.Float(1)) ||
					!slices.Equal(x.Float(2), tab.Float(2)) ||
					!slices.Equal(x.Codes(3), tab.Codes(3))) {
				t.Errorf("%s: a public cell changed", names[i])
			}
		}
	}
}

// TestOwnUnits checks that whole units are added and removed, and that records without a unit stay.
func TestOwnUnits(t *testing.T) {
	p := ownPipeline(budget.AddRemove, "who")
	tab := ownTableOf(t, p, 40, 17)
	names, tables := neighboursOf(t, p, tab, 5)
	if len(names) != 8 ||
		!strings.HasPrefix(names[0], "the unit of record 16 removed") {
		t.Fatalf("%q", names)
	}
	count := func(x *dataset.Table) map[uint64]int {
		out := map[uint64]int{}
		for i := range x.Len() {
			out[x.ID(i)]++
		}
		return out
	}
	before := count(tab)
	for i, x := range tables {
		after := count(x)
		gone := 0
		come := 0
		for id, k := range before {
			switch after[id] {
			case k:
			case 0:
				gone++
			default:
				t.Errorf(
					"%s: a unit is there in part",
					names[i],
				)
			}
		}
		for id, k := range after {
			if before[id] == 0 {
				come++
				if k != p.Budget.Unit.MaxRows {
					t.Errorf(
						"%s: a unit of %d records",
						names[i], k,
					)
				}
			}
		}
		if gone+come != 1 || after[dataset.NoUnit] != before[dataset.NoUnit] {
			t.Errorf(
				"%s: %d units are gone and %d have come",
				names[i], gone, come,
			)
		}
	}
}

// ownSizes returns the numbers of records of audited tables: none, one and several. Without -full relations other than
// that with index 0 have several only.
func ownSizes(relation int) []int {
	if relation == 0 || *full {
		return []int{0, 1, 30}
	}
	return []int{30}
}

// TestOwnTable checks that a sound run has no violation (false alarm 1e-6 each), whatever its table contains.
func TestOwnTable(t *testing.T) {
	runs := testkit.Size(100, 200)
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute,
		budget.SubstitutePrivateColumns} {
		for _, n := range ownSizes(int(rel)) {
			p := ownPipeline(rel, "")
			tab := ownTableOf(t, p, n, 3)
			v, err := OwnTable(
				context.Background(),
				p,
				tab,
				Options{
					Runs:       runs,
					Records:    3,
					Confidence: 1 - 1e-6,
				},
			)
			if err != nil || len(v.Violations()) > 0 {
				t.Fatalf(
					"%v, %d records: %v, %v",
					rel, n, v.Violations(), err,
				)
			}
			want := min(n, 3)
			if rel == budget.AddRemove {
				want += 2 + min(n, 1)
			}
			if len(v.Pairs) != want ||
				v.Claim.Epsilon > 1 ||
				len(v.Leaves) > 0 ||
				want > 0 && v.Whole.Runs != runs {
				t.Errorf(
					"%v, %d records: %+v",
					rel, n, v,
				)
			}
		}
	}
	p := ownPipeline(budget.AddRemove, "who")
	for _, n := range []int{0, 1, 30} {
		v, err := OwnTable(
			context.Background(),
			p,
			ownTableOf(t, p, n, 3),
			Options{
				Runs:       runs,
				Records:    3,
				Confidence: 1 - 1e-6,
			},
		)
		if err != nil ||
			len(v.Violations()) > 0 ||
			len(v.Pairs) != min(n, 3)+2+min(n, 1) {
			t.Errorf(
				"units of %d records: %+v, %v",
				n, v, err,
			)
		}
	}
}

// TestOwnTableWithExtremeColumns audits tables with columns that are missing, constant or at the ends of float64. Without
// -full only tables with columns of the last kind are audited under substitution.
func TestOwnTableWithExtremeColumns(t *testing.T) {
	p := ownPipeline(budget.AddRemove, "")
	nan := math.NaN()
	for name, a := range map[string][]float64{
		"missing":     {nan, nan, nan, nan},
		"constant":    {7, 7, 7, 7},
		"huge":        {math.MaxFloat64, -math.MaxFloat64, 0, nan},
		"one missing": {1, nan, 3, 1},
	} {
		tab, err := dataset.NewTable(
			p.Schema,
			[]dataset.ColumnData{
				{Floats: a},
				{Floats: a},
				{Floats: a},
				{Codes: []int32{0, 1, 2, 0}},
			},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
			if rel == budget.Substitute && name != "huge" && !*full {
				continue
			}
			q := *p
			q.Budget.Relation = rel
			records := testkit.Size(2, DefaultRecords)
			v, err := OwnTable(
				context.Background(),
				&q,
				tab,
				Options{Runs: 100, Records: records, Confidence: 1 - 1e-6},
			)
			if err != nil || len(v.Pairs) < min(records, 4) {
				t.Errorf(
					"%s, %v: %+v, %v",
					name, rel, v, err,
				)
			}
		}
	}
}

func TestOwnTableMistakes(t *testing.T) {
	p := ownPipeline(budget.AddRemove, "")
	tab := ownTableOf(t, p, 5, 3)
	for _, o := range []Options{
		{Runs: 5},
		{Records: -1},
		{Records: 1001},
		{Confidence: 1},
	} {
		_, err := OwnTable(context.Background(), p, tab, o)
		if !errors.Is(err, ErrOptions) ||
			!errors.Is(o.Check(), ErrOptions) {
			t.Errorf("%+v: %v", o, err)
		}
	}
	other := *p
	other.Schema = dataset.Schema{Columns: p.Schema.Columns[:3]}
	_, err := OwnTable(context.Background(), &other, tab, Options{Runs: 100})
	if !errors.Is(err, pipeline.ErrSchema) {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = OwnTable(ctx, p, tab, Options{Runs: 100})
	if !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// TestPairsOfEveryExample checks that the generated pairs of every example recipe differ by one record, or by one
// whole unit of as many records as are kept.
func TestPairsOfEveryExample(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example recipes: %v", err)
	}
	units := 0
	for _, file := range files {
		p := examplePipeline(t, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		pairs, err := Pairs(p)
		if err != nil || len(pairs) != 3 {
			t.Fatalf(
				"%s: %d pairs, %v",
				file, len(pairs), err,
			)
		}
		for _, pair := range pairs {
			a := rowsOf(pair.Tables[0])
			b := rowsOf(pair.Tables[1])
			gone := 0
			come := 1
			switch {
			case p.Budget.Unit.MaxRows > 0:
				come = p.Budget.Unit.MaxRows
				units++
			case p.Budget.Relation != budget.AddRemove:
				gone = 1
			}
			if countMoved(a, b) != gone || countMoved(b, a) != come {
				t.Errorf(
					"%s, %s: %d records are gone and %d have come",
					file,
					pair.Name,
					countMoved(a, b),
					countMoved(b, a),
				)
			}
			last := pair.Tables[1].Len() - 1
			if p.Schema.Unit != "" &&
				pair.Tables[1].ID(last) != pair.Tables[1].ID(last+1-come) {
				t.Errorf(
					"%s, %s: the records are not one unit",
					file, pair.Name,
				)
			}
		}
	}
	if units == 0 {
		t.Error("no example protects units")
	}
}
