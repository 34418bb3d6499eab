package pipeline_test

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// A run is priced before any row exists.
func ExamplePipeline_Plan() {
	p := &pipeline.Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{Name: "age", Ranged: true, Lower: 0, Upper: 120},
			{Name: "dose"},
			{Name: "response"},
		}},
		Target:  "response",
		Budget:  budget.Target{Epsilon: 1, Delta: 1e-6},
		Holdout: pipeline.DefaultHoldout,
	}
	plan, err := p.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, leaf := range plan.Leaves() {
		fmt.Printf("%-44s %v x %d\n", leaf.Path, leaf.Law.Kind, leaf.Law.Draws)
	}
	g := plan.Guarantee()
	fmt.Printf(
		"(%v, %v) under %v, within budget: %v\n",
		g.Epsilon,
		g.Delta,
		g.Relation,
		g.Spent <= 1,
	)
	// Output:
	// fit/all/target                               pure x 1
	// fit/train/scaling/exponents                  gaussian x 1
	// fit/train/scaling/bins                       gaussian x 1
	// fit/train/scaling/fine-bins                  gaussian x 1
	// fit/train/model/boosted-kernel/gram          gaussian x 1
	// fit/train/model/boosted-kernel/counts        gaussian x 1
	// fit/train/model/boosted-kernel/residuals     gaussian x 1
	// fit/train/model/boosted-kernel/sums          gaussian x 1
	// fit/train/model/boosted-kernel/mean          gaussian x 1
	// fit/holdout/r2/sizes                         gaussian x 1
	// fit/holdout/r2/sums                          gaussian x 1
	// (1, 1e-06) under add-remove, within budget: true
}

// A stored model predicts the records of a table; columns that it does not need are ignored.
func ExampleRowsOf() {
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "note"}, {Name: "dose"}}}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: []float64{7, 8}}, {Floats: []float64{1, 30}}},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	model := &regression.Linear{
		Target:    "response",
		Columns:   []regression.Column{{Name: "dose", Upper: 10}},
		Terms:     []regression.Term{{Coefficient: 2}},
		Upper:     100,
		Intercept: 3,
	}
	fmt.Println(model.Predict(nil, pipeline.RowsOf(table.View())))
	// Output: [5 23] <nil>
}

// A run on a table in memory, and predictions from its model.
func ExamplePipeline_Fit() {
	const n = 20000
	dose := make([]float64, n)
	response := make([]float64, n)
	for i := range dose {
		dose[i] = math.Mod(float64(i)*.618, 10)
		response[i] = 3 + .5*dose[i] + .3*math.Sin(float64(i))
	}
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "dose"}, {Name: "response"}}}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: dose}, {Floats: response}},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &pipeline.Pipeline{
		Schema:  schema,
		Target:  "response",
		Holdout: pipeline.DefaultHoldout,
		Budget:  budget.Target{Epsilon: 1, Delta: 1e-6},
	}
	result, err := p.Fit(context.Background(), table, pipeline.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := result.Model.Predict(
		nil,
		regression.Rows{N: 2, Numeric: map[string][]float64{"dose": {2, math.NaN()}}},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("prediction at dose 2: %.0f\n", out[0])
	fmt.Println("held-out R² above .9:", result.R2.Value > .9)
	// Output:
	// prediction at dose 2: 4
	// held-out R² above .9: true
}

// A classifier: its target is a category column whose categories are the classes.
// Predictions are positions in that list, from 0.
func ExamplePipeline_Fit_classification() {
	const n = 20000
	debt := make([]float64, n)
	home := make([]int32, n)
	repaid := make([]int32, n)
	for i := range debt {
		debt[i] = math.Mod(float64(i)*.618, 10)
		home[i] = int32(i % 3) //nolint:gosec // below 3; 2 is other
		if debt[i]+2*math.Sin(float64(i)) < 5 {
			repaid[i] = 1
		}
	}
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "debt"},
		{
			Name:       "home",
			Kind:       dataset.Category,
			Categories: []string{"rent", "own"},
			Other:      true,
		},
		{Name: "repaid", Kind: dataset.Category, Categories: []string{"no", "yes"}},
	}}
	table, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{{Floats: debt}, {Codes: home}, {Codes: repaid}},
		nil,
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	p := &pipeline.Pipeline{
		Schema:  schema,
		Task:    regression.TaskClassification,
		Target:  "repaid",
		Holdout: pipeline.DefaultHoldout,
		Budget:  budget.Target{Epsilon: 1, Delta: 1e-6},
	}
	result, err := p.Fit(context.Background(), table, pipeline.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := result.Model.Predict(nil, regression.Rows{
		N:       2,
		Numeric: map[string][]float64{"debt": {1, 9}},
		Labels:  map[string][]string{"home": {"own", "elsewhere"}},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	classes := result.Model.Output().Classes
	fmt.Println("predictions:", classes[int(out[0])], classes[int(out[1])])
	fmt.Println("held-out accuracy above .7:", result.Confusion.Accuracy.Value > .7)
	// Output:
	// predictions: yes no
	// held-out accuracy above .7: true
}

// A search is priced as one step, whatever candidates it will try.
func ExampleSearch() {
	p := &pipeline.Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{Name: "age", Ranged: true, Lower: 0, Upper: 120},
			{Name: "dose", Ranged: true, Lower: 0, Upper: 10},
			{Name: "response", Ranged: true, Lower: 0, Upper: 50},
		}},
		Target: "response",
		Budget: budget.Target{Epsilon: 1, Delta: 1e-6},
		Search: &pipeline.Search{
			Runs:    5,
			Holdout: .1,
			Candidates: []pipeline.Candidate{
				{Model: adassp.JointGram{}},
				{Model: adassp.AdaSSP{}},
			},
		},
	}
	plan, err := p.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, leaf := range plan.Leaves() {
		fmt.Println(leaf.Path, leaf.Place.Part)
	}
	law, _, _ := plan.Selection("fit/train")
	fmt.Printf("gamma %.3f, mean number of tries %.0f\n", law.Gamma, law.Mean())
	// Output:
	// fit/all/target all
	// fit/train/candidate-1/train/model/gram train
	// fit/train/candidate-1/score/r2/sizes score
	// fit/train/candidate-1/score/r2/sums score
	// fit/train/candidate-2/train/model/adassp/eigenvalue train
	// fit/train/candidate-2/train/model/adassp/gram train
	// fit/train/candidate-2/train/model/adassp/moments train
	// fit/train/candidate-2/score/r2/sizes score
	// fit/train/candidate-2/score/r2/sums score
	// gamma 0.070, mean number of tries 5
}
