package baseline

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// sampleColumns returns a public number, a private number, a private category and the target.
func sampleColumns() []dataset.Column {
	return []dataset.Column{
		{
			Name:   "open",
			Ranged: true,
			Lower:  -3,
			Upper:  3,
		},
		{
			Name:    "hidden",
			Ranged:  true,
			Lower:   -3,
			Upper:   3,
			Private: true,
		},
		{
			Name:       "colour",
			Kind:       dataset.Category,
			Categories: []string{"red", "green"},
			Other:      true,
			Private:    true,
		},
		{
			Name:       "class",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		},
	}
}

func sampleRanges() []scaling.Range {
	declared := scaling.Range{
		Lower:    -3,
		Upper:    3,
		Declared: true,
	}
	return []scaling.Range{declared, declared, {}, {}}
}

// sampleTable returns a table in which the class depends strongly on the hidden number and weakly on the open one.
func sampleTable(t testing.TB, n int) *dataset.Table {
	t.Helper()
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	d := make([]dataset.ColumnData, 4)
	for i := range n {
		class := int32(i % 2)
		shift := float64(2*class - 1)
		d[0].Floats = append(
			d[0].Floats,
			.3*shift+rng.NormFloat64(),
		)
		d[1].Floats = append(
			d[1].Floats,
			1.2*shift+rng.NormFloat64(),
		)
		d[2].Codes = append(d[2].Codes, int32(rng.IntN(3)))
		d[3].Codes = append(d[3].Codes, class)
	}
	return newTable(t, d)
}

func newTable(t testing.TB, d []dataset.ColumnData) *dataset.Table {
	t.Helper()
	tab, err := dataset.NewTable(dataset.Schema{Columns: sampleColumns()}, d, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// cloneColumns copies the columns of a table.
func cloneColumns(t *dataset.Table) []dataset.ColumnData {
	return []dataset.ColumnData{
		{Floats: slices.Clone(t.Float(0))},
		{Floats: slices.Clone(t.Float(1))},
		{Codes: slices.Clone(t.Codes(2))},
		{Codes: slices.Clone(t.Codes(3))},
	}
}

type planner interface {
	Plan() (budget.Node, error)
}

func pricePlan(
	t testing.TB,
	x planner,
	epsilon float64,
	r budget.Relation,
) *budget.Priced {
	t.Helper()
	node, err := x.Plan()
	if err != nil {
		t.Fatal(err)
	}
	p, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-6,
			Relation: r,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func newSession(t testing.TB, x planner, epsilon float64) *mechanism.Session {
	t.Helper()
	s, err := mechanism.NewSession(pricePlan(
		t,
		x,
		epsilon,
		budget.SubstitutePrivateColumns,
	))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// correctShare returns the share of correct predictions.
func correctShare(predicted, labels []int32) float64 {
	right := 0.
	for i, c := range predicted {
		if labels[i] == c {
			right++
		}
	}
	return right / math.Max(1, float64(len(predicted)))
}
