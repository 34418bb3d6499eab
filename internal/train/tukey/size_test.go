package tukey

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
)

// usualCheck returns a check with the default split.
func usualCheck(d int, epsilon, delta float64) depthCheck {
	return depthCheck{d, epsilon, delta, mechanism.UsualSplit()}
}

// TestLeastValues compares the least numbers with the specification, within 4. Two of its numbers (439 and 147) pass
// although the next number does not, so they are 2 too low by the definition, which [depthCheck.minimumBuckets]
// follows.
func TestLeastValues(t *testing.T) {
	for _, c := range []struct {
		epsilon, delta float64
		want           map[int]int
	}{
		{
			math.Log(3), 1e-5,
			map[int]int{
				2:  348,
				5:  447,
				10: 591,
				20: 833,
			},
		},
		{
			1, 1e-6,
			map[int]int{
				2:  439,
				5:  556,
				10: 717,
				20: 997,
			},
		},
		{
			3, 1e-6,
			map[int]int{
				2:  147,
				5:  191,
				10: 243,
				20: 337,
			},
		},
	} {
		for d, want := range c.want {
			got, ok := usualCheck(d, c.epsilon, c.delta).minimumBuckets()
			if !ok || got > want+4 || got < want-4 {
				t.Errorf(
					"epsilon %.3f, d %d: %d buckets, want %d within 4",
					c.epsilon,
					d,
					got,
					want,
				)
			}
		}
	}
}

// TestLeastIsLeast compares the search with a scan of every number of buckets.
func TestLeastIsLeast(t *testing.T) {
	for _, c := range []depthCheck{
		usualCheck(1, 1, 1e-6),
		usualCheck(2, math.Log(3), 1e-5),
		usualCheck(6, .93, 9e-6),
		usualCheck(11, 2, 1e-4),
		usualCheck(30, 4, 1e-6),
		usualCheck(3, 10, .01),
		usualCheck(2, 30, .3),
		usualCheck(50, 1, 1e-9),
		{5, 1, 1e-6, mechanism.DepthSplit{Check: .6, Step: .2}},
	} {
		got, ok := c.minimumBuckets()
		if !ok {
			t.Fatalf("%+v: infeasible", c)
		}
		last := 0
		for m := leastBuckets; m < 2*got+300; m++ {
			if !c.passesCheck(m) {
				last = m
			}
		}
		want := max(last+1, leastBuckets)
		if got != want {
			t.Errorf(
				"%+v: %d, by scan %d",
				c, got, want,
			)
		}
	}
}

// TestLeastPasses checks that with the planned number of normally distributed models the mechanism passes as often as
// planned, and far less often with 3/4 as many. The tolerance is six standard deviations, a false-alarm rate of 1e-9.
func TestLeastPasses(t *testing.T) {
	c := usualCheck(3, 2, 1e-4)
	least, _ := c.minimumBuckets()
	priced, err := budget.Calibrate(
		budget.Sequence("fit",
			budget.FixedLeaf(
				tukeyLeaf,
				budget.Law{
					Kind:    budget.Approximate,
					Epsilon: c.epsilon,
					Delta:   c.delta,
					Draws:   1,
				},
			),
			budget.LaplaceLeaf("rest", 1, 1),
		),
		budget.Target{Epsilon: 1.1 * c.epsilon, Delta: 1.1 * c.delta})
	if err != nil {
		t.Fatal(err)
	}
	frequency := func(m int) float64 {
		const runs = 400
		passed := 0.
		for range runs {
			s, err := mechanism.NewSession(priced.Again())
			if err != nil {
				t.Fatal(err)
			}
			p := s.NewPoints(m, c.d)
			for i := range m {
				x := math.Sqrt2 * math.Erfinv(2*(float64(i)+.5)/float64(m)-1)
				p.Set(i, []float64{x, 3 * x, -x})
			}
			_, ok, err := mechanism.TukeyDepth(
				s,
				tukeyLeaf,
				p.Bound(),
				mechanism.UsualSplit(),
			)
			if err != nil {
				t.Fatal(err)
			}
			if ok {
				passed++
			}
		}
		return passed / runs
	}
	got := frequency(least)
	if got < passing-6*math.Sqrt(passing*(1-passing)/400) {
		t.Errorf("%d models pass with frequency %v", least, got)
	}
	got = frequency(3 * least / 4)
	if got > .8 {
		t.Errorf(
			"%d models pass with frequency %v",
			3*least/4, got,
		)
	}
}

// numericColumns declares numeric columns.
func numericColumns(d int) []dataset.Column {
	out := make([]dataset.Column, d)
	for j := range out {
		out[j].Name = fmt.Sprint("c", j)
	}
	return out
}

func TestPlanRefuses(t *testing.T) {
	var law *budget.LawError
	for _, c := range []struct {
		name    string
		buckets int
		facts   method.Facts
		err     error
		is      any
	}{
		{
			"too few buckets",
			11,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: 1,
				Delta:   1e-6,
			},
			ErrBuckets,
			nil,
		},
		{
			"negative buckets",
			-1,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: 1,
				Delta:   1e-6,
			},
			ErrBuckets,
			nil,
		},
		{
			"buckets that do not pass",
			100,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: 1,
				Delta:   1e-6,
			},
			ErrBuckets,
			nil,
		},
		{
			"too many buckets",
			mostBuckets + 1,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: 1,
				Delta:   1e-6,
			},
			ErrBuckets,
			nil,
		},
		{
			"tiny epsilon",
			0,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: 1e-3,
				Delta:   1e-6,
			},
			ErrInfeasible,
			nil,
		},
		{
			"tiny epsilon and delta",
			0,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: .01,
				Delta:   1e-300,
			},
			ErrInfeasible,
			nil,
		},
		{
			"no delta",
			0,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: 1,
				Delta:   0,
			},
			ErrInfeasible,
			nil,
		},
		{
			"no epsilon",
			0,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: 0,
				Delta:   1e-6,
			},
			ErrInfeasible,
			nil,
		},
		{
			"epsilon is no number",
			0,
			method.Facts{
				Columns: numericColumns(3),
				Epsilon: math.NaN(),
				Delta:   1e-6,
			},
			nil,
			&law,
		},
		{
			"too wide",
			0,
			method.Facts{
				Columns: numericColumns(linear.MaxSlots + 1),
				Epsilon: 1,
				Delta:   1e-6,
			},
			linear.ErrTooWide,
			nil,
		},
	} {
		trainer := Tukey{Buckets: c.buckets}
		_, err := trainer.Plan(c.facts)
		if c.err != nil && !errors.Is(err, c.err) ||
			c.is != nil && !errors.As(err, c.is) {
			t.Errorf("%s: %v", c.name, err)
		}
		if c.err != linear.ErrTooWide && trainer.Records(c.facts) != 0 {
			t.Errorf(
				"%s: %d records",
				c.name, trainer.Records(c.facts),
			)
		}
	}
	node, err := Tukey{}.Plan(method.Facts{
		Columns: numericColumns(3),
		Epsilon: 1,
		Delta:   1e-6,
	})
	want := (budget.Law{
		Kind:    budget.Approximate,
		Epsilon: 1,
		Delta:   1e-6,
		Draws:   1,
	})
	if err != nil || *node.Leaf.Fixed != want {
		t.Errorf(
			"the leaf is %+v, %v",
			node.Leaf, err,
		)
	}
}

// TestBucketsFollowRecords checks that the number of buckets is 1.25 times the least number if there are 3 d records
// for each bucket, fewer otherwise, and that there are no buckets below the least number.
func TestBucketsFollowRecords(t *testing.T) {
	z := bucketCounts{
		d:     5,
		least: 100,
		most:  125,
	}
	for _, c := range []struct{ atLeast, want int }{
		{1 << 30, 125},
		{1875, 125},
		{1874, 124},
		{1500, 100},
		{1499, 0},
		{0, 0},
		{-5, 0},
	} {
		m, ok := z.bucketCount(c.atLeast)
		if m != c.want || ok != (c.want > 0) {
			t.Errorf(
				"at least %d records: %d buckets, %v",
				c.atLeast, m, ok,
			)
		}
	}
	category := dataset.Column{
		Name:       "k",
		Kind:       dataset.Category,
		Categories: []string{"a", "b"},
		Other:      true,
	}
	facts := method.Facts{
		Columns: append([]dataset.Column{category}, numericColumns(2)...),
		Epsilon: 1,
		Delta:   1e-6,
	}
	least, _ := usualCheck(5, 1, 1e-6).minimumBuckets() // three levels, one number, the intercept
	got := (Tukey{}).Records(facts)
	if got != 3*5*least {
		t.Errorf(
			"%d records, want %d",
			got, 3*5*least,
		)
	}
	got = (Tukey{Buckets: 1000}).Records(facts)
	if got != 3*5*1000 {
		t.Errorf(
			"%d records for 1000 buckets, want %d",
			got, 3*5*1000,
		)
	}
}

// TestDepthSplitNeedsBuckets checks that the settings reach the check, that another split needs more buckets, and that
// an omitted share is the remainder of the other.
func TestDepthSplitNeedsBuckets(t *testing.T) {
	facts := method.Facts{
		Columns: numericColumns(4),
		Epsilon: 1,
		Delta:   1e-6,
	}
	made := func(v method.Values) Tukey {
		return Tukey{}.Method().New(v).(Tukey)
	}
	usual := Tukey{}.Records(facts)
	for _, v := range []method.Values{
		{checkKey: .4},
		{stepKey: .3},
		{checkKey: .4, stepKey: .3},
	} {
		got := made(v).Records(facts)
		if got != usual {
			t.Errorf(
				"%v: %d records, want %d",
				v, got, usual,
			)
		}
	}
	for _, v := range []method.Values{
		{checkKey: .7},
		{stepKey: .15},
		{checkKey: .7, stepKey: .15},
	} {
		x := made(v)
		split, err := x.depthSplit()
		if err != nil ||
			math.Abs(split.Check-.7) > 1e-15 ||
			math.Abs(split.Step-.15) > 1e-15 {
			t.Errorf(
				"%v: %+v, %v",
				v, split, err,
			)
		}
		got := x.Records(facts)
		if got <= usual {
			t.Errorf(
				"%v: %d records, and %d with the usual split",
				v, got, usual,
			)
		}
		key, _, _ := checkShares(v)
		if key != "" {
			t.Errorf("%v is refused", v)
		}
	}
	for _, v := range []method.Values{
		{checkKey: .5, stepKey: .3},
		{checkKey: .1, stepKey: .1},
	} {
		key, message, hint := checkShares(v)
		if key != stepKey || message == "" || hint == "" {
			t.Errorf(
				"%v: %q %q (%q)",
				v, key, message, hint,
			)
		}
	}
	for _, x := range []Tukey{
		{CheckShare: .5, StepShare: .3},
		{CheckShare: 1},
		{StepShare: .5},
		{CheckShare: -.1},
		{CheckShare: math.NaN()},
	} {
		_, err := x.Plan(facts)
		if !errors.Is(err, mechanism.ErrSplit) {
			t.Errorf("%+v: %v", x, err)
		}
	}
}
