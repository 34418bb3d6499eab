package kernelmap

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// The grids of the map: an integer v represents v 2^-bits.
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
	c    *compiledMap
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
func (m *Map) Features() int {
	return len(m.Weights)
}

// Weighted returns the map with weights, one row per feature. reach has a bound on the size of
// every q.
func (m *Map) Weighted(rows [][]float64, reach []float64) *Map {
	m = &Map{
		Coordinates: m.Coordinates,
		Metric:      m.Metric,
		Landmarks:   m.Landmarks,
	}
	m.Weights = make([][]int16, len(rows))
	m.Shifts = make([]uint8, len(rows))
	for i, row := range rows {
		largest := math.SmallestNonzeroFloat32
		for _, w := range row {
			largest = max(largest, math.Abs(w))
		}
		bits := min(
			math.Floor(math.Log2(math.MaxInt16/largest)),
			math.Floor(math.Log2(0x1p16/max(reach[i], math.SmallestNonzeroFloat32))),
			40,
		)
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
	same := func(a, b Coordinate) bool {
		return a.Input == b.Input && slices.Equal(a.Values, b.Values)
	}
	return slices.EqualFunc(m.Coordinates, o.Coordinates, same) &&
		slices.EqualFunc(m.Metric, o.Metric, slices.Equal) &&
		slices.EqualFunc(m.Landmarks, o.Landmarks, slices.Equal) &&
		slices.EqualFunc(m.Weights, o.Weights, slices.Equal) && slices.Equal(m.Shifts, o.Shifts)
}

// compiledMap is a map prepared for application.
type compiledMap struct {
	coordinates           []Coordinate
	dims, marks, features int     // of points, of landmarks
	reach                 int32   // of a coordinate of a point
	metric                factors // dims x coordinates
	points                factors // landmarks x dims
	norms                 []uint32
	weights               factors // features x landmarks
	scales                []float64
	tile                  tileFunc
	kernel                kernelFunc
	stretch               stretchFunc
	scratch               sync.Pool
}

// scratch is the working memory of one goroutine for a stripe of records.
type scratch struct {
	coordinates, points, kernel []int16 // panels
	sums                        []int32 // one row of stripe numbers for each row of factors
	norms                       [stripe]uint32
	features                    []int16
	lists                       [][]int16 // of features
}

func (m *Map) compile() *compiledMap {
	m.once.Do(func() {
		c := &compiledMap{
			coordinates: m.Coordinates,
			marks:       len(m.Landmarks),
			features:    len(m.Weights),
		}
		c.tile, c.kernel, c.stretch = fastestFunctions()
		if len(m.Metric) > 0 {
			c.dims = len(m.Metric[0])
		}
		c.reach = int32(math.Floor(math.MaxInt16 / math.Sqrt(float64(max(c.dims, 1)))))
		c.metric = newFactors(
			c.dims,
			len(m.Metric),
			func(i, k int) int16 {
				return m.Metric[k][i]
			},
		)
		c.scratch.New = func() any { return &scratch{} }
		c.placeLandmarks(m.Landmarks)
		c.weights = newFactors(
			c.features,
			c.marks,
			func(i, k int) int16 {
				return m.Weights[i][k]
			},
		)
		for _, shift := range m.Shifts {
			c.scales = append(c.scales, math.Ldexp(1, -int(shift)))
		}
		m.c = c
	})
	return m.c
}

// placeLandmarks makes points of the landmarks.
func (c *compiledMap) placeLandmarks(landmarks [][]uint8) {
	places := make([]int16, len(landmarks)*c.dims)
	c.norms = make([]uint32, (len(landmarks)+1)/2*2)
	s := &scratch{}
	for i, mark := range landmarks {
		bins := make([][]uint8, len(mark))
		for j := range mark {
			bins[j] = mark[j : j+1]
		}
		c.locateRows(s, bins, 0, 1)
		c.norms[i] = s.norms[0]
		for j := range c.dims {
			places[i*c.dims+j] = s.points[inPanel(j, 0)]
		}
	}
	c.points = newFactors(len(landmarks), c.dims, func(i, k int) int16 {
		return places[i*c.dims+k]
	})
}

// stripe is the number of records that are taken at a time: those of a panel.
const stripe = tileCols

// resizeBuffer returns n elements with arbitrary contents, in buf if it is large enough.
func resizeBuffer[T any](buf []T, n int) []T {
	if cap(buf) < n {
		return make([]T, n)
	}
	return buf[:n]
}

// zeroedBuffer returns n zeros.
func zeroedBuffer[T any](buf []T, n int) []T {
	buf = resizeBuffer(buf, n)
	clear(buf)
	return buf
}

// locateRows sets the points of the records [from, from+rows), and their squared lengths.
func (c *compiledMap) locateRows(s *scratch, bins [][]uint8, from, rows int) {
	s.coordinates = zeroedBuffer(s.coordinates, c.metric.panelSize())
	for k, x := range c.coordinates {
		values := x.Values
		to := s.coordinates[inPanel(k, 0):]
		for r, bin := range bins[x.Input][from : from+rows] {
			if int(bin) < len(values) {
				to[2*r] = values[bin]
			}
		}
	}
	s.sums = resizeBuffer(s.sums, c.metric.rows*stripe)
	c.multiplyTiles(s.sums, c.metric, s.coordinates)
	s.points = zeroedBuffer(s.points, (c.dims+1)/2*2*stripe)
	clear(s.norms[:])
	for j := range c.dims {
		to := s.points[inPanel(j, 0):]
		for r, v := range s.sums[j*stripe:][:rows] {
			v = min(max(v>>(CoordinateBits+MetricBits-pointBits), -c.reach), c.reach)
			to[2*r] = int16(v)
			s.norms[r] += uint32(v * v)
		}
	}
}

// evaluateKernel sets the kernel of the records [from, from+rows) and all landmarks.
func (c *compiledMap) evaluateKernel(
	s *scratch,
	bins [][]uint8,
	from, rows int,
) {
	c.locateRows(s, bins, from, rows)
	s.sums = resizeBuffer(s.sums, c.points.rows*stripe)
	c.multiplyTiles(s.sums, c.points, s.points)
	s.kernel = resizeBuffer(s.kernel, len(c.norms)*stripe)
	c.kernel(s.kernel, s.sums, c.norms, &s.norms)
}

// Kernel returns the kernel of records and landmarks on the grid 2^-14, one list per
// landmark. It uses all processors.
func (m *Map) Kernel(bins [][]uint8) [][]int16 {
	c := m.compile()
	n := len(bins[0])
	out := make([][]int16, c.marks)
	all := make([]int16, c.marks*n)
	for k := range out {
		out[k] = all[k*n : (k+1)*n]
	}
	_ = parallel.ForEach(context.Background(), (n+stripe-1)/stripe, runtime.GOMAXPROCS(0),
		func(i int) { // a background never ends
			s := c.scratch.Get().(*scratch)
			defer c.scratch.Put(s)
			from := i * stripe
			rows := min(stripe, n-from)
			c.evaluateKernel(s, bins, from, rows)
			for k := range out {
				values := s.kernel[inPanel(k, 0):]
				for r := range rows {
					out[k][from+r] = values[2*r]
				}
			}
		})
	return out
}

// Apply sets dst, which has one list per feature, to the features of the records whose bins
// are given, one list per input, on the grid 2^-[FeatureBits]. The squares of a record sum to at
// most 2^(2 FeatureBits), whatever the map is.
func (m *Map) Apply(dst [][]int16, bins [][]uint8) {
	c := m.compile()
	n := len(bins[0])
	s := c.scratch.Get().(*scratch)
	defer c.scratch.Put(s)
	whole := n / stripe * stripe
	for from := 0; from < whole; from += stripe {
		c.projectRows(s, bins, from, stripe)
		c.stretch(dst[:c.features], from, s.sums, c.scales)
	}
	if whole < n {
		for i, list := range c.blockFeatures(s, bins, whole, n-whole) {
			copy(dst[i][whole:], list[:n-whole])
		}
	}
}

// blockFeatures returns the features of at most stripe records, in lists of stripe numbers.
func (c *compiledMap) blockFeatures(
	s *scratch,
	bins [][]uint8,
	from, rows int,
) [][]int16 {
	c.projectRows(s, bins, from, rows)
	s.features, s.lists = resizeBuffer(s.features, c.features*stripe),
		resizeBuffer(s.lists, c.features)
	for i := range s.lists {
		s.lists[i] = s.features[i*stripe:][:stripe]
	}
	c.stretch(s.lists, 0, s.sums, c.scales)
	return s.lists
}

// projectRows sets the sums of weights and kernel of the records [from, from+rows).
func (c *compiledMap) projectRows(s *scratch, bins [][]uint8, from, rows int) {
	c.evaluateKernel(s, bins, from, rows)
	s.sums = resizeBuffer(s.sums, c.weights.rows*stripe)
	c.multiplyTiles(s.sums, c.weights, s.kernel)
}

// Add adds to each sum the features of a record times coefficients, one per feature.
func (m *Map) Add(sums []float64, bins [][]uint8, coefficients []float64) {
	c := m.compile()
	s := c.scratch.Get().(*scratch)
	for from := 0; from < len(sums); from += stripe {
		rows := min(stripe, len(sums)-from)
		var products [stripe]float64
		for i, list := range c.blockFeatures(s, bins, from, rows) {
			theta := coefficients[i]
			for r, v := range list[:stripe] {
				products[r] += float64(float64(v) * theta) // the conversion forbids fusing
			}
		}
		for r := range rows {
			sums[from+r] += float64(products[r] * (1.0 / (1 << FeatureBits)))
		}
	}
	c.scratch.Put(s)
}
