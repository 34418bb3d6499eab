package suite

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/boosting"
)

// The toy example of section 4 has points on a line, the left half of one class and the right half of the other, and
// an uninformative public column.
const (
	toySet    = "toy"
	toyPoints = 1000
	toyTrials = 100
)

var toyEpsilons = [...]float64{.01, .03, .1, .3, 1, 3, 10}

// toyMethods are two forms of BRC.
func toyMethods() []partlyMethod {
	return []partlyMethod{
		{partlyBRC, false, toyRun(boosting.BRC{})},
		{partlyPublished, false, toyRun(boosting.BRC{Form: boosting.Paper})},
	}
}

func toyTask(o Options) Task {
	t := Task{Name: toySet, Trials: o.trials(toyTrials)}
	for _, m := range toyMethods() {
		for _, epsilon := range toyEpsilons {
			t.Cells = append(t.Cells, partlyCell(toySet, m, epsilon))
		}
	}
	t.Run = func(ctx context.Context, todo []Key, emit func(Key, Outcome)) error {
		return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
			table, err := toyTable(newGenerator(toySet, o.Seed, uint64(k.Trial)))
			if err != nil {
				return failed(err)
			}
			for _, m := range toyMethods() {
				if m.name == k.Method {
					return m.run(ctx,
						partlyTrial{
							train: table.View(),
							test:  table.View(),
							target: budget.Target{
								Epsilon: k.Setting.Epsilon,
								Delta:   k.Setting.Delta,
							},
						})
				}
			}
			return failure(Unavailable, fmt.Errorf("%w: method %q", ErrUnknown, k.Method))
		}, emit)
	}
	return t
}

func toyTable(g *generator) (*dataset.Table, error) {
	columns := []dataset.Column{
		{Name: "noise", Ranged: true, Lower: -1, Upper: 1},
		{
			Name:    "place",
			Ranged:  true,
			Lower:   -1,
			Upper:   1,
			Private: true,
		},
		{
			Name:       "side",
			Kind:       dataset.Category,
			Categories: []string{"left", "right"},
		},
	}
	cells := make([]dataset.ColumnData, len(columns))
	for i := range toyPoints {
		x := (2*float64(i)+1)/toyPoints - 1
		cells[0].Floats, cells[1].Floats = append(cells[0].Floats, 2*g.uniform()-1),
			append(cells[1].Floats, x)
		side := int32(0)
		if x > 0 {
			side = 1
		}
		cells[2].Codes = append(cells[2].Codes, side)
	}
	return dataset.NewTable(dataset.Schema{Columns: columns}, cells, nil)
}

// toyRun measures the accuracy on the training points themselves, as the paper does.
func toyRun(b boosting.BRC) func(context.Context, partlyTrial) Outcome {
	return func(ctx context.Context, x partlyTrial) Outcome {
		model, err := x.boost(ctx, b, budget.SubstitutePrivateColumns)
		if err != nil {
			return failed(err)
		}
		return judge(predicted(model, x.test))(x.test)
	}
}
