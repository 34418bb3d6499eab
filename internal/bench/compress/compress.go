package compress

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/neighbour"
	"github.com/dptrain/dptrain/regression"
)

// The methods.
const (
	SNC       = "snc"       // stochastic neighbour compression
	Subsample = "subsample" // some records, by class
	CNN       = "cnn"       // condensing
	FCNN      = "fcnn"      // fast condensing
	KNN       = "knn"       // all records
)

// Methods lists the methods with their descriptions.
func Methods() [][2]string {
	return [][2]string{
		{SNC, "vectors that start as records and are then optimised (default)"},
		{Subsample, "a random sample of each class"},
		{CNN, "records that are needed to classify the others, found one by one"},
		{FCNN, "like cnn, but for all records at once: fewer and faster"},
		{KNN, "all records"},
	}
}

// The defaults of [Options].
const (
	DefaultShare  = .04
	DefaultPasses = 40
	// Voters is the number of nearest vectors of snc that vote, weighted by distance.
	Voters = 10
)

// Errors of options.
var (
	// ErrMethod is returned for a name that no method has.
	ErrMethod = errors.New("there is no such method")
	// ErrVectors is returned for fewer vectors than neighbours that vote.
	ErrVectors = errors.New("there are fewer vectors than voting neighbours")
)

// Options are the choices of [Fit]. Zero values mean the defaults, and no map of the records.
type Options struct {
	Method     string
	Vectors    int     // of snc and subsample; 0: the share
	Share      float64 // of the records, of snc and subsample
	Neighbours int     // that vote; 0: [Voters] of snc, which weighs them by nearness, and else 1
	Passes     int     // of snc over the records
	Optimizer  string  // of snc, one of neighbour.Optimizers; "": the first
	Gamma2     float64 // of snc, γ²; 0: the best of a grid
	Metric     bool    // snc learns a linear map of the records too
	Components int     // number of principal components that replace the standardised columns; 0 for none
	Seed       uint64  // public: selects the initial records of snc, subsample and cnn, and the random choices of snc
}

func (o Options) withDefaults() Options {
	if o.Method == "" {
		o.Method = SNC
	}
	if o.Share == 0 {
		o.Share = DefaultShare
	}
	if o.Passes == 0 {
		o.Passes = DefaultPasses
	}
	return o
}

// A Result is a model and how it came about.
type Result struct {
	Model       *regression.Neighbours
	Records     int                   // that have a class
	Coordinates int                   // of a record
	Compressed  *neighbour.Compressed // of snc

	coding  []neighbour.Column
	given   neighbour.Points // coordinates of the records
	scaling neighbour.Scaling
}

// Fit makes a model from a public table whose last column holds the classes. Errors: [ErrMethod],
// [ErrVectors], [ErrRecords], [ErrColumns], [neighbour.ErrComponents], or that of ctx.
func Fit(ctx context.Context, t *dataset.Table, o Options) (*Result, error) {
	o = o.withDefaults()
	p, coding, err := Points(t)
	if err != nil {
		return nil, err
	}
	r := &Result{
		Records:     p.Len(),
		Coordinates: p.Dim,
		coding:      coding,
		given:       p,
		scaling:     neighbour.Standard(p),
	}
	if o.Components > 0 {
		if r.scaling, err = neighbour.Components(p, o.Components); err != nil {
			return nil, err
		}
	}
	vectors, err := r.vectors(ctx, o)
	if err != nil {
		return nil, err
	}
	if vectors.Len() < o.Neighbours {
		return nil, fmt.Errorf("%w: %d of %d", ErrVectors, vectors.Len(), o.Neighbours)
	}
	r.Model = modelOf(t, coding, r.scaling, vectors)
	switch {
	case r.Compressed != nil && o.Neighbours == 0:
		r.Model.K = min(Voters, vectors.Len())
		r.Model.Gamma2 = r.Compressed.Gamma2
	default:
		r.Model.K = max(1, o.Neighbours)
	}
	return r, r.Model.Validate()
}

// vectors makes the vectors, as a model gives them: in coordinates, or after the map if there is one.
func (r *Result) vectors(
	ctx context.Context,
	o Options,
) (neighbour.Points, error) {
	scaled := r.scaling.Apply(r.given)
	rows, err := choose(ctx, scaled, o)
	switch {
	case err != nil:
		return neighbour.Points{}, err
	case o.Method != SNC && r.scaling.Map == nil:
		return r.given.Subset(rows), nil // records as they are
	case o.Method != SNC:
		return scaled.Subset(rows), nil
	}
	c, err := neighbour.Compress(ctx, scaled, rows, neighbour.Options{
		Passes:    o.Passes,
		Optimizer: o.Optimizer,
		Gamma2:    o.Gamma2,
		Metric:    o.Metric,
		Seed:      o.Seed,
	})
	if err != nil {
		return neighbour.Points{}, err
	}
	r.Compressed = &c
	if c.Metric != nil {
		r.scaling = r.scaling.Then(c.Metric)
	}
	if r.scaling.Map == nil {
		return r.scaling.Undo(c.References), nil
	}
	return c.References, nil
}

// choose returns the records that a method keeps or starts from.
func choose(ctx context.Context, p neighbour.Points, o Options) ([]int, error) {
	order := neighbour.Order(p.Len(), o.Seed)
	switch o.Method {
	case SNC, Subsample:
		m := o.Vectors
		if m == 0 {
			m = int(math.Round(o.Share * float64(p.Len())))
		}
		return neighbour.Stratified(p, m, order), nil
	case CNN:
		return neighbour.Condense(ctx, p, order)
	case FCNN:
		return neighbour.FastCondense(ctx, p)
	case KNN:
		slices.Sort(order)
		return order, nil
	}
	return nil, fmt.Errorf("%w: %q", ErrMethod, o.Method)
}

// digits are the significant digits that the numbers of vectors are written with.
const digits = 9

// rounded returns numbers as they are written to a model.
func rounded(x []float64) []float64 {
	out := make([]float64, len(x))
	for k, v := range x {
		out[k], _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // it was just written
	}
	return out
}

// modelOf returns the model of vectors, whose neighbours are not set.
func modelOf(
	t *dataset.Table,
	coding []neighbour.Column,
	s neighbour.Scaling,
	vectors neighbour.Points,
) *regression.Neighbours {
	columns := t.Schema().Columns
	last := len(columns) - 1
	m := &regression.Neighbours{
		Target:  columns[last].Name,
		Classes: columns[last].Categories,
		Center:  s.Center,
		Scale:   s.Scale,
	}
	for j, c := range columns[:last] {
		in := regression.Column{Name: c.Name}
		if c.Kind == dataset.Category {
			in.Type = regression.Category
			in.Categories = c.Categories
		} else {
			in.Lower = coding[j].Lower
			in.Upper = coding[j].Upper
			in.Missing = coding[j].Missing
		}
		m.Columns = append(m.Columns, in)
	}
	for r := 0; s.Map != nil && r < s.Out; r++ {
		m.Map = append(m.Map, rounded(s.Map[r*len(s.Center):(r+1)*len(s.Center)]))
	}
	for i, class := range vectors.Class {
		m.Vectors = append(m.Vectors, rounded(vectors.Row(i)))
		m.Labels = append(m.Labels, int(class))
	}
	return m
}
