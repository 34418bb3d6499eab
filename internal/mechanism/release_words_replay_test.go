//go:build replay

package mechanism

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestWordsTap checks that the tap compares counts by text, including texts that occur in one table only, and
// replaces the second output by the first.
func TestWordsTap(t *testing.T) {
	p := wordSession(
		t, 1, 1e-3, budget.AddRemove,
		budget.Unit{},
	).core.priced
	release := func(rec *Recorder, rows []int) [][]Word {
		s := NewRecordedSession(p, rec)
		out, err := Words(
			s,
			"counts",
			"words",
			s.NewLexicon(wordTable(t, rows), []int{0, 1}),
		)
		if err != nil {
			t.Fatal(err)
		}
		return out.Value()
	}
	base := make([]int, 60)
	first := NewRecorder(1)
	a := release(first, base)
	if len(a[0]) != 1 || len(a[1]) != 1 {
		t.Fatalf("published %v", a)
	}
	for _, c := range []struct {
		rows   []int
		faults int
		most   float64
	}{
		{append([]int{5}, base...), 0, 1},             // a new text in each column
		{append([]int{0}, base...), 0, 1},             // one more of each
		{append([]int{1}, base...), 0, 1},             // one new, one more
		{append([]int{3}, base...), 0, math.Sqrt(.5)}, // a missing cell
		{append([]int{5, 5}, base...), 1, 2},          // two records
		{
			append([]int{5, 6}, base...),
			1, math.Sqrt(3),
		},
	} {
		next := first.Replay()
		b := release(next, c.rows)
		faults, closest := Compare(first, next)
		if len(faults) != c.faults ||
			math.Abs(closest-c.most) > 1e-9 {
			t.Errorf(
				"%v: %v, %v; want %d faults and %v",
				c.rows[:2],
				faults,
				closest,
				c.faults,
				c.most,
			)
		}
		if len(b[0]) != 1 ||
			b[0][0] != a[0][0] ||
			b[1][0] != a[1][0] {
			t.Errorf(
				"%v: %v after %v",
				c.rows[:2], b, a,
			)
		}
	}
}
