package tukey

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/bench/nonprivate"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// BenchmarkSGEMM fits 241,600 x 5 real rows and, in the same run, non-private least squares on the same columns. The
// metric ols-ratio is the ratio of the times.
func BenchmarkSGEMM(b *testing.B) {
	tab := publicTable(
		b, "361104_SGEMM.csv.gz", "Run2_ms_",
		"Run4_ms_", "Run3_ms_", "SA_0",
		"SA_1",
	)
	columns := tab.Schema().Columns
	last := len(columns) - 1
	trainer := Tukey{}
	facts := method.Facts{
		Columns: columns,
		Epsilon: .85 * math.Log(3),
		Delta:   9e-6,
	}
	model, err := trainer.Plan(facts)
	if err != nil {
		b.Fatal(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("fit", model),
		budget.Target{Epsilon: math.Log(3), Delta: 1e-5},
	)
	if err != nil {
		b.Fatal(err)
	}
	design := regression.Design{Target: columns[last].Name, Y: tab.Float(last)}
	ranges := make([]scaling.Range, last+1)
	for j, c := range columns {
		ranges[j] = scaling.Range{Lower: 0, Upper: 10}
		if j < last {
			design.Names, design.X = append(design.Names, c.Name), append(design.X, tab.Float(j))
		}
	}
	var private, public time.Duration
	for b.Loop() {
		s, err := mechanism.NewSession(priced)
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		_, err = trainer.Fit(
			context.Background(),
			s,
			dataOf(facts, tab.View(), tab.Len(), ranges),
		)
		if err != nil {
			b.Fatal(err)
		}
		private += time.Since(start)
		start = time.Now()
		if _, err := nonprivate.OLS(context.Background(), design); err != nil {
			b.Fatal(err)
		}
		public += time.Since(start)
	}
	b.ReportMetric(private.Seconds()/public.Seconds(), "ols-ratio")
	b.ReportMetric(
		1e3*private.Seconds()/float64(b.N),
		"tukey-ms/op",
	)
	b.ReportMetric(
		1e3*public.Seconds()/float64(b.N),
		"ols-ms/op",
	)
}

// BenchmarkPlan measures the search for the number of buckets.
func BenchmarkPlan(b *testing.B) {
	for _, c := range []depthCheck{
		usualCheck(6, math.Log(3), 1e-5),
		usualCheck(100, .1, 1e-6),
		usualCheck(6, .005, 1e-6),
	} {
		b.Run("", func(b *testing.B) {
			for b.Loop() {
				m, _ := c.minimumBuckets()
				b.ReportMetric(float64(m), "buckets")
			}
		})
	}
}
