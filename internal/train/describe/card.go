package describe

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// An Estimate is a number with a 95% confidence interval. Value is nil if the noise hides the number, and an
// end is nil if the interval is open.
type Estimate struct {
	Value *float64 `json:"value"`
	Lower *float64 `json:"lower"`
	Upper *float64 `json:"upper"`
}

// Known reports whether there is a value.
func (e Estimate) Known() bool {
	return e.Value != nil
}

// A Card holds the estimates that [Read] computes.
type Card struct {
	Records Estimate     `json:"records"`
	Columns []ColumnCard `json:"columns"`
	// Correlations holds all pairs of columns with a range or categories, in the order of the columns.
	Correlations []Association `json:"correlations"`
	By           *GroupCard    `json:"by"` // nil without --by
}

// A ColumnCard describes a column. Fields that its kind lacks are nil or empty.
type ColumnCard struct {
	Name string `json:"name"`
	Kind string `json:"kind"`
	// Range is the lower and the upper end. Source is the origin of the range or of the categories: "declared"
	// or "found".
	Range   []float64 `json:"range"`
	Source  string    `json:"source"`
	Missing Estimate  `json:"missing"` // share of the records
	// Mean and Deviation are those of values clamped to the range.
	Mean      Estimate   `json:"mean"`
	Deviation Estimate   `json:"deviation"`
	Quartiles []Estimate `json:"quartiles"`
	Below     Estimate   `json:"below"` // number of records
	Above     Estimate   `json:"above"`
	Bins      *Bins      `json:"bins"`
	// Categories holds the numbers of records; the last entry, without a name, is about all other values and missing ones.
	Categories []CategoryCard `json:"categories"`
}

// Bins is a histogram. Each count has noise of standard deviation Scale.
type Bins struct {
	Edges  []float64 `json:"edges"`
	Counts []float64 `json:"counts"`
	Scale  float64   `json:"scale"`
}

// CategoryCard is the number of records with a category.
type CategoryCard struct {
	Name  string   `json:"name"`
	Other bool     `json:"other"`
	Count Estimate `json:"count"`
}

// The measures of association.
const (
	Correlation = "correlation"       // of two numeric columns
	Eta         = "correlation ratio" // of a numeric and a category column
	CramersV    = "cramers v"         // of two category columns
)

// An Association measures the dependence of two columns; numbers are clamped at their outer quantiles first.
// LowerAll and UpperAll are the ends of intervals that hold jointly, for all associations of the card, with
// confidence 95%.
type Association struct {
	First    string   `json:"first"`
	Second   string   `json:"second"`
	Measure  string   `json:"measure"`
	Value    *float64 `json:"value"` // nil if the noise hides it
	Lower    *float64 `json:"lower"`
	Upper    *float64 `json:"upper"`
	LowerAll *float64 `json:"lower_all"`
	UpperAll *float64 `json:"upper_all"`
}

// GroupCard describes the groups that the values of a column make.
type GroupCard struct {
	Column string  `json:"column"`
	Groups []Group `json:"groups"`
}

// A Group holds the records with one value of a column. Other is the group of all other records. Small reports that its count is below four
// standard deviations of the noise; its means are then left out.
type Group struct {
	Name  string      `json:"name"`
	Other bool        `json:"other"`
	Count Estimate    `json:"count"`
	Means []GroupMean `json:"means"`
	Small bool        `json:"small"`
}

// A GroupMean is the mean of a column within a group.
type GroupMean struct {
	Column string   `json:"column"`
	Value  *float64 `json:"value"`
	Lower  *float64 `json:"lower"`
	Upper  *float64 `json:"upper"`
}

// Read computes the estimates. It depends on the released numbers only.
func Read(r *Released) *Card {
	records := r.countRecords()
	c := &Card{
		Records:      countEstimate(records),
		Columns:      []ColumnCard{},
		Correlations: []Association{},
	}
	for j := range r.Columns {
		switch x := &r.Columns[j]; x.Kind {
		case Numeric:
			c.Columns = append(c.Columns, r.numericCard(x, records))
		case Category:
			c.Columns = append(c.Columns, r.categoryCard(x))
		default:
			c.Columns = append(c.Columns, ColumnCard{
				Name:       x.Name,
				Kind:       Unread,
				Range:      []float64{},
				Source:     x.Source,
				Quartiles:  []Estimate{},
				Categories: []CategoryCard{},
			})
		}
	}
	if r.Matrix != nil {
		c.Correlations = r.listAssociations(records)
	}
	if r.Groups != nil {
		c.By = r.groupCard()
	}
	return c
}

// countEstimate returns the estimate of a number of records: not below 0.
func countEstimate(n noisyNumber) Estimate {
	value, lower, upper := math.Max(n.value, 0), math.Max(n.value-z95*n.noise, 0),
		math.Max(n.value+z95*n.noise, 0)
	return Estimate{&value, &lower, &upper}
}

// countRecords returns the number of records: that of the moments and that of the matrix together.
func (r *Released) countRecords() noisyNumber {
	all := noisyNumber{r.Records, r.RecordNoise}
	if r.Matrix == nil || all.noise == 0 {
		return all
	}
	return combineMeasures(all, noisyNumber{r.Matrix.Packed[len(r.Matrix.Packed)-1], r.MatrixNoise})
}

// countValues returns the numbers of records with a value in a numeric column and with a missing one.
func (r *Released) countValues(
	c *Column,
	records noisyNumber,
) (values, missing noisyNumber) {
	missing = combineMeasures(
		noisyNumber{c.Missing, r.HistogramNoise},
		noisyNumber{c.Absent, mechanism.MomentNoise(r.MomentNoise).Missing},
	)
	return noisyNumber{records.value - missing.value, math.Hypot(records.noise, missing.noise)},
		missing
}

func (r *Released) numericCard(c *Column, records noisyNumber) ColumnCard {
	out := ColumnCard{
		Name:       c.Name,
		Kind:       Numeric,
		Range:      []float64{c.Lower, c.Upper},
		Source:     c.Source,
		Categories: []CategoryCard{},
	}
	values, missing := r.countValues(c, records)
	out.Missing = shareEstimate(missing, records)
	out.Below, out.Above = countEstimate(noisyNumber{c.Below, r.HistogramNoise}),
		countEstimate(noisyNumber{c.Above, r.HistogramNoise})
	_, leaves := fitTree(c.Nodes, c.Leaves)
	out.Bins = &Bins{
		Counts: leaves,
		Scale:  r.HistogramNoise * math.Sqrt(leafVariance),
	}
	for k := range mechanism.TreeLeaves + 1 {
		out.Bins.Edges = append(out.Bins.Edges, binEdge(c.Lower, c.Upper, k))
	}
	if !(values.value > 0 && values.value >= minSignal*values.noise) {
		out.Quartiles = make([]Estimate, 3)
		return out
	}
	noise := mechanism.MomentNoise(r.MomentNoise)
	sum := noisyNumber{c.Sum, noise.Sum}
	square := noisyNumber{c.Square, noise.Square}
	out.Mean = c.scaleEstimate(meanInterval(sum, values))
	value, lower, upper := deviationInterval(values, sum, square)
	half := c.halfWidth()
	upper = math.Min(upper, 1)
	value = half * math.Min(value, 1)
	lower = half * math.Min(lower, 1)
	upper = half * upper
	out.Deviation = Estimate{&value, &lower, &upper}
	scan := quantileScan{leaves, r.HistogramNoise, noisyNumber{c.Below, r.HistogramNoise}, values}
	for _, q := range [...]float64{.25, .5, .75} {
		out.Quartiles = append(out.Quartiles, c.quantile(scan, q))
	}
	return out
}

// halfWidth returns half of the width of the range, and scaled an estimate in its units from the middle on, in the units of the column.
func (c *Column) halfWidth() float64 {
	return c.Upper/2 - c.Lower/2
}

func (c *Column) scaleEstimate(value, lower, upper float64) Estimate {
	middle := c.Lower/2 + c.Upper/2
	half := c.halfWidth()
	value = middle + half*value
	lower = middle + half*lower
	upper = middle + half*upper
	return Estimate{&value, &lower, &upper}
}

// meanInterval returns the mean of values in [-1, 1].
func meanInterval(sum, count noisyNumber) (value, lower, upper float64) {
	lower, upper = fiellerInterval(sum, count, z95)
	lower = min(max(lower, -1), 1)
	upper = min(max(upper, -1), 1)
	return min(max(sum.value/count.value, lower), upper), lower, upper
}

// quantile returns a quantile of the column.
func (c *Column) quantile(scan quantileScan, q float64) Estimate {
	lower, upper, at := scan.interval(q)
	var out Estimate
	if lower >= 0 {
		at = math.Max(at, float64(lower))
		x := binEdge(c.Lower, c.Upper, lower)
		out.Lower = &x
	}
	if upper >= 0 {
		at = math.Min(at, float64(upper))
		x := binEdge(c.Lower, c.Upper, upper)
		out.Upper = &x
	}
	part := at / mechanism.TreeLeaves
	value := c.Lower*(1-part) + c.Upper*part
	out.Value = &value
	return out
}

// shareEstimate returns the share of some of the records.
func shareEstimate(some, records noisyNumber) Estimate {
	if !(records.value > 0 && records.value >= minSignal*records.noise) {
		return Estimate{}
	}
	lower, upper := fiellerInterval(some, records, z95)
	lower = min(max(lower, 0), 1)
	upper = min(max(upper, 0), 1)
	value := min(max(some.value/records.value, lower), upper)
	return Estimate{&value, &lower, &upper}
}

func (r *Released) categoryCard(c *Column) ColumnCard {
	out := ColumnCard{
		Name:       c.Name,
		Kind:       Category,
		Range:      []float64{},
		Source:     c.Source,
		Quartiles:  []Estimate{},
		Categories: []CategoryCard{},
	}
	for k, n := range c.Counts {
		x := CategoryCard{
			Other: k == len(c.Categories),
			Count: countEstimate(noisyNumber{n, r.HistogramNoise}),
		}
		if !x.Other {
			x.Name = c.Categories[k]
		}
		out.Categories = append(out.Categories, x)
	}
	return out
}

func (r *Released) groupCard() *GroupCard {
	g := r.Groups
	out := &GroupCard{Column: g.Column, Groups: []Group{}}
	for k := range g.Counts {
		count := noisyNumber{g.Counts[k], g.CountNoise}
		x := Group{
			Other: k == len(g.Names),
			Count: countEstimate(count),
			Means: []GroupMean{},
			Small: !(count.value >= minSignal*count.noise),
		}
		if !x.Other {
			x.Name = g.Names[k]
		}
		if !x.Small {
			x.Means = r.groupMeans(k, count)
		}
		out.Groups = append(out.Groups, x)
	}
	return out
}

// groupMeans returns the means of group k.
func (r *Released) groupMeans(k int, count noisyNumber) []GroupMean {
	g := r.Groups
	var out []GroupMean
	for i, j := range r.numericColumns() {
		c := &r.Columns[j]
		values := count
		if g.Counted[i] {
			values = noisyNumber{count.value - g.Missing[k][i], math.Hypot(count.noise, g.SumNoise)}
		}
		mean := GroupMean{Column: c.Name}
		if values.value > 0 && values.value >= minSignal*values.noise {
			x := c.scaleEstimate(meanInterval(noisyNumber{g.Sums[k][i], g.SumNoise}, values))
			mean.Value = x.Value
			mean.Lower = x.Lower
			mean.Upper = x.Upper
		}
		out = append(out, mean)
	}
	return out
}
