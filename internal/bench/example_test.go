package bench_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
	"github.com/dptrain/dptrain/regression"
)

// The experiment uses a small public table in which y is exactly 3x + 1.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	table := []byte("x,y\n")
	for i := range 50 {
		table = fmt.Appendf(table, "%d,%d\n", i, 3*i+1)
	}
	path := filepath.Join(dir, "line.csv")
	if err := os.WriteFile(path, table, 0o600); err != nil {
		panic(err)
	}

	summaries, err := bench.Run(
		context.Background(),
		bench.Config{
			Public:  true,
			Data:    []string{path},
			Methods: []string{"nonprivate-ols"},
		},
		nil,
	)
	if err != nil {
		panic(err)
	}
	for _, s := range summaries {
		fmt.Printf(
			"%s, %d rows: %s has a median R² of %.2f in %d trials\n",
			s.Data,
			s.N,
			s.Method,
			s.Median,
			s.Trials,
		)
	}
	// Output: line, 50 rows: nonprivate-ols has a median R² of 1.00 in 10 trials
}

// The example estimates the accuracy for two classes and three numeric columns before any table is read.
func ExampleExplain() {
	p := &pipeline.Pipeline{
		Task:     regression.TaskClassification,
		Target:   "repaid",
		Model:    adassp.JointGram{},
		Budget:   budget.Target{Epsilon: 1, Delta: 1e-6},
		Selector: selection.None{},
		Schema: dataset.Schema{Columns: []dataset.Column{
			{Name: "income"},
			{Name: "age"},
			{Name: "debt"},
			{Name: "repaid", Kind: dataset.Category, Categories: []string{"no", "yes"}},
		}},
	}
	x, err := bench.Explain(
		context.Background(),
		p,
		bench.ExplainConfig{Rows: []int{20_000}, Tables: 1},
	)
	if err != nil {
		panic(err)
	}
	fmt.Printf("largest class %.1f, true function %.1f\n", x.Largest.Median, x.Truth.Median)
	for i, epsilon := range x.Epsilons {
		if epsilon == 1 {
			fmt.Println(
				"epsilon 1 comes near:",
				x.Sizes[0].At[i].Median > x.Truth.Median-.05,
			)
		}
	}
	// Output:
	// largest class 0.5, true function 0.8
	// epsilon 1 comes near: true
}

func ExampleParseMethod() {
	m, err := bench.ParseMethod("none+joint-gram")
	fmt.Println(m.Selection, m.Model, err)
	_, err = bench.ParseMethod("magic+joint-gram")
	fmt.Println(err != nil)
	// Output:
	// none joint-gram <nil>
	// true
}

// Nine of ten rows belong to one class, and the model always predicts that class.
func ExampleScoreClasses() {
	truth := []int32{0, 0, 0, 0, 0, 0, 0, 0, 0, 1}
	s, err := bench.ScoreClasses([]string{"no", "yes"}, truth, make([]int32, len(truth)))
	fmt.Println(s.Accuracy, s.Balanced, err)
	// Output: 0.9 0.5 <nil>
}

func ExampleWriteTable() {
	err := bench.WriteTable(os.Stdout, []bench.Summary{
		{
			Data:    "houses",
			N:       20640,
			D:       8,
			Method:  "nonprivate-ols",
			Median:  .643,
			Q25:     .639,
			Q75:     .645,
			Seconds: .003,
			Trials:  10,
		},
	})
	if err != nil {
		panic(err)
	}
	// Output:
	// data        n  d  method          median    q25    q75  seconds  no value
	// houses  20640  8  nonprivate-ols   0.643  0.639  0.645    0.003         0
}
