package pipeline

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/tukey"
	"github.com/dptrain/dptrain/regression"
)

// patientsPipeline returns a table of n records and a pipeline that protects the patient given by a record's identity, with
// at most the number most of records per patient.
func patientsPipeline(
	t testing.TB,
	n, most int,
	id func(i int) uint64,
) (*Pipeline, *dataset.Table) {
	t.Helper()
	schema := dataset.Schema{
		Unit: "patient",
		Columns: []dataset.Column{
			{
				Name:   "x",
				Ranged: true,
				Upper:  1,
			},
			{
				Name:   "y",
				Ranged: true,
				Upper:  2,
			},
		},
	}
	cols := make([]dataset.ColumnData, 2)
	ids := make([]uint64, n)
	for i := range n {
		x := math.Mod(float64(i)*.6180339887, 1)
		cols[0].Floats = append(cols[0].Floats, x)
		cols[1].Floats = append(cols[1].Floats, 2*x*x)
		ids[i] = id(i)
	}
	tab, err := dataset.NewTable(schema, cols, ids)
	if err != nil {
		t.Fatal(err)
	}
	return &Pipeline{
		Schema:  schema,
		Target:  "y",
		Model:   adassp.JointGram{},
		Holdout: .3,
		Budget: budget.Target{
			Epsilon: 1,
			Delta:   1e-6,
			Unit:    budget.Unit{Column: "patient", MaxRows: most},
		},
	}, tab
}

// TestUnitIsRefused checks that a unit that cannot be protected is refused before any row is read.
func TestUnitIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		change func(p *Pipeline)
		want   error
	}{
		"schema without": {func(p *Pipeline) {
			p.Schema.Unit = ""
		}, ErrUnit},
		"budget without": {func(p *Pipeline) {
			p.Budget.Unit = budget.Unit{}
		}, ErrUnit},
		"another column": {func(p *Pipeline) {
			p.Budget.Unit.Column = "ward"
		}, ErrUnit},
		"substitute": {
			func(p *Pipeline) {
				p.Budget.Relation = budget.Substitute
			},
			ErrUnit,
		},
		"private columns": {
			func(p *Pipeline) {
				p.Budget.Relation = budget.SubstitutePrivateColumns
			},
			ErrUnit,
		},
		"no cap": {func(p *Pipeline) {
			p.Budget.Unit.MaxRows = 0
		}, budget.ErrTarget},
		"cap": {
			func(p *Pipeline) {
				p.Budget.Unit.MaxRows = budget.MaxUnitRows + 1
			},
			budget.ErrTarget,
		},
		"feature": {func(p *Pipeline) {
			p.Schema.Unit = "x"
		}, dataset.ErrSchema},
	} {
		p, _ := patientsPipeline(t, 1, 4, func(int) uint64 {
			return 0
		})
		c.change(p)
		_, err := p.Plan()
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnitStaysTogether checks that no unit keeps more records than the cap, and that all kept records of a unit are
// in one part.
func TestUnitStaysTogether(t *testing.T) {
	p, tab := patientsPipeline(t, 3000, 4, func(i int) uint64 {
		return uint64(math.Sqrt(float64(i * 20)))
	})
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(plan.Priced)
	if err != nil {
		t.Fatal(err)
	}
	r := &runner{
		pipeline: p,
		plan:     plan,
		seconds:  map[string]float64{},
	}
	train, held := r.splitRecords(
		s,
		memory.NewRecords(r.limitUnits(s, tab.View())),
	)
	side := map[uint64]int{}
	count := map[uint64]int{}
	total := map[uint64]int{}
	for part, records := range []mechanism.Records{train, held} {
		v, err := records.View(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if v.Len() == 0 {
			t.Error("a part is empty")
		}
		for k := range v.Len() {
			id := v.ID(k)
			if count[id] > 0 && side[id] != part {
				t.Fatalf("unit %d is in both parts", id)
			}
			side[id] = part
			count[id]++
		}
	}
	for i := range tab.Len() {
		total[tab.ID(i)]++
	}
	for id, n := range total {
		if count[id] != min(n, 4) {
			t.Errorf(
				"unit %d keeps %d of %d records",
				id, count[id], n,
			)
		}
	}
}

// TestOneRecordAUnit checks that, if every record is a separate unit and the cap is one, the plan and the noise are
// those of records.
func TestOneRecordAUnit(t *testing.T) {
	p, tab := patientsPipeline(t, 500, 1, func(i int) uint64 {
		return uint64(7 * i)
	})
	unit, err := p.Fit(context.Background(), tab, Options{})
	if err != nil {
		t.Fatal(err)
	}
	q := *p
	q.Schema.Unit = ""
	q.Budget.Unit = budget.Unit{}
	cols := []dataset.ColumnData{
		{Floats: tab.Float(0)},
		{Floats: tab.Float(1)},
	}
	bare, err := dataset.NewTable(q.Schema, cols, nil)
	if err != nil {
		t.Fatal(err)
	}
	record, err := q.Fit(context.Background(), bare, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if unit.Guarantee.Mu != record.Guarantee.Mu ||
		unit.Guarantee.Unit != p.Budget.Unit ||
		record.Guarantee.Unit != (budget.Unit{}) {
		t.Errorf(
			"guarantees %+v and %+v",
			unit.Guarantee, record.Guarantee,
		)
	}
	stated := func(r *Result) *regression.Unit {
		return r.Model.(*regression.Linear).Guarantee.Unit
	}
	u := stated(unit)
	if u == nil ||
		*u != (regression.Unit{Column: "patient", MaxRows: 1}) ||
		stated(record) != nil {
		t.Errorf(
			"the models state the units %+v and %+v",
			u, stated(record),
		)
	}
	for i, e := range record.Events {
		if unit.Events[i] != e {
			t.Errorf(
				"%+v for a unit of one record, %+v for a record",
				unit.Events[i], e,
			)
		}
	}
	if unit.Curator.TrainRows+unit.Curator.HoldoutRows != 500 {
		t.Errorf("%+v", unit.Curator)
	}
}

// TestStrengthOfUnits checks that the automatic choice and the required number of rows are computed from a record's
// part of the noise.
func TestStrengthOfUnits(t *testing.T) {
	p, _ := patientsPipeline(t, 1, 5, func(int) uint64 {
		return 0
	})
	p.Model = nil
	for _, name := range []string{"a", "b", "c", "d", "e"} { // enough to choose among
		p.Schema.Columns = append(p.Schema.Columns, dataset.Column{Name: name})
	}
	q := *p
	q.Budget.Unit.MaxRows = 1
	five, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	one, err := q.Plan()
	if err != nil {
		t.Fatal(err)
	}
	a := 5 * five.modelMu(allBranch)
	b := one.modelMu(allBranch)
	if b <= 0 ||
		math.Abs(a-b) > 1e-12*b {
		t.Errorf(
			"five times the strength for five records is %v, for one %v",
			a, b,
		)
	}
	p.Model = tukey.Tukey{}
	q.Model = tukey.Tukey{}
	p.Budget.Epsilon = 5
	q.Budget.Epsilon = 5
	if five, err = p.Plan(); err != nil {
		t.Fatal(err)
	}
	if one, err = q.Plan(); err != nil {
		t.Fatal(err)
	}
	if five.Records() <= one.Records() {
		t.Errorf(
			"%d rows are needed for five records a unit, %d for one",
			five.Records(),
			one.Records(),
		)
	}
}
