package regression

import (
	"fmt"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/numeric/neighbour"
)

// kindNeighbours is the kind of a [Neighbours] model.
const kindNeighbours = "neighbours"

// maxNeighbours is the upper limit of K.
const maxNeighbours = 1000

// Neighbours predicts the class by a weighted vote of the nearest reference vectors; nearer vectors weigh more.
// It is trained without privacy: its vectors are training records or close to them.
//
// The coordinates of a record are the treated cells of the numeric columns and the indicators of the categories
// of category columns, with one more for other values if the column has Other. Distances are measured after
// subtracting Center, multiplying by Scale and, if present, applying Map.
//
// A Neighbours must not be changed while it is in use.
type Neighbours struct {
	Target  string
	Classes []string // at least two, different
	Columns []Column

	Center, Scale []float64   // one per coordinate
	Map           [][]float64 // optional; one row per mapped coordinate, one number per coordinate

	// Vectors are in the coordinates of records, or in mapped coordinates if there is a Map.
	Vectors [][]float64
	Labels  []int   // position in Classes, one per vector
	K       int     // number of nearest vectors that vote; the nearest decides a tie
	Gamma2  float64 // weight of a vote: exp(-Gamma2 times the squared distance); at least 0
}

var _ Model = (*Neighbours)(nil)

// Kind returns "neighbours".
func (m *Neighbours) Kind() string {
	return kindNeighbours
}

// Sums returns nil: the prediction is not a sum over columns.
func (m *Neighbours) Sums() []*Additive {
	return nil
}

// Output describes the target.
func (m *Neighbours) Output() Output {
	return Output{
		Task:    TaskClassification,
		Target:  m.Target,
		Classes: m.Classes,
	}
}

// Inputs returns m.Columns.
func (m *Neighbours) Inputs() []Column {
	return m.Columns
}

// Validate reports the first inconsistency in the model as a [*ModelError].
func (m *Neighbours) Validate() error {
	if !utf8.ValidString(m.Target) {
		return &ModelError{"target", "is not valid UTF-8"}
	}
	if err := validClasses(m.Classes); err != nil {
		return err
	}
	if err := (&Linear{
		Target:  m.Target,
		Columns: m.Columns,
	}).validateColumns(); err != nil {
		return err
	}
	width := neighbour.Width(m.coordinateColumns())
	if err := validNumbers("center", m.Center, width); err != nil {
		return err
	}
	if err := validNumbers("scale", m.Scale, width); err != nil {
		return err
	}
	for r, row := range m.Map {
		if err := validNumbers(fmt.Sprintf("map[%d]", r), row, width); err != nil {
			return err
		}
	}
	return m.validateVectors(width)
}

func (m *Neighbours) validateVectors(width int) error {
	if width == 0 {
		return &ModelError{"columns", "are none"}
	}
	if m.Map != nil {
		width = len(m.Map)
	}
	switch {
	case width == 0:
		return &ModelError{"map", "has no row"}
	case len(m.Vectors) == 0:
		return &ModelError{"vectors", "are none"}
	case len(m.Labels) != len(m.Vectors):
		return &ModelError{"vectors", "have not one class each"}
	case m.K < 1 || m.K > maxNeighbours:
		return &ModelError{"neighbours", fmt.Sprintf("must be between 1 and %d", maxNeighbours)}
	case !isFinite(m.Gamma2) || m.Gamma2 < 0:
		return &ModelError{"gamma2", "must be finite and at least 0"}
	}
	for i, v := range m.Vectors {
		if err := validNumbers(fmt.Sprintf("vectors[%d].at", i), v, width); err != nil {
			return err
		}
		if m.Labels[i] < 0 || m.Labels[i] >= len(m.Classes) {
			return &ModelError{fmt.Sprintf("vectors[%d].class", i), "is not one of the classes"}
		}
	}
	return nil
}

// validNumbers returns an error for a list of another length or with a number that is not finite.
func validNumbers(path string, list []float64, length int) error {
	if len(list) != length {
		return &ModelError{path, fmt.Sprintf("has %d numbers, not %d", len(list), length)}
	}
	for k, v := range list {
		if !isFinite(v) {
			return &ModelError{fmt.Sprintf("%s[%d]", path, k), "is not finite"}
		}
	}
	return nil
}

// coordinateColumns describes how the cells of the columns become coordinates.
func (m *Neighbours) coordinateColumns() []neighbour.Column {
	out := make([]neighbour.Column, len(m.Columns))
	for j := range m.Columns {
		c := &m.Columns[j]
		out[j] = neighbour.Column{
			Lower:   c.Lower,
			Upper:   c.Upper,
			Missing: c.Missing,
		}
		if c.Type == Category {
			out[j] = neighbour.Column{
				Category: true,
				Levels:   len(c.Categories),
			}
			if c.Other {
				out[j].Levels++
			}
		}
	}
	return out
}

// A neighbourSearch is a [Neighbours] prepared for queries.
type neighbourSearch struct {
	coding  []neighbour.Column
	scaling neighbour.Scaling
	vectors *neighbour.Searcher
	vote    neighbour.Vote
}

func (m *Neighbours) newSearch() *neighbourSearch {
	s := &neighbourSearch{
		coding: m.coordinateColumns(),
		vote:   neighbour.Vote{K: m.K, Gamma2: m.Gamma2},
	}
	s.scaling = neighbour.Scaling{
		Center: m.Center,
		Scale:  m.Scale,
		Out:    len(m.Center),
	}
	points := neighbour.Points{Dim: len(m.Vectors[0])}
	for i, v := range m.Vectors {
		points.X, points.Class = append(points.X, v...), append(points.Class, int32(m.Labels[i]))
	}
	if m.Map == nil {
		points = s.scaling.Apply(points)
	} else {
		s.scaling.Out = len(m.Map)
		s.scaling.Map = slices.Concat(m.Map...)
	}
	s.vectors = neighbour.Search(points)
	return s
}

// Predict returns for each row the index of the predicted class.
func (m *Neighbours) Predict(dst []float64, rows Rows) ([]float64, error) {
	if err := m.Validate(); err != nil {
		return nil, err
	}
	if rows.N < 0 {
		return nil, &ModelError{"rows", "N is negative"}
	}
	if err := rows.checkInputs(m.Columns); err != nil {
		return nil, err
	}
	rows = rows.resolveNumbers(m.Columns)
	s := m.newSearch()
	cells := make([]neighbour.Cells, len(m.Columns))
	for j := range m.Columns {
		cells[j] = cellsOf(rows, &m.Columns[j])
	}
	if cap(dst) < rows.N {
		dst = make([]float64, rows.N)
	}
	dst = dst[:rows.N]
	for first := 0; first < rows.N; first += predictBlock {
		n := min(predictBlock, rows.N-first)
		for i, class := range s.vectors.Classes(
			s.scaling.Apply(neighbour.Encode(s.coding, cells, first, n)), s.vote) {
			dst[first+i] = float64(class)
		}
	}
	return dst, nil
}

// cellsOf returns the cells of a column; for a category column, indices into its list.
func cellsOf(rows Rows, c *Column) neighbour.Cells {
	if c.Type == Numeric {
		return neighbour.Cells{Numbers: rows.Numeric[c.Name]}
	}
	names := c.nameFinder()
	at := func(name string) int32 {
		k, _ := names.Find(name)
		return k
	}
	out := make([]int32, rows.N)
	if labels, ok := rows.Labels[c.Name]; ok {
		for i, label := range labels {
			out[i] = at(label)
		}
		return neighbour.Cells{Codes: out}
	}
	codes := rows.Codes[c.Name]
	table := make([]int32, len(codes.Categories)+1)
	for k, name := range codes.Categories {
		table[k] = names.FindValue(name)
	}
	other := uint32(len(codes.Categories))
	table[other] = int32(len(c.Categories))
	for i, code := range codes.Values {
		out[i] = table[min(uint32(code), other)] // negative codes wrap above other
	}
	return neighbour.Cells{Codes: out}
}

// A neighboursProgram predicts the class of single records.
type neighboursProgram struct {
	*neighbourSearch
	places  []int
	scratch sync.Pool // of *neighboursScratch
}

type neighboursScratch struct {
	cells []neighbour.Cells
	place func([]neighbour.Cells) []float64
}

func (m *Neighbours) newProgram(places []int) program {
	p := &neighboursProgram{
		neighbourSearch: m.newSearch(),
		places:          places,
	}
	p.scratch.New = func() any {
		r := &neighboursScratch{
			cells: make([]neighbour.Cells, len(places)),
			place: p.scaling.One(p.coding),
		}
		for j, c := range p.coding {
			if c.Category {
				r.cells[j].Codes = make([]int32, 1)
			} else {
				r.cells[j].Numbers = make([]float64, 1)
			}
		}
		return r
	}
	return p
}

func (p *neighboursProgram) evaluate(record []value) float64 {
	r := p.scratch.Get().(*neighboursScratch)
	for j, at := range p.places {
		if p.coding[j].Category {
			r.cells[j].Codes[0] = int32(record[at].code)
		} else {
			r.cells[j].Numbers[0] = record[at].number
		}
	}
	class := p.vectors.Class(r.place(r.cells), p.vote)
	p.scratch.Put(r)
	return float64(class)
}
