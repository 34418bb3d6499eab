package dense

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
)

func randomMatrix(r *rand.Rand, rows, cols int) Matrix {
	m := New(rows, cols)
	for i := range m.data {
		m.data[i] = r.NormFloat64()
	}
	return m
}

// positiveDefinite returns a random positive definite matrix.
func positiveDefinite(r *rand.Rand, n int) Matrix {
	x := randomMatrix(r, n, n)
	a := Mul(x.T(), x)
	for i := range n {
		a.Set(i, i, a.Entry(i, i)+.1)
	}
	return a
}

func maxDistance(a, b Matrix) float64 {
	worst := 0.
	for i := range a.Rows {
		for j := range a.Cols {
			worst = max(
				worst,
				math.Abs(a.Entry(i, j)-b.Entry(i, j)),
			)
		}
	}
	return worst
}

// checkNear fails unless two matrices agree up to the rounding of numbers of the given size.
func checkNear(t *testing.T, what string, a, b Matrix, size float64) {
	t.Helper()
	if a.Rows != b.Rows || a.Cols != b.Cols {
		t.Fatalf(
			"%s: %d x %d beside %d x %d",
			what, a.Rows, a.Cols,
			b.Rows, b.Cols,
		)
	}
	d := maxDistance(a, b)
	if !(d <= 1e-10*size) {
		t.Errorf(
			"%s: %d x %d off by %v",
			what, a.Rows, a.Cols, d,
		)
	}
}

// TestProcessorLoopsMatchPortable checks that the loops of this processor produce the same bytes as the portable ones.
func TestProcessorLoopsMatchPortable(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	fast := fastest()
	numbers := func(n int) []float64 {
		out := make([]float64, n)
		for i := range out {
			out[i] = math.Ldexp(r.NormFloat64(), r.IntN(60)-30)
		}
		return out
	}
	for range 300 {
		steps := r.IntN(40)
		stride := tileCols + r.IntN(5)
		a := numbers(tileRows * steps)
		b := numbers(tileCols * steps)
		x := numbers(tileRows * stride)
		y := slices.Clone(x)
		fast.tile(x, stride, a, b, steps)
		tileGo(y, stride, a, b, steps)
		if !slices.Equal(x, y) {
			t.Fatal("tiles differ")
		}
		n := r.IntN(90)
		count := r.IntN(9)
		stride = n + r.IntN(3)
		x = numbers(n)
		a = numbers(count)
		b = numbers(stride * count)
		y = slices.Clone(x)
		fast.combine(x, a, b, stride)
		combineGo(y, a, b, stride)
		if !slices.Equal(x, y) {
			t.Fatal("combinations differ")
		}
		last := r.IntN(20)
		stride = lanes + r.IntN(5)
		x = numbers(stride * (last + 1))
		a = numbers(2 * r.IntN(last+1))
		y = slices.Clone(x)
		fast.rotate(x, stride, last, a)
		rotateGo(y, stride, last, a)
		if !slices.Equal(x, y) {
			t.Fatal("rotations differ")
		}
	}
}

// TestMul compares products with those of the library for various shapes and views.
func TestMul(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 100 {
		n := r.IntN(150) + 1
		k := r.IntN(600) + 1
		m := r.IntN(90) + 1
		a := randomMatrix(r, n, k)
		b := randomMatrix(r, k, m)
		var want mat.Dense
		want.Mul(a.Dense(), b.Dense())
		checkNear(t, "product", Mul(a, b), ViewOf(&want), float64(k))
		checkNear(
			t,
			"product of transposes",
			Mul(b.T(), a.T()),
			ViewOf(mat.DenseCopyOf(want.T())),
			float64(k),
		)
		top := r.IntN(n)
		left := r.IntN(m)
		checkNear(
			t,
			"part",
			Mul(
				a.Slice(top, n, 0, k),
				b.Slice(0, k, left, m),
			),
			ViewOf(&want).Slice(top, n, left, m),
			float64(k),
		)
		square := MulUpper(a, a.T())
		square.Symmetric()
		want.Reset()
		want.Mul(a.Dense(), a.Dense().T())
		checkNear(t, "square", square, ViewOf(&want), float64(k))
		checkNear(
			t, "copy",
			a.T().Clone(),
			ViewOf(mat.DenseCopyOf(a.Dense().T())),
			0,
		)
	}
	x := Mul(New(0, 3), New(3, 2))
	if x.Rows != 0 || x.Cols != 2 {
		t.Error(x)
	}
	defer func() {
		if recover() == nil {
			t.Error("matrices that do not fit are multiplied")
		}
	}()
	Mul(New(2, 3), New(2, 3))
}

func TestCholesky(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, n := range []int{1, 2, 47, 48, 49, 130, 257} {
		a := positiveDefinite(r, n)
		u := a.Clone()
		if !Cholesky(u) {
			t.Fatalf("%d rows have no factor", n)
		}
		for i := range n {
			for j := range i {
				u.Set(i, j, 0)
			}
		}
		checkNear(t, "factor", Mul(u.T(), u), a, float64(n))
		b := randomMatrix(r, n, 31)
		x := b.Clone()
		y := b.Clone()
		SolveTransposed(u, x)
		checkNear(
			t, "transposed solution",
			Mul(u.T(), x), b,
			float64(n*n),
		)
		Solve(u, y)
		checkNear(t, "solution", Mul(u, y), b, float64(n*n))
	}
	for _, bad := range []float64{
		-1, 0, math.NaN(),
		math.Inf(1),
	} {
		a := positiveDefinite(r, 60)
		a.Set(50, 50, bad)
		if Cholesky(a) {
			t.Errorf("%v on the diagonal has a factor", bad)
		}
	}
}

// TestPositivePivots checks the number of positive eigenvalues.
func TestPositivePivots(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{
		1, 2, 3, 10, 47, 48, 49, 100,
		150,
	} {
		x := randomMatrix(r, n, n)
		a := New(n, n)
		for i := range n {
			for j := range n {
				a.Set(i, j, x.Entry(i, j)+x.Entry(j, i))
			}
		}
		values, _, ok := Spectrum(a)
		want := 0
		for _, e := range values {
			if e > 0 {
				want++
			}
		}
		got := PositivePivots(a.Clone())
		if !ok || got != want {
			t.Errorf(
				"%d of %d are positive, want %d",
				got, n, want,
			)
		}
	}
	for _, c := range []struct {
		x    []float64
		want int
	}{{[]float64{1, 1, 1, 1, 1, .5, 1, .5, 1}, 2}, {[]float64{0, 1, 1, 0}, 1}, {[]float64{0}, 1}} { // singular corners
		n := int(math.Sqrt(float64(len(c.x))))
		got := PositivePivots(ViewOf(mat.NewDense(n, n, slices.Clone(c.x))))
		if got != c.want {
			t.Errorf(
				"%v: %d are positive, want %d",
				c.x, got, c.want,
			)
		}
	}
}

// spectrumHolds compares A with its spectral decomposition.
func spectrumHolds(t *testing.T, a Matrix) {
	t.Helper()
	values, vectors, ok := Spectrum(a)
	if !ok {
		t.Fatalf("%d rows have no spectrum", a.Rows)
	}
	size := math.SmallestNonzeroFloat64
	scaled := vectors.Clone()
	for i, e := range values {
		size = max(size, math.Abs(e))
		if i > 0 && e > values[i-1] {
			t.Error("eigenvalues rise")
		}
		for j := range scaled.Cols {
			scaled.Set(i, j, e*scaled.Entry(i, j))
		}
	}
	identity := New(a.Rows, a.Rows)
	for i := range a.Rows {
		identity.Set(i, i, 1)
	}
	checkNear(t, "spectrum", Mul(vectors.T(), scaled), a, size)
	checkNear(t, "vectors", Mul(vectors, vectors.T()), identity, 1)
}

func TestSpectrum(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, n := range []int{
		1, 2, 3, 15, 16, 17, 60, 200,
	} {
		spectrumHolds(t, positiveDefinite(r, n))
		spectrumHolds(t, New(n, n))
		same := New(n, n)
		blocks := New(n, n)
		falling := randomMatrix(r, n, n)
		for i := range n {
			for j := range n {
				same.Set(i, j, 3)
				if i/4 == j/4 {
					blocks.Set(i, j, float64(i*j%5-2))
				}
				falling.Set(
					i, j,
					falling.Entry(i, j)*math.Pow(.7, float64(j)),
				)
			}
		}
		spectrumHolds(t, same)
		spectrumHolds(t, blocks)
		spectrumHolds(t, Mul(falling.T(), falling))
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		a := positiveDefinite(r, 20)
		a.Set(3, 4, bad)
		a.Set(4, 3, bad)
		if _, _, ok := Spectrum(a); ok {
			t.Errorf("%v has a spectrum", bad)
		}
	}
	if _, _, ok := Spectrum(New(0, 0)); !ok {
		t.Error("nothing has no spectrum")
	}
}

func BenchmarkMul(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	x := randomMatrix(r, 600, 600)
	y := randomMatrix(r, 600, 600)
	for b.Loop() {
		Mul(x, y)
	}
	b.ReportMetric(
		600*600*600*float64(b.N)/float64(b.Elapsed().Nanoseconds()),
		"MAC/ns",
	)
}

func BenchmarkCholesky(b *testing.B) {
	a := positiveDefinite(rand.New(rand.NewPCG(1, 2)), 600)
	for b.Loop() {
		Cholesky(a.Clone())
	}
}

func BenchmarkSolve(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	a := positiveDefinite(r, 600)
	x := randomMatrix(r, 600, 600)
	Cholesky(a)
	for b.Loop() {
		SolveTransposed(a, x.Clone())
	}
}

func BenchmarkPivots(b *testing.B) {
	a := positiveDefinite(rand.New(rand.NewPCG(1, 2)), 300)
	for b.Loop() {
		PositivePivots(a.Clone())
	}
}

func BenchmarkSpectrum(b *testing.B) {
	for _, n := range []int{250, 400} {
		a := positiveDefinite(rand.New(rand.NewPCG(1, 2)), n)
		b.Run(map[int]string{250: "250", 400: "400"}[n], func(b *testing.B) {
			for b.Loop() {
				Spectrum(a)
			}
		})
	}
}
