package nonprivate_test

import (
	"context"
	"fmt"
	"log"

	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/regression"
)

func ExampleLogistic() {
	design := nonprivate.ClassDesign{
		Names:   []string{"hours"},
		X:       [][]float64{{1, 2, 3, 4, 5, 6}},
		Target:  "passed",
		Classes: []string{"no", "yes"},
		Labels:  []int32{0, 0, 1, 0, 1, 1},
	}
	m, err := nonprivate.Logistic(
		context.Background(),
		design,
		nonprivate.MarginOptions{Lambda: 1},
	)
	if err != nil {
		log.Fatal(err)
	}
	rows := regression.Rows{N: 2, Numeric: map[string][]float64{"hours": {2, 5}}}
	classes, err := m.Predict(nil, rows)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Classes[int(classes[0])], m.Classes[int(classes[1])])
	// Output: no yes
}

func ExampleLinearSVM() {
	design := nonprivate.ClassDesign{
		Names:   []string{"hours"},
		X:       [][]float64{{1, 2, 3, 4, 5, 6}},
		Target:  "passed",
		Classes: []string{"no", "yes"},
		Labels:  []int32{0, 0, 1, 0, 1, 1},
	}
	m, err := nonprivate.LinearSVM(
		context.Background(),
		design,
		nonprivate.MarginOptions{Lambda: 1, Standardize: true},
	)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Scores[0].Kind(), len(m.Scores))
	// Output: linear 1
}

func ExampleClassBaseline() {
	_, err := nonprivate.ClassBaseline("nonprivate-perceptron")
	fmt.Println(err)
	// Output: unknown non-private baseline "nonprivate-perceptron" for classification; choose nonprivate-logistic or nonprivate-svm
}
