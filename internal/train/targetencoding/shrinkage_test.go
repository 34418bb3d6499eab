package targetencoding

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit/testrows"
)

// TestEncodingWithoutSignal checks that values without an effect all get the mean of the target, so that no noise
// reaches the model.
func TestEncodingWithoutSignal(t *testing.T) {
	counts := make([]float64, 200)
	sums := make([]float64, 200)
	r := testrows.Points(3)
	for v := range counts { // 100 records each, of mean .2, and noise of 10 and 20
		counts[v] = 100 + 20*drawNoise(&r)
		sums[v] = 20 + 10*drawNoise(&r)
	}
	got := encodeColumn(counts, sums, 10, 5, 2)
	for v, x := range got.values {
		if math.Abs(x-5.4) > .1 ||
			x < got.scale.Lower ||
			x > got.scale.Upper {
			t.Errorf(
				"value %d stands for %v, want 5.4, in [%v, %v]",
				v,
				x,
				got.scale.Lower,
				got.scale.Upper,
			)
		}
	}
}

// drawNoise returns the sum of uniform numbers with standard deviation 1.
func drawNoise(r *testrows.Points) float64 {
	return r.Next() + r.Next() + r.Next()
}

// TestEncodingMeans checks that the means minimise the error under the assumed distribution, by comparing them, on
// values of known effect, with complete shrinkage and with no shrinkage.
func TestEncodingMeans(t *testing.T) {
	r := testrows.Points(11)
	var counts, sums, truth []float64
	for v := range 300 {
		n := 2000 / float64(v+1)
		effect := .3 * drawNoise(&r)
		truth = append(truth, .1+effect)
		counts = append(counts, n+20*drawNoise(&r))
		sums = append(sums, n*(.1+effect)+10*drawNoise(&r))
	}
	e := newShrinkage(counts, sums, 10)
	shrunk := 0.
	mean := 0.
	raw := 0.
	for v, m := range e.posteriorMeans() {
		shrunk += square(m - truth[v])
		mean += square(e.mean - truth[v])
		raw += square(min(
			max(sums[v]/max(counts[v], 1), -1),
			1,
		) - truth[v])
	}
	if shrunk > .95*mean || shrunk > .7*raw {
		t.Errorf(
			"squared errors: %v shrunk, %v of the mean, %v as they are",
			shrunk,
			mean,
			raw,
		)
	}
}
