package describe

import (
	"fmt"
	"math"
	"strconv"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// Released holds the numbers that a description published, with the standard deviations of their noise. Counts and sums were
// divided by their weights and rounded to a ten-thousandth of their noise or finer. [Read] computes everything else from it.
type Released struct {
	// Records is the number of records: from the step "moments", or exact under substitution, where it is
	// public and RecordNoise is 0.
	Records     float64 `json:"records"`
	RecordNoise float64 `json:"record_noise"`
	// HistogramNoise is the standard deviation of the noise in a count of weight 1; counts within a range have sqrt(2) times
	// as much. MomentNoise is that in a sum of values, and MatrixNoise that on the diagonal of the matrix.
	HistogramNoise float64  `json:"histogram_noise"`
	MomentNoise    float64  `json:"moment_noise"`
	MatrixNoise    float64  `json:"matrix_noise"`
	By             string   `json:"by"` // column by whose values records are grouped; empty without groups
	Columns        []Column `json:"columns"`
	Matrix         *Matrix  `json:"matrix"` // nil for fewer than two columns
	Groups         *Groups  `json:"groups"` // nil without --by, or without a numeric column
}

// The kinds of columns.
const (
	Numeric  = "numeric"
	Category = "category"
	// Unread is a column for which no range or no categories were found.
	Unread = "unread"
)

// The sources of ranges and categories.
const (
	Declared = "declared"
	Found    = "found"
)

// Column holds the released numbers of one column.
type Column struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Source is Declared or Found, for the range or the categories.
	Source string `json:"source"`
	// Undeclared reports that the kind of the column was found, and Text that its categories were looked for.
	Undeclared bool `json:"undeclared"`
	Text       bool `json:"text"`

	// Of a numeric column: the range and the counts in it by node and by leaf, as in [mechanism.TreeCounts]; values below and
	// above the range; missing values.
	Lower   float64   `json:"lower"`
	Upper   float64   `json:"upper"`
	Nodes   []float64 `json:"nodes"`
	Leaves  []float64 `json:"leaves"`
	Below   float64   `json:"below"`
	Above   float64   `json:"above"`
	Missing float64   `json:"missing"`
	// Sum and Square are sums of values and of their squares, in units of half the range around its middle, and Absent is
	// another count of missing values.
	Sum    float64 `json:"sum"`
	Square float64 `json:"square"`
	Absent float64 `json:"absent"`
	// CutLower and CutUpper are the limits to which values were clamped for the matrix, and Fill is the value
	// that replaces missing ones.
	CutLower float64 `json:"cut_lower"`
	CutUpper float64 `json:"cut_upper"`
	Fill     float64 `json:"fill"`

	// For a category column: its categories, and the number of records in each; the last count is the number of
	// records with another or a missing value.
	Categories []string  `json:"categories"`
	Counts     []float64 `json:"counts"`
}

// Matrix holds the sums of products of the entries of a record: one entry per numeric column, with values cut to its limits and
// mapped to [-1, 1]; for each category column one entry per category in Levels and one for all others, 1 or 0; and the constant 1.
type Matrix struct {
	Levels [][]int `json:"levels"` // by category column, positions in Categories
	// Packed is the upper triangle by rows.
	Packed []float64 `json:"packed"`
}

// Groups holds the count of each group and its sums of the numeric columns, in the units of Sum.
type Groups struct {
	Column     string      `json:"column"`
	CountNoise float64     `json:"count_noise"`
	SumNoise   float64     `json:"sum_noise"`
	Counted    []bool      `json:"counted"` // by numeric column: missing values are counted instead of filled
	Names      []string    `json:"names"`   // the last group, of all other records, has no name
	Counts     []float64   `json:"counts"`
	Sums       [][]float64 `json:"sums"`    // by group and numeric column
	Missing    [][]float64 `json:"missing"` // as above; 0 if they were not counted
}

// numericColumns lists the positions of the numeric columns, and categorical those of the category columns.
func (r *Released) numericColumns() []int {
	return r.ofKind(Numeric)
}

func (r *Released) categoryColumns() []int {
	return r.ofKind(Category)
}

func (r *Released) ofKind(kind string) []int {
	var out []int
	for j, c := range r.Columns {
		if c.Kind == kind {
			out = append(out, j)
		}
	}
	return out
}

// roundedTo rounds a released number to a decimal place that is at most a ten-thousandth of its noise.
func roundedTo(x, noise float64) float64 {
	if !(noise > 0) || math.IsInf(noise, 0) {
		return x
	}
	places := 4 - int(math.Floor(math.Log10(noise)))
	if places < 0 {
		unit := math.Pow10(-places)
		return math.Round(x/unit) * unit
	}
	out, err := strconv.ParseFloat(strconv.FormatFloat(x, 'f', min(places, 300), 64), 64)
	if err != nil {
		return x
	}
	return out + 0 // no negative zero
}

func roundAll(list []float64, noise float64) {
	for i, x := range list {
		list[i] = roundedTo(x, noise)
	}
}

// Check reports the first thing for which the numbers do not fit each other, so that [Read] cannot read them.
func (r *Released) Check() error {
	problem := func(format string, args ...any) error {
		return fmt.Errorf("the released numbers do not fit each other: "+format, args...)
	}
	for _, c := range r.Columns {
		switch c.Kind {
		case Numeric:
			if len(c.Nodes) != mechanism.TreeNodes ||
				len(c.Leaves) != mechanism.TreeLeaves ||
				!(c.Upper/2-c.Lower/2 > 0) {
				return problem("the column %q has no range or no histogram", c.Name)
			}
		case Category:
			if len(c.Counts) != len(c.Categories)+1 {
				return problem(
					"the column %q has %d categories and %d counts",
					c.Name,
					len(c.Categories),
					len(c.Counts),
				)
			}
		case Unread:
		default:
			return problem("the column %q is of no kind", c.Name)
		}
	}
	if r.RecordNoise < 0 || r.HistogramNoise < 0 || r.MomentNoise < 0 || r.MatrixNoise < 0 {
		return problem("a noise is below 0")
	}
	if m := r.Matrix; m != nil {
		if len(m.Levels) != len(r.categoryColumns()) {
			return problem("the matrix is about other category columns")
		}
		if size := r.layoutOf(m.Levels).size; len(m.Packed) != size*(size+1)/2 ||
			!(r.MatrixNoise > 0) {
			return problem("the matrix has another size, or no noise")
		}
	}
	if g := r.Groups; g != nil {
		n := len(g.Names) + 1
		d := len(r.numericColumns())
		fits := len(g.Counts) == n &&
			len(g.Sums) == n &&
			len(g.Missing) == n &&
			len(g.Counted) == d &&
			g.CountNoise > 0 &&
			g.SumNoise > 0
		for k := 0; fits && k < n; k++ {
			fits = len(g.Sums[k]) == d && len(g.Missing[k]) == d
		}
		if !fits {
			return problem("the groups have other sizes")
		}
	}
	return nil
}
