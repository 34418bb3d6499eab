package memory

import (
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// counter is a state that counts the blocks started and the steps carried out.
type counter struct{ steps, begun, taken int }

func (c *counter) Steps() int {
	return c.steps
}

func (c *counter) Begin(dataset.Block) mechanism.Kept {
	c.begun++
	return c
}

func (c *counter) Take(int, dataset.Block) {
	c.taken++
}

// counting is a statistic with a state; it counts records.
type counting struct {
	mechanism.Number
	state *counter
}

func (c counting) State() mechanism.State {
	return c.state
}

// TestStateIsCreatedOnce checks that a state is created once, that a pass carries out only the new steps, and that
// Forget drops the state.
func TestStateIsCreatedOnce(t *testing.T) {
	table, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{Name: "x"}}},
		[]dataset.ColumnData{{Floats: []float64{1, 2, 3}}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	e := New(table.View())
	state := &counter{}
	for _, tt := range []struct {
		steps, begun, taken int
		forget              bool
	}{
		{2, 1, 2, false},
		{2, 1, 2, false},
		{5, 1, 5, false},
		{5, 2, 10, true},
	} {
		if tt.forget {
			e.Forget(state)
		}
		state.steps = tt.steps
		n, err := e.Sum(
			t.Context(),
			mechanism.Pass{
				Part:      mechanism.Part{Columns: []int{0}},
				Statistic: counting{state: state},
			},
		)
		if err != nil ||
			n[0] != 3 ||
			state.begun != tt.begun ||
			state.taken != tt.taken {
			t.Errorf(
				"%+v: %v records, begun %d times, %d steps taken: %v",
				tt,
				n,
				state.begun,
				state.taken,
				err,
			)
		}
	}
}

// TestSplitPartsHaveAllRecords checks that the two parts of a split have all records, whichever is requested first, and
// that a recoded column has the new values.
func TestSplitPartsHaveAllRecords(t *testing.T) {
	values := make([]int32, 500)
	table, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{
			Name:       "k",
			Kind:       dataset.Category,
			Categories: []string{"a"},
		}}},
		[]dataset.ColumnData{{Codes: values}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	var coins mechanism.Coins
	if err := coins.UnmarshalBinary(make([]byte, 32)); err != nil {
		t.Fatal(err)
	}
	first, second := NewRecords(table.View()).Deal(coins, .3)
	v, err := second.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w, err := first.Recode(
		0, dataset.Column{Name: "k"},
		[]float64{7, 8},
	).View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[uint64]bool{}
	for k := range v.Len() {
		seen[v.ID(k)] = true
	}
	for k, x := range w.Block(0, w.Len()).Float(0, nil) {
		seen[w.ID(k)] = true
		if x != 7 {
			t.Fatalf(
				"record %d: %v, want 7",
				k, x,
			)
		}
	}
	if len(seen) != 500 ||
		v.Len()+w.Len() != 500 ||
		v.Len() < 100 ||
		v.Len() > 200 {
		t.Errorf(
			"%d and %d records, %d different",
			v.Len(), w.Len(),
			len(seen),
		)
	}
}
