package scaling

import (
	"context"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// numericTable builds a numeric table and its columns.
func numericTable(t testing.TB, columns ...[]float64) (*dataset.Table, []dataset.Column) {
	t.Helper()
	var schema dataset.Schema
	var data []dataset.ColumnData
	for j, x := range columns {
		schema.Columns = append(
			schema.Columns,
			dataset.Column{Name: string(rune('a' + j))},
		)
		data = append(data, dataset.ColumnData{Floats: x})
	}
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab, schema.Columns
}

// releaseRanges runs private scaling at a budget.
func releaseRanges(
	t testing.TB,
	epsilon float64,
	target int,
	tab *dataset.Table,
	columns []dataset.Column,
) []Range {
	t.Helper()
	return runScaling(t, Private{Columns: columns, Target: target}, epsilon, tab)
}

// runScaling carries out the stage.
func runScaling(t testing.TB, p Private, epsilon float64, tab *dataset.Table) []Range {
	t.Helper()
	node, private := p.Plan()
	if !private {
		t.Fatal("nothing to release")
	}
	priced, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-6,
			Relation: p.Relation,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	out, err := p.Run(
		context.Background(),
		s.Sub("scaling"),
		memory.NewRecords(tab.View()),
	)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func rampValues(n int, lower, upper float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = lower + (upper-lower)*(float64(i)+.5)/float64(n)
	}
	return x
}

// TestRangesFollowTheData checks that with a large budget the ranges are the outer quantiles, widened, at any
// magnitude and sign.
func TestRangesFollowTheData(t *testing.T) {
	for _, c := range []struct{ lower, upper float64 }{
		{0, 1},
		{-5, 3},
		{1e-9, 3e-9},
		{4e7, 9e7},
		{-8e12, -1e12},
		{1000, 1001},
	} {
		tab, columns := numericTable(t, rampValues(20000, c.lower, c.upper))
		r := releaseRanges(t, 50, -1, tab, columns)[0]
		middle := (c.lower + c.upper) / 2
		half := (c.upper - c.lower) / 2 * (1 - 2*featureReading.outer) * featureReading.widen
		// The last bins are 1/32 of an interval that is at most a few bins of the magnitude wider than the data: an
		// offset of a thousand widths leaves about half a width of slack.
		if math.Abs(r.Center()-middle) > .4*half ||
			r.Half() < .9*half ||
			r.Half() > 1.6*half {
			t.Errorf(
				"[%v, %v]: range [%v, %v], expected about %v +- %v",
				c.lower,
				c.upper,
				r.Lower,
				r.Upper,
				middle,
				half,
			)
		}
		if r.Declared {
			t.Error("a released range says it is declared")
		}
	}
}

// TestTargetKeepsItsSign checks that a target that is never negative gets no negative range, and that a feature gets
// one.
func TestTargetKeepsItsSign(t *testing.T) {
	x := rampValues(20000, 1, 100)
	tab, columns := numericTable(t, x, x)
	r := releaseRanges(t, 50, 1, tab, columns)
	if r[0].Lower >= 0 || r[1].Lower != 0 {
		t.Errorf(
			"feature %+v, target %+v",
			r[0], r[1],
		)
	}
}

// TestDeclaredRangesAreKept checks that declared ranges are kept and are free.
func TestDeclaredRangesAreKept(t *testing.T) {
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -2,
			Upper:  5,
		},
		{
			Name:       "b",
			Kind:       dataset.Category,
			Categories: []string{"x"},
		},
	}
	p := Private{Columns: columns}
	if _, private := p.Plan(); private {
		t.Error("a declared range is priced")
	}
	got, err := p.Run(
		context.Background(), nil,
		memory.NewRecords(dataset.View{}),
	)
	if err != nil ||
		got[0] != (Range{Lower: -2, Upper: 5, Declared: true}) ||
		got[1] != (Range{}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestRangesOfAnyTableAreFinite checks that the ranges of any table are finite and of positive width.
func TestRangesOfAnyTableAreFinite(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	for name, x := range map[string][]float64{
		"no rows":  {},
		"one row":  {5},
		"missing":  {nan, nan, nan},
		"infinite": {inf, -inf, inf},
		"zeros":    make([]float64, 500),
		"constant": rampValues(500, 7, 7),
		"huge":     rampValues(500, 1e300, 1.7e308),
		"tiny":     rampValues(500, 1e-310, 1e-300),
		"two far values": append(
			rampValues(400, -1e30, -1e30),
			rampValues(400, 1e30, 1e30)...,
		),
		"mostly zero": append(make([]float64, 5000), rampValues(60, 1, 3)...),
	} {
		for _, epsilon := range []float64{.01, 1, 50} {
			for range 5 {
				tab, columns := numericTable(t, x, x)
				for _, r := range releaseRanges(t, epsilon, 1, tab, columns) {
					if !(r.Lower < r.Upper) ||
						math.IsInf(r.Lower, 0) ||
						math.IsInf(r.Upper, 0) {
						t.Errorf(
							"%s at %v: [%v, %v]",
							name, epsilon, r.Lower, r.Upper,
						)
					}
				}
			}
		}
	}
}

// TestExponentBins checks that bins are ordered like the values and that their edges enclose them.
func TestExponentBins(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.Float64().Draw(t, "x")
		y := rapid.Float64().Draw(t, "y")
		bx := exponentBin(x)
		by := exponentBin(y)
		if x < y && bx > by {
			t.Fatalf(
				"%v in bin %d, %v in bin %d",
				x, bx, y, by,
			)
		}
		lower, upper := exponentEdges(int(bx))
		a := math.Abs(x)
		if a >= math.Ldexp(1, minExponent) &&
			a < math.Ldexp(1, maxExponent+1) &&
			(x < lower || x > upper) {
			t.Fatalf(
				"%v outside [%v, %v]",
				x, lower, upper,
			)
		}
	})
	for _, x := range []float64{5e-324, 0x1p-1030, 0x1p-1022, 0x1p-65, 0x1p-64, .75, 1, 0x1p63,
		0x1p64, math.MaxFloat64, math.Inf(1)} {
		e := maxExponent // of infinity
		if x <= math.MaxFloat64 {
			_, e = math.Frexp(x)
			e = min(max(e-1, minExponent), maxExponent)
		}
		if up, down := zeroBin+1+e-minExponent,
			zeroBin-1-e+minExponent; int(exponentBin(x)) != up ||
			int(exponentBin(-x)) != down {
			t.Errorf(
				"±%v in bins %d and %d, not %d and %d",
				x,
				exponentBin(x),
				exponentBin(-x),
				up,
				down,
			)
		}
	}
	if exponentBin(math.NaN()) < exponentBins {
		t.Error("a missing value is counted")
	}
	bins := make([]uint16, 6)
	linearBins(
		bins,
		[]float64{math.NaN(), -7, 0, .5, 1, 9},
		interval{0, 1}, Bins,
	)
	if !slices.Equal(bins, []uint16{noBin, 0, 0, Bins / 2, Bins - 1, Bins - 1}) {
		t.Errorf("linear bins %v", bins)
	}
	if exponentBin(math.Copysign(0, -1)) != zeroBin ||
		exponentBin(1) != zeroBin+1-minExponent {
		t.Error("zero or one in a wrong bin")
	}
}

// TestThresholdMatchesSpecification reproduces the specification: at c=10 columns and mu=.3 the
// noise is 10.5409 and the threshold 52.6135.
func TestThresholdMatchesSpecification(t *testing.T) {
	sigma := math.Sqrt(10) / .3
	threshold := sigma * math.Sqrt(2*math.Log(exponentBins*10/spurious))
	if math.Abs(sigma-10.5409) > 1e-4 ||
		math.Abs(threshold-52.6135) > 1e-4 {
		t.Errorf(
			"sigma %.4f, threshold %.4f",
			sigma, threshold,
		)
	}
}

func TestQuantilesOfCounts(t *testing.T) {
	counts := make([]float64, 10)
	for i := range counts {
		counts[i] = 100
	}
	q := outerQuantiles(counts, interval{0, 10}, .05)
	if math.Abs(q.Lower-.5) > 1e-12 ||
		math.Abs(q.Upper-9.5) > 1e-12 {
		t.Errorf("uniform counts: %v", q)
	}
	for name, counts := range map[string][]float64{
		"nothing":  make([]float64, 10),
		"negative": {-3, -1, -2},
	} {
		q := outerQuantiles(counts, interval{-1, 4}, .05)
		if q != (interval{-1, 4}) {
			t.Errorf("%s: %v", name, q)
		}
	}
}

// TestEncode checks the affine map, clamping, rounding toward zero, missing values and category blocks.
func TestEncode(t *testing.T) {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "a"},
		{
			Name:       "b",
			HasMissing: true,
			Missing:    4,
		},
		{
			Name:       "c",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
			Other:      true,
		},
		{
			Name:       "d",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
		},
	}}
	tab, err := dataset.NewTable(
		schema,
		[]dataset.ColumnData{
			{Floats: []float64{-9, 0, 1, 1e9, math.NaN()}},
			{Floats: []float64{0, 2, 4, 3, math.NaN()}},
			{Codes: []int32{0, 1, 2, 9, 0}},
			{Codes: []int32{0, 1, 2, 9, 1}},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	e := NewEncoder(
		schema.Columns,
		[]Range{
			{Lower: -1, Upper: 2},
			{Lower: 0, Upper: 4},
			{}, {},
		},
	)
	rows := make([][]int16, len(e.Slots()))
	for k := range rows {
		rows[k] = make([]int16, 5)
	}
	e.Encode(tab.View().Block(0, 5), rows, &Scratch{})
	const one = mechanism.FixedOne
	want := [][]int16{
		{-one, -5461, 5461, one, 0}, // -1/3 and 1/3 of 16384 toward zero
		{-one, 0, one, one / 2, one},
		{one, 0, 0, 0, one}, {0, one, 0, 0, 0}, {0, 0, one, one, 0},
		{one, 0, 0, 0, 0}, {0, one, 0, 0, one},
	}
	for k := range want {
		for i := range want[k] {
			if rows[k][i] != want[k][i] {
				t.Errorf(
					"slot %d, row %d: %d, want %d",
					k, i, rows[k][i],
					want[k][i],
				)
			}
		}
	}
	if got, want := e.NormLimit(.5), 2*NumericNorm+2+.25; math.Abs(got-want) > 1e-15 {
		t.Errorf("norm limit %v, want %v", got, want)
	}
}

// TestEncodeIsTotal checks that any range and value give an entry within [-1, 1].
func TestEncodeIsTotal(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.Float64().Draw(t, "a")
		b := rapid.Float64().Draw(t, "b")
		if a == b {
			return
		}
		e := NewEncoder(
			[]dataset.Column{{Name: "x"}},
			[]Range{{Lower: min(a, b), Upper: max(a, b)}},
		)
		out := make([]int16, 1)
		e.encodeNumeric(
			out,
			[]float64{rapid.Float64().Draw(t, "x")},
			0,
		)
		if out[0] < -mechanism.FixedOne || out[0] > mechanism.FixedOne {
			t.Fatalf("%d", out[0])
		}
	})
}

// TestPureRanges checks that with Laplace noise and no delta the range of a column of 20,000 numbers is found. At
// epsilon 3 a bin of the first histogram is off by 41, the threshold, with probability below .01 over all 514 bins.
func TestPureRanges(t *testing.T) {
	x := make([]float64, 20000)
	none := make([]float64, len(x))
	for i := range x {
		x[i] = 3 + float64(i)/2000
		none[i] = math.NaN()
	}
	columns := []dataset.Column{{Name: "x"}, {Name: "none"}}
	table, err := dataset.NewTable(
		dataset.Schema{Columns: columns},
		[]dataset.ColumnData{{Floats: x}, {Floats: none}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	p := Private{
		Columns: columns,
		Target:  -1,
		Pure:    true,
	}
	node, _ := p.Plan()
	priced, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{Epsilon: 3},
	)
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	got, err := p.Run(
		context.Background(),
		s.Sub("scaling"),
		memory.NewRecords(table.View()),
	)
	if err != nil {
		t.Fatal(err)
	}
	r := got[0]
	if r.Unread ||
		!(r.Lower > -3 && r.Lower < 4 && r.Upper > 12 && r.Upper < 22) {
		t.Errorf("range %+v", r)
	}
	for _, e := range s.Events() {
		if e.Law.Kind != budget.Pure ||
			math.Abs(e.Law.Epsilon-1) > 1e-9 {
			t.Errorf(
				"%s is %+v",
				e.Path, e.Law,
			)
		}
	}
}

// TestOutlineHoldsTheTails checks that ranges of an outline contain all but one part in a hundred of the values, are
// at most four times as wide, for skewed values too, and cost two histograms.
func TestOutlineHoldsTheTails(t *testing.T) {
	skewed := rampValues(20000, 0, 1)
	for i, x := range skewed {
		skewed[i] = math.Exp(6 * x)
	}
	for name, x := range map[string][]float64{
		"even":   rampValues(20000, -5, 3),
		"skewed": skewed,
	} {
		tab, columns := numericTable(t, x)
		p := Private{
			Columns: columns,
			Target:  -1,
			Outline: true,
		}
		node, ok := p.Plan()
		if !ok || len(node.Kids) != 2 {
			t.Fatal("the plan of an outline has other steps")
		}
		r := runScaling(t, p, 50, tab)[0]
		outside := 0
		for _, v := range x {
			if v < r.Lower || v > r.Upper {
				outside++
			}
		}
		width := x[len(x)-1] - x[0]
		if outside > len(x)/100 || r.Upper-r.Lower > 4*width {
			t.Errorf(
				"%s: [%v, %v], %d values outside",
				name, r.Lower, r.Upper, outside,
			)
		}
	}
}

// TestOutlineOfZeros checks that a column of zeros has a range around 0, and that a column without numbers has no
// range. Noise alone gives the latter a range with probability below .01, and three times in a row below 1e-6.
func TestOutlineOfZeros(t *testing.T) {
	none := make([]float64, 5000)
	for i := range none {
		none[i] = math.NaN()
	}
	tab, columns := numericTable(t, make([]float64, 5000), none)
	var r []Range
	for range 3 {
		r = runScaling(
			t,
			Private{
				Columns: columns,
				Target:  -1,
				Outline: true,
			},
			50,
			tab,
		)
		if r[1].Unread {
			break
		}
	}
	if !(r[0].Lower < 0 && r[0].Upper > 0) ||
		r[0].Unread ||
		!r[1].Unread {
		t.Errorf("%+v", r)
	}
}
