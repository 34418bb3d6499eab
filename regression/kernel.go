package regression

import (
	"fmt"
	"math"
	"sync"

	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/internal/sys/parallel"
)

const kindKernel = "kernel"

// Kernel is an [Additive] model plus kernel terms, which depend on all columns jointly:
//
//	clamp(sum of the additive model + sum over Kernels of coefficients . features, Lower, Upper).
//
// The features approximate a kernel on ranks and curves of the columns. They are computed from a record in
// integer arithmetic, hence identically on every machine, and their squares sum to at most 1
// (docs/proofs/boosted-kernel.md, "The model"). The embedded Additive, used alone, predicts without them.
//
// A Kernel must not be changed while it is in use.
type Kernel struct {
	Additive

	Cells     kernelInputs // inputs of the feature maps
	Landmarks [][]uint8    // landmarks of all maps, with one bin per input
	Kernels   kernelTerms  // feature maps, with one coefficient per feature
}

// The parts of a [Kernel] that only this module makes and reads.
type (
	kernelInputs []kernelmap.Input
	kernelTerms  []kernelmap.Term
)

var _ Model = (*Kernel)(nil)

// Kind returns "kernel".
func (m *Kernel) Kind() string {
	return kindKernel
}

// Validate reports the first inconsistency in the model as a [*ModelError]: those of [Additive.Validate], an
// input without its column, and matrices whose sizes do not match.
func (m *Kernel) Validate() error {
	if err := m.Additive.Validate(); err != nil {
		return err
	}
	for i, in := range m.Cells {
		path := fmt.Sprintf("inputs[%d]", i)
		switch {
		case in.Column < 0 || in.Column >= len(m.Columns):
			return &ModelError{path + ".column", "no column has this name"}
		case in.Of != kernelmap.Value && in.Of != kernelmap.Missing &&
			in.Of != kernelmap.Categories:
			return &ModelError{path + ".of", "must be value, missing or categories"}
		case (m.Columns[in.Column].Type == Category) != (in.Of == kernelmap.Categories):
			return &ModelError{path + ".of", "does not suit the column"}
		case in.Of == kernelmap.Categories &&
			len(in.Bins) != len(m.Columns[in.Column].Categories)+1:
			return &ModelError{path + ".bins", "is not one bin a category and one for others"}
		case in.Of != kernelmap.Categories && len(in.Bins) > 0:
			return &ModelError{path + ".bins", "is for categories only"}
		}
	}
	for i, mark := range m.Landmarks {
		if len(mark) != len(m.Cells) {
			return &ModelError{fmt.Sprintf("landmarks[%d]", i), "is not one bin an input"}
		}
	}
	for i, t := range m.Kernels {
		if place, problem := t.Check(len(m.Cells), m.Landmarks); problem != "" {
			return &ModelError{fmt.Sprintf("kernels[%d].%s", i, place), problem}
		}
	}
	return nil
}

// Predict implements [Model]; see [Linear.Predict].
func (m *Kernel) Predict(dst []float64, rows Rows) ([]float64, error) {
	work := 2*len(m.Terms) + 8*len(m.Shapes) + 9
	for _, t := range m.Kernels {
		work += len(t.Coefficients) * len(m.Landmarks) / 16
	}
	return m.predictWith(dst, rows, parallel.Workers(rows.N*work))
}

func (m *Kernel) predictWith(
	dst []float64,
	rows Rows,
	workers int,
) ([]float64, error) {
	return m.predictBlocks(m, dst, rows, workers, func(rows Rows) blockFiller {
		fill := m.newFiller(rows)
		binners := m.newBinners(rows)
		return func(sums []float64, first int) {
			fill(sums, first)
			bins := make([][]uint8, len(binners))
			for i, of := range binners {
				bins[i] = make([]uint8, len(sums))
				of(bins[i], first)
			}
			for _, t := range m.Kernels {
				t.Map.Add(sums, bins, t.Coefficients)
			}
		}
	})
}

// A binner sets the bins of an input for the rows from first on.
type binner func(bins []uint8, first int)

func (m *Kernel) newBinners(rows Rows) []binner {
	out := make([]binner, len(m.Cells))
	for i, in := range m.Cells {
		c := &m.Columns[in.Column]
		if in.Of == kernelmap.Categories {
			out[i] = c.categoryBinner(in, rows)
			continue
		}
		column := rows.Numeric[c.Name]
		of := c.numberBin(in)
		out[i] = func(bins []uint8, first int) {
			for r, v := range column[first : first+len(bins)] {
				bins[r] = of(v)
			}
		}
	}
	return out
}

// numberBin returns the function that maps a numeric cell to its bin.
func (c *Column) numberBin(in kernelmap.Input) func(v float64) uint8 {
	if in.Of == kernelmap.Missing {
		return func(v float64) uint8 {
			if v-v != 0 { // NaN or infinite
				return 1
			}
			return 0
		}
	}
	treat := c.cellTreatment()
	center := c.Lower/2 + c.Upper/2
	scale := kernelmap.CellOne / (c.Upper/2 - c.Lower/2)
	return func(v float64) uint8 {
		return kernelmap.CellBin((treat.apply(v) - center) * scale)
	}
}

// categoryBinner returns the binner of a category column.
func (c *Column) categoryBinner(in kernelmap.Input, rows Rows) binner {
	names := c.nameFinder()
	other := in.Bins[len(c.Categories)]
	bin := func(name string) uint8 {
		k, _ := names.Find(name)
		return in.Bins[k]
	}
	if labels, ok := rows.Labels[c.Name]; ok {
		return func(bins []uint8, first int) {
			for i, label := range labels[first : first+len(bins)] {
				bins[i] = bin(label)
			}
		}
	}
	own := rows.Codes[c.Name]
	last := uint32(len(own.Categories))
	table := make([]uint8, last+1)
	for i, name := range own.Categories {
		table[i] = in.Bins[names.FindValue(name)]
	}
	table[last] = other
	return func(bins []uint8, first int) {
		for i, code := range own.Values[first : first+len(bins)] {
			bins[i] = table[min(uint32(code), last)] // negative codes wrap above last
		}
	}
}

func (m *Kernel) newProgram(places []int) program {
	p := &kernelProgram{
		additiveProgram: *m.Additive.newProgram(places).(*additiveProgram),
		terms:           m.Kernels,
	}
	for _, in := range m.Cells {
		c := &m.Columns[in.Column]
		p.cells = append(p.cells, inputCell{m.inputRef(in.Column, places).place, in.Bins, nil})
		if in.Of != kernelmap.Categories {
			p.cells[len(p.cells)-1].number = c.numberBin(in)
		}
	}
	p.memory.New = func() any {
		x := &recordScratch{
			bins: make([][]uint8, len(p.cells)),
			all:  make([]uint8, len(p.cells)),
		}
		for i := range x.bins {
			x.bins[i] = x.all[i : i+1]
		}
		return x
	}
	return p
}

type kernelProgram struct {
	additiveProgram
	cells  []inputCell
	terms  []kernelmap.Term
	memory sync.Pool // of *recordScratch
}

// An inputCell maps a value to a bin.
type inputCell struct {
	place  int
	bins   []uint8 // for categories
	number func(v float64) uint8
}

// recordScratch holds the bins and the sum of one record.
type recordScratch struct {
	bins [][]uint8
	all  []uint8
	sum  [1]float64
}

func (p *kernelProgram) evaluate(record []value) float64 {
	x := p.memory.Get().(*recordScratch)
	for i, c := range p.cells {
		if c.number != nil {
			x.all[i] = c.number(record[c.place].number)
		} else {
			x.all[i] = c.bins[record[c.place].code]
		}
	}
	x.sum[0] = p.unclamped(record)
	for _, t := range p.terms {
		t.Map.Add(x.sum[:], x.bins, t.Coefficients)
	}
	sum := p.limits.clamp(x.sum[0])
	p.memory.Put(x)
	return sum
}

func kernelKind() scoreKind {
	return numberKind[*Kernel, kernelFile]{
		kindKernel,
		func(m *Kernel) kernelFile {
			f := kernelFile{
				additiveFile: m.toFile(),
				Landmarks:    kernelmap.Texts(m.Landmarks),
			}
			for _, in := range m.Cells {
				f.Inputs = append(f.Inputs,
					inputFile{m.Columns[in.Column].Name, string(in.Of),
						kernelmap.Texts([][]uint8{in.Bins})[0]})
			}
			for _, t := range m.Kernels {
				f.Kernels = append(f.Kernels, termOfMap(t))
			}
			return f
		},
		func(f kernelFile) (*Kernel, error) {
			return f.toKernel()
		},
	}
}

func (f kernelFile) toKernel() (*Kernel, error) {
	a, err := f.toAdditive()
	if err != nil {
		return nil, err
	}
	m := &Kernel{Additive: *a}
	index := m.columnIndex()
	for i, in := range f.Inputs {
		bins, err := kernelmap.Bytes([]string{in.Bins})
		if err != nil {
			return nil, &ModelError{fmt.Sprintf("inputs[%d].bins", i), err.Error()}
		}
		m.Cells = append(m.Cells,
			kernelmap.Input{
				Column: index(in.Column),
				Of:     kernelmap.Of(in.Of),
				Bins:   nilIfEmpty(bins[0]),
			})
	}
	if m.Landmarks, err = kernelmap.Bytes(f.Landmarks); err != nil {
		return nil, &ModelError{"landmarks", err.Error()}
	}
	for i, t := range f.Kernels {
		term, place, err := t.toTerm(m.Landmarks)
		if err != nil {
			return nil, &ModelError{fmt.Sprintf("kernels[%d].%s", i, place), err.Error()}
		}
		m.Kernels = append(m.Kernels, term)
	}
	return m, nil
}

type kernelFile struct {
	additiveFile
	Inputs    []inputFile `json:"inputs"`
	Landmarks []string    `json:"landmarks"`
	Kernels   []mapFile   `json:"kernels" layout:"open"`
}

type inputFile struct {
	Column string `json:"column"`
	Of     string `json:"of"`
	Bins   string `json:"bins"`
}

// mapFile stores integers as base64 text, two little-endian bytes each.
type mapFile struct {
	Coordinates  []coordinateFile `json:"coordinates"`
	Metric       []string         `json:"metric"`
	Weights      []string         `json:"weights"`
	Shifts       []int            `json:"shifts"`
	Coefficients []float64        `json:"coefficients"`
}

type coordinateFile struct {
	Input  int    `json:"input"`
	Values string `json:"values"`
}

func termOfMap(t kernelmap.Term) mapFile {
	f := mapFile{
		Metric:       kernelmap.NumberTexts(t.Map.Metric),
		Weights:      kernelmap.NumberTexts(t.Map.Weights),
		Coefficients: t.Coefficients,
	}
	for _, shift := range t.Map.Shifts {
		f.Shifts = append(f.Shifts, int(shift))
	}
	for _, c := range t.Map.Coordinates {
		f.Coordinates = append(f.Coordinates,
			coordinateFile{c.Input, kernelmap.NumberTexts([][]int16{c.Values})[0]})
	}
	return f
}

// toTerm returns the term, or the path of the invalid member and an error.
func (f mapFile) toTerm(landmarks [][]uint8) (t kernelmap.Term, place string, err error) {
	m := &kernelmap.Map{Landmarks: landmarks}
	for _, shift := range f.Shifts {
		if shift < 0 || shift > math.MaxUint8 {
			shift = math.MaxUint8 // rejected by Validate
		}
		m.Shifts = append(m.Shifts, uint8(shift))
	}
	for i, c := range f.Coordinates {
		values, err := kernelmap.Numbers([]string{c.Values})
		if err != nil {
			return t, fmt.Sprintf("coordinates[%d].values", i), err
		}
		m.Coordinates = append(m.Coordinates,
			kernelmap.Coordinate{
				Input:  c.Input,
				Values: values[0],
			})
	}
	if m.Metric, err = kernelmap.Numbers(f.Metric); err != nil {
		return t, "metric", err
	}
	if m.Weights, err = kernelmap.Numbers(f.Weights); err != nil {
		return t, "weights", err
	}
	return kernelmap.Term{
		Map:          m,
		Coefficients: f.Coefficients,
	}, "", nil
}
