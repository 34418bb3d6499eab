package mechanism

import (
	"errors"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// unitSession is a session that protects units of up to m records.
func unitSession(t testing.TB, m int, kids ...budget.Node) *Session {
	t.Helper()
	p, err := budget.Calibrate(
		budget.Sequence("run", kids...),
		budget.Target{
			Epsilon: 1,
			Delta:   1e-6,
			Unit:    budget.Unit{Column: "who", MaxRows: m},
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(p)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// searchUnits adds units of two and three records to the tables of at most one record and compares the change with
// the unit's declared sensitivity. It leaves out bounds that already hold for a whole unit: they need coins by unit,
// which these tables do not have.
func searchUnits(
	t *testing.T,
	alphabet int,
	bound func(s *Session, rows []int) Bounded[Vector],
) {
	t.Helper()
	const most = 500 // tables a size
	for m := 2; m <= 3; m++ {
		s := unitSession(t, m, budget.GaussianLeaf("any", 1, 1))
		total := alphabet + 1
		for range m {
			total *= alphabet
		}
		for at := 0; at < total; at += 1 + total/most {
			var base, unit []int
			rest := at
			for range m {
				unit = append(unit, rest%alphabet)
				rest /= alphabet
			}
			if rest > 0 {
				base = []int{rest - 1}
			}
			x, err := perUnit(
				s, "any", bound(s, base),
				bound(s, base).norm&^OfUnit,
			)
			if err != nil {
				t.Fatal(err)
			}
			y := bound(
				s,
				append(base[:len(base):len(base)], unit...),
			)
			if y.norm&OfUnit != 0 {
				return
			}
			if x.sens < float64(m)*y.sens {
				t.Fatalf(
					"a unit of %d records: the sensitivity %v is below that of so many records, %v each",
					m,
					x.sens,
					y.sens,
				)
			}
			c := changeNorm(x, y)
			if c > x.sens {
				t.Fatalf(
					"unit %v added to %v: change %v above the declared sensitivity %v",
					unit,
					base,
					c,
					x.sens,
				)
			}
		}
	}
}

// TestUnitBoundIsAttained checks that a unit of m equal records moves a histogram and a count by exactly m times the
// bound of a record.
func TestUnitBoundIsAttained(t *testing.T) {
	const m = 5
	s := unitSession(t, m, budget.GaussianLeaf("any", 1, 1))
	histogram := func(n int) Bounded[Vector] {
		h := s.NewHistogram([]int{1, 4}, 3)
		for range n {
			h.Add([][]uint16{{1}, {2}})
		}
		return h.Bound()
	}
	for name, pair := range map[string][2]Bounded[Vector]{
		"histogram": {histogram(0), histogram(m)},
		"count": {
			Alone(s.Count(7)),
			Alone(s.Count(7 + m)),
		},
	} {
		x, err := perUnit(s, "any", pair[0], pair[0].norm)
		if err != nil {
			t.Fatal(err)
		}
		got := changeNorm(pair[0], pair[1]) / x.sens
		if got > 1 || got < 1-1e-9 {
			t.Errorf(
				"%s: the change is %.12f of the unit's bound, want all of it",
				name, got,
			)
		}
	}
}

// TestReleasesForUnits checks that every release with noise declares m times the sensitivity of a record and adds m
// times the noise, for the same privacy parameters; Mu is that of a record.
func TestReleasesForUnits(t *testing.T) {
	const m = 4
	type released struct {
		event Event
		mu    float64
	}
	run := func(records int) map[string]released {
		unit := budget.Unit{Column: "who", MaxRows: records}
		if records == 0 {
			unit = budget.Unit{}
		}
		p, err := budget.Calibrate(
			budget.Sequence("run",
				budget.GaussianLeaf("vector", .1, 1),
				budget.GaussianLeaf("symmetric", .1, 1),
				budget.GaussianLeaf("weighted", .1, 1),
				budget.GaussianLeaf("part", .1, 1),
				budget.LaplaceLeaf("count", .1, 1),
				budget.ExponentialLeaf("choice", .1, 1),
				budget.ExponentialLeaf("top", .1, 1),
				budget.ExponentialLeaf("peel", .1, 1),
				budget.ExponentialLeaf("votes", .1, 1),
				budget.FixedLeaf(
					"depth",
					budget.Law{
						Kind:    budget.Approximate,
						Epsilon: .1,
						Delta:   1e-7,
						Draws:   1,
					},
				),
			),
			budget.Target{
				Epsilon: 1,
				Delta:   1e-6,
				Unit:    unit,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(p)
		if err != nil {
			t.Fatal(err)
		}
		h := s.NewHistogram([]int{1}, 2)
		g := s.NewGram(2, 1)
		c := s.NewClassStats(1, 2, 1, ClassWeights{})
		products := s.NewProducts([]int{0, 0})
		points := s.NewPoints(LeastPoints, 1)
		_, e1 := Gaussian(s, "vector", h.Bound())
		_, e2 := SymmetricGaussian(s, "symmetric", g.Bound())
		_, e3 := c.Release(s, "weighted")
		_, e4 := GaussianPart(s, "part", 0, 0, 1, h.Bound())
		_, e5 := Laplace(s, "count", 0, s.Count(3))
		_, e6 := Choose(
			s, "choice", 0,
			products.Scores([]int{0, 1}),
		)
		_, e7 := TopK{K: 1}.Release(
			s, "top",
			products.Scores([]int{0, 1}),
		)
		_, e8 := TopK{Form: Peeling, K: 1}.Release(
			s, "peel",
			products.Scores([]int{0, 1}),
		)
		_, e9 := Choose(
			s, "votes", 0,
			s.NewVotes(2, 1).Scores([]int{0, 1}),
		)
		_, _, e10 := TukeyDepth(s, "depth", points.Bound(), UsualSplit())
		if err := errors.Join(e1, e2, e3, e4, e5, e6, e7, e8, e9, e10); err != nil {
			t.Fatal(err)
		}
		out := map[string]released{}
		for _, e := range s.Events() {
			out[e.Path[len("run/"):]] = released{e, s.Mu(e.Path[len("run/"):])}
		}
		return out
	}
	record := run(0)
	one := run(1)
	unit := run(m)
	for name, x := range record {
		if x != one[name] {
			t.Errorf(
				"%s: a unit of one record is %+v, a record %+v",
				name, one[name], x,
			)
		}
		times := float64(m)
		if name == "votes" || name == "depth" { // one bucket, whatever is in it
			times = 1
		}
		y := unit[name]
		near := func(a, b float64) bool {
			return math.Abs(a-b) <= 1e-5*math.Abs(b)
		}
		if y.event.Law != x.event.Law ||
			!near(y.event.Sensitivity, times*x.event.Sensitivity) ||
			!near(y.event.Scale, times*x.event.Scale) {
			t.Errorf(
				"%s: %+v for a unit of %d, %+v for a record",
				name, y.event, m, x.event,
			)
		}
		if x.mu != m*y.mu {
			t.Errorf(
				"%s: mu %v for a unit, %v for a record",
				name, y.mu, x.mu,
			)
		}
	}
}

// TestChoicesForUnits checks that with units of four records the odds of a choice between two candidates are the
// fourth root of a record's. Among 4000 choices a share that is off by .05 has probability below 1e-9; the
// odds of a record would be off by .2.
func TestChoicesForUnits(t *testing.T) {
	const m, runs = 4, 4000
	scores := func(gap float64) Bounded[Vector] {
		return Bounded[Vector]{
			Vector{int64(gap / productUnit), 0},
			Width,
			2 / productUnit,
			productUnit,
			"",
		}
	}
	for name, c := range map[string]struct {
		leaf   budget.Node
		effect float64 // on the log odds, of the gap
		pick   func(s *Session, x Bounded[Vector]) (int, error)
	}{
		"choose": {
			budget.ExponentialLeaf("pick", 1, 1),
			1,
			func(s *Session, x Bounded[Vector]) (int, error) {
				j, err := Choose(s, "pick", 0, x)
				return j.Value(), err
			},
		},
		"one-shot": {
			budget.ExponentialLeaf("pick", 1, 1),
			1, topOne(OneShot),
		},
		"peeling": {budget.ExponentialLeaf("pick", 1, 1), 1, topOne(Peeling)},
		"lipschitz": {
			budget.ExponentialLeaf("pick", 1, 1),
			.5, topOne(Lipschitz),
		},
	} {
		first := 0
		want := 0.
		p := unitSession(t, m, c.leaf).core.priced
		for range runs {
			s, err := NewSession(p.Again())
			if err != nil {
				t.Fatal(err)
			}
			law, _ := s.Law("pick")
			gap := 2 * m * 1. / (c.effect * law.Epsilon) // log odds 1 for a unit, 4 for a record
			want = 1 / (1 + math.Exp(-1))
			j, err := c.pick(s, scores(gap))
			if err != nil {
				t.Fatal(err)
			}
			if j == 0 {
				first++
			}
		}
		got := float64(first) / runs
		if math.Abs(got-want) > .05 {
			t.Errorf(
				"%s: the better of two is chosen with probability %.3f, want %.3f",
				name,
				got,
				want,
			)
		}
	}
}

func topOne(form TopKForm) func(*Session, Bounded[Vector]) (int, error) {
	return func(s *Session, x Bounded[Vector]) (int, error) {
		chosen, err := TopK{Form: form, K: 1}.Release(s, "pick", x)
		if err != nil {
			return 0, err
		}
		return chosen.Value()[0], nil
	}
}

// TestLotIsUniformAmongRecords checks that a lot depends on the key, the name, the unit, the content and the copy, and
// that each of four records is the first equally often: of 8000 units each about 2000 times, and off by more than 240
// with probability below 1e-8.
func TestLotIsUniformAmongRecords(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	other := testSession(t, budget.AddRemove, 2)
	content := [32]byte{1}
	draw := s.Lots("a").Draw(7, content, 0)
	for name, x := range map[string]uint64{
		"key":     other.Lots("a").Draw(7, content, 0),
		"name":    s.Lots("b").Draw(7, content, 0),
		"path":    s.Sub("x").Lots("a").Draw(7, content, 0),
		"unit":    s.Lots("a").Draw(8, content, 0),
		"content": s.Lots("a").Draw(7, [32]byte{2}, 0),
		"copy":    s.Lots("a").Draw(7, content, 1),
	} {
		if x == draw {
			t.Errorf("the lot does not depend on the %s", name)
		}
	}
	lots := s.Lots("a")
	if lots.Draw(1, content, 1); lots.Draw(7, content, 0) != draw {
		t.Error("a lot depends on earlier ones")
	}
	var wins [4]int
	for unit := range uint64(8000) {
		best := 0
		for i := range 4 {
			if lots.Draw(unit, [32]byte{byte(i)}, 0) < lots.Draw(unit, [32]byte{byte(best)}, 0) {
				best = i
			}
		}
		wins[best]++
	}
	for i, n := range wins {
		if n < 1760 || n > 2240 {
			t.Errorf(
				"record %d is the first of %d units, want about 2000",
				i, n,
			)
		}
	}
}
