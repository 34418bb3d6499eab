package suite_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/dptrain/dptrain/experiments/suite"
)

// The first experiment runs on a folder of one table, in which y is exactly 3x + 1.
func ExampleRun() {
	dir, err := os.MkdirTemp("", "suite")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	table := []byte("x,y\n")
	for i := range 50 {
		table = fmt.Appendf(table, "%d,%d\n", i, 3*i+1)
	}
	if err := os.WriteFile(filepath.Join(dir, "line.csv"), table, 0o600); err != nil {
		panic(err)
	}

	records, err := suite.Run(context.Background(), suite.Seed001, suite.Options{
		Public: true,
		Data:   dir,
		Out:    filepath.Join(dir, "out"),
		Trials: 1,
	})
	if err != nil {
		panic(err)
	}
	for _, r := range records {
		if r.Method == "nonprivate-ols" {
			fmt.Printf(
				"%s, trial %d of %s: R² %.2f\n",
				r.Data,
				r.Trial,
				r.Method,
				r.Values["r2"],
			)
		}
	}
	// Output: line, trial 1 of nonprivate-ols: R² 1.00
}

func ExampleNames() {
	fmt.Println(suite.Names())
	// Output: [seed-001 seed-000 copies targets seed-004 seed-003 seed-002 seed-002-cost seed-002-space seed-002-causal]
}

func ExampleDescribe() {
	d := suite.Describe([]float64{.2, .4, .6, .8})
	fmt.Printf(
		"median %.2f, quartiles %.2f and %.2f, mean %.2f in %.2f to %.2f\n",
		d.Median,
		d.Q25,
		d.Q75,
		d.Mean,
		d.Low,
		d.High,
	)
	// Output: median 0.50, quartiles 0.35 and 0.65, mean 0.50 in 0.25 to 0.75
}

// A store continues where the last run ended.
func ExampleOpenStore() {
	dir, err := os.MkdirTemp("", "suite")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	header := suite.Header{Suite: "mine", Seed: 1}
	key := suite.Key{Cell: suite.Cell{Data: "houses", Method: "joint-gram"}, Trial: 1}
	for range 2 {
		s, err := suite.OpenStore(dir, header)
		if err != nil {
			panic(err)
		}
		fmt.Println("finished:", s.Done(key))
		if !s.Done(key) {
			err := s.Put(
				suite.Record{
					Key: key,
					Outcome: suite.Outcome{
						Status: suite.OK,
						Values: map[string]float64{"r2": .7},
					},
				})
			if err != nil {
				panic(err)
			}
		}
		if err := s.Close(); err != nil {
			panic(err)
		}
	}
	// Output:
	// finished: false
	// finished: true
}

func ExampleFigure_SVG() {
	svg := suite.Figure{
		Title:  "a curve",
		XLabel: "epsilon",
		YLabel: "share",
		YMax:   1,
		Series: []suite.Series{{Points: []suite.Point{
			{X: 1, Y: .2, Low: .1, High: .3},
			{X: 2, Y: .6, Low: .5, High: .7},
		}}},
	}.SVG()
	fmt.Println(strings.Contains(string(svg), "<title>a curve</title>"))
	// Output: true
}

func ExamplePage_HTML() {
	var html strings.Builder
	err := suite.Page{Title: "Results", Lead: []string{"Of one run."}}.HTML(&html)
	fmt.Println(err, html.String()[:15])
	// Output: <nil> <!doctype html>
}
