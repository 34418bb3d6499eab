package scaling

import (
	"context"
	"math"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestPublicColumnsAreFree checks that under private columns the range of a public column is exact and has no leaf in
// the plan, and that under the other relations it is released like any other.
func TestPublicColumnsAreFree(t *testing.T) {
	x := append(rampValues(3000, -3, 40), math.NaN())
	tab, columns := numericTable(t, x, x)
	columns[1].Private = true
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		_, private := (Private{
			Columns:  columns[:1],
			Target:   -1,
			Relation: rel,
		}).Plan()
		if !private {
			t.Errorf(
				"%v: a range that is private is not priced",
				rel,
			)
		}
	}
	p := Private{
		Columns:  columns,
		Target:   -1,
		Relation: budget.SubstitutePrivateColumns,
	}
	_, private := (Private{
		Columns:  columns[:1],
		Target:   -1,
		Relation: p.Relation,
	}).Plan()
	if private {
		t.Error("a public range is priced")
	}
	node, _ := p.Plan()
	priced, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  5,
			Delta:    1e-6,
			Relation: p.Relation,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Run(
		context.Background(),
		s.Sub("scaling"),
		memory.NewRecords(tab.View()),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := (Range{
		Lower:     x[0],
		Upper:     x[2999],
		Exact:     true,
		HasMedian: true,
		Median:    x[1499],
		Numbers:   Count{Value: 3000},
	})
	if got[0] != want {
		t.Errorf(
			"range %+v, want %+v",
			got[0], want,
		)
	}
	if got[1].Exact ||
		got[1].Declared ||
		got[1].Lower == x[0] {
		t.Errorf(
			"the private column has the range %+v",
			got[1],
		)
	}
	// One of two columns is private, so only one needs noise.
	e := s.Events()[0]
	if math.Abs(e.Sensitivity-math.Sqrt2) > 1e-9 {
		t.Errorf("sensitivity %v, want sqrt2", e.Sensitivity)
	}
}

// TestExactIsTotal checks that the range of any column is finite, contains every finite value that float64 can scale,
// and can be used for scaling.
func TestExactIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOf(rapid.Float64()).Draw(t, "x")
		schema := dataset.Schema{Columns: []dataset.Column{{Name: "a"}}}
		tab, err := dataset.NewTable(schema, []dataset.ColumnData{{Floats: x}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Exact(
			context.Background(),
			mechanism.NewMaker(budget.SubstitutePrivateColumns),
			memory.NewRecords(tab.View()),
			0,
		)
		if err != nil ||
			!r.Exact ||
			!(r.Half() > 0) ||
			math.IsInf(r.Upper-r.Lower, 0) {
			t.Fatalf("%+v, %v", r, err)
		}
		for _, v := range x {
			if math.Abs(v) < widest &&
				(v < r.Lower || v > r.Upper) {
				t.Fatalf("%v is outside %+v", v, r)
			}
		}
	})
}

// TestExactRangesOfMostRecords checks that with a private target the exact range of a public column leaves out
// extreme values, and that a nearly constant column keeps all of its values.
func TestExactRangesOfMostRecords(t *testing.T) {
	const n = 1000
	x := make([]float64, n)
	rare := make([]float64, n)
	y := make([]float64, n)
	for i := range n {
		x[i] = float64(i)
	}
	x[n-1] = 1e9
	rare[7] = 5
	columns := []dataset.Column{
		{Name: "x"},
		{Name: "rare"},
		{
			Name:    "y",
			Ranged:  true,
			Lower:   0,
			Upper:   1,
			Private: true,
		},
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: columns},
		[]dataset.ColumnData{{Floats: x}, {Floats: rare}, {Floats: y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	p := Private{
		Columns:  columns,
		Target:   2,
		Relation: budget.SubstitutePrivateColumns,
	}
	out := make([]Range, 2)
	err = exactRanges(
		context.Background(),
		mechanism.NewMaker(p.Relation),
		memory.NewRecords(tab.View()),
		[]int{0, 1},
		p.tails(),
		out,
	)
	if err != nil {
		t.Fatal(err)
	}
	middle := 499.5
	half := 1.6 * (959 - 40) / 2
	if math.Abs(out[0].Lower-(middle-half)) > 1 ||
		math.Abs(out[0].Upper-(middle+half)) > 1 ||
		out[0].Numbers.Value != n {
		t.Errorf(
			"x: %+v, want about %v to %v",
			out[0], middle-half, middle+half,
		)
	}
	if out[1].Lower != 0 || out[1].Upper != 5 {
		t.Errorf(
			"a nearly constant column: %+v",
			out[1],
		)
	}
}
