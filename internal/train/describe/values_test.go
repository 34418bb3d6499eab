package describe

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// The values of these tests were computed by another program from the formulas, to six decimals.

func close6(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf(
			"%s is %.7f, want %.6f",
			what, got, want,
		)
	}
}

func TestBudgetValues(t *testing.T) {
	for epsilon, want := range map[float64]float64{
		.3: .076968,
		.5: .124106,
		1:  .236704,
		3:  .647727,
	} {
		s := studyOf(2)
		s.Budget = budget.Target{Epsilon: epsilon, Delta: 1e-6}
		for j := range s.Schema.Columns { // no vocabulary: its delta takes a little of mu
			s.Schema.Columns[j].Found = false
		}
		p, err := s.Plan()
		if err != nil {
			t.Fatal(err)
		}
		squares := 0.
		for _, l := range p.Leaves() {
			squares += l.Law.Mu * l.Law.Mu
		}
		close6(t, "mu", math.Sqrt(squares), want)
	}
}

func TestTreeValues(t *testing.T) {
	nodes := []float64{80, 40, 10, 0, -5, 20, 60, 95}
	var leaves []float64
	for i := range mechanism.TreeLeaves {
		leaves = append(leaves, 2*float64(i%7)+nodes[i/8]/10)
	}
	fitted, consistentLeaves := fitTree(nodes, leaves)
	for i, want := range []float64{82.888889, 44, 14.888889} {
		close6(t, "a node", fitted[i], want)
	}
	for i, want := range []float64{5.111111, 7.111111, 9.111111} {
		close6(t, "a leaf", consistentLeaves[i], want)
	}
	prefix := 0.
	for _, x := range consistentLeaves[:11] {
		prefix += x
	}
	close6(t, "the sum of 11 leaves", prefix, 94.888889)
	close6(t, "its variance", prefixVariance(11), 5.777778)
}

func TestQuantileValues(t *testing.T) {
	leaves := make([]float64, mechanism.TreeLeaves)
	for i := range leaves {
		leaves[i] = 10
	}
	scan := quantileScan{leaves, 4, noisyNumber{0, 4}, noisyNumber{640, 5}}
	for q, want := range map[float64][2]int{.5: {29, 35}, .25: {13, 19}} {
		lower, upper, at := scan.interval(q)
		if lower != want[0] ||
			upper != want[1] ||
			math.Abs(at-64*q) > 1e-9 {
			t.Errorf(
				"the %v quantile is %v, from %d to %d, want from %d to %d",
				q,
				at,
				lower,
				upper,
				want[0],
				want[1],
			)
		}
	}
	// If all records are beyond the range, one end is open.
	lower, upper, _ := (quantileScan{
		make([]float64, 64),
		1,
		noisyNumber{640, 1},
		noisyNumber{640, 5},
	}).interval(.5)
	if lower != -1 || upper != 0 {
		t.Errorf(
			"all below: from %d to %d",
			lower, upper,
		)
	}
	lower, upper, _ = (quantileScan{
		make([]float64, 64),
		1,
		noisyNumber{0, 1},
		noisyNumber{640, 5},
	}).interval(.5)
	if lower != 64 || upper != -1 {
		t.Errorf(
			"all above: from %d to %d",
			lower, upper,
		)
	}
}

func TestMeanAndSpreadValues(t *testing.T) {
	lower, upper := fiellerInterval(noisyNumber{120, 9}, noisyNumber{1000, 8}, z95)
	close6(t, "the lower end of a mean", lower, .102288)
	close6(t, "the upper end of a mean", upper, .137771)
	value, lower, upper := deviationInterval(
		noisyNumber{1000, 8},
		noisyNumber{120, 8},
		noisyNumber{250, 8 / .6},
	)
	close6(t, "a spread", value, .485386)
	close6(t, "the lower end of a spread", lower, .457133)
	close6(t, "the upper end of a spread", upper, .512083)
}

func TestCorrelationValues(t *testing.T) {
	off := 10 / math.Sqrt2
	p := momentPair{
		noisyNumber{1000, 8},
		noisyNumber{150, off},
		[2]noisyNumber{{120, off}, {-40, off}},
		[2]noisyNumber{{250, 10}, {200, 10}},
	}
	r, noise, ok := p.correlation()
	if !ok {
		t.Fatal("unknown")
	}
	close6(t, "a correlation", r, .715999)
	close6(t, "its lower end", r-z95*noise, .635160)
	close6(t, "its upper end", r+z95*noise, .796838)
	p.squares[0].noise = 100
	if _, _, ok := p.correlation(); ok {
		t.Error("a variance below four standard deviations of its noise has a correlation")
	}
}

func TestEtaValues(t *testing.T) {
	e := etaSums{
		counts:     []float64{400, 350, 250},
		sums:       []float64{60, -20, 30},
		countNoise: 10,
		sumNoise:   8,
		total:      noisyNumber{180, 12},
	}
	value, lower, upper, ok := e.interval(normMiss + totalMiss)
	if !ok || value < lower || value > upper {
		t.Errorf(
			"%v within [%v, %v], %v",
			value, lower, upper, ok,
		)
	}
	close6(t, "the lower end", lower, .115068)
	close6(t, "the upper end", upper, .350223)
	_, wideLower, wideUpper, _ := e.interval(.001)
	if !(wideLower < lower && wideUpper > upper) {
		t.Error("an interval that misses less is no wider")
	}
}

// TestSimultaneousQuantile tests the quantile for the ten strongest of 45 pairs.
func TestSimultaneousQuantile(t *testing.T) {
	close6(t, "the quantile", twoSidedQuantile(.05/45), 3.260768)
}

// TestCutLimitsIgnoreNoise checks that the noise of leaves without records does not widen the limits, and that a
// column without visible values keeps its range.
func TestCutLimitsIgnoreNoise(t *testing.T) {
	leaves := make([]float64, mechanism.TreeLeaves)
	for k := range leaves {
		leaves[k] = 40 * float64(k%2*2-1) // of either sign
		if k >= 20 && k < 30 {
			leaves[k] += 600
		}
	}
	values := noisyNumber{6000, 50}
	from, to := cutLimits(
		0, 64, leaves, noisyNumber{0, 30},
		noisyNumber{0, 30}, values,
	)
	if !(from > 19 && from < 21 && to > 29 && to < 31) {
		t.Errorf("from %v to %v", from, to)
	}
	from, to = cutLimits(
		0,
		64,
		leaves,
		noisyNumber{500, 30},
		noisyNumber{0, 30},
		values,
	)
	if from != 0 {
		t.Errorf(
			"with more than 3%% below the range: from %v to %v",
			from, to,
		)
	}
	from, to = cutLimits(
		0,
		64,
		leaves,
		noisyNumber{0, 30},
		noisyNumber{0, 30},
		noisyNumber{100, 50},
	)
	if from != 0 || to != 64 {
		t.Errorf(
			"a column that is not seen: from %v to %v",
			from, to,
		)
	}
	one := make([]float64, mechanism.TreeLeaves)
	one[5] = 6000
	from, to = cutLimits(
		0,
		64,
		one,
		noisyNumber{0, 1},
		noisyNumber{0, 1},
		noisyNumber{6000, 1},
	)
	if !(from >= 5 && to <= 6 && to > from) {
		t.Errorf(
			"one leaf: from %v to %v",
			from, to,
		)
	}
}
