package boosting_test

import (
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/boosting"
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

// Curves and interactions.
func ExampleKernel() {
	printSteps(dptrain.Run{Model: boosting.Kernel{}}, "model")
	// Output:
	// gram: 1 × gaussian
	// counts: 1 × gaussian
	// residuals: 1 × gaussian
	// sums: 1 × gaussian
	// mean: 1 × gaussian
}

// One curve per column.
func ExampleAdditive() {
	printSteps(dptrain.Run{Model: boosting.Additive{}}, "model")
	// Output:
	// gram: 1 × gaussian
	// counts: 1 × gaussian
	// residuals: 8 × gaussian
	// linear: 8 × gaussian
	// shapes: 8 × gaussian
	// mean: 1 × gaussian
}

// Fifty rounds of a linear model.
func ExampleBoostedAdaSSP() {
	printSteps(dptrain.Run{Model: boosting.BoostedAdaSSP{Rounds: 50}}, "model")
	// Output:
	// gram: 1 × gaussian
	// gradients: 1 × gaussian
}

// A hundred random classifiers, if the columns of a record are private.
func ExampleBRC() {
	printSteps(dptrain.Run{Model: boosting.BRC{}, Classes: []string{"no", "yes"}}, "model")
	// Output:
	// records: 1 × gaussian
	// agreement: 100 × gaussian
}
