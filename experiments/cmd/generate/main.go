// Command generate writes a synthetic table of testdata/ to its standard
// output:
//
//	go run -C experiments ./cmd/generate > testdata/houses.csv
//	go run -C experiments ./cmd/generate loans > testdata/loans.csv
//	go run -C experiments ./cmd/generate visits > testdata/visits.csv
//	go run -C experiments ./cmd/generate leaves > testdata/leaves.csv
//	go run -C experiments ./cmd/generate doses > testdata/doses.csv
package main

import (
	"fmt"
	"os"

	"github.com/dptrain/dptrain/experiments/internal/fixture"
)

func main() {
	write := fixture.WriteHouses
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "loans":
			write = fixture.WriteLoans
		case "visits":
			write = fixture.WriteVisits
		case "leaves":
			write = fixture.WriteLeaves
		case "doses":
			write = fixture.WriteDoses
		}
	}
	if err := write(os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}
