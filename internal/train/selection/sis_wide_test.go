package selection

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// TestSISKhan checks that with an ample budget the five columns with the largest |tau| of a microarray set are
// selected. The fifth score is .45 above the sixth, for a width of 2.5: at 3000 a draw the chance of a miss is below
// 1e-100.
func TestSISKhan(t *testing.T) {
	path := testkit.PublicData(t, "highdim", "khan.csv.gz")
	names, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var schema dataset.Schema
	for _, n := range names {
		schema.Columns = append(schema.Columns, dataset.Column{Name: n})
	}
	tab, _, err := dataset.Read(
		context.Background(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	d := len(names) - 1
	target := kendall.Rank(tab.Float(d), nil)
	tau := make([]int64, d)
	order := make([]int, d)
	for j := range tau {
		s := kendall.S(kendall.Rank(tab.Float(j), nil), target, nil)
		tau[j] = max(s, -s)
		order[j] = j
	}
	slices.SortFunc(order, func(a, b int) int {
		return int(tau[b] - tau[a])
	})
	want := slices.Sorted(slices.Values(order[:5]))
	f := Facts{Columns: schema.Columns[:d], Target: schema.Columns[d]}
	for _, form := range []mechanism.TopKForm{mechanism.OneShot, mechanism.Lipschitz} {
		got := runSIS(
			t, SIS{K: 5, TopK: form},
			15000, tab.View(), f,
		)
		if !slices.Equal(got, want) {
			t.Errorf(
				"%v: chose %v, the largest scores are %v",
				form, got, want,
			)
		}
	}
}

// BenchmarkSISWide is DP-SIS with |tau| on 100 records of 22,000 continuous
// columns.
func BenchmarkSISWide(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	columns := make([][]float64, 22_001)
	for j := range columns {
		for range 100 {
			columns[j] = append(columns[j], rng.NormFloat64())
		}
	}
	v, f := sisTable(b, scaling.Range{}, columns...)
	for _, form := range sisForms() {
		b.Run(form.String(), func(b *testing.B) {
			x := SIS{
				K:     5,
				Score: ScoreTau,
				TopK:  form,
			}
			priced := priceSIS(b, x, 1, f)
			for b.Loop() {
				pickPriced(b, x, priced, v, f)
			}
			b.ReportMetric(
				b.Elapsed().Seconds()/float64(b.N),
				"s/run",
			)
		})
	}
}
