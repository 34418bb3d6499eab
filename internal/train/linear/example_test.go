package linear_test

import (
	"fmt"

	"github.com/dptrain/dptrain/internal/train/linear"
)

func ExampleDefaultLambda() {
	fmt.Printf("%.1f\n", linear.DefaultLambda(30000, 1/.25))
	// Output: 39.1
}
