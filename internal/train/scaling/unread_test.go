package scaling

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestMedianOfCounts reproduces the specification, and checks that no median is read from counts that are
// indistinguishable from their noise.
func TestMedianOfCounts(t *testing.T) {
	counts := []float64{30, 50, -4, 20, 10}
	at, ok := median(noisyCounts{counts, .1}, interval{0, 5})
	if !ok || math.Abs(at-1.46) > 1e-12 {
		t.Errorf(
			"median %v, %v, want 1.46",
			at, ok,
		)
	}
	// The total, 106, is 3 standard deviations of its noise at sigma 15.80.
	for sigma, want := range map[float64]bool{15.7: true, 15.9: false} {
		_, ok := median(noisyCounts{counts, sigma}, interval{0, 5})
		if ok != want {
			t.Errorf(
				"noise %v: a median is read: %v",
				sigma, ok,
			)
		}
	}
	for name, counts := range map[string][]float64{
		"nothing":  make([]float64, 5),
		"negative": {-3, 0, -1, 0, 0},
	} {
		at, ok := median(noisyCounts{counts, 0}, interval{-1, 1})
		if ok && (at < -1 || at > 1 || at != at) {
			t.Errorf("%s: median %v", name, at)
		}
	}
}

// lognormalQuantiles returns n quantiles of the distribution of exp(2 + z), z standard normal, in a mixed order.
func lognormalQuantiles(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		q := (float64(i*7919%n) + .5) / float64(n)
		x[i] = math.Exp(2 + math.Sqrt2*math.Erfinv(2*q-1))
	}
	return x
}

// TestMissingIsTheMedian checks that a missing cell of a skewed column, private or public, takes its median, 7.39,
// although the middle of its range is 20 or more. At epsilon 20 the noise in a bin of about a tenth of 10,007 records
// is below 20, and a bin is at most 2 wide.
func TestMissingIsTheMedian(t *testing.T) {
	tab, columns := numericTable(t, append(lognormalQuantiles(10007), math.NaN()))
	r := releaseRanges(t, 20, -1, tab, columns)[0]
	e := NewEncoder(columns, []Range{r})
	at := e.Missing(0)
	if math.Abs(at-math.Exp(2)) > 1 ||
		r.Center() < 15 {
		t.Errorf(
			"a missing cell becomes %v, the middle is %v",
			at, r.Center(),
		)
	}
	exact, err := Exact(
		t.Context(),
		mechanism.NewMaker(budget.SubstitutePrivateColumns),
		memory.NewRecords(tab.View()),
		0,
	)
	if err != nil ||
		math.Abs(exact.Fill()-math.Exp(2)) > .01 {
		t.Errorf(
			"a public column: %+v, %v",
			exact, err,
		)
	}
	columns[0].HasMissing = true
	columns[0].Missing = 3
	at = NewEncoder(columns, []Range{r}).Missing(0)
	if at != 3 {
		t.Errorf("declared 3, but a missing cell becomes %v", at)
	}
	at = (Range{Lower: 2, Upper: 6, Declared: true}).Fill()
	if at != 4 {
		t.Errorf("a declared range without a median fills %v", at)
	}
}

// TestUnread checks that a column without a bin above the threshold is unread, and that it is faint only if a column
// full of numbers might not pass either. At epsilon 50 the noise of a bin is below 3.
func TestUnread(t *testing.T) {
	none := make([]float64, 4000)
	for i := range none {
		none[i] = math.NaN()
	}
	tab, columns := numericTable(
		t, rampValues(4000, 1, 100), none,
		rampValues(4000, 5, 6),
	)
	got := releaseRanges(t, 50, 2, tab, columns)
	for j, want := range []bool{false, true, false} {
		if got[j].Unread != want || got[j].Faint {
			t.Errorf(
				"column %d: %+v",
				j, got[j],
			)
		}
		n := got[j].Numbers
		full := map[bool]float64{
			false: 4000,
			true:  0,
		}[want]
		if math.Abs(n.Value-full) > 7*n.Sigma ||
			!(n.Sigma > 0) {
			t.Errorf("column %d has %+v numbers", j, n)
		}
	}
	tab, columns = numericTable(t, rampValues(10, 1, 100), none[:10])
	for j, r := range releaseRanges(t, .1, -1, tab, columns) {
		if r.Unread && !r.Faint {
			t.Errorf(
				"ten records, column %d: %+v",
				j, r,
			)
		}
	}
	// Under substitution the number of records is public and can be read directly.
	tab, columns = numericTable(t, none)
	p := Private{
		Columns:  columns,
		Target:   -1,
		Relation: budget.Substitute,
	}
	if r := runScaling(t, p, 50, tab)[0]; !r.Unread || r.Faint {
		t.Errorf("4000 public records: %+v", r)
	}
	r, err := Exact(
		t.Context(),
		mechanism.NewMaker(budget.SubstitutePrivateColumns),
		memory.NewRecords(tab.View()),
		0,
	)
	if err != nil ||
		!r.Unread ||
		r.Faint ||
		!(r.Half() > 0) {
		t.Errorf(
			"a public column without a number: %+v, %v",
			r, err,
		)
	}
}
