package greedy

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/dptrain/dptrain/internal/numeric/gram"
)

// sineTable returns D(n, d): x_ij = sin(1.7 i + 2.3 j + .5 i j), i = 1..n, j = 1..d.
func sineTable(n, d int) [][]float64 {
	x := make([][]float64, n)
	for i := range x {
		for j := range d {
			a := float64(i + 1)
			b := float64(j + 1)
			x[i] = append(
				x[i],
				math.Sin(1.7*a+2.3*b+.5*a*b),
			)
		}
	}
	return x
}

func sineTarget(x [][]float64) []float64 {
	y := make([]float64, len(x))
	for i, r := range x {
		y[i] = r[0] + .5*r[1] - .8*r[4] + .3*r[2]*r[3]
	}
	return y
}

// problemOf returns a problem with the constant 1 as entry 0 and every column as a group.
func problemOf(x [][]float64, y []float64, cost []float64, budget float64) *Problem {
	d := len(x[0]) + 1
	p := &Problem{
		Gram:   mat.NewSymDense(d, nil),
		Cross:  [][]float64{make([]float64, d)},
		Group:  []int{-1},
		Cost:   cost,
		Budget: budget,
	}
	for j := range d - 1 {
		p.Group = append(p.Group, j)
	}
	for i, r := range x {
		z := append([]float64{1}, r...)
		for a := range d {
			p.Cross[0][a] += z[a] * y[i]
			for b := a; b < d; b++ {
				p.Gram.SetSym(
					a, b,
					p.Gram.At(a, b)+z[a]*z[b],
				)
			}
		}
	}
	return p
}

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf(
			"%s is %.9f, want %.9f",
			what, got, want,
		)
	}
}

func residualSquares(x [][]float64, y, theta []float64) float64 {
	sum := 0.
	for i, r := range x {
		e := y[i] - theta[0]
		for j, v := range r {
			e -= theta[j+1] * v
		}
		sum += e * e
	}
	return sum
}

var costs = []float64{1, 1, 2, 2, 5, 5}

// TestGreedyMatchesSpecification reproduces numbers that were computed beforehand in another language: the gain of each
// column after the constant, and the order, cost, squared error and coefficients for five budgets.
func TestGreedyMatchesSpecification(t *testing.T) {
	d := sineTable(3, 2)
	for i, want := range [][]float64{
		{-.977530118, .850436621},
		{.404849921, -.544021111},
		{.501020856, .133232041},
	} {
		checkNear(t, "D(3,2)", d[i][0], want[0])
		checkNear(t, "D(3,2)", d[i][1], want[1])
	}
	x := sineTable(40, 6)
	y := sineTarget(x)
	p := problemOf(x, y, costs, 0)
	s := p.newState()
	s.takeEntry(0)
	total := 0.
	for j, want := range []float64{11.134992082, 4.888072927, .000145363, 1.389439229, 5.383783130,
		.001841816} {
		checkNear(t, "gain", s.gain(j+1), want)
	}
	mean := p.Cross[0][0] / 40
	for _, v := range y {
		total += (v - mean) * (v - mean)
	}
	checkNear(t, "total", total, 29.108699080)
	for _, tt := range []struct {
		budget     float64
		order      []int
		spent, rss float64
		theta      []float64
	}{
		{
			1, []int{0}, 1,
			17.973706997,
			[]float64{-.005400387, .746504475},
		},
		{
			2, []int{0, 1},
			2, 12.524565838,
			[]float64{-.007365318, .765591591, .535072939},
		},
		{
			4,
			[]int{0, 1, 3},
			4,
			12.501852580,
			[]float64{-.007528966, .762378120, .522801274, .036131533},
		},
		{
			8,
			[]int{0, 1, 4},
			7,
			1.144348615,
			[]float64{-.010762246, 1.001122337, .499361149, -.801909732},
		},
		{
			16,
			[]int{0, 1, 4, 5, 3, 2},
			16,
			1.144253547,
			[]float64{-.010767774, 1.001069015, .499055082, -.801820518, .002030213, .000832753,
				.000205132},
		},
	} {
		p.Budget = tt.budget
		c := p.Select()
		got := c.Groups(p)
		if !slices.Equal(got, tt.order) {
			t.Errorf(
				"budget %v: order %v, want %v",
				tt.budget, got, tt.order,
			)
			continue
		}
		fit := p.Solve(c.Entries())
		checkNear(t, "spent", c.Spent(), tt.spent)
		checkNear(
			t, "squared error",
			residualSquares(x, y, fit.Theta[0]),
			tt.rss,
		)
		for i, e := range fit.Entries {
			checkNear(t, "coefficient", fit.Theta[0][e], tt.theta[i])
		}
	}
}

// gramSchmidt applies the rule to rows by orthonormalising one column after the other. It returns the order of the
// columns and the gain of each.
func gramSchmidt(x [][]float64, y []float64, steps int) (order []int, gains []float64) {
	n := len(x)
	d := len(x[0])
	columns := make([][]float64, d+1)
	for j := range columns {
		for i := range n {
			v := 1.
			if j > 0 {
				v = x[i][j-1]
			}
			columns[j] = append(columns[j], v)
		}
	}
	r := slices.Clone(y)
	squares := make([]float64, d+1)
	for j, c := range columns {
		squares[j] = dot(c, c)
	}
	next := 0
	for {
		q := columns[next]
		size := math.Sqrt(dot(q, q))
		for i := range q {
			q[i] /= size
		}
		b := dot(q, r)
		if order = append(order, next); next > 0 {
			gains = append(gains, b*b)
		}
		for i := range r {
			r[i] -= b * q[i]
		}
		best := 0.
		next = -1
		for j, c := range columns {
			if slices.Contains(order, j) {
				continue
			}
			a := dot(q, c)
			for i := range c {
				c[i] -= a * q[i]
			}
			s := dot(c, c)
			if s > leastRest*squares[j]+leastSquare {
				g := dot(c, r) * dot(c, r) / s
				if next < 0 || g > best {
					best = g
					next = j
				}
			}
		}
		if next < 0 || len(gains) == steps {
			break
		}
	}
	for i := range order {
		order[i]--
	}
	return order[1:], gains
}

func dot(a, b []float64) float64 {
	sum := 0.
	for i, v := range a {
		sum += v * b[i]
	}
	return sum
}

// TestGreedyEqualsQR checks on 200 random tables, some with correlated, repeated or constant columns, that every step
// on the matrix matches Gram-Schmidt on the rows, with the same gain.
func TestGreedyEqualsQR(t *testing.T) {
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 1))
		n := 20 + rng.IntN(60)
		d := 1 + rng.IntN(12)
		x, y := randomTable(rng, n, d)
		cost := slices.Repeat([]float64{1}, d)
		c := problemOf(x, y, cost, math.Inf(1)).Select()
		order, gains := gramSchmidt(x, y, d)
		if len(c.Steps)-1 != len(order) {
			t.Errorf(
				"seed %d: %d steps, want %d",
				seed, len(c.Steps)-1,
				len(order),
			)
			continue
		}
		scale := dot(y, y)
		for i, s := range c.Steps[1:] {
			if s.Entry-1 != order[i] &&
				math.Abs(s.Gain-gains[i]) > 1e-9*scale {
				t.Errorf(
					"seed %d, step %d: column %d gains %v, by rows column %d gains %v",
					seed,
					i,
					s.Entry-1,
					s.Gain,
					order[i],
					gains[i],
				)
				break
			}
			if math.Abs(s.Gain-gains[i]) > 1e-9*scale {
				t.Errorf(
					"seed %d, step %d: gain %v, by rows %v",
					seed, i, s.Gain, gains[i],
				)
			}
		}
	}
}

func randomTable(rng *rand.Rand, n, d int) (x [][]float64, y []float64) {
	weights := make([]float64, d)
	for j := range weights {
		weights[j] = rng.NormFloat64()
	}
	for range n {
		row := make([]float64, d)
		common := rng.NormFloat64()
		sum := .5 * rng.NormFloat64()
		for j := range row {
			row[j] = rng.NormFloat64() + .7*common
			switch {
			case j == 3:
				row[j] = row[0] // a copy
			case j == 5:
				row[j] = 2 // a constant
			}
			sum += weights[j] * row[j]
		}
		x = append(x, row)
		y = append(y, sum)
	}
	return x, y
}

// TestFreeGroupsComeFirst checks that free groups come first, that paid columns are free, that a group is paid once,
// and that a group that does not fit the budget is skipped.
func TestFreeGroupsComeFirst(t *testing.T) {
	x := sineTable(40, 6)
	p := problemOf(
		x, sineTarget(x),
		[]float64{1, 1, 0, 2, 5, 5},
		1,
	)
	if got := p.Select().Groups(p); !slices.Equal(got, []int{2, 0}) {
		t.Errorf(
			"order %v, want the free column and then the best that fits",
			got,
		)
	}
	p.Cost = costs
	p.Paid = []bool{false, false, false, false, true, false}
	c := p.Select()
	got := c.Groups(p)
	if !slices.Equal(got, []int{0}) ||
		c.Steps[1].Entry != 5 ||
		c.Spent() != 1 {
		t.Errorf(
			"groups %v, steps %v: the paid column comes first, for nothing",
			got, c.Steps,
		)
	}
	// Entries 1 and 2 form one group, so buying one makes the other free.
	p.Paid = nil
	p.Group = []int{-1, 0, 0, 2, 3, 4, 5}
	if c = p.Select(); len(c.Steps) != 3 || c.Spent() != 1 {
		t.Errorf("%v: a group is paid once", c.Steps)
	}
	// A group that does not fit is skipped.
	p.Group = []int{-1, 0, 1, 2, 3, 4, 5}
	p.Cost = []float64{3, 1, 1, 1, 1, 1}
	p.Budget = 2
	if got := p.Select().Groups(p); slices.Contains(got, 0) || len(got) != 2 {
		t.Errorf("%v within a budget of 2", got)
	}
}

// TestGreedyAcceptsSingularMatrices checks that rank-deficient and zero matrices, and matrices without a constant,
// yield a choice and a finite fit.
func TestGreedyAcceptsSingularMatrices(t *testing.T) {
	zero := &Problem{
		Gram:   mat.NewSymDense(3, nil),
		Cross:  [][]float64{{1, 2, 3}},
		Group:  []int{-1, 0, 1},
		Cost:   []float64{1, 1},
		Budget: math.Inf(1),
	}
	if c := zero.Select(); len(c.Steps) != 0 || c.Spent() != 0 {
		t.Errorf("of nothing: %v", c)
	}
	zero.Ridge = 2
	c := zero.Select()
	fit := zero.Solve(c.Entries())
	if len(c.Steps) != 3 ||
		math.Abs(fit.Theta[0][0]-.5)+math.Abs(fit.Theta[0][1]-1)+
			math.Abs(fit.Theta[0][2]-1.5) > 1e-12 {
		t.Errorf(
			"ridge alone: %v, %v",
			c, fit.Theta,
		)
	}
	one := &Problem{
		Gram:   mat.NewSymDense(2, []float64{1, 1, 1, 1}),
		Cross:  [][]float64{{1, 1}},
		Group:  []int{-1, 0},
		Cost:   []float64{1},
		Budget: 1,
	}
	if fit := one.Solve([]int{0, 1}); len(fit.Entries) != 1 || fit.Theta[0][0] != 1 {
		t.Errorf("a copy: %+v", fit)
	}
}

// BenchmarkGreedy compares the rule on the matrix with the rule on the rows at 40,000 x 96, 30 steps, one goroutine:
// including the summation of the integer matrix of a release (matrix), and from the matrix alone, the cost of every
// further budget (budget). The metric rows/matrix is the speed-up.
func BenchmarkGreedy(b *testing.B) {
	const n, d, steps = 40_000, 96, 30
	x, y := randomTable(rand.New(rand.NewPCG(1, 1)), n, d)
	columns := make([][]int16, d+2)
	for i, r := range x {
		for j, v := range append(
			append(r[:d:d], y[i]/16),
			.5,
		) {
			columns[j] = append(
				columns[j],
				int16(min(max(v/8, -1), 1)*gram.MaxAbs),
			)
		}
	}
	groups := []int{}
	for j := range d {
		groups = append(groups, j)
	}
	cost := slices.Repeat([]float64{1}, d)
	choose := func(r Released) {
		p := r.Problem()
		p.Group = slices.Concat(groups, []int{-1})
		p.Cost = cost
		p.Budget = steps
		p.Solve(p.Select().Entries())
	}
	released := func() Released {
		sums := make([]int64, gram.Len(d+2))
		gram.Accumulate(sums, columns)
		r := Released{
			Side:   d + 2,
			First:  d,
			Packed: make([]float64, len(sums)),
		}
		for i, v := range sums {
			r.Packed[i] = float64(v) / (gram.MaxAbs * gram.MaxAbs)
		}
		return r
	}
	perRun := map[string]float64{}
	run := func(name string, f func()) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			perRun[name] = b.Elapsed().Seconds() / float64(b.N)
			if rows := perRun["rows"]; rows > 0 {
				b.ReportMetric(rows/perRun[name], "rows/"+name)
			}
		})
	}
	run("rows", func() {
		gramSchmidt(x, y, steps)
	})
	run("matrix", func() {
		choose(released())
	})
	r := released()
	run("budget", func() {
		choose(r)
	})
}
