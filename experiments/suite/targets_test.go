package suite

import (
	"compress/gzip"
	"context"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/bench"
)

// TestSyntheticCountsHaveTheirRates checks that the counts of the synthetic table have the mean and the variance of
// their rates, and that exact curves explain them better than a constant.
func TestSyntheticCountsHaveTheirRates(t *testing.T) {
	table := newClaims(targetSource{kind: countTarget, name: "claims"}, 3)
	m := average(table.y)
	if m < .05 || m > .3 {
		t.Errorf("mean %g", m)
	}
	g := newGenerator("counts", 1, 1)
	var counts, squares []float64
	for range 20000 {
		v := g.poisson(2.5)
		counts = append(counts, v)
		squares = append(squares, (v-2.5)*(v-2.5))
	}
	if math.Abs(average(counts)-2.5) > .08 ||
		math.Abs(average(squares)-2.5) > .2 {
		t.Errorf(
			"mean %g, variance %g",
			average(counts), average(squares),
		)
	}
	x := table.newTrial(1, 1)
	if len(x.test)+len(x.train) != len(table.y) ||
		len(x.test) != len(table.y)/5 {
		t.Errorf(
			"%d and %d rows",
			len(x.train), len(x.test),
		)
	}
	p, err := x.fitExactCurves()
	if err != nil {
		t.Fatal(err)
	}
	d := x.judgeCounts(p)[metricDeviance]
	if d < .03 || d > .2 {
		t.Errorf("curves explain %g", d)
	}
	d = x.judgeCounts(x.constantRate())[metricDeviance]
	if math.Abs(d) > 1e-9 {
		t.Errorf("a constant explains %g", d)
	}
}

// constantRate returns the predictions of a constant rate.
func (x *targetTrial) constantRate() []float64 {
	out := x.exposures(x.test)
	rate := average(x.truth(x.train)) / average(x.exposures(x.train))
	for i := range out {
		out[i] *= rate
	}
	return out
}

// TestParabolaIsLeastSquares checks that the parabola is the best one: its errors sum to 0 with every power.
func TestParabolaIsLeastSquares(t *testing.T) {
	constant, slope, square := parabolaOfExp(1)
	for power := range 3 {
		sum := 0.
		for i := range 2001 {
			x := 2*float64(i)/2000 - 1
			sum += math.Pow(x, float64(power)) * (math.Exp(x) - constant - slope*x - square*x*x)
		}
		if math.Abs(sum) > 1e-8 {
			t.Errorf("power %d: %g", power, sum)
		}
	}
}

// TestMonotoneLevels compares levels by bin with the best of all increasing ones.
func TestMonotoneLevels(t *testing.T) {
	g := newGenerator("levels", 1, 1)
	for range 200 {
		counts := make([][]float64, 4)
		for b := range counts {
			counts[b] = g.normals(3)
		}
		best := math.Inf(1)
		for code := range 81 {
			levels := []float64{
				float64(code % 3),
				float64(code / 3 % 3),
				float64(code / 9 % 3),
				float64(code / 27),
			}
			if slices.IsSorted(levels) {
				best = min(best, lossOfLevels(counts, levels))
			}
		}
		got := monotoneLevels(counts)
		if !slices.IsSorted(got) ||
			math.Abs(lossOfLevels(counts, got)-best) > 1e-9 {
			t.Fatalf(
				"%v: loss %g, want %g",
				got, lossOfLevels(counts, got), best,
			)
		}
	}
}

func lossOfLevels(counts [][]float64, levels []float64) float64 {
	sum := 0.
	for b, row := range counts {
		for v, n := range row {
			sum += n * math.Abs(levels[b]-float64(v))
		}
	}
	return sum
}

// TestCountQuantilesAreSymmetric checks quantiles of counts, and that a width is symmetric.
func TestCountQuantilesAreSymmetric(t *testing.T) {
	counts := []float64{10, 0, 20, 10}
	for level, want := range map[float64]float64{
		.125: .125,
		.25:  .5,
		.5:   .625,
		.75:  .75,
		1:    1,
	} {
		got := quantileOfCounts(counts, level)
		if math.Abs(got-want) > 1e-9 {
			t.Errorf(
				"quantile %g: %g, want %g",
				level, got, want,
			)
		}
	}
	got := []float64{
		offsetOf(counts, .1, 8, true),
		offsetOf(counts, .5, 8, true),
		offsetOf(counts, .9, 8, true),
	}
	if got[0] != -got[2] ||
		got[1] != 0 ||
		math.Abs(got[2]-8*quantileOfCounts(counts, .8)) > 1e-9 {
		t.Errorf("%v", got)
	}
	pooled := poolCounts([][]float64{{4, 0}, {0, 4}}, 4)
	if !slices.Equal(pooled[0], []float64{6, 2}) ||
		!slices.Equal(pooled[1], []float64{2, 6}) {
		t.Errorf("%v", pooled)
	}
}

// TestTargetTables reads tables with ordered classes in one column, and in several of 0 and 1.
func TestTargetTables(t *testing.T) {
	dir := t.TempDir()
	const text = "a,b_low,b_high,grade,size\n1,1,0,B2,x\n2,0,1,A1,y\n,1,0,,x\n"
	writeGzip(t, filepath.Join(dir, "t.csv.gz"), text)
	one, err := readTargetTable(
		targetSource{
			kind:   orderedTarget,
			file:   "t.csv.gz",
			target: "grade",
			drop:   []string{"size"},
			levels: []string{"A", "B"},
		},
		dir,
		1,
	)
	if err != nil ||
		len(one.columns) != 3 ||
		one.y[0] != 1 ||
		one.y[1] != 0 ||
		one.y[2] == one.y[2] {
		t.Errorf("%+v, %v", one, err)
	}
	joined, err := readTargetTable(
		targetSource{
			kind:   orderedTarget,
			file:   "t.csv.gz",
			prefix: "b_",
			levels: []string{"low", "high"},
		},
		dir,
		1,
	)
	if err != nil ||
		len(joined.columns) != 3 ||
		!slices.Equal(joined.y, []float64{0, 1, 0}) {
		t.Errorf("%+v, %v", joined, err)
	}
	x := one.newTrial(1, 1)
	if len(x.train)+len(x.test) != 2 {
		t.Errorf(
			"%d rows with a target",
			len(x.train)+len(x.test),
		)
	}
}

// TestTargets runs every method once on small tables, and checks that the page has every table and method.
func TestTargets(t *testing.T) {
	if testing.Short() {
		t.Skip("trains 20 models")
	}
	var records []Record
	for _, kind := range []string{countTarget, orderedTarget, quantileTarget} {
		s := targetSource{kind: kind, name: "claims"}
		if kind == orderedTarget {
			s.levels = []string{"0", "1", "2", "3"}
		}
		table := newClaims(s, 2)
		for i := range table.y {
			table.y[i] = min(table.y[i], 3)
		}
		for _, m := range targetMethods() {
			if m.kind != kind {
				continue
			}
			x := table.newTrial(1, 1)
			x.train = x.train[:3000]
			x.test = x.test[:500]
			values, err := m.run(context.Background(), x)
			if err != nil {
				t.Fatalf("%s: %v", m.name, err)
			}
			for metric, v := range values {
				if math.IsNaN(v) || math.IsInf(v, 0) || v > 1 {
					t.Errorf(
						"%s: %s %g",
						m.name, metric, v,
					)
				}
			}
			records = append(
				records,
				Record{
					Key{targetCell(s, m.name), 1},
					Outcome{Status: OK, Values: values},
				},
			)
		}
	}
	page := checkPage(t, targetsPage(records))
	for _, want := range []string{countTarget, orderedTarget, quantileTarget, bench.MetricR2, "claims"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	p, err := NewPlan(Targets, Options{Public: true, Data: "x"})
	if err != nil || len(p.Tasks) != len(targetSources()) {
		t.Errorf("%+v, %v", p, err)
	}
	if _, err := NewPlan(Targets, Options{Public: true}); err == nil {
		t.Error("a plan without a folder")
	}
}

// writeGzip writes a compressed file.
func writeGzip(t *testing.T, path, text string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := gzip.NewWriter(f)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
}
