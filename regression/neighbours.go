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

// maxNeighbours is the largest K.
const maxNeighbours = 1000

// Neighbours predicts the class that most of the nearest reference vectors have, weighed by
// nearness. It is trained without privacy: its vectors are training records, or lie near them.
//
// A record has one coordinate per numeric column, its treated cell, and of a category column one
// per category and one for every other value if the column has Other: 1 for its own and 0
// elsewhere. Less Center, times Scale and, if there is one, times Map, they are where distances are
// measured.
//
// A Neighbours must not be changed while it is in use.
type Neighbours struct {
	Target  string
	Classes []string // at least two, different
	Columns []Column

	Center, Scale []float64   // one per coordinate
	Map           [][]float64 // a row per mapped coordinate, a number per coordinate; nil for none

	// Vectors are given in coordinates, as records are, and if there is a Map after it.
	Vectors [][]float64
	Labels  []int   // position in Classes, one per vector
	K       int     // how many of the nearest vectors vote, of equal votes for the nearest
	Gamma2  float64 // a vote counts exp(-Gamma2 times the squared distance); at least 0
}

var _ Model = (*Neighbours)(nil)

// Kind returns "neighbours".
func (m *Neighbours) Kind() string { return kindNeighbours }

// Sums returns nil: neighbours are no sum of columns.
func (m *Neighbours) Sums() []*Additive { return nil }

// Output describes the target.
func (m *Neighbours) Output() Output {
	return Output{Task: TaskClassification, Target: m.Target, Classes: m.Classes}
}

// Inputs returns m.Columns.
func (m *Neighbours) Inputs() []Column { return m.Columns }

// Validate reports the first contradiction in the model as a [*ModelError].
func (m *Neighbours) Validate() error {
	if !utf8.ValidString(m.Target) {
		return &ModelError{"target", "is not valid UTF-8"}
	}
	if err := validClasses(m.Classes); err != nil {
		return err
	}
	if err := (&Linear{Target: m.Target, Columns: m.Columns}).validateColumns(); err != nil {
		return err
	}
	width := neighbour.Width(m.coding())
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
	case !finite(m.Gamma2) || m.Gamma2 < 0:
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

// validNumbers refuses a list of another length, or with a number that is not finite.
func validNumbers(path string, list []float64, length int) error {
	if len(list) != length {
		return &ModelError{path, fmt.Sprintf("has %d numbers, not %d", len(list), length)}
	}
	for k, v := range list {
		if !finite(v) {
			return &ModelError{fmt.Sprintf("%s[%d]", path, k), "is not finite"}
		}
	}
	return nil
}

// coding returns how the cells of the columns become coordinates.
func (m *Neighbours) coding() []neighbour.Column {
	out := make([]neighbour.Column, len(m.Columns))
	for j := range m.Columns {
		c := &m.Columns[j]
		out[j] = neighbour.Column{Lower: c.Lower, Upper: c.Upper, Missing: c.Missing}
		if c.Type == Category {
			out[j] = neighbour.Column{Category: true, Levels: len(c.Categories)}
			if c.Other {
				out[j].Levels++
			}
		}
	}
	return out
}

// A search is a Neighbours made ready.
type search struct {
	coding  []neighbour.Column
	scaling neighbour.Scaling
	vectors *neighbour.Searcher
	vote    neighbour.Vote
}

func (m *Neighbours) search() *search {
	s := &search{coding: m.coding(), vote: neighbour.Vote{K: m.K, Gamma2: m.Gamma2}}
	s.scaling = neighbour.Scaling{Center: m.Center, Scale: m.Scale, Out: len(m.Center)}
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
	if err := rows.check(m.Columns); err != nil {
		return nil, err
	}
	rows = rows.numbered(m.Columns)
	s, cells := m.search(), make([]neighbour.Cells, len(m.Columns))
	for j := range m.Columns {
		cells[j] = cellsOf(rows, &m.Columns[j])
	}
	if cap(dst) < rows.N {
		dst = make([]float64, rows.N)
	}
	dst = dst[:rows.N]
	for first := 0; first < rows.N; first += predictBlock {
		n := min(predictBlock, rows.N-first)
		for i, class := range s.vectors.Classes(s.scaling.Apply(neighbour.Encode(s.coding, cells, first, n)), s.vote) {
			dst[first+i] = float64(class)
		}
	}
	return dst, nil
}

// cellsOf returns the cells of a column, those of a category column as positions in its list.
func cellsOf(rows Rows, c *Column) neighbour.Cells {
	if c.Type == Numeric {
		return neighbour.Cells{Numbers: rows.Numeric[c.Name]}
	}
	names := c.names()
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
		table[k] = at(name)
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
	*search
	places []int
	rooms  sync.Pool // of *neighboursRoom
}

type neighboursRoom struct {
	cells []neighbour.Cells
	place func([]neighbour.Cells) []float64
}

func (m *Neighbours) program(places []int) program {
	p := &neighboursProgram{search: m.search(), places: places}
	p.rooms.New = func() any {
		r := &neighboursRoom{cells: make([]neighbour.Cells, len(places)), place: p.scaling.One(p.coding)}
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

func (p *neighboursProgram) of(record []value) float64 {
	r := p.rooms.Get().(*neighboursRoom)
	for j, at := range p.places {
		if p.coding[j].Category {
			r.cells[j].Codes[0] = int32(record[at].code)
		} else {
			r.cells[j].Numbers[0] = record[at].number
		}
	}
	class := p.vectors.Class(r.place(r.cells), p.vote)
	p.rooms.Put(r)
	return float64(class)
}
