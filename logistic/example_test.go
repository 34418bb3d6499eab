package logistic_test

import (
	"fmt"
	"log"
	"slices"
	"strings"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/logistic"
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

// Gradients with noise.
func ExampleLogistic() {
	printSteps(
		dptrain.Run{Model: logistic.Logistic{}, Classes: []string{"no", "yes"}},
		"model",
	)
	// Output:
	// gram: 1 × gaussian
	// gradients: 16 × gaussian
}
