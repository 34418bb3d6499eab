package prototypes

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// sineMatrix returns the n x d matrix sin(1.7 i + 2.3 j + .5 i j), i and j from 1.
func sineMatrix(n, d int) [][]float64 {
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, d)
		for j := range out[i] {
			a := float64(i + 1)
			b := float64(j + 1)
			out[i][j] = math.Sin(1.7*a + 2.3*b + .5*a*b)
		}
	}
	return out
}

func cloneMatrix(x [][]float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		out[i] = append([]float64(nil), row...)
	}
	return out
}

// weightsOf returns the weights of every record.
func weightsOf(x, z [][]float64, y, class []int32, gamma float64) [][]float64 {
	out := make([][]float64, len(x))
	for i, row := range x {
		out[i] = make([]float64, len(z))
		for j := range z {
			for k, v := range row {
				out[i][j] -= gamma * square(v-z[j][k])
			}
		}
		recordWeights(out[i], class, y[i])
	}
	return out
}

// exactObjective returns L = -sum log p_i and its gradient 2 gamma^2 sum (p_ij - r_ij)(x_i - z_j).
func exactObjective(
	x, z [][]float64, y, class []int32, gamma float64,
) (loss float64, gradient [][]float64) {
	gradient = make([][]float64, len(z))
	for j := range gradient {
		gradient[j] = make([]float64, len(z[j]))
	}
	for i, w := range weightsOf(x, z, y, class, gamma) {
		right := 1.
		for j, v := range w {
			if class[j] == y[i] {
				right -= v
			}
			for k := range z[j] {
				gradient[j][k] -= 2 * gamma * v * (x[i][k] - z[j][k])
			}
		}
		loss -= math.Log(right)
	}
	return loss, gradient
}

func frobeniusNorm(x [][]float64) float64 {
	sum := 0.
	for _, row := range x {
		sum += dot(row, row)
	}
	return math.Sqrt(sum)
}

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf(
			"%s: %.9f, want %.9f",
			what, got, want,
		)
	}
}

// waveSample returns a table of three classes with two prototypes each. The prototypes are records of the table.
func waveSample() (x, z [][]float64, y, class []int32) {
	x = sineMatrix(60, 3)
	for _, r := range x {
		scores := []float64{
			r[0] + r[1],
			2 * r[1] * r[2],
			-r[0],
		}
		best := int32(0)
		for c, s := range scores {
			if s > scores[best] {
				best = int32(c)
			}
		}
		y = append(y, best)
	}
	for _, i := range []int{1, 2, 4, 5, 0, 3} {
		z = append(z, append([]float64(nil), x[i]...))
		class = append(class, y[i])
	}
	return x, z, y, class
}

// TestSoftmaxMatchesSpecification reproduces the objective, the gradient and the descent of the specification, which
// were computed beforehand by a separate program.
func TestSoftmaxMatchesSpecification(t *testing.T) {
	x, z, y, class := waveSample()
	loss, g := exactObjective(x, z, y, class, 1)
	checkNear(t, "L", loss, 38.661033393)
	checkNear(t, "|G|", frobeniusNorm(g), 23.521455902)
	for k, want := range []float64{-10.221681708, -4.452334482, -1.724587357} {
		checkNear(t, "G[0]", g[0][k], want)
	}
	for range 20 {
		_, g := exactObjective(x, z, y, class, 1)
		for j := range z {
			for k := range z[j] {
				z[j][k] -= .01 * g[j][k]
			}
		}
	}
	loss, g = exactObjective(x, z, y, class, 1)
	checkNear(t, "L after 20 steps", loss, 15.387576804)
	checkNear(t, "|G| after 20 steps", frobeniusNorm(g), 5.129731047)
	for k, want := range []float64{1.414259689, -.101747898, .762508622} {
		checkNear(t, "Z[0]", z[0][k], want)
	}
	wrong := 0
	for i, row := range x {
		best := math.Inf(1)
		at := 0
		for j := range z {
			d := 0.
			for k, v := range row {
				d += square(v - z[j][k])
			}
			if d < best {
				best = d
				at = j
			}
		}
		if class[at] != y[i] {
			wrong++
		}
	}
	if wrong != 2 {
		t.Errorf(
			"%d records are nearest to another class, want 2",
			wrong,
		)
	}
}

func TestTinySpecification(t *testing.T) {
	x := [][]float64{
		{0, 0}, {1, 0},
		{0, 1}, {2, 2},
		{3, 2}, {2, 3},
	}
	y := []int32{0, 0, 0, 1, 1, 1}
	loss, g := exactObjective(
		x,
		[][]float64{{.5, .5}, {2, 1}},
		y, []int32{0, 1}, .5,
	)
	checkNear(t, "L", loss, .945773797)
	for k, want := range []float64{.419699894, .650496574, -.844941514, -.792243781} {
		checkNear(t, "G", g[k/2][k%2], want)
	}
	z := [][]float64{
		{.5, .5},
		{0, 1.5},
		{2, 1}, {3, 3},
	}
	class := []int32{0, 1, 1, 0}
	loss, _ = exactObjective(x, z, y, class, .5)
	checkNear(t, "L of four", loss, 4.769413172)
	by := 0.
	for i, w := range weightsOf(x, z, y, class, .5) {
		for j, v := range w {
			for k := range z[j] {
				by += v * square(x[i][k]-z[j][k])
			}
		}
	}
	checkNear(t, "the derivative by gamma^2", by, 1.130617692)
}

// TestPrivateStepSpecification checks the sums of a step over shortened rows and clipped weights.
func TestPrivateStepSpecification(t *testing.T) {
	x, z, y, class := waveSample()
	x = cloneMatrix(x)
	for _, row := range x {
		shortenTo(row, math.Sqrt(1.8))
	}
	sums := make([]float64, 6)
	first := make([]float64, 3)
	longest := 0.
	clipped := 0
	for i, w := range weightsOf(x, z, y, class, 1) {
		length := math.Sqrt(dot(w, w))
		longest = max(longest, length)
		if length > .5 {
			clipped++
		}
		shortenTo(w, .5)
		for j, v := range w {
			sums[j] += v
		}
		for k, v := range x[i] {
			first[k] += w[0] * v
		}
	}
	if clipped != 27 {
		t.Errorf("%d are clipped, want 27", clipped)
	}
	checkNear(t, "longest", longest, 1.148564031)
	for k, want := range []float64{2.822386870, 2.006448304, -.920281539} {
		checkNear(t, "first row", first[k], want)
	}
	for j, want := range []float64{-2.300965867, .669042604, .855601937, -2.115032308, .093435675,
		2.797917960} {
		checkNear(t, "sum of weights", sums[j], want)
	}
}

// TestExp checks that e^x is accurate to a relative error of 1e-15, and 0 for very negative x.
func TestExp(t *testing.T) {
	for i := range 400_001 {
		x := -float64(i) / 10_000
		got := portableExp(x)
		want := math.Exp(x)
		if math.Abs(got-want) > 2e-15*want {
			t.Fatalf(
				"exp(%v) = %v, want %v",
				x, got, want,
			)
		}
	}
	for _, x := range []float64{
		-40.1, -1e300,
		math.Inf(-1),
		math.NaN(),
	} {
		if portableExp(x) != 0 {
			t.Errorf(
				"exp(%v) = %v",
				x, portableExp(x),
			)
		}
	}
}

// TestWeightsAreBounded searches for the largest |w| over logits of many prototypes. It is at most sqrt2 (1 - P),
// with P the probability of the record's class, and reaches sqrt2 if one prototype of another class has all of the
// probability and one prototype of the own class has all of the probability within that class.
func TestWeightsAreBounded(t *testing.T) {
	check := func(t interface{ Fatalf(string, ...any) }, logits []float64, class []int32) float64 {
		w := append([]float64(nil), logits...)
		recordWeights(w, class, 0)
		right := 1.
		length := math.Sqrt(dot(w, w))
		for j, v := range w {
			if class[j] == 0 {
				right -= v
			}
			own := class[j] == 0
			if own && v < 0 || !own && v > 0 {
				t.Fatalf(
					"weight %v of class %d",
					v, class[j],
				)
			}
		}
		if length > math.Sqrt2*(1-right)+1e-12 {
			t.Fatalf(
				"|w| = %v and P = %v of %v",
				length, right, logits,
			)
		}
		return length
	}
	longest := 0.
	levels := []float64{-100, -3, 0, 30}
	for code := range 256 {
		logits := make([]float64, 4)
		for j := range logits {
			logits[j] = levels[code>>(2*j)&3]
		}
		longest = max(longest, check(t, logits, []int32{0, 0, 1, 2}))
	}
	if longest < math.Sqrt2-1e-9 {
		t.Errorf(
			"the longest weights have norm %v, want the root of 2",
			longest,
		)
	}
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 9).Draw(t, "n")
		logits := rapid.SliceOfN(
			rapid.Float64Range(-60, 60), n, n,
		).Draw(t, "logits")
		class := rapid.SliceOfN(rapid.Int32Range(0, 2), n, n).Draw(t, "class")
		class[0] = 0
		check(t, logits, class)
	})
}

// TestLargestLogitWins checks that the first of the largest logits of the class wins.
func TestLargestLogitWins(t *testing.T) {
	logits := []float64{5, 1, 2, 2}
	nearestWeights(logits, []int32{0, 1, 1, 1}, 1)
	for j, want := range []float64{0, 0, 1, 0} {
		if logits[j] != want {
			t.Errorf("%v", logits)
		}
	}
	nearestWeights(logits, []int32{0, 1, 1, 1}, 9)
	if dot(logits, logits) != 0 {
		t.Errorf(
			"a record in no class is in a cell: %v",
			logits,
		)
	}
}
