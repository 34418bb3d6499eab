// Command generate writes the synthetic table of testdata/houses.csv to its
// standard output:
//
//	go run ./testdata/generate > testdata/houses.csv
package main

import (
	"fmt"
	"os"

	"github.com/dptrain/dptrain/internal/fixture"
)

func main() {
	if err := fixture.WriteHouses(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
