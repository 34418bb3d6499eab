package selection

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// BenchmarkClassScores measures the error of the released scores on the public sets of the paper's figure 3 that are
// available here, with declared ranges of three standard deviations around the mean. The metrics are mean absolute
// errors.
func BenchmarkClassScores(b *testing.B) {
	for _, name := range []string{"wdbc", "ionosphere"} {
		v, f := readClasses(b, name)
		exact, err := ExactScores(context.Background(), f, v)
		if err != nil {
			b.Fatal(err)
		}
		mean := 0.0
		for _, s := range exact.F {
			mean += s / float64(len(exact.F))
		}
		for _, epsilon := range []float64{
			.01, .05, .1, .2, .5,
			1, 5, 20,
		} {
			b.Run(fmt.Sprintf("%s/%v", name, epsilon), func(b *testing.B) {
				sum := 0.0
				share := 0.0
				for b.Loop() {
					got, err := DPFSDR{}.Scores(
						context.Background(),
						classSession(b, DPFSDR{}, epsilon, f),
						f,
						memory.NewRecords(v),
					)
					if err != nil {
						b.Fatal(err)
					}
					x, y := got.MeanError(exact)
					sum += x
					share += y
				}
				b.ReportMetric(sum/float64(b.N), "F-error")
				b.ReportMetric(share/float64(b.N), "importance-error")
				b.ReportMetric(mean, "F-mean")
			})
		}
	}
}

// BenchmarkClassSelectors uses tables of four columns that separate the classes, a near copy of each and twenty
// uninformative columns. It counts the pairs with at least one selected column, and the selected columns beyond
// these.
func BenchmarkClassSelectors(b *testing.B) {
	for _, n := range []int{500, 2000, 10000, 100000} {
		columns, y := separatedClasses(
			rand.New(rand.NewPCG(5, 6)),
			n,
			[]float64{.8, .6, .5, .4},
			20,
		)
		v, f := classTable(b, 4, columns, nil, 0, 2, y)
		for _, epsilon := range []float64{.2, 1, 5} {
			for _, x := range []Selector{
				DPFSDR{},
				DPFS{},
				CRFS{},
				DPFSDR{K: 4, Exact: true},
				DPFS{K: 4, Exact: true},
			} {
				exact := ""
				if len(x.Widest(f)) == 4 {
					exact = "-4"
				}
				b.Run(
					fmt.Sprintf(
						"%d/%v/%s%s",
						n,
						epsilon,
						x.Name(),
						exact,
					),
					func(b *testing.B) {
						found := 0.0
						more := 0.0
						for b.Loop() {
							pairs := map[int]bool{}
							got := classPick(b, x, epsilon, f, v)
							for _, j := range got {
								if j < 8 {
									pairs[j%4] = true
								}
							}
							found += float64(len(pairs))
							more += float64(len(got) - len(pairs))
						}
						b.ReportMetric(found/float64(b.N), "found")
						b.ReportMetric(more/float64(b.N), "more")
					},
				)
			}
		}
	}
}

// readClasses reads a public set whose last column is the class, 0 or 1.
func readClasses(b *testing.B, name string) (dataset.View, Facts) {
	b.Helper()
	path := testkit.PublicData(b, "classification", name+".csv.gz")
	names, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		b.Fatal(err)
	}
	var schema dataset.Schema
	for _, n := range names {
		schema.Columns = append(schema.Columns, dataset.Column{Name: n})
	}
	last := len(names) - 1
	schema.Columns[last] = dataset.Column{
		Name:       names[last],
		Kind:       dataset.Category,
		Categories: []string{"0", "1"},
	}
	tab, _, err := dataset.Read(
		context.Background(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		b.Fatal(err)
	}
	f := Facts{
		Columns: schema.Columns[:last],
		Target:  schema.Columns[last],
		Ranges:  make([]scaling.Range, last+1),
	}
	for j := range last {
		mean := 0.0
		square := 0.0
		n := float64(tab.Len())
		for _, x := range tab.Float(j) {
			mean += x / n
			square += x * x / n
		}
		half := 3*math.Sqrt(max(square-mean*mean, 0)) + 1e-9
		f.Ranges[j] = scaling.Range{Lower: mean - half, Upper: mean + half}
	}
	return tab.View(), f
}
