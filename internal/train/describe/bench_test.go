package describe

import (
	"context"
	"testing"
)

// BenchmarkRun describes 100,000 records of eight columns and a column of groups.
func BenchmarkRun(b *testing.B) {
	columns := make([][]float64, 8)
	for j := range columns {
		for i := range 100000 {
			columns[j] = append(
				columns[j],
				float64((i*(j+7))%1013),
			)
		}
	}
	s, table := tableOf(b, columns...)
	plan, err := s.Plan()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		_, err := plan.Again().Run(context.Background(), table)
		if err != nil {
			b.Fatal(err)
		}
	}
}
