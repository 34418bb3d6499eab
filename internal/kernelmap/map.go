package kernelmap

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/carry"
)

// The grids of the map: a number v of each stands for v 2^-bits.
const (
	CoordinateBits = 11
	MetricBits     = 10
	pointBits      = 8
	kernelBits     = 14
	// FeatureBits is that of the features: a record's length is at most 2^FeatureBits.
	FeatureBits = 14
)

// Shortest is the length of q below which a record is not stretched to length 1.
const Shortest = .1

// A Map is the feature map. Its fields are exported and hold public or released values
// only, so that it can be sent to where the records are. It must not be changed after the
// first use.
type Map struct {
	Coordinates []Coordinate
	// Metric has one row per coordinate with one number per dimension of the points.
	Metric [][]int16
	// Landmarks has one list of bins per landmark, with one bin per input.
	Landmarks [][]uint8
	// Weights has one row per feature with one number per landmark, and Shifts the
	// binary places of the row.
	Weights [][]int16
	Shifts  []uint8

	once sync.Once
	c    *compiled
}

// A Coordinate is a function of the bin of one input.
type Coordinate struct {
	Input  int
	Values []int16 // by bin
}

// Number is the number nearest to x on a grid of int16; beyond its ends, the last one.
func Number(x float64, bits int) int16 {
	x = math.Round(math.Ldexp(x, bits))
	if x != x {
		return 0
	}
	return int16(min(max(x, -math.MaxInt16), math.MaxInt16))
}

// Features returns the number of features.
func (m *Map) Features() int { return len(m.Weights) }

// Weighted returns the map with weights, one row per feature. reach has a bound on the size of
// every q.
func (m *Map) Weighted(rows [][]float64, reach []float64) *Map {
	m = &Map{Coordinates: m.Coordinates, Metric: m.Metric, Landmarks: m.Landmarks}
	m.Weights, m.Shifts = make([][]int16, len(rows)), make([]uint8, len(rows))
	for i, row := range rows {
		largest := math.SmallestNonzeroFloat32
		for _, w := range row {
			largest = max(largest, math.Abs(w))
		}
		bits := min(math.Floor(math.Log2(math.MaxInt16/largest)), math.Floor(math.Log2(0x1p16/max(reach[i], math.SmallestNonzeroFloat32))), 40)
		shift := int(max(bits, -kernelBits))
		m.Shifts[i] = uint8(shift + kernelBits)
		m.Weights[i] = make([]int16, len(row))
		for k, w := range row {
			m.Weights[i][k] = Number(w, shift)
		}
	}
	return m
}

// Equal reports whether two maps have the same numbers.
func (m *Map) Equal(o *Map) bool {
	if m == nil || o == nil {
		return m == o
	}
	same := func(a, b Coordinate) bool { return a.Input == b.Input && slices.Equal(a.Values, b.Values) }
	return slices.EqualFunc(m.Coordinates, o.Coordinates, same) && slices.EqualFunc(m.Metric, o.Metric, slices.Equal) &&
		slices.EqualFunc(m.Landmarks, o.Landmarks, slices.Equal) && slices.EqualFunc(m.Weights, o.Weights, slices.Equal) && slices.Equal(m.Shifts, o.Shifts)
}

// compiled is what a map needs to be applied.
type compiled struct {
	coordinates []Coordinate
	dims, marks int    // of points, of landmarks
	reach       int32  // of a coordinate of a point
	metric      packed // coordinates x dims
	points      packed // dims x landmarks
	norms       []uint32
	weights     packed // landmarks x features
	scales      []float64
	tile        tileFunc
	kernel      kernelFunc
	scratch     sync.Pool
}

// scratch is the memory of one goroutine.
type scratch struct {
	coordinates, points, kernel []int16
	sums                        []int32
	values                      []float64
	features                    []int16
}

func (m *Map) compile() *compiled {
	m.once.Do(func() {
		tile, kernel := fastest()
		c := &compiled{coordinates: m.Coordinates, marks: len(m.Landmarks), tile: tile, kernel: kernel}
		if len(m.Metric) > 0 {
			c.dims = len(m.Metric[0])
		}
		c.reach = int32(math.Floor(math.MaxInt16 / math.Sqrt(float64(max(c.dims, 1)))))
		c.metric = pack(len(m.Metric), c.dims, func(k, j int) int16 { return m.Metric[k][j] })
		c.scratch.New = func() any { return &scratch{} }
		c.place(m.Landmarks)
		c.weights = pack(c.marks, len(m.Weights), func(k, j int) int16 { return m.Weights[j][k] })
		for _, shift := range m.Shifts {
			c.scales = append(c.scales, math.Ldexp(1, -int(shift)))
		}
		m.c = c
	})
	return m.c
}

// place makes points of the landmarks.
func (c *compiled) place(landmarks [][]uint8) {
	places := make([]int16, len(landmarks)*c.dims)
	s := &scratch{}
	for i, mark := range landmarks {
		bins := make([][]uint8, len(mark))
		for j := range mark {
			bins[j] = mark[j : j+1]
		}
		c.locate(s, bins, 0, 1)
		copy(places[i*c.dims:], s.points[:c.dims])
	}
	c.points = pack(c.dims, len(landmarks), func(k, j int) int16 { return places[j*c.dims+k] })
	c.norms = make([]uint32, c.points.cols)
	for i := range landmarks {
		c.norms[i] = norm(places[i*c.dims:][:c.dims])
	}
}

// norm returns the squared length of a point.
func norm(z []int16) uint32 {
	sum := uint32(0)
	for _, v := range z {
		sum += uint32(int32(v) * int32(v))
	}
	return sum
}

// stripe is the number of records that are taken at a time.
const stripe = 32

// sized returns n numbers of which nothing is known.
func sized[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// zeros returns n zeros.
func zeros[T any](buf []T, n int) []T {
	buf = sized(buf, n)
	clear(buf)
	return buf
}

// spread copies records by row, stride numbers apart, to the lists of dst from a record on.
func spread(dst [][]int16, from int, src []int16, stride, rows int) {
	const block = 32 // of lists: one cache line of a row
	for left := 0; left < len(dst); left += block {
		for k := left; k < min(left+block, len(dst)); k++ {
			to := dst[k][from:][:rows]
			for r := range to {
				to[r] = src[r*stride+k]
			}
		}
	}
}

// locate sets the points of the records [from, from+rows).
func (c *compiled) locate(s *scratch, bins [][]uint8, from, rows int) {
	padded := (rows + tileRows - 1) / tileRows * tileRows
	width, depth := 2*c.metric.steps, 2*((c.dims+1)/2)
	s.coordinates = zeros(s.coordinates, padded*width)
	for k, x := range c.coordinates {
		values := x.Values
		for r, bin := range bins[x.Input][from : from+rows] {
			if int(bin) < len(values) {
				s.coordinates[r*width+k] = values[bin]
			}
		}
	}
	s.sums = sized(s.sums, padded*c.metric.cols)
	c.multiply(s.sums, s.coordinates, width, padded, c.metric)
	s.points = zeros(s.points, padded*depth)
	for r := range rows {
		for j, v := range s.sums[r*c.metric.cols:][:c.dims] {
			s.points[r*depth+j] = int16(min(max(v>>(CoordinateBits+MetricBits-pointBits), -c.reach), c.reach))
		}
	}
}

// resemble sets the kernel of the records [from, from+rows) and all landmarks.
func (c *compiled) resemble(s *scratch, bins [][]uint8, from, rows int) (padded int) {
	c.locate(s, bins, from, rows)
	padded = (rows + tileRows - 1) / tileRows * tileRows
	s.sums = sized(s.sums, padded*c.points.cols)
	depth := 2 * c.points.steps
	c.multiply(s.sums, s.points, depth, padded, c.points)
	s.kernel = sized(s.kernel, padded*c.points.cols)
	for r := range rows {
		c.kernel(s.kernel[r*c.points.cols:][:c.points.cols], s.sums[r*c.points.cols:][:c.points.cols], c.norms, norm(s.points[r*depth:][:c.dims]))
		clear(s.kernel[r*c.points.cols:][c.marks:c.points.cols])
	}
	return padded
}

// Kernel returns the kernel of records and landmarks on the grid 2^-14, one list per
// landmark. It uses all processors.
func (m *Map) Kernel(bins [][]uint8) [][]int16 {
	c, n := m.compile(), len(bins[0])
	out, all := make([][]int16, c.marks), make([]int16, c.marks*n)
	for k := range out {
		out[k] = all[k*n : (k+1)*n]
	}
	_ = carry.ForEach(context.Background(), (n+stripe-1)/stripe, runtime.GOMAXPROCS(0), func(i int) { // a background never ends
		s := c.scratch.Get().(*scratch)
		defer c.scratch.Put(s)
		from := i * stripe
		rows := min(stripe, n-from)
		c.resemble(s, bins, from, rows)
		spread(out, from, s.kernel, c.points.cols, rows)
	})
	return out
}

// Apply sets dst, which has one list per feature, to the features of the records whose bins
// are given, one list per input, on the grid 2^-[FeatureBits]. The squares of a record sum to at
// most 2^(2 FeatureBits), whatever the map is.
func (m *Map) Apply(dst [][]int16, bins [][]uint8) {
	c, n := m.compile(), len(bins[0])
	s := c.scratch.Get().(*scratch)
	defer c.scratch.Put(s)
	features := len(c.scales)
	for from := 0; from < n; from += stripe {
		rows := min(stripe, n-from)
		c.project(s, bins, from, rows)
		s.features = sized(s.features, stripe*features)
		for r := 0; r < rows; r += tileRows {
			c.stretch(s, r)
		}
		spread(dst, from, s.features, features, rows)
	}
}

// project sets the sums of weights and kernel of the records [from, from+rows).
func (c *compiled) project(s *scratch, bins [][]uint8, from, rows int) {
	padded := c.resemble(s, bins, from, rows)
	s.sums = sized(s.sums, padded*c.weights.cols)
	c.multiply(s.sums, s.kernel, c.points.cols, padded, c.weights)
}

// full is the length of a feature vector of length 1, less what floats may be off by.
const full = (1 << FeatureBits) * (1 - 0x1p-30)

// stretch sets the features of tileRows records of the stripe: q and what stretches it to length 1, on the grid. All
// operations are those of IEEE 754 in a fixed order, without fusing: the same on every machine. The
// records are taken together because each is a chain of additions.
func (c *compiled) stretch(s *scratch, r int) {
	n, cols := len(c.scales), c.weights.cols
	s.values = sized(s.values, tileRows*n)
	v0, v1, v2, v3 := s.values[:n], s.values[n:][:n], s.values[2*n:][:n], s.values[3*n:][:n]
	s0, s1, s2, s3 := s.sums[r*cols:][:n], s.sums[(r+1)*cols:][:n], s.sums[(r+2)*cols:][:n], s.sums[(r+3)*cols:][:n]
	var square [tileRows]float64
	for i, scale := range c.scales {
		a, b := float64(s0[i])*scale, float64(s1[i])*scale // exact: the scale is a power of two
		x, y := float64(s2[i])*scale, float64(s3[i])*scale
		v0[i], v1[i], v2[i], v3[i] = a, b, x, y
		square[0] += float64(a * a) // the conversion forbids fusing
		square[1] += float64(b * b)
		square[2] += float64(x * x)
		square[3] += float64(y * y)
	}
	for k, sum := range square {
		by := full / max(math.Sqrt(sum), Shortest)
		to, values := s.features[(r+k)*n:][:n], s.values[k*n:][:n]
		for i, v := range values {
			to[i] = int16(v * by)
		}
	}
}

// Add adds to each sum the features of a record times coefficients, one per feature.
func (m *Map) Add(sums []float64, bins [][]uint8, coefficients []float64) {
	c := m.compile()
	s := c.scratch.Get().(*scratch)
	features := len(c.scales)
	for from := 0; from < len(sums); from += stripe {
		rows := min(stripe, len(sums)-from)
		c.project(s, bins, from, rows)
		s.features = sized(s.features, stripe*features)
		for r := range rows {
			if r%tileRows == 0 {
				c.stretch(s, r)
			}
			sum := 0.
			for i, v := range s.features[r*features:][:features] {
				sum += float64(float64(v) * coefficients[i]) // the conversion forbids fusing
			}
			sums[from+r] += float64(sum * (1.0 / (1 << FeatureBits)))
		}
	}
	c.scratch.Put(s)
}
