package hinge

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// A Problem is one minimisation. Rows have one entry per column and then Constant.
type Problem struct {
	Columns  [][]int16 // one slice per entry, all of the length of Labels
	Labels   []int8    // +1, -1, or 0 for a row that is left out
	Constant int64     // the last entry of every row, at most 2^40
	Norm     float64   // the norm of no row exceeds it
	Lambda   float64   // > 0
	Loss     Loss
}

// A Loss is convex in the margin m, with a derivative in [-1, 0].
type Loss uint8

const (
	// Huberised is the huberised hinge loss: slope clamp(m - 3/2, -1, 0).
	Huberised Loss = iota
	// Logistic is ln(1 + e^-m): slope -1/(1 + e^m).
	Logistic
)

// A Point is a vector whose coordinates are High + Low, |Low| at most half a unit
// in the last place of High; the last one belongs to the constant.
type Point struct{ High, Low []float64 }

func newPoint(d int) Point {
	return Point{make([]float64, d), make([]float64, d)}
}

func (p Point) clone() Point {
	return Point{append([]float64(nil), p.High...), append([]float64(nil), p.Low...)}
}

// movedBy returns p + t step.
func (p Point) movedBy(t float64, step []float64) Point {
	q := p.clone()
	for j, s := range step {
		sum, e := twoSum(q.High[j], float64(t*s))
		q.High[j], q.Low[j] = twoSum(sum, q.Low[j]+e)
	}
	return q
}

// twoSum returns a + b and its rounding error, exactly (Knuth). Arguments that are
// products need a conversion to float64, or a fused operation could round once.
func twoSum(a, b float64) (sum, rest float64) {
	sum = a + b
	z := sum - a
	return sum, (a - (sum - z)) + (b - z)
}

// chunk is the number of rows that are summed before sums are added up: 2^12
// products of slopes, at most 2^26 of their units, and entries, at most 2^14,
// stay below 2^53.
const chunk = 1 << 12

// slopeUnits is the inverse of the grid on which slopes are summed exactly.
const slopeUnits = 1 << 26

func (p *Problem) chunkCount() int {
	return (len(p.Labels) + chunk - 1) / chunk
}

func (p *Problem) chunkRows(c int) (lo, hi int) {
	return c * chunk, min((c+1)*chunk, len(p.Labels))
}

// slope returns the derivative of the loss at margin m. e^m may be infinite, and the
// slope then 0.
func (l Loss) slope(m float64) float64 {
	if l == Logistic {
		return -1 / (1 + math.Exp(m))
	}
	return min(max(m-1.5, -1), 0)
}

// curvature returns the second derivative where there is one, in [0, 1], and 0
// elsewhere.
func (l Loss) curvature(m float64) float64 {
	switch {
	case l == Logistic:
		e := math.Exp(-math.Abs(m))
		return e / ((1 + e) * (1 + e))
	case m > .5 && m < 1.5:
		return 1
	}
	return 0
}

// slopeError is by how many times 2^-53 a slope is off at most, but for the
// second-order error of its margin; see the package comment.
func (l Loss) slopeError() float64 {
	if l == Logistic {
		return 4.01
	}
	return 3.01
}

// forEach calls work(worker, i) for i in [0, count) on several goroutines; work
// must write to places of i or of the worker only.
func forEach(ctx context.Context, count int, work func(worker, i int)) error {
	workers := min(runtime.GOMAXPROCS(0), count)
	if workers <= 1 {
		for i := range count {
			if err := ctx.Err(); err != nil {
				return err
			}
			work(0, i)
		}
		return ctx.Err()
	}
	var next atomic.Int64
	var group parallel.Group
	for w := range workers {
		group.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= count {
					return
				}
				work(w, i)
			}
		})
	}
	group.Wait()
	return ctx.Err()
}

func euclideanNorm(v []float64) float64 {
	sum := 0.
	for _, x := range v {
		sum += x * x
	}
	return math.Sqrt(sum)
}

func dotProduct(a, b []float64) float64 {
	sum := 0.
	for i, x := range a {
		sum += x * b[i]
	}
	return sum
}
