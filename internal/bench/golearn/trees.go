package golearn

import (
	"context"
	"math"
	"math/bits"
	"strconv"

	"github.com/sjwhitworth/golearn/base"
	"github.com/sjwhitworth/golearn/trees"

	"github.com/dptrain/dptrain/dataset"
)

// forestSize is the number of trees of a forest, that of golearn's examples.
const forestSize = 10

// A layout makes golearn grids of the rows of a table.
type layout struct {
	features   []int
	scales     []scale
	categories []int            // number of values of a category feature, those outside its list included; 0 for a number
	attributes []base.Attribute // of the features
	constant   base.Attribute
	class      *base.CategoricalAttribute
}

// newLayout returns the attributes of some features and of the class. Their names are positions, because golearn
// identifies attributes by their names.
func newLayout(v dataset.View, target int, features []int) *layout {
	l := &layout{
		features: features,
		constant: base.NewFloatAttribute("constant"),
		class:    base.NewCategoricalAttribute(),
	}
	l.class.SetName("class")
	for k := range v.Schema().Columns[target].Categories {
		l.class.GetSysValFromString(strconv.Itoa(k)) // adds the value
	}
	all := v.Block(0, v.Len())
	for k, j := range features {
		c := v.Schema().Columns[j]
		name := strconv.Itoa(k)
		if c.Kind == dataset.Numeric {
			l.scales = append(l.scales, newScale(all.Float(j, make([]float64, v.Len()))))
			l.categories = append(l.categories, 0)
			l.attributes = append(l.attributes, base.NewFloatAttribute(name))
			continue
		}
		a := base.NewCategoricalAttribute()
		a.SetName(name)
		for value := range len(c.Categories) + 1 {
			a.GetSysValFromString(strconv.Itoa(value))
		}
		l.scales = append(l.scales, scale{})
		l.categories = append(l.categories, len(c.Categories)+1)
		l.attributes = append(l.attributes, a)
	}
	return l
}

// cells holds the features of a table as golearn stores them, by feature and row.
type cells struct {
	floats [][]float64
	codes  [][]int32
}

func (l *layout) read(v dataset.View) cells {
	all := v.Block(0, v.Len())
	out := cells{make([][]float64, len(l.features)), make([][]int32, len(l.features))}
	for k, j := range l.features {
		if l.categories[k] == 0 {
			values := append([]float64(nil), all.Float(j, make([]float64, v.Len()))...)
			for i, x := range values {
				values[i] = l.scales[k].apply(x)
			}
			out.floats[k] = values
			continue
		}
		codes := append([]int32(nil), all.Codes(j, make([]int32, v.Len()))...)
		for i, code := range codes {
			codes[i] = min(code, int32(l.categories[k]-1))
		}
		out.codes[k] = codes
	}
	return out
}

// grid copies rows, which may occur more than once, with some features and with the class of each row; nil classes are
// all 0.
func (l *layout) grid(
	c cells,
	rows, chosen []int,
	classes []float64,
) (*base.DenseInstances, error) {
	g := base.NewDenseInstances()
	specs := make([]base.AttributeSpec, len(chosen))
	for i, k := range chosen {
		specs[i] = g.AddAttribute(l.attributes[k])
	}
	constant := g.AddAttribute(l.constant)
	class := g.AddAttribute(l.class)
	if err := g.AddClassAttribute(l.class); err != nil {
		return nil, err
	}
	if err := g.Extend(len(rows)); err != nil {
		return nil, err
	}
	for i, k := range chosen {
		for to, from := range rows {
			if l.categories[k] == 0 {
				g.Set(specs[i], to, base.PackFloatToBytes(c.floats[k][from]))
			} else {
				g.Set(specs[i], to, base.PackU64ToBytes(uint64(c.codes[k][from])))
			}
		}
	}
	for to := range rows {
		g.Set(constant, to, base.PackFloatToBytes(0))
		code := uint64(0)
		if classes != nil {
			code = uint64(classes[to])
		}
		g.Set(class, to, base.PackU64ToBytes(code))
	}
	return g, nil
}

// A member is an ID3 tree of golearn on some features.
type member struct {
	chosen []int
	tree   *trees.ID3DecisionTree
}

// forest votes over its trees; an ID3 model is one tree with all features.
type forest struct {
	layout  *layout
	members []member
}

// trainTree fits one ID3 tree to all rows. It is not pruned: golearn would draw the rows for that by a generator that
// cannot be seeded. Errors: [ErrRows], those of golearn, or that of ctx.
func trainTree(
	ctx context.Context,
	_ Source,
	v dataset.View,
	target int,
	features []int,
) (Model, error) {
	rows, y := withTarget(v, target, true)
	if len(rows) == 0 {
		return nil, ErrRows
	}
	f := &forest{layout: newLayout(v, target, features)}
	return f, f.add(ctx, f.layout.read(v), rows, upTo(len(features)), y)
}

// trainForest fits forestSize trees. Each has a sample of as many rows, drawn with replacement, and the square root
// of the number of features, rounded up. Errors are those of trainTree.
func trainForest(
	ctx context.Context,
	src Source,
	v dataset.View,
	target int,
	features []int,
) (Model, error) {
	rows, y := withTarget(v, target, true)
	if len(rows) == 0 {
		return nil, ErrRows
	}
	f := &forest{layout: newLayout(v, target, features)}
	c := f.layout.read(v)
	size := int(math.Ceil(math.Sqrt(float64(len(features)))))
	for range forestSize {
		sample := make([]int, len(rows))
		classes := make([]float64, len(rows))
		for i := range sample {
			at := uniformBelow(src, len(rows))
			sample[i] = rows[at]
			classes[i] = y[at]
		}
		chosen := upTo(len(features))
		for i := range size {
			at := i + uniformBelow(src, len(chosen)-i)
			chosen[i], chosen[at] = chosen[at], chosen[i]
		}
		if err := f.add(ctx, c, sample, chosen[:size], classes); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// add trains a tree. golearn cannot be interrupted within one.
func (f *forest) add(
	ctx context.Context,
	c cells,
	rows, chosen []int,
	classes []float64,
) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	g, err := f.layout.grid(c, rows, chosen, classes)
	if err != nil {
		return err
	}
	t := trees.NewID3DecisionTree(0)
	if err := t.Fit(g); err != nil {
		return err
	}
	f.members = append(f.members, member{chosen, t})
	return nil
}

// Predict returns the class with most votes, the first of equals.
func (f *forest) Predict(
	ctx context.Context,
	v dataset.View,
) ([]float64, error) {
	c := f.layout.read(v)
	rows := upTo(v.Len())
	votes := make([][]float64, v.Len())
	for i := range votes {
		votes[i] = make([]float64, len(f.layout.class.GetValues()))
	}
	for _, m := range f.members {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		g, err := f.layout.grid(c, rows, m.chosen, nil)
		if err != nil {
			return nil, err
		}
		predicted, err := m.tree.Predict(g)
		if err != nil {
			return nil, err
		}
		spec, err := predicted.GetAttribute(f.layout.class)
		if err != nil {
			return nil, err
		}
		for i := range votes {
			votes[i][base.UnpackBytesToU64(predicted.Get(spec, i))]++
		}
	}
	out := make([]float64, len(votes))
	for i, v := range votes {
		out[i] = float64(largest(v))
	}
	return out, nil
}

// upTo returns 0, 1, ..., n-1.
func upTo(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

// uniformBelow returns a uniform number in [0, n), n >= 1, with a bias below n/2^64.
func uniformBelow(src Source, n int) int {
	high, _ := bits.Mul64(src.Uint64(), uint64(n))
	return int(high)
}
