package hinge

import (
	"context"
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// randomProblem returns a problem of n rows and d entries, labelled by a line. The share wrong of the labels is flipped.
func randomProblem(r *rand.Rand, n, d int, wrong, lambda float64) *Problem {
	p := &Problem{
		Columns:  make([][]int16, d),
		Labels:   make([]int8, n),
		Constant: 9000,
		Lambda:   lambda,
	}
	for j := range p.Columns {
		p.Columns[j] = make([]int16, n)
	}
	for i := range n {
		sum := 0.
		for j := range p.Columns {
			v := r.IntN(1<<15+1) - 1<<14
			if j%3 == 2 { // an indicator
				v = r.IntN(2) << 14
			}
			p.Columns[j][i] = int16(v)
			sum += float64(v) * float64(j%4-1)
		}
		p.Labels[i] = 1
		if sum < 0 != (r.Float64() < wrong) {
			p.Labels[i] = -1
		}
		if r.IntN(20) == 0 {
			p.Labels[i] = 0
		}
	}
	p.Norm = math.Sqrt(float64(d)*(1<<28) + 9000*9000)
	return p
}

// exactGradientNorm returns the norm of the true gradient, in 400-bit arithmetic.
func exactGradientNorm(p *Problem, a Point) float64 {
	f := func(x float64) *big.Float {
		return new(big.Float).SetPrec(400).SetFloat64(x)
	}
	add := func(x, y *big.Float) *big.Float {
		return new(big.Float).SetPrec(400).Add(x, y)
	}
	mul := func(x, y *big.Float) *big.Float {
		return new(big.Float).SetPrec(400).Mul(x, y)
	}
	d := len(p.Columns)
	w := make([]*big.Float, d+1)
	sums := make([]*big.Float, d+1)
	for j := range w {
		w[j] = add(
			f(a.High[j]),
			f(a.Low[j]),
		)
		sums[j] = mul(w[j], f(p.Lambda))
	}
	for i, y := range p.Labels {
		entry := func(j int) *big.Float {
			if j == d {
				return f(float64(p.Constant) * float64(y))
			}
			return f(float64(p.Columns[j][i]) * float64(y))
		}
		if y == 0 {
			continue
		}
		m := f(0)
		for j := range w {
			m = add(m, mul(w[j], entry(j)))
		}
		g := exactSlope(p.Loss, m)
		for j := range w {
			sums[j] = add(sums[j], mul(g, entry(j)))
		}
	}
	total := f(0)
	for _, s := range sums {
		total = add(total, mul(s, s))
	}
	out, _ := total.Sqrt(total).Float64()
	return out
}

// exactSlope returns the slope of a loss in 400-bit arithmetic.
func exactSlope(loss Loss, m *big.Float) *big.Float {
	f := func(x float64) *big.Float {
		return new(big.Float).SetPrec(400).SetFloat64(x)
	}
	if loss == Logistic {
		x, _ := m.Float64()
		if x < -500 || x > 500 {
			return f(loss.slope(x)) // off by less than e^-500
		}
		one := new(big.Float).SetPrec(400).Add(f(1), exactExp(m))
		return new(big.Float).SetPrec(400).Quo(f(-1), one)
	}
	m = new(big.Float).SetPrec(400).Sub(m, f(1.5))
	switch {
	case m.Cmp(f(0)) > 0:
		return f(0)
	case m.Cmp(f(-1)) < 0:
		return f(-1)
	}
	return m
}

// exactExp returns e^m for |m| <= 500: the series of e^(m/2^60), squared 60 times.
func exactExp(m *big.Float) *big.Float {
	f := func(x float64) *big.Float {
		return new(big.Float).SetPrec(500).SetFloat64(x)
	}
	x := new(big.Float).SetPrec(500).Mul(m, f(0x1p-60))
	sum := f(1)
	term := f(1)
	for k := 1; k <= 12; k++ {
		term = new(big.Float).SetPrec(500).Mul(term, x)
		term.Quo(term, f(float64(k)))
		sum.Add(sum, term)
	}
	for range 60 {
		sum.Mul(sum, sum)
	}
	return sum
}

// TestSlope checks that both slopes are within their claimed errors for margins that are off by one rounding.
func TestSlope(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	worst := map[Loss]float64{}
	for range 20000 {
		m := math.Ldexp(r.NormFloat64(), r.IntN(16)-6)
		off := m * (1 + unitRoundoff*float64(r.IntN(3)-1))
		for _, loss := range []Loss{Huberised, Logistic} {
			want := exactSlope(loss, new(big.Float).SetPrec(400).SetFloat64(m))
			diff, _ := new(big.Float).SetPrec(400).Sub(
				want,
				new(big.Float).SetPrec(400).SetFloat64(loss.slope(off)),
			).Float64()
			worst[loss] = max(worst[loss], math.Abs(diff)/unitRoundoff)
		}
	}
	for loss, w := range worst {
		if w > loss.slopeError() {
			t.Errorf(
				"loss %d: a slope is off by %v roundings, claimed %v",
				loss,
				w,
				loss.slopeError(),
			)
		}
	}
	for _, m := range []float64{
		math.Inf(1),
		math.Inf(-1), 0, 1e300,
		-1e300,
	} {
		for _, loss := range []Loss{Huberised, Logistic} {
			s := loss.slope(m)
			if !(s >= -1 && s <= 0) {
				t.Errorf(
					"loss %d at %v: %v",
					loss, m, s,
				)
			}
			c := loss.curvature(m)
			if !(c >= 0 && c <= 1) {
				t.Errorf(
					"loss %d at %v: curvature %v",
					loss, m, c,
				)
			}
		}
	}
}

// TestMinimize checks in exact arithmetic that on small and ill-conditioned problems the true gradient is within the
// tolerance.
func TestMinimize(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, c := range []struct {
		n, d          int
		wrong, lambda float64
	}{
		{0, 2, 0, 1},
		{1, 1, 0, 1},
		{5, 3, .2, .01},
		{300, 1, .5, .01},
		{300, 8, 0, .01},
		{300, 8, .1, 1},
		{400, 30, .3, 1000},
		{5000, 5, .1, .05},
		{60, 100, .5, .02},
	} {
		p := randomProblem(
			r, c.n, c.d, c.wrong,
			c.lambda*(1<<28),
		)
		for _, p.Loss = range []Loss{Huberised, Logistic} {
			tolerance := 1e-9 * p.Norm
			a, err := p.Minimize(context.Background(), tolerance)
			if err != nil {
				t.Fatal(err)
			}
			if got := exactGradientNorm(p, a); got > tolerance {
				t.Errorf(
					"%+v, loss %d: the gradient is %v, the tolerance %v",
					c,
					p.Loss,
					got,
					tolerance,
				)
			}
		}
	}
}

// TestDegenerateTablesEndWithProof covers equal rows, contradicting labels, zero rows, duplicate columns, and entries
// at the corners. Each minimisation must end with a proof.
func TestDegenerateTablesEndWithProof(t *testing.T) {
	const one = 1 << 14
	for name, p := range map[string]*Problem{
		"equal": {
			Columns: [][]int16{{one, one, one}},
			Labels:  []int8{1, 1, 1},
		},
		"contradictions": {
			Columns: [][]int16{{one, one}},
			Labels:  []int8{1, -1},
		},
		"zeros": {
			Columns: [][]int16{{0, 0, 0}},
			Labels:  []int8{1, -1, 1},
		},
		"copies": {
			Columns: [][]int16{
				{one, -one, 5},
				{one, -one, 5},
			},
			Labels: []int8{1, -1, -1},
		},
		"left out": {
			Columns: [][]int16{{one, one}},
			Labels:  []int8{0, 0},
		},
		"no rows": {
			Columns: [][]int16{{}},
			Labels:  []int8{},
		},
		"no entries": {
			Columns: [][]int16{},
			Labels:  []int8{1, 1, -1},
		},
	} {
		for _, lambda := range []float64{.01, 1, 1e6} {
			for _, constant := range []int64{0, 1, one, 1 << 20} {
				p.Lambda = lambda * (1 << 28)
				p.Constant = constant
				p.Norm = math.Sqrt(2*one*one + float64(constant*constant))
				for _, p.Loss = range []Loss{Huberised, Logistic} {
					a, err := p.Minimize(context.Background(), 1e-6*p.Norm)
					if err != nil {
						t.Fatal(err)
					}
					got := exactGradientNorm(p, a)
					if got > 1e-6*p.Norm {
						t.Errorf(
							"%s, lambda %v, constant %d, loss %d: the gradient is %v",
							name,
							lambda,
							constant,
							p.Loss,
							got,
						)
					}
				}
			}
		}
	}
}

// TestErrorBound checks that away from the minimum, even if margins are huge and cancel, the computed gradient norm
// differs from the true one by no more than its bound.
func TestErrorBound(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for i := range 60 {
		p := randomProblem(
			r, 1+r.IntN(300),
			1+r.IntN(9), .3,
			1<<28,
		)
		p.Loss = Loss(i % 2)
		a := newPoint(len(p.Columns) + 1)
		size := math.Ldexp(1, r.IntN(40)-20) / (1 << 14)
		for j := range a.High {
			a.High[j] = size * r.NormFloat64()
			a.High[j], a.Low[j] = twoSum(
				a.High[j],
				a.High[j]*0x1p-54*r.Float64(),
			)
		}
		if len(p.Columns) > 6 { // margins that cancel
			copy(p.Columns[1], p.Columns[0])
			a.High[1] = -a.High[0] * (1 + 0x1p-50)
			a.Low[1] = -a.Low[0]
		}
		g, err := p.gradientAt(context.Background(), a)
		if err != nil {
			t.Fatal(err)
		}
		want := exactGradientNorm(p, a)
		if math.Abs(g.norm-want) > g.error+1e-15*want {
			t.Errorf(
				"norm %v, true %v, bound %v",
				g.norm, want, g.error,
			)
		}
		if g.error > float64(len(p.Labels))*p.Norm*4e-15+1e-13*p.Lambda*euclideanNorm(a.High) {
			t.Errorf("the bound %v is larger than needed", g.error)
		}
	}
}

// TestWorstCaseBound checks for the largest number of rows in a table that the error bound stays below a third of the
// tolerance of 1e-5 norms that package mechanism requests. The point is the largest that a penalty of .01 allows,
// |a|^2 <= 2 n/lambda. (At the minimum the sum of slopes times rows and the penalty are each at most n norms.)
func TestWorstCaseBound(t *testing.T) {
	const rows = math.MaxInt32
	p := &Problem{
		Columns: make([][]int16, 4096),
		Norm:    64 << 14,
		Lambda:  .01 * (1 << 28),
		Loss:    Logistic,
	}
	bound := p.marginError(
		rows,
		math.Sqrt(2*rows*1.5/p.Lambda),
	) + 8*unitRoundoff*rows*p.Norm
	if bound > p.Norm*1e-5/3 {
		t.Errorf("%v norms", bound/p.Norm)
	}
}

// TestCancelled checks that a cancelled context ends the minimisation with its error.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p := randomProblem(
		rand.New(rand.NewPCG(5, 6)),
		100, 3, .1, 1<<28,
	)
	_, err := p.Minimize(ctx, p.Norm*1e-6)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

// BenchmarkMinimize has the shape of the Adult table: 45000 rows, 105 entries.
func BenchmarkMinimize(b *testing.B) {
	for name, loss := range map[string]Loss{"huberised": Huberised, "logistic": Logistic} {
		b.Run(name, func(b *testing.B) {
			p := randomProblem(
				rand.New(rand.NewPCG(7, 8)),
				45000, 105, .15,
				50*(1<<28)*10,
			)
			p.Loss = loss
			for b.Loop() {
				_, err := p.Minimize(context.Background(), 1e-5*p.Norm)
				if err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
