//go:build replay

package boosting

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/method"
)

// trainRecorded runs a trainer under a recorder.
func (x sample) trainRecorded(
	t *testing.T,
	trainer related,
	tab *dataset.Table,
	rec *mechanism.Recorder,
) *method.Fit {
	t.Helper()
	node, err := trainer.Plan(x.runFacts(trainer.relation))
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: trainer.relation,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	x.tab = tab
	fit, err := trainer.Fit(
		context.Background(),
		mechanism.NewRecordedSession(priced, rec),
		x.trainingData(trainer.relation),
	)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// A neighbour is a table that differs from another by one record.
type neighbour struct {
	name  string
	table *dataset.Table
}

// neighbourTables returns tables that differ from the sample at the first, middle and last position. Depending on the
// relation, the record there is removed, added, or replaced, or only its private columns are replaced.
func (x sample) neighbourTables(t *testing.T, rel budget.Relation) []neighbour {
	t.Helper()
	var out []neighbour
	add := func(at, drop int, row *[5]float64, format string, args ...any) {
		data := make([]dataset.ColumnData, 5)
		ids := splice(
			idsOf(x.tab.Len()), at,
			drop, row != nil, uint64(at),
		)
		if drop == 0 {
			ids[at] = 1 << 40 // its own identity
		}
		for j, c := range x.columns {
			value := 0.
			if row != nil {
				value = row[j]
			}
			if c.Kind == dataset.Numeric {
				data[j].Floats = splice(
					x.tab.Float(j), at, drop,
					row != nil, value,
				)
			} else {
				data[j].Codes = splice(
					x.tab.Codes(j), at, drop,
					row != nil, int32(value),
				)
			}
		}
		tab, err := dataset.NewTable(dataset.Schema{Columns: x.columns}, data, ids)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, neighbour{fmt.Sprintf(format, args...), tab})
	}
	for _, at := range []int{
		0, x.tab.Len() / 2,
		x.tab.Len() - 1,
	} {
		if rel == budget.AddRemove {
			add(at, 1, nil, "record %d removed", at)
		}
		for _, v := range []float64{
			-1, 1, 0, 1e300,
			math.NaN(),
			math.Inf(-1),
		} {
			for code := range 4 {
				row := [5]float64{
					v, v, float64(code % 3),
					float64(code), float64(code % 3),
				}
				if rel == budget.SubstitutePrivateColumns { // public columns stay the same
					row[0] = x.tab.Float(0)[at]
					row[2] = float64(x.tab.Codes(2)[at])
					row[4] = float64(x.tab.Codes(4)[at])
				}
				drop := 1
				if rel == budget.AddRemove {
					drop = 0
				}
				add(at, drop, &row, "record %d is %v", at, row)
			}
		}
	}
	return out
}

func idsOf(n int) []uint64 {
	out := make([]uint64, n)
	for i := range out {
		out[i] = uint64(i)
	}
	return out
}

// splice returns the list with drop elements removed at a position and, if insert is true, a value inserted there.
func splice[T any](list []T, at, drop int, insert bool, value T) []T {
	out := slices.Clone(list[:at])
	if insert {
		out = append(out, value)
	}
	return append(out, list[at+drop:]...)
}

// TestBRCReplays checks with the recorded agreements in place that the model is the same on every neighbour and that
// no input moved further than declared. Over 100 rounds the bound is attained.
func TestBRCReplays(t *testing.T) {
	for name, trainer := range map[string]related{
		"add-remove": {},
		"substitute": {relation: budget.Substitute},
		"Laplace":    {BRC: BRC{Form: Laplace}},
		"published":  {BRC{Form: Paper, Rounds: 100}, budget.Substitute},
		"chosen intercept": {BRC: BRC{
			Intercept: chosenIntercept,
			Lower:     .25,
			Upper:     3,
		}},
		"chosen, substitute": {
			BRC{Intercept: chosenIntercept, Form: Laplace},
			budget.Substitute,
		},
		"no intercept":    {BRC: BRC{Intercept: zeroIntercept}},
		"private columns": {BRC{}, budget.SubstitutePrivateColumns},
		"published, private columns": {
			BRC{Form: Paper, Rounds: 100},
			budget.SubstitutePrivateColumns,
		},
	} {
		n := 6
		if trainer.relation == budget.SubstitutePrivateColumns {
			n = 40 // so many that public features alone are not enough
		}
		x := classSample(t, n)
		first := mechanism.NewRecorder(9)
		want := x.trainRecorded(t, trainer, x.tab, first)
		closest := 0.
		for _, n := range x.neighbourTables(t, trainer.relation) {
			second := first.Replay()
			got := x.trainRecorded(t, trainer, n.table, second)
			faults, ratio := mechanism.Compare(first, second)
			closest = max(closest, ratio)
			for _, f := range faults {
				t.Errorf(
					"%s, %s: %s",
					name, n.name, f,
				)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf(
					"%s, %s: the model depends on the record",
					name, n.name,
				)
			}
		}
		t.Logf(
			"%s: %.3f of the bound",
			name, closest,
		)
		least := .999
		if closest < least && trainer.Form != Paper || closest < .5 {
			t.Errorf(
				"%s: the bound was approached to %.3f only",
				name, closest,
			)
		}
	}
}

// TestPublicSideIsPublic checks that, given the released agreements, the public classifiers and the weights they are
// fitted with are the same bit for bit, whatever the private columns of all records contain. The private weights do
// differ, so the test would detect a dependence.
func TestPublicSideIsPublic(t *testing.T) {
	x := classSample(t, 400)
	for _, trainer := range []BRC{{}, {Form: Paper}} {
		const rel = budget.SubstitutePrivateColumns
		set, err := trainer.settings()
		if err != nil {
			t.Fatal(err)
		}
		node, err := trainer.Plan(x.runFacts(rel))
		if err != nil {
			t.Fatal(err)
		}
		priced, err := budget.Calibrate(
			budget.Sequence("run", node),
			budget.Target{
				Epsilon:  1,
				Delta:    1e-6,
				Relation: rel,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		run := func(tab *dataset.Table, rec *mechanism.Recorder) *brcRun {
			s := mechanism.NewRecordedSession(priced, rec).Sub(brcNode).Sub(classNode(0))
			y := sample{tab, x.columns, x.ranges}
			b, err := newRun(context.Background(), s, set, y.trainingData(rel), 1)
			if err != nil {
				t.Fatal(err)
			}
			b.records = float64(tab.Len())
			if err := b.boost(context.Background()); err != nil {
				t.Fatal(err)
			}
			return b
		}
		first := mechanism.NewRecorder(4)
		a := run(x.tab, first)
		if a.publicRounds == 0 {
			t.Fatal("no public round: the test would see nothing")
		}
		p := testrows.Points(99)
		for name, cell := range map[string]func(i int) (float64, int32){
			"random": func(i int) (float64, int32) {
				return 3 * p.Next(), int32(i / 3 % 4)
			},
			"missing": func(int) (float64, int32) {
				return math.NaN(), 3
			},
			"infinite": func(i int) (float64, int32) {
				return math.Inf(i%2*2 - 1), int32(i % 4)
			},
			"huge": func(i int) (float64, int32) {
				return math.Copysign(1e308, p.Next()), 0
			},
			"the label": func(i int) (float64, int32) {
				return float64(x.tab.Codes(4)[i]), x.tab.Codes(4)[i]
			},
			"the public column": func(i int) (float64, int32) {
				return x.tab.Float(0)[i], x.tab.Codes(2)[i]
			},
		} {
			bs := make([]float64, 400)
			ss := make([]int32, 400)
			for i := range bs {
				bs[i], ss[i] = cell(i)
			}
			other, err := dataset.NewTable(
				dataset.Schema{Columns: x.columns},
				[]dataset.ColumnData{
					{Floats: x.tab.Float(0)},
					{Floats: bs},
					{Codes: x.tab.Codes(2)},
					{Codes: ss},
					{Codes: x.tab.Codes(4)},
				},
				nil,
			)
			if err != nil {
				t.Fatal(err)
			}
			b := run(other, first.Replay())
			if !reflect.DeepEqual(a.public, b.public) ||
				!reflect.DeepEqual(a.members, b.members) ||
				!reflect.DeepEqual(a.start, b.start) {
				t.Errorf("private columns that are %s reach the public classifier", name)
			}
			if reflect.DeepEqual(a.private.weights, b.private.weights) {
				t.Errorf(
					"the private weights do not depend on private columns that are %s: the test would see nothing",
					name)
			}
		}
	}
}
