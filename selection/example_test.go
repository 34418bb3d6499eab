package selection_test

import (
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/selection"
)

// printSteps prints the releases of the stage of a run on the columns a to d and y.
func printSteps(run dptrain.Run, stage string) {
	run.Target = "y"
	run.Epsilon = 2
	run.Undeclared = "numbers"
	run.Columns = map[string]dptrain.Column{}
	for _, name := range []string{"a", "b", "c", "d"} {
		run.Columns[name] = dptrain.Range(0, 1)
	}
	plan, err := run.Plan(&dptrain.Table{Header: []string{"a", "b", "c", "d", "y"}})
	if err != nil {
		log.Fatal(err)
	}
	var lines []string
	for _, step := range plan.Steps() {
		if step.Place.Stage == stage {
			name := step.Path[strings.LastIndex(step.Path, "/")+1:]
			lines = append(
				lines,
				fmt.Sprintf("%s: %d × %v", name, step.Law.Draws, step.Law.Kind),
			)
		}
	}
	fmt.Println(strings.Join(slices.Compact(lines), "\n"))
}

// Keep all columns.
func ExampleNone() {
	printSteps(
		dptrain.Run{Model: adassp.JointGram{}, Selector: selection.None{}},
		"selection",
	)
	// Output:
}

// Keep two columns that are known to matter.
func ExampleFixed() {
	printSteps(
		dptrain.Run{
			Model:    adassp.JointGram{},
			Selector: selection.Fixed{Features: []string{"a", "c"}},
		},
		"selection",
	)
	// Output:
}

// Choose two columns by rank correlation.
func ExampleKendall() {
	printSteps(
		dptrain.Run{Model: adassp.JointGram{}, Selector: selection.Kendall{K: 2}},
		"selection",
	)
	// Output:
	// kendall: 2 × exponential
}

// Choose two columns by the votes of lasso fits.
func ExampleSubLasso() {
	printSteps(
		dptrain.Run{Model: adassp.JointGram{}, Selector: selection.SubLasso{K: 2}},
		"selection",
	)
	// Output:
	// sublasso: 2 × exponential
}

// Choose two columns by their dependence on the target.
func ExampleSIS() {
	printSteps(
		dptrain.Run{Model: adassp.JointGram{}, Selector: selection.SIS{K: 2}},
		"selection",
	)
	// Output:
	// choice: 2 × exponential
}

// Choose columns that cost at most 10 together.
func ExampleGreedyGram() {
	printSteps(
		dptrain.Run{
			Model:    adassp.JointGram{},
			Selector: selection.GreedyGram{Budget: 10, Costs: map[string]float64{"a": 8}},
		},
		"selection",
	)
	// Output:
	// gram: 1 × gaussian
}

// Choose at most three columns that separate the classes.
func ExampleDPFSDR() {
	printSteps(
		dptrain.Run{Selector: selection.DPFSDR{K: 3}, Classes: []string{"no", "yes"}},
		"selection",
	)
	// Output:
	// stats: 1 × gaussian
}

// Choose the two columns with the largest F-scores.
func ExampleDPFS() {
	printSteps(
		dptrain.Run{
			Selector: selection.DPFS{K: 2, Exact: true},
			Classes:  []string{"no", "yes"},
		},
		"selection",
	)
	// Output:
	// stats: 1 × gaussian
}

// Leave out correlated columns first.
func ExampleCRFS() {
	printSteps(
		dptrain.Run{
			Selector: selection.CRFS{K: 2, Correlated: 0.8},
			Classes:  []string{"no", "yes"},
		},
		"selection",
	)
	// Output:
	// stats: 1 × gaussian
}
