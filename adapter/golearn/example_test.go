package golearn_test

import (
	"context"
	"fmt"
	"log"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/evaluation"

	"github.com/dptrain/dptrain/adapter/golearn"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/regression"
)

// flatsGrid returns a golearn grid of floor area and price.
func flatsGrid() *base.DenseInstances {
	area := base.NewFloatAttribute("area")
	price := base.NewFloatAttribute("price")
	g := base.NewDenseInstances()
	areaSpec := g.AddAttribute(area)
	priceSpec := g.AddAttribute(price)
	if err := g.AddClassAttribute(price); err != nil {
		log.Fatal(err)
	}
	if err := g.Extend(3); err != nil {
		log.Fatal(err)
	}
	for i, v := range []float64{50, 80, 100} {
		g.Set(areaSpec, i, base.PackFloatToBytes(v))
		g.Set(priceSpec, i, base.PackFloatToBytes(2*v+10))
	}
	return g
}

// A trained model predicts on a golearn grid.
func Example() {
	model := &regression.Linear{ // usually read with regression.DecodeModel
		Target: "price",
		Columns: []regression.Column{{
			Name:    "area",
			Lower:   0,
			Upper:   90,
			Missing: 60,
		}},
		Terms:     []regression.Term{{Column: 0, Coefficient: 2}},
		Intercept: 10, Lower: 0, Upper: 1000,
	}
	var classifier base.Classifier = golearn.New(model)
	truth := flatsGrid()
	out, err := classifier.Predict(truth)
	if err != nil {
		log.Fatal(err)
	}
	pred, err := golearn.Target(out)
	if err != nil {
		log.Fatal(err)
	}
	y, err := golearn.Target(truth)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(classifier)
	fmt.Printf("%v, RMSE %.1f\n", pred, regression.RMSE(pred, y))
	fmt.Println(classifier.Fit(truth) == golearn.ErrNoFit)
	// Output:
	// dptrain linear model of "price" from 1 columns
	// [110 170 190], RMSE 11.5
	// true
}

// For public data, golearn's Fit can run a non-private baseline.
func ExampleNewTrainable() {
	c := golearn.NewTrainable(func(grid base.FixedDataGrid) (regression.Model, error) {
		d, err := golearn.Design(grid)
		if err != nil {
			return nil, err
		}
		return nonprivate.OLS(context.Background(), d)
	})
	if err := c.Fit(flatsGrid()); err != nil {
		log.Fatal(err)
	}
	m := c.Model().(*regression.Linear)
	fmt.Printf("price = %.2f + %.2f area\n", m.Intercept, m.Terms[0].Coefficient)
	// Output: price = 10.00 + 2.00 area
}

// For a private fit, a grid becomes a table under a declared schema.
func ExampleTable() {
	table, err := golearn.Table(
		flatsGrid(),
		dataset.Schema{Columns: []dataset.Column{
			{Name: "area", Ranged: true, Lower: 0, Upper: 200},
			{Name: "price"},
		}},
		nil,
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(table.Schema().Names(), table.Float(0))
	// Output: [area price] [50 80 100]
}

func ExampleBalancedAccuracy() {
	matrix, err := golearn.ConfusionOfCodes(
		[]string{"no", "yes"},
		[]int32{0, 0, 0, 1},
		[]int32{0, 0, 0, 0},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(golearn.Accuracy(matrix), golearn.BalancedAccuracy(matrix))
	// Output: 0.75 0.5
}

func ExampleConfusion() {
	class := base.NewCategoricalAttribute()
	class.SetName("risk")
	labels := func(names ...string) base.FixedDataGrid {
		g := base.NewDenseInstances()
		spec := g.AddAttribute(class)
		if err := g.AddClassAttribute(class); err != nil {
			log.Fatal(err)
		}
		if err := g.Extend(len(names)); err != nil {
			log.Fatal(err)
		}
		for i, name := range names {
			g.Set(spec, i, class.GetSysValFromString(name))
		}
		return g
	}
	matrix, err := golearn.Confusion(
		labels("low", "low", "high", "high"),
		labels("low", "low", "low", "low"),
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("accuracy %.2f\n", evaluation.GetAccuracy(matrix))
	for _, s := range golearn.Scores(matrix) {
		fmt.Printf("%s: precision %.2f recall %.2f\n", s.Class, s.Precision, s.Recall)
	}
	fmt.Printf("macro precision %.2f\n", golearn.Macro(golearn.Scores(matrix)).Precision)
	// Output:
	// accuracy 0.50
	// high: precision NaN recall 0.00
	// low: precision 0.50 recall 1.00
	// macro precision 0.25
}
