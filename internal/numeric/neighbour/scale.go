package neighbour

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"
)

// A Scaling takes vectors to the space in which distances are measured: (x - Center) ∘ Scale, times
// Map if there is one.
type Scaling struct {
	Center []float64
	Scale  []float64
	Map    []float64 // Out × len(Center) by row; nil for none
	Out    int       // numbers of a vector afterwards
}

// Standard returns the scaling to mean 0 and standard deviation 1. A constant column becomes 0.
func Standard(p Points) Scaling {
	n := float64(p.Len())
	s := Scaling{
		Center: make([]float64, p.Dim),
		Scale:  make([]float64, p.Dim),
		Out:    p.Dim,
	}
	for i := range p.Len() {
		addTo(s.Center, p.Row(i))
	}
	for k := range s.Center {
		s.Center[k] /= n
	}
	for i := range p.Len() {
		for k, v := range p.Row(i) {
			d := v - s.Center[k]
			s.Scale[k] += d * d
		}
	}
	for k, v := range s.Scale {
		if deviation := math.Sqrt(v / n); deviation > 1e-9*(1+math.Abs(s.Center[k])) {
			s.Scale[k] = 1 / deviation
		} else {
			s.Scale[k] = 0
		}
	}
	return s
}

// ErrComponents is returned where the principal components cannot be computed.
var ErrComponents = errors.New("the principal components cannot be computed")

// Components returns the map to the first dims principal components (at most the number of columns), divided by their
// joint root mean square: columns keep their units, which must be comparable.
func Components(p Points, dims int) (Scaling, error) {
	s := Standard(p)
	for k := range s.Scale {
		s.Scale[k] = 1
	}
	centred := s.Apply(p)
	var covariance mat.SymDense
	covariance.SymOuterK(1/float64(p.Len()), mat.NewDense(p.Len(), p.Dim, centred.X).T())
	var eigen mat.EigenSym
	if !eigen.Factorize(&covariance, true) {
		return s, ErrComponents
	}
	values := eigen.Values(nil) // increasing
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	s.Out = min(dims, p.Dim)
	total := 0.
	for r := range s.Out {
		total += math.Max(values[p.Dim-1-r], 0)
	}
	scale := 1.
	if total > 0 {
		scale = 1 / math.Sqrt(total/float64(s.Out))
	}
	s.Map = make([]float64, s.Out*p.Dim)
	for r := range s.Out {
		for k := range p.Dim {
			s.Map[r*p.Dim+k] = scale * vectors.At(k, p.Dim-1-r)
		}
	}
	return s, nil
}

// Apply returns the vectors in the new space.
func (s Scaling) Apply(p Points) Points {
	x := make([]float64, len(p.X))
	for i := range p.Len() {
		s.standardise(x[i*p.Dim:(i+1)*p.Dim], p.Row(i))
	}
	if s.Map != nil {
		out := make([]float64, p.Len()*s.Out)
		addProduct(out, x, s.transposedMap(), p.Len(), s.Out, p.Dim)
		x = out
	}
	return Points{
		Dim:   s.Out,
		X:     x,
		Class: p.Class,
	}
}

func (s Scaling) standardise(x, from []float64) {
	for k, v := range from {
		x[k] = (v - s.Center[k]) * s.Scale[k]
	}
}

// transposedMap is Map with a column for each of its rows.
func (s Scaling) transposedMap() []float64 {
	return transposed(s.Map, s.Out, len(s.Center))
}

// Then returns the scaling with a further map, Out × Out by row, behind its own.
func (s Scaling) Then(further []float64) Scaling {
	if s.Map == nil {
		s.Map = further
		return s
	}
	product := make([]float64, len(s.Map))
	addProduct(product, further, s.Map, s.Out, len(s.Center), s.Out)
	s.Map = product
	return s
}

// Undo returns the vectors that a scaling without a map takes to p. What was constant takes its value.
func (s Scaling) Undo(p Points) Points {
	q := Points{
		Dim:   p.Dim,
		X:     make([]float64, len(p.X)),
		Class: p.Class,
	}
	for i, v := range p.X {
		k := i % p.Dim
		q.X[i] = s.Center[k]
		if s.Scale[k] != 0 {
			q.X[i] += v / s.Scale[k]
		}
	}
	return q
}

// One returns a function that takes the cells of a record, one per column, to the new space as
// Encode and Apply do, to the last bit. What it returns is overwritten by its next call.
func (s Scaling) One(columns []Column) func(cells []Cells) []float64 {
	x := make([]float64, len(s.Center))
	out := make([]float64, s.Out)
	var turned []float64
	if s.Map != nil {
		turned = s.transposedMap()
	}
	return func(cells []Cells) []float64 {
		encodeRow(x, columns, cells, 0)
		s.standardise(x, x)
		if s.Map == nil {
			return x
		}
		addProduct(out, x, turned, 1, s.Out, len(x))
		return out
	}
}
