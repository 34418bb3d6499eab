package kernelmap

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestKernelError(t *testing.T) {
	worst := 0.
	for d := range uint32(1 << 21) {
		worst = max(
			worst,
			math.Abs(float64(kernelAt(d))/(1<<kernelBits)-math.Exp2(-float64(d)/65536)),
		)
	}
	if worst > 0x1p-12 {
		t.Errorf("off by %v", worst)
	}
	t.Log(worst * 0x1p13)
}

func TestAssemblyMatchesPortable(t *testing.T) {
	tile, kernel, _ := fastestFunctions()
	tiles := append(assemblyTiles(), tile)
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		steps := r.IntN(70) + 1
		a := make([]int16, tileRows*2*steps)
		b := make([]int16, 2*steps*tileCols)
		for i := range a {
			a[i] = int16(r.Uint32())
		}
		for i := range b {
			b[i] = int16(r.Uint32())
			if b[i] == math.MinInt16 {
				b[i]++
			}
		}
		x := make([]int32, tileRows*tileCols)
		y := make([]int32, tileRows*tileCols)
		tileGo(y, tileCols, a, 2*steps, b, steps)
		for k, tile := range tiles {
			tile(x, tileCols, a, 2*steps, b, steps)
			for i := range x {
				if x[i] != y[i] {
					t.Fatal(k, i, x[i], y[i])
				}
			}
		}
		marks := make([]uint32, 2*r.IntN(35))
		norms := [tileCols]uint32{}
		dots := make([]int32, len(marks)*tileCols)
		u := make([]int16, len(marks)*tileCols)
		v := make([]int16, len(marks)*tileCols)
		for i := range dots {
			dots[i] = int32(r.Uint32() >> r.IntN(32))
		}
		for i := range marks {
			marks[i] = r.Uint32() >> r.IntN(32)
		}
		for j := range norms {
			norms[j] = r.Uint32() >> r.IntN(32)
		}
		kernel(u, dots, marks, &norms)
		kernelGo(v, dots, marks, &norms)
		if !slices.Equal(u, v) {
			t.Fatal("kernel", u, v)
		}
	}
}

func TestStretch(t *testing.T) {
	_, _, stretch := fastestFunctions()
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		n := r.IntN(300) + 1
		sums := make([]int32, n*tileCols)
		scales := make([]float64, n)
		x := make([][]int16, n)
		y := make([][]int16, n)
		size := r.IntN(32)
		for i := range scales {
			scales[i] = math.Ldexp(1, -r.IntN(mostShift+1))
			x[i] = make([]int16, tileCols+3)
			y[i] = make([]int16, tileCols+3)
		}
		for i := range sums {
			sums[i] = int32(r.Uint32()) >> size
		}
		stretch(x, 3, sums, scales)
		stretchGo(y, 3, sums, scales)
		for j := range tileCols {
			length := 0.
			for i := range x {
				if x[i][3+j] != y[i][3+j] {
					t.Fatal(
						i, j, x[i][3+j],
						y[i][3+j],
					)
				}
				length += square(float64(x[i][3+j]))
			}
			if length > 1<<(2*FeatureBits) {
				t.Fatal("longer than 1", length)
			}
		}
	}
}

func square(x float64) float64 {
	return x * x
}

// TestFeatures compares a map with its definition, one record after the other.
func TestFeatures(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, of := range [][3]int{
		{1, 1, 1},
		{3, 7, 5},
		{20, 61, 34},
		{9, 16, 16},
	} {
		m := sampleMap(r, of[0], of[1], of[2])
		const n = 3*stripe + 5
		bins := make([][]uint8, of[0])
		dst := make([][]int16, of[2])
		theta := make([]float64, of[2])
		sums := make([]float64, n)
		for j := range bins {
			bins[j] = make([]uint8, n)
			for i := range bins[j] {
				bins[j][i] = uint8(r.Uint32())
			}
		}
		for i := range dst {
			dst[i] = make([]int16, n)
			theta[i] = r.NormFloat64()
		}
		m.Apply(dst, bins)
		m.Add(sums, bins, theta)
		kernel := m.Kernel(bins)
		for k := range n {
			record := make([]uint8, of[0])
			for j := range record {
				record[j] = bins[j][k]
			}
			near, features := m.kernelByDefinition(record)
			sum := 0.
			for i, v := range features {
				if dst[i][k] != v {
					t.Fatal(
						of, k, i, dst[i][k],
						v,
					)
				}
				sum += float64(float64(v) * theta[i])
			}
			if sums[k] != sum/(1<<FeatureBits) {
				t.Fatal(of, k, sums[k], sum)
			}
			for i, v := range near {
				if kernel[i][k] != v {
					t.Fatal(
						of, k, i, kernel[i][k],
						v,
					)
				}
			}
		}
	}
}

// kernelByDefinition computes the kernel of a record with the landmarks, and its features, from the definition.
func (m *Map) kernelByDefinition(record []uint8) (kernel, features []int16) {
	point := func(bins []uint8) []int32 {
		z := make([]int32, len(m.Metric[0]))
		for j := range z {
			for k, c := range m.Coordinates {
				z[j] += int32(c.Values[bins[c.Input]]) * int32(m.Metric[k][j])
			}
			reach := int32(math.MaxInt16 / math.Sqrt(float64(len(z))))
			z[j] = min(
				max(z[j]>>(CoordinateBits+MetricBits-pointBits), -reach),
				reach,
			)
		}
		return z
	}
	x := point(record)
	q := make([]float64, len(m.Weights))
	square := 0.
	for _, mark := range m.Landmarks {
		distance := uint32(0)
		for j, z := range point(mark) {
			distance += uint32((x[j] - z) * (x[j] - z))
		}
		kernel = append(kernel, kernelAt(distance))
	}
	for i, row := range m.Weights {
		sum := int32(0)
		for k, w := range row {
			sum += int32(w) * int32(kernel[k])
		}
		q[i] = math.Ldexp(float64(sum), -int(m.Shifts[i]))
		square += float64(q[i] * q[i])
	}
	by := full / max(math.Sqrt(square), Shortest)
	for _, v := range q {
		features = append(features, int16(v*by))
	}
	return kernel, features
}

func sampleMap(r *rand.Rand, inputs, marks, features int) *Map {
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
		m.Coordinates = append(m.Coordinates, c)
		m.Metric = append(m.Metric, row)
	}
	for range marks {
		mark := make([]uint8, inputs)
		for j := range mark {
			mark[j] = uint8(r.Uint32())
		}
		m.Landmarks = append(m.Landmarks, mark)
	}
	rows := make([][]float64, features)
	reach := make([]float64, features)
	for i := range rows {
		rows[i] = make([]float64, marks)
		reach[i] = 3
		for k := range rows[i] {
			rows[i][k] = r.NormFloat64() / math.Sqrt(float64(marks))
		}
	}
	return m.Weighted(rows, reach)
}

func BenchmarkApply(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 2))
	m := sampleMap(r, 15, 600, 256)
	bins := make([][]uint8, 15)
	dst := make([][]int16, 256)
	for j := range bins {
		bins[j] = make([]uint8, 4096)
		for i := range bins[j] {
			bins[j][i] = uint8(r.Uint32())
		}
	}
	for j := range dst {
		dst[j] = make([]int16, 4096)
	}
	b.Run("all", func(b *testing.B) {
		for b.Loop() {
			m.Apply(dst, bins)
		}
		b.ReportMetric(
			float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096,
			"ns/record",
		)
	})
	c := m.compile()
	s := &scratch{}
	c.projectRows(s, bins, 0, stripe)
	b.Run("multiply", func(b *testing.B) {
		for b.Loop() {
			c.multiplyTiles(s.sums, c.weights, s.kernel)
		}
		b.ReportMetric(
			float64(stripe*600*256)/(float64(b.Elapsed().Nanoseconds())/float64(b.N)),
			"MAC/ns",
		)
	})
}
