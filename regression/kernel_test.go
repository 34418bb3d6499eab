package regression

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
)

// kernelSample is additiveSample with two feature maps over every kind of input.
func kernelSample() *Kernel {
	m := &Kernel{Additive: *additiveSample()}
	m.Cells = []kernelmap.Input{
		{Column: 0, Of: kernelmap.Value},
		{Column: 2, Of: kernelmap.Missing},
		{
			Column: 1,
			Of:     kernelmap.Categories,
			Bins:   []uint8{2, 1, 0},
		},
	}
	m.Landmarks = [][]uint8{
		{0, 1, 0},
		{128, 0, 1},
		{255, 0, 2},
	}
	line := make([]int16, 256)
	for b := range line {
		line[b] = int16(16*b - 2048)
	}
	coordinates := []kernelmap.Coordinate{
		{Input: 0, Values: line},
		{Input: 1, Values: []int16{-100, 1000}},
		{Input: 2, Values: []int16{-1, 2, 1500}},
	}
	m.Kernels = []kernelmap.Term{
		{
			Map: &kernelmap.Map{
				Coordinates: coordinates,
				Metric: [][]int16{
					{900, 0}, {0, 300},
					{-40, 700},
				},
				Landmarks: m.Landmarks,
				Weights: [][]int16{
					{9000, -3000, 100},
					{-1, 4000, 8000},
				},
				Shifts: []uint8{27, 26},
			},
			Coefficients: []float64{250, -31.5},
		},
		{
			Map: &kernelmap.Map{
				Coordinates: coordinates[:1],
				Metric:      [][]int16{{2000}},
				Landmarks:   m.Landmarks,
				Weights:     [][]int16{{30000, 20000, -32767}},
				Shifts:      []uint8{30},
			},
			Coefficients: []float64{1e-3},
		},
	}
	return m
}

// byDefinition returns the sum of the kernels of a model for bins of the inputs, in exact arithmetic except for
// the kernel and the length, within 2^-13 and a rounding error.
func byDefinition(m *Kernel, bins []uint8) float64 {
	point := func(k *kernelmap.Map, bins []uint8) []int64 {
		out := make([]int64, len(k.Metric[0]))
		for j := range out {
			for c, x := range k.Coordinates {
				if int(bins[x.Input]) < len(x.Values) {
					out[j] += int64(x.Values[bins[x.Input]]) * int64(k.Metric[c][j])
				}
			}
			out[j] >>= 13
		}
		return out
	}
	sum := 0.
	for _, t := range m.Kernels {
		u := point(t.Map, bins)
		q := make([]float64, len(t.Map.Weights))
		square := 0.
		for i, row := range t.Map.Weights {
			exact := new(big.Float)
			for l, mark := range m.Landmarks {
				distance := 0.
				for j, v := range point(t.Map, mark) {
					distance += float64((u[j] - v) * (u[j] - v))
				}
				exact.Add(
					exact,
					big.NewFloat(float64(row[l])*math.Trunc(0x1p14*math.Exp2(-distance/65536))),
				)
			}
			x, _ := exact.Float64()
			q[i] = math.Ldexp(x, -int(t.Map.Shifts[i]))
			square += q[i] * q[i]
		}
		for i := range q {
			sum += q[i] / max(math.Sqrt(square), kernelmap.Shortest) * t.Coefficients[i]
		}
	}
	return sum
}

func TestKernelPredictsByDefinition(t *testing.T) {
	m := kernelSample()
	rows := strangeRows(rand.New(rand.NewPCG(5, 5)), 300)
	m.Lower = -1e9
	m.Upper = 1e9
	got, err := m.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	base, err := m.Additive.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	moved := 0
	binners := m.newBinners(rows)
	for i := range got {
		bins := make([]uint8, len(binners))
		for j, of := range binners {
			of(bins[j:j+1], i)
		}
		want := base[i] + byDefinition(m, bins)
		if math.Abs(got[i]-want) > .5 { // of 282
			t.Errorf(
				"row %d: %v, want %v",
				i, got[i], want,
			)
		}
		if math.Abs(got[i]-base[i]) > 20 {
			moved++
		}
	}
	if moved < 100 {
		t.Errorf(
			"the kernels move %d predictions of %d",
			moved, len(got),
		)
	}
}

// TestKernelBins checks that bins are those of training, including the bins of unreadable cells.
func TestKernelBins(t *testing.T) {
	m := kernelSample()
	nan := math.NaN()
	rows := Rows{
		N: 5,
		Numeric: map[string][]float64{
			"age":    {0, 120, nan, math.Inf(1), 60},
			"income": {3, nan, math.Inf(-1), 0, 1e300},
		},
		Codes: map[string]Codes{"ocean": {
			[]int32{0, 1, -1, 7, 2},
			[]string{"near <bay>", "inland", "new"},
		}},
		Labels: map[string][]string{"kind": make([]string, 5)},
	}
	want := [][]uint8{{0, 255, 85, 85, 128}, {0, 1, 1, 0, 0}, {1, 2, 0, 0, 0}} // a missing age is 40
	for j, of := range m.newBinners(rows) {
		got := make([]uint8, 5)
		of(got, 0)
		for i := range got {
			if got[i] != want[j][i] {
				t.Errorf(
					"input %d, row %d: bin %d, want %d",
					j, i, got[i],
					want[j][i],
				)
			}
		}
	}
}

func TestKernelPredictConformance(t *testing.T) {
	checkConformance(t, func(*rapid.T) blockwise {
		return kernelSample()
	})
}

func TestKernelContradictions(t *testing.T) {
	checkContradictions(
		t,
		kernelSample,
		strangeRows(rand.New(rand.NewPCG(1, 1)), 3),
		append(
			[]contradiction[*Kernel]{
				{"shapes[1].column", func(m *Kernel) {
					m.Shapes[1].Column = 9
				}},
				{"inputs[1].column", func(m *Kernel) {
					m.Cells[1].Column = 9
				}},
				{"inputs[1].column", func(m *Kernel) {
					m.Cells[1].Column = -1
				}},
				{"inputs[1].of", func(m *Kernel) {
					m.Cells[1].Column = 1
				}},
				{"inputs[2].of", func(m *Kernel) {
					m.Cells[2].Of = kernelmap.Value
				}},
				{"inputs[0].of", func(m *Kernel) {
					m.Cells[0].Of = "rank"
				}},
				{"inputs[0].bins", func(m *Kernel) {
					m.Cells[0].Bins = []uint8{1}
				}},
				{"inputs[2].bins", func(m *Kernel) {
					m.Cells[2].Bins = []uint8{1}
				}},
				{"landmarks[2]", func(m *Kernel) {
					m.Landmarks[2] = []uint8{1}
				}},
				{
					"kernels[0].landmarks",
					func(m *Kernel) {
						m.Landmarks = m.Landmarks[:2]
					},
				},
				{"kernels[1].landmarks", func(m *Kernel) {
					m.Kernels[1].Map = nil
				}},
				{
					"kernels[1].coordinates",
					func(m *Kernel) {
						m.Kernels[1].Map.Coordinates = nil
					},
				},
				{
					"kernels[0].coordinates",
					func(m *Kernel) {
						m.Kernels[0].Map.Coordinates[1].Input = 3
					},
				},
				{"kernels[0].metric", func(m *Kernel) {
					m.Kernels[0].Map.Metric = m.Kernels[0].Map.Metric[:2]
				}},
				{
					"kernels[0].metric",
					func(m *Kernel) {
						m.Kernels[0].Map.Metric[1] = nil
					},
				},
				{
					"kernels[1].metric",
					func(m *Kernel) {
						m.Kernels[1].Map.Metric[0] = make([]int16, 5000)
					},
				},
				{
					"kernels[0].weights",
					func(m *Kernel) {
						m.Kernels[0].Map.Weights[1] = nil
					},
				},
				{
					"kernels[0].weights",
					func(m *Kernel) {
						m.Kernels[0].Map.Weights = nil
					},
				},
				{"kernels[0].shifts", func(m *Kernel) {
					m.Kernels[0].Map.Shifts = nil
				}},
				{
					"kernels[1].shifts",
					func(m *Kernel) {
						m.Kernels[1].Map.Shifts[0] = 101
					},
				},
				{
					"kernels[0].coefficients",
					func(m *Kernel) {
						m.Kernels[0].Coefficients = nil
					},
				},
				{
					"kernels[0].coefficients",
					func(m *Kernel) {
						m.Kernels[0].Coefficients[1] = math.Inf(1)
					},
				},
			},
			embeddedContradictions[*Kernel]()...,
		),
	)
}

func TestKernelGolden(t *testing.T) {
	m := withVersion2(kernelSample())
	m.Score.Coefficients = append(m.Score.Coefficients, -2, 0)
	checkGolden(t, "testdata/model-2-kernel.json", m)
}

func TestKernelDecodeRefuses(t *testing.T) {
	checkDecodeRefuses(t, kernelSample(), []refusal{
		{
			`"column":"age","of"`,
			`"column":"ages","of"`,
			`model file 27:15: inputs[0].column: no column has this name`,
		},
		{
			`"of":"value"`,
			`"of":"rank"`,
			`model file 27:26: inputs[0].of: must be value, missing or categories`,
		},
		{
			`"bins":"AgEA"`,
			`"bins":"AgE"`,
			`model file 29:48: inputs[2].bins: is not whole numbers in base64`,
		},
		{
			`"landmarks": ["AAEA"`,
			`"landmarks": ["AAE"`,
			`model file 31:16: landmarks: is not whole numbers in base64`,
		},
		{
			`"kernels": [`,
			`"kernel": [`,
			`model file 32:3: unknown key "kernel"`,
		},
		{
			`"input":1`,
			`"input":7`,
			`model file 34:22: kernels[0].coordinates: names an input that there is not`,
		},
		{
			`"metric": ["hAMAAA=="`,
			`"metric": ["hAMA"`,
			`model file 39:17: kernels[0].metric: is not whole numbers in base64`,
		},
		{
			`"shifts": [27,26]`,
			`"shifts": [27,-1]`,
			`model file 41:17: kernels[0].shifts: holds a number beyond 0 and 100`,
		},
		{
			`"shifts": [27,26]`,
			`"shifts": [27,2.5]`,
			`model file 41:21: kernels[0].shifts[1]: must be a whole number`,
		},
		{
			`"coefficients": [250,-31.5]`,
			`"coefficients": [250]`,
			`model file 42:23: kernels[0].coefficients: is not one number a feature`,
		},
	})
}

// drawKernel adds maps of random numbers to a model; any numbers are valid.
func drawKernel(t *rapid.T, a Additive) *Kernel {
	m := &Kernel{Additive: a}
	number := rapid.Int16()
	bin := rapid.Uint8()
	for j, c := range a.Columns {
		in := kernelmap.Input{Column: j, Of: kernelmap.Value}
		if c.Type == Category {
			in.Of = kernelmap.Categories
			in.Bins = rapid.SliceOfN(
				bin, len(c.Categories)+1,
				len(c.Categories)+1,
			).Draw(
				t,
				"bins",
			)
		} else if rapid.Bool().Draw(t, "missing") {
			in.Of = kernelmap.Missing
		}
		m.Cells = append(m.Cells, in)
	}
	if len(m.Cells) == 0 {
		return m
	}
	marks := rapid.IntRange(0, 3).Draw(t, "landmarks")
	features := rapid.IntRange(1, 3).Draw(t, "features")
	dims := rapid.IntRange(1, 3).Draw(t, "dimensions")
	for range marks {
		m.Landmarks = append(
			m.Landmarks,
			rapid.SliceOfN(
				bin, len(m.Cells),
				len(m.Cells),
			).Draw(t, "landmark"),
		)
	}
	k := &kernelmap.Map{
		Landmarks: m.Landmarks,
		Shifts: rapid.SliceOfN(rapid.Uint8Range(0, 100), features, features).Draw(
			t,
			"shifts",
		),
	}
	rows := func(n, of int, what string) [][]int16 {
		var out [][]int16
		for range n {
			out = append(out, rapid.SliceOfN(number, of, of).Draw(t, what))
		}
		return out
	}
	for i := range m.Cells {
		k.Coordinates = append(
			k.Coordinates,
			kernelmap.Coordinate{
				Input:  i,
				Values: rapid.SliceOfN(number, 0, 256).Draw(t, "values"),
			},
		)
	}
	k.Metric, k.Weights = rows(len(m.Cells), dims, "metric"), rows(features, marks, "weights")
	m.Kernels = []kernelmap.Term{{
		Map: k,
		Coefficients: rapid.SliceOfN(rapid.Float64Range(-1e300, 1e300), features, features).Draw(
			t,
			"coefficients",
		),
	}}
	return m
}

func TestKernelFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		checkRoundTrip(t, drawKernel(t, Additive{Linear: *drawLinear(t)}))
	})
}

func BenchmarkKernelPredict(b *testing.B) {
	linear, rows := benchmarkLinear()
	rng := rand.New(rand.NewPCG(2, 2))
	m := &Kernel{Additive: Additive{Linear: linear}}
	k := &kernelmap.Map{}
	for j := range linear.Columns {
		m.Cells = append(m.Cells, kernelmap.Input{Column: j, Of: kernelmap.Value})
		values := make([]int16, 256)
		row := make([]int16, 20)
		for i := range values {
			values[i] = int16(16*i - 2048)
		}
		row[j] = 400
		k.Coordinates = append(
			k.Coordinates,
			kernelmap.Coordinate{Input: j, Values: values},
		)
		k.Metric = append(k.Metric, row)
	}
	for range 600 {
		mark := make([]uint8, 20)
		for j := range mark {
			mark[j] = uint8(rng.Uint32())
		}
		m.Landmarks = append(m.Landmarks, mark)
	}
	k.Landmarks = m.Landmarks
	term := kernelmap.Term{Map: k}
	for range 150 {
		row := make([]int16, 600)
		for l := range row {
			row[l] = int16(rng.Uint32())
		}
		k.Weights = append(k.Weights, row)
		k.Shifts = append(k.Shifts, 30)
		term.Coefficients = append(term.Coefficients, rng.NormFloat64())
	}
	m.Kernels = []kernelmap.Term{term}
	benchmarkPredict(b, m, rows)
}

// TestKernelInteractions checks a kernel that depends on the product of two columns and not on a third: the
// pair has the strongest interaction, and its size is that of the product.
func TestKernelInteractions(t *testing.T) {
	m := kernelSample()
	s := m.Interactions()
	if !(s.Share > 0 && s.Share < 1) ||
		len(s.Pairs) != 3 {
		t.Fatalf("%+v", s)
	}
	for i, p := range s.Pairs {
		if p.First >= p.Second ||
			p.Value < 0 ||
			i > 0 && p.Value > s.Pairs[i-1].Value {
			t.Errorf("%+v", p)
		}
	}
	m.Kernels = m.Kernels[1:] // of age alone
	for _, p := range m.Interactions().Pairs {
		if p.Value > 1e-9 {
			t.Errorf("one column has the pair %+v", p)
		}
	}
	m.Kernels[0].Coefficients[0] = 0
	if s := m.Interactions(); s.Share != 0 {
		t.Errorf(
			"terms that add nothing have the share %v",
			s.Share,
		)
	}
	m.Kernels = nil
	if s := m.Interactions(); s.Share != 0 || s.Pairs != nil {
		t.Errorf("no terms: %+v", s)
	}
}
