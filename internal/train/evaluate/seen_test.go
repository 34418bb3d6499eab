package evaluate

import (
	"math/rand/v2"
	"testing"
)

// TestNoiseShowsNoScale checks that sizes of noise alone seldom show a scale: both lists do in at most 2% of releases.
// The expected share is below 1%, and 4,000 releases exceed 2% by chance with a probability below 1e-6.
func TestNoiseShowsNoScale(t *testing.T) {
	const releases = 4000
	random := rand.New(rand.NewPCG(1, 2))
	sizes, _, _ := specifiedRelease()
	seen := 0
	for range releases {
		for b := range sizes.First {
			sizes.First[b] = sizes.FirstNoise * random.NormFloat64()
			sizes.Second[b] = sizes.SecondNoise * random.NormFloat64()
		}
		if readLimits(sizes, 1.7).seen {
			seen++
		}
	}
	if seen > releases/50 {
		t.Errorf("noise shows a scale in %d of %d releases", seen, releases)
	}
}

// TestScaleIsShown checks the least counts that show a scale, in one bin and in several.
func TestScaleIsShown(t *testing.T) {
	for _, c := range []struct {
		counts []float64
		shown  bool
	}{
		{[]float64{3.1}, true},
		{[]float64{2.9}, false},
		{[]float64{2.2, 2.1}, true},
		{[]float64{2.1, 2.1}, false},
		{[]float64{1.5, 1.6, 1.5, 1.5}, true},
		{[]float64{1.4, 1.5, 1.5, 1.5}, false},
		{[]float64{1.1, 1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1}, true},
		{[]float64{2.9, -2, -2, 2.8, 2.8, 2.8}, false}, // the fullest bin is not among those of the records
	} {
		sizes := make([]float64, sizeBins)
		copy(sizes[binAt(-8):], c.counts)
		if got := showsScale(sizes, 3, lastBin); got != c.shown {
			t.Errorf("%v: %v", c.counts, got)
		}
	}
}

// TestUnseenScale checks that every interval is as wide as possible where noise chose the limits: the record of targets
// far outside the range is not counted in any bin of a scale.
func TestUnseenScale(t *testing.T) {
	sizes, _, a := specifiedRelease()
	clear(sizes.First)
	clear(sizes.Second)
	sizes.First[binAt(-20)] = 2.5 * sizes.FirstNoise
	sizes.Second[binAt(-2)] = 6 * sizes.SecondNoise
	sizes.Second[lastBin] = 750
	l := readLimits(sizes, 1.7)
	o := readOctaves(sizes, l)
	a.Nodes = make([]float64, l.residualNodes().Len())
	a.Cells = make([]float64, o.cellGroups().Len())
	a.Groups = make([]float64, len(o))
	r := readR2(Pairs{Lower: -1, Upper: 1}, sizes, l, o, a)
	if l.seen || r.Lower != -1 || r.Upper != 1 || r.AllErrorsLower != -1 || len(r.Intervals) != 0 {
		t.Errorf("%v %+v", l.seen, r)
	}
	for _, size := range []Quality{r.MAE, r.RMSE} {
		if size.Lower != 0 || size.Upper != r.ErrorLimit {
			t.Errorf("%+v, limit %v", size, r.ErrorLimit)
		}
	}
	if !r.Unknown() {
		t.Error("R² is reported")
	}
}
