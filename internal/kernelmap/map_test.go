package kernelmap

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestKernelError(t *testing.T) {
	worst := 0.
	for d := range uint32(1 << 21) {
		worst = max(worst, math.Abs(float64(kernelAt(d))/(1<<kernelBits)-math.Exp2(-float64(d)/65536)))
	}
	if worst > 0x1p-12 {
		t.Errorf("off by %v", worst)
	}
	t.Log(worst * 0x1p13)
}

func TestAssembly(t *testing.T) {
	tile, kernel := fastest()
	tiles := append(assembled(), tile)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		steps := r.IntN(70) + 1
		a, b := make([]int16, tileRows*2*steps), make([]int16, 2*steps*tileCols)
		for i := range a {
			a[i] = int16(r.Uint32())
		}
		for i := range b {
			b[i] = int16(r.Uint32())
			if b[i] == math.MinInt16 {
				b[i]++
			}
		}
		x, y := make([]int32, tileRows*tileCols), make([]int32, tileRows*tileCols)
		tileGo(y, tileCols, a, 2*steps, b, steps)
		for k, tile := range tiles {
			tile(x, tileCols, a, 2*steps, b, steps)
			for i := range x {
				if x[i] != y[i] {
					t.Fatal(k, i, x[i], y[i])
				}
			}
		}
		n := r.IntN(70)
		dots, norms, u, v := make([]int32, n), make([]uint32, n), make([]int16, n), make([]int16, n)
		for i := range dots {
			norms[i] = r.Uint32() >> r.IntN(32)
			dots[i] = int32(r.Uint32() >> r.IntN(32))
		}
		nz := r.Uint32() >> r.IntN(32)
		kernel(u, dots, norms, nz)
		kernelGo(v, dots, norms, nz)
		for i := range u {
			if u[i] != v[i] {
				t.Fatal(i, u[i], v[i])
			}
		}
	}
}

func sample(r *rand.Rand, inputs, marks, features int) *Map {
	m := &Map{}
	for j := range inputs {
		c := Coordinate{Input: j, Values: make([]int16, 256)}
		row := make([]int16, inputs)
		for b := range c.Values {
			c.Values[b] = Number(float64(b)/128-1, CoordinateBits)
		}
		for k := range row {
			row[k] = Number(r.Float64()*2-1, MetricBits)
		}
		m.Coordinates, m.Metric = append(m.Coordinates, c), append(m.Metric, row)
	}
	for range marks {
		mark := make([]uint8, inputs)
		for j := range mark {
			mark[j] = uint8(r.Uint32())
		}
		m.Landmarks = append(m.Landmarks, mark)
	}
	rows, reach := make([][]float64, features), make([]float64, features)
	for i := range rows {
		rows[i], reach[i] = make([]float64, marks), 3
		for k := range rows[i] {
			rows[i][k] = r.NormFloat64() / math.Sqrt(float64(marks))
		}
	}
	return m.Weighted(rows, reach)
}

func BenchmarkApply(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	m := sample(r, 15, 600, 256)
	bins, dst := make([][]uint8, 15), make([][]int16, 256)
	for j := range bins {
		bins[j] = make([]uint8, 4096)
		for i := range bins[j] {
			bins[j][i] = uint8(r.Uint32())
		}
	}
	for j := range dst {
		dst[j] = make([]int16, 4096)
	}
	for b.Loop() {
		m.Apply(dst, bins)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/record")
	c := m.compile()
	s := &scratch{}
	c.project(s, bins, 0, stripe)
	b.Run("multiply", func(b *testing.B) {
		for b.Loop() {
			c.multiply(s.sums, s.kernel, c.points.cols, stripe, c.weights)
		}
		b.ReportMetric(float64(stripe*600*256)/(float64(b.Elapsed().Nanoseconds())/float64(b.N)), "MAC/ns")
	})
}
