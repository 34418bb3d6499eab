package boosting

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
)

// coupledSample returns a table of two columns with correlation .8 and a target that depends on both.
func coupledSample(t testing.TB, n int) sample {
	t.Helper()
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -4,
			Upper:  4,
		},
		{
			Name:   "b",
			Ranged: true,
			Lower:  -4,
			Upper:  4,
		},
		{
			Name:   "y",
			Ranged: true,
			Lower:  -5,
			Upper:  5,
		},
	}
	data := make([]dataset.ColumnData, 3)
	p := testrows.Points(3)
	normal := func() float64 { // nearly normal
		sum := 0.
		for range 12 {
			sum += p.Next()
		}
		return sum / 2
	}
	for range n {
		a := normal()
		b := .8*a + .6*normal()
		data[0].Floats = append(data[0].Floats, a)
		data[1].Floats = append(data[1].Floats, b)
		data[2].Floats = append(data[2].Floats, a+math.Abs(b))
	}
	return newSample(t, columns, data)
}

// TestCouplingPredictsChanges checks that the coupling predicts, up to a small error, how much a line, a curve and the
// curve of the score change the predictions of the records of each step, whichever records moved.
func TestCouplingPredictsChanges(t *testing.T) {
	x := coupledSample(t, 20000)
	b := x.readyBooster(t, 30)
	line := []float64{.2, -.1, .05}
	for moving := -1; moving < len(b.shapes); moving++ {
		c := newCoupling(b)
		m := move{Linear: line}
		if moving < 0 {
			c.moveLine(line)
		} else {
			s := b.shapes[moving]
			step := make([]float64, fineBins)
			for k, at := range s.groups.centers {
				step[k] = .3*at + .1
			}
			c.moveShape(s, step[:len(s.values)])
			m = move{Bins: s.bins, Table: step}
		}
		before := b.state.computeView(x.tab.View())
		b.state.Moves = append(b.state.Moves, m)
		after := b.state.computeView(x.tab.View())
		b.state.Moves = b.state.Moves[:len(b.state.Moves)-1]
		for i, s := range b.shapes {
			if i == moving {
				continue
			}
			want := make([]float64, len(s.values))
			wrong := 0.
			size := 0.
			for r, k := range before.bins[s.bins] {
				want[k] += after.f[r] - before.f[r]
			}
			for k, got := range c.shiftOf(s) {
				wrong += square(got - want[k])
				size += square(want[k])
			}
			if !(size > 0) || wrong > .01*size {
				t.Errorf(
					"part %d on shape %d: off by %.3f of the size",
					moving,
					i,
					math.Sqrt(wrong/size),
				)
			}
		}
	}
}

// TestPasses checks that with many records all sums of a round come from one pass. With few records, or next to a
// column of many values, each sum has its own pass.
func TestPasses(t *testing.T) {
	valued, _ := valuedSample(t, 20000, 80, .3)
	for name, c := range map[string]struct {
		x     sample
		each  bool
		asked float64
	}{
		"many":   {coupledSample(t, 20000), false, 1},
		"few":    {coupledSample(t, 300), true, 1},
		"values": {valued, true, 10},
	} {
		b := c.x.readyBooster(t, c.asked)
		rounds := manyRounds
		passes := 1
		if c.each {
			rounds = 1
			passes = 1 + len(b.shapes)
		}
		got := b.passes(0, 0)
		if b.rounds != rounds || len(got) != passes {
			t.Errorf(
				"%s: %d rounds of %d passes",
				name, b.rounds, len(got),
			)
		}
	}
}

// TestRoundsLearn checks that with one pass for all sums the model still explains the effect of correlated columns.
func TestRoundsLearn(t *testing.T) {
	x := coupledSample(t, 20000)
	fit, s := x.trainAdditive(t, 3, budget.AddRemove)
	got, err := fit.Model.Predict(nil, x.modelRows())
	if err != nil {
		t.Fatal(err)
	}
	var wrong, size float64
	for i, y := range x.tab.Float(2) {
		wrong += square(y - got[i])
		size += square(y)
	}
	if wrong > .02*size {
		t.Errorf("R² about %.3f", 1-wrong/size)
	}
	for _, e := range s.Events() {
		if e.Released != e.Law.Draws {
			t.Errorf(
				"%s: %d of %d draws",
				e.Path, e.Released, e.Law.Draws,
			)
		}
	}
}

// TestJointPassIsExact checks that one pass for all sums yields the same sums as a pass for each.
func TestJointPassIsExact(t *testing.T) {
	b := coupledSample(t, 9001).readyBooster(t, 3)
	b.clamp = clamp{limit: .4, slope: 1}
	all := b.passes(0, manyRounds-1)[0]
	joint, err := mechanism.Sum[*sumsPass](
		context.Background(),
		b.session,
		b.records,
		all.sumsStatistic,
	)
	if err != nil {
		t.Fatal(err)
	}
	slices.Reverse(joint.steps) // the last round goes backward
	b.inTurn = true
	b.rounds = 1
	for i, x := range b.passes(0, 0) {
		one, err := mechanism.Sum[*sumsPass](
			context.Background(),
			b.session,
			b.records,
			x.sumsStatistic,
		)
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			if !reflect.DeepEqual(joint.cross.Bound(), one.cross.Bound()) {
				t.Error("the sums of the line differ")
			}
			continue
		}
		if !reflect.DeepEqual(joint.steps[i-1].Bound(), one.steps[0].Bound()) {
			t.Errorf("the sums of shape %d differ", i-1)
		}
	}
}
