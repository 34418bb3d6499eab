package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/dptrain/dptrain/dataset"
)

// The law of synthetic tables; see [Explain].
const (
	// SyntheticR2 is the R² of the true linear function.
	SyntheticR2 = .7
	// SyntheticCorrelation is the correlation of any two numeric features.
	SyntheticCorrelation = .2
)

// declaredSpread is half the width of a declared range in standard deviations.
const declaredSpread = 4

// newSynthetic returns the generator of one synthetic table: its state is the
// first eight bytes of SHA-256("dptrain.explain/1 table", seed, table), the
// numbers in big-endian order.
func newSynthetic(seed, table uint64) *generator {
	text := binary.BigEndian.AppendUint64([]byte("dptrain.explain/1 table"), seed)
	sum := sha256.Sum256(binary.BigEndian.AppendUint64(text, table))
	g := generator(binary.BigEndian.Uint64(sum[:]))
	return &g
}

// uniform returns a number in (0, 1).
func (g *generator) uniform() float64 { return (float64(g.next()>>11) + .5) * 0x1p-53 }

// normals fills dst with independent standard normal numbers (Box and Muller,
// "A Note on the Generation of Random Normal Deviates", 1958).
func (g *generator) normals(dst []float64) {
	for i := 0; i < len(dst); i += 2 {
		radius := math.Sqrt(-2 * math.Log(g.uniform()))
		sin, cos := math.Sincos(2 * math.Pi * g.uniform())
		dst[i] = radius * cos
		if i+1 < len(dst) {
			dst[i+1] = radius * sin
		}
	}
}

// affine maps a standard unit to the unit of a column.
type affine struct{ center, scale, lower, upper float64 }

func (a affine) at(z float64) float64 { return min(max(a.center+a.scale*z, a.lower), a.upper) }

// units draws the map of a column: a declared range is [declaredSpread]
// deviations on either side of its middle; otherwise the scale lies between .1
// and 1000 and the centre within five deviations of 0.
func (g *generator) units(c dataset.Column) affine {
	scale, center := math.Pow(10, -1+4*g.uniform()), 10*g.uniform()-5
	if c.Ranged {
		return affine{c.Lower/2 + c.Upper/2, (c.Upper/2 - c.Lower/2) / declaredSpread, c.Lower, c.Upper}
	}
	return affine{center * scale, scale, math.Inf(-1), math.Inf(1)}
}

// levels is the number of values that a synthetic category cell takes.
func levels(c dataset.Column) int {
	if c.Other {
		return len(c.Categories) + 1
	}
	return max(1, len(c.Categories))
}

// synthetic writes the rows of one synthetic table.
type synthetic struct {
	schema   dataset.Schema
	features []int // the columns that the target depends on
	target   int
	g        *generator

	units    []affine    // by column
	numeric  []int       // of features
	weights  []float64   // by numeric
	category []int       // of features
	effects  [][]float64 // by category and level
	noise    float64     // standard deviation, in units of the signal's
	total    float64     // standard deviation of signal and noise together
}

// newFamily draws the columns' units and the true function of a table, with
// every effect from the standard normal law.
func newFamily(schema dataset.Schema, features []int, target int, g *generator) *synthetic {
	s := &synthetic{schema: schema, features: features, target: target, g: g}
	for _, c := range schema.Columns {
		s.units = append(s.units, g.units(c))
	}
	for _, j := range features {
		if c := schema.Columns[j]; c.Kind == dataset.Numeric {
			s.numeric = append(s.numeric, j)
		} else {
			s.category = append(s.category, j)
			effects := make([]float64, levels(c))
			g.normals(effects)
			s.effects = append(s.effects, effects)
		}
	}
	s.weights = make([]float64, len(s.numeric))
	g.normals(s.weights)
	variance := s.variance()
	s.noise = math.Sqrt(variance * (1 - SyntheticR2) / SyntheticR2)
	s.total = math.Sqrt(variance / SyntheticR2)
	if variance == 0 { // a category of one level explains nothing
		s.noise, s.total = 1, 1
	}
	return s
}

// variance is the variance of the true function, after each category's effects
// were centred.
func (s *synthetic) variance() float64 {
	sum, squares := 0., 0.
	for _, w := range s.weights {
		sum, squares = sum+w, squares+w*w
	}
	variance := SyntheticCorrelation*sum*sum + (1-SyntheticCorrelation)*squares
	for _, effects := range s.effects {
		mean := 0.
		for _, e := range effects {
			mean += e / float64(len(effects))
		}
		for l := range effects {
			effects[l] -= mean
			variance += effects[l] * effects[l] / float64(len(effects))
		}
	}
	return variance
}

// rows writes the next n rows of the table. Columns that the target does not
// depend on are constant: no stage reads them.
func (s *synthetic) rows(ctx context.Context, n int) ([]dataset.ColumnData, error) {
	cols := make([]dataset.ColumnData, len(s.schema.Columns))
	var idleFloats []float64
	var idleCodes []int32
	used := make([]bool, len(cols))
	for _, j := range append([]int{s.target}, s.features...) {
		used[j] = true
	}
	for j, c := range s.schema.Columns {
		switch {
		case used[j] && c.Kind == dataset.Numeric:
			cols[j].Floats = make([]float64, n)
		case used[j]:
			cols[j].Codes = make([]int32, n)
		case c.Kind == dataset.Numeric:
			if idleFloats == nil {
				idleFloats = make([]float64, n)
			}
			cols[j].Floats = idleFloats
		default:
			if idleCodes == nil {
				idleCodes = make([]int32, n)
			}
			cols[j].Codes = idleCodes
		}
	}
	z := make([]float64, len(s.numeric)+2) // own parts, the common part, the noise
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.row(cols, i, z)
	}
	return cols, nil
}

// row writes one row.
func (s *synthetic) row(cols []dataset.ColumnData, i int, z []float64) {
	s.g.normals(z)
	d := len(s.numeric)
	common := math.Sqrt(SyntheticCorrelation) * z[d]
	own := math.Sqrt(1 - SyntheticCorrelation)
	y := s.noise * z[d+1]
	for k, j := range s.numeric {
		x := common + own*z[k]
		cols[j].Floats[i] = s.units[j].at(x)
		y += s.weights[k] * x
	}
	for k, j := range s.category {
		code := s.g.below(uint64(len(s.effects[k])))
		cols[j].Codes[i] = int32(code)
		y += s.effects[k][code]
	}
	cols[s.target].Floats[i] = s.units[s.target].at(y / s.total)
}

// firstRows returns the table of the first n rows.
func firstRows(schema dataset.Schema, cols []dataset.ColumnData, n int) (*dataset.Table, error) {
	cut := make([]dataset.ColumnData, len(cols))
	for j, c := range cols {
		if c.Floats != nil {
			cut[j].Floats = c.Floats[:n:n]
		} else {
			cut[j].Codes = c.Codes[:n:n]
		}
	}
	var ids []uint64
	if schema.Unit != "" { // the rows are independent, so each is a unit of its own
		ids = make([]uint64, n)
		for i := range ids {
			ids[i] = uint64(i)
		}
	}
	return dataset.NewTable(schema, cut, ids)
}
