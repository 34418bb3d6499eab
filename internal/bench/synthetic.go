package bench

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"math"

	"github.com/dptrain/dptrain/dataset"
)

// Distribution of synthetic tables; see [Explain].
const (
	// SyntheticR2 is the R² of the true linear function, of a classification that
	// of each score.
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
func (g *generator) uniform() float64 {
	return (float64(g.next()>>11) + .5) * 0x1p-53
}

// fillNormals fills dst with independent standard normal numbers (Box and Muller,
// "A Note on the Generation of Random Normal Deviates", 1958).
func (g *generator) fillNormals(dst []float64) {
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

func (a affine) clampedValue(z float64) float64 {
	return min(max(a.center+a.scale*z, a.lower), a.upper)
}

// drawUnits draws the map of a column: a declared range is [declaredSpread] deviations on either side of its
// middle; otherwise the scale is between .1 and 1000 and the center within five deviations of 0.
func (g *generator) drawUnits(c dataset.Column) affine {
	scale := math.Pow(10, -1+4*g.uniform())
	center := 10*g.uniform() - 5
	if c.Ranged {
		return affine{c.Lower/2 + c.Upper/2, (c.Upper/2 - c.Lower/2) / declaredSpread, c.Lower,
			c.Upper}
	}
	return affine{center * scale, scale, math.Inf(-1), math.Inf(1)}
}

// levelCount is the number of values that a synthetic category cell takes.
func levelCount(c dataset.Column) int {
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

	units    []affine // by column
	numeric  []int    // of features
	category []int    // of features
	scores   []linear // one for a number or two classes, otherwise one per class

	code []int32 // of the row being written, by category
	best []int32 // of the rows last written: the class of the scores without noise
}

// linear is a score: a linear function of the features, and the noise on it.
type linear struct {
	weights []float64   // by numeric
	effects [][]float64 // by category and level; their mean is 0
	noise   float64     // standard deviation
	total   float64     // standard deviation of signal and noise together
}

// newFamily draws the columns' units and the true functions of a table, with every effect from the standard
// normal distribution.
func newFamily(
	schema dataset.Schema,
	features []int,
	target int,
	g *generator,
) *synthetic {
	s := &synthetic{
		schema:   schema,
		features: features,
		target:   target,
		g:        g,
	}
	for _, c := range schema.Columns {
		s.units = append(s.units, g.drawUnits(c))
	}
	for _, j := range features {
		if schema.Columns[j].Kind == dataset.Numeric {
			s.numeric = append(s.numeric, j)
		} else {
			s.category = append(s.category, j)
		}
	}
	s.code = make([]int32, len(s.category))
	for range scoreCount(schema.Columns[target]) {
		s.scores = append(s.scores, s.newScore())
	}
	return s
}

// newScore draws a true function.
func (s *synthetic) newScore() linear {
	var t linear
	for _, j := range s.category {
		effects := make([]float64, levelCount(s.schema.Columns[j]))
		s.g.fillNormals(effects)
		t.effects = append(t.effects, effects)
	}
	t.weights = make([]float64, len(s.numeric))
	s.g.fillNormals(t.weights)
	variance := t.centerEffects()
	t.noise = math.Sqrt(variance * (1 - SyntheticR2) / SyntheticR2)
	t.total = math.Sqrt(variance / SyntheticR2)
	if variance == 0 { // a category with a single level has no effect
		t.noise = 1
		t.total = 1
	}
	return t
}

// centerEffects takes the mean off each category's effects and returns the variance of
// the true function.
func (t *linear) centerEffects() float64 {
	sum := 0.
	squares := 0.
	for _, w := range t.weights {
		sum += w
		squares += w * w
	}
	variance := SyntheticCorrelation*sum*sum + (1-SyntheticCorrelation)*squares
	for _, effects := range t.effects {
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

// trueScore is the true function, in units of the score's standard deviation.
func (t *linear) trueScore(x []float64, code []int32) float64 {
	y := 0.
	for k, w := range t.weights {
		y += w * x[k]
	}
	for k, effects := range t.effects {
		y += effects[code[k]]
	}
	return y / t.total
}

// drawRows writes the next n rows of the table. Columns that the target does not
// depend on are constant: no stage reads them.
func (s *synthetic) drawRows(
	ctx context.Context,
	n int,
) ([]dataset.ColumnData, error) {
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
	s.best = nil
	if s.schema.Columns[s.target].Kind != dataset.Numeric {
		s.best = make([]int32, n)
	}
	z := make([]float64, len(s.numeric)+1+len(s.scores)) // own parts, the common part, the noises
	for i := range n {
		if i%1024 == 0 && ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s.writeRow(cols, i, z)
	}
	return cols, nil
}

// writeRow writes one row.
func (s *synthetic) writeRow(cols []dataset.ColumnData, i int, z []float64) {
	s.g.fillNormals(z)
	d := len(s.numeric)
	x := z[:d]
	noise := z[d+1:]
	common := math.Sqrt(SyntheticCorrelation) * z[d]
	own := math.Sqrt(1 - SyntheticCorrelation)
	for k, j := range s.numeric {
		x[k] = common + own*x[k]
		cols[j].Floats[i] = s.units[j].clampedValue(x[k])
	}
	for k, j := range s.category {
		s.code[k] = int32(s.g.uniformBelow(uint64(levelCount(s.schema.Columns[j]))))
		cols[j].Codes[i] = s.code[k]
	}
	if s.best != nil {
		cols[s.target].Codes[i], s.best[i] = s.drawClass(x, noise)
		return
	}
	t := &s.scores[0]
	cols[s.target].Floats[i] = s.units[s.target].clampedValue(t.trueScore(x, s.code) +
		t.noise/t.total*noise[0])
}

// drawClass returns the class of a row, and the one that its scores without noise
// point to: of two classes the second one where the score is above 0, of more the
// one whose score is largest.
func (s *synthetic) drawClass(x, noise []float64) (class, best int32) {
	if len(s.scores) == 1 {
		t := &s.scores[0]
		signal := t.trueScore(x, s.code)
		return classOfScore(signal + t.noise/t.total*noise[0]), classOfScore(signal)
	}
	most := math.Inf(-1)
	clearest := math.Inf(-1)
	for k := range s.scores {
		t := &s.scores[k]
		signal := t.trueScore(x, s.code)
		if signal > clearest {
			clearest = signal
			best = int32(k)
		}
		if y := signal + t.noise/t.total*noise[k]; y > most {
			most = y
			class = int32(k)
		}
	}
	return class, best
}

// classOfScore is the class of a score of two classes.
func classOfScore(score float64) int32 {
	if score > 0 {
		return 1
	}
	return 0
}

// scoreCount returns the number of scores of a target: two classes have one.
func scoreCount(target dataset.Column) int {
	if n := len(target.Categories); target.Kind != dataset.Numeric && n > 2 {
		return n
	}
	return 1
}

// firstRows returns the table of the first n rows.
func firstRows(
	schema dataset.Schema,
	cols []dataset.ColumnData,
	n int,
) (*dataset.Table, error) {
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
