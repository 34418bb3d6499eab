package coverage

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/describe"
)

// A described is a generated table: numeric columns, a column of groups and another category column.
type described struct {
	name    string
	columns [][]float64
	groups  []int32 // of fourNames
	others  []int32 // of threeNames
	table   *dataset.Table
	schema  dataset.Schema
}

var fourNames, threeNames = []string{"a", "b", "c", "d"}, []string{"x", "y", "z"}

// describedLaws draw the numeric values of a record, given its group.
var describedLaws = []struct {
	name string
	draw func(r *rand.Rand, group int) []float64
}{
	{"normal", func(r *rand.Rand, group int) []float64 {
		common := r.NormFloat64()
		out := make([]float64, 4)
		for j := range out {
			out[j] = math.Sqrt(.3)*common + math.Sqrt(.7)*r.NormFloat64()
		}
		out[0] += .3 * float64(group)
		return out
	}},
	{"skewed with zeros", func(r *rand.Rand, _ int) []float64 {
		common := r.NormFloat64()
		out := make([]float64, 4)
		for j := range out {
			if r.Float64() > .3 {
				out[j] = math.Exp(.5*common + r.NormFloat64())
			}
		}
		return out
	}},
	{"student", func(r *rand.Rand, group int) []float64 {
		out := make([]float64, 4)
		for j := range out {
			chi := 0.
			for range 3 {
				x := r.NormFloat64()
				chi += x * x
			}
			out[j] = 5 +
				math.Pow(10, float64(j-2))*(float64(group)+r.NormFloat64()/math.Sqrt(chi/3))
		}
		return out
	}},
	{"uniform", func(r *rand.Rand, _ int) []float64 {
		x := r.Float64()
		return []float64{
			x, 1 - x*r.Float64(),
			1000 + r.Float64(),
			-7 * x,
		}
	}},
	{"whole numbers", func(r *rand.Rand, group int) []float64 {
		age := math.Floor(17 + 60*r.Float64()*r.Float64())
		return []float64{
			age,
			math.Floor(age/10) + float64(r.IntN(3)),
			float64(r.IntN(7)),
			float64(group),
		}
	}},
	{"two modes", func(r *rand.Rand, group int) []float64 {
		x := r.NormFloat64()
		if r.IntN(2) == 0 {
			x += 8
		}
		return []float64{
			x, x*x + r.NormFloat64(),
			x - 20*float64(group),
			r.NormFloat64(),
		}
	}},
	{"missing values", func(r *rand.Rand, group int) []float64 {
		x := 3 * r.NormFloat64()
		out := []float64{10 + x, x + r.NormFloat64(), math.Exp(r.NormFloat64()),
			40 + float64(group)}
		if r.Float64() < .2 {
			out[0] = math.NaN()
		}
		if group == 1 && r.Float64() < .5 {
			out[2] = math.NaN()
		}
		return out
	}},
	{"few values", func(r *rand.Rand, _ int) []float64 {
		x := float64(r.IntN(2))
		return []float64{
			x,
			math.Min(x+float64(r.IntN(5)/4), 1),
			7, 0,
		}
	}},
	{"exponential", func(r *rand.Rand, group int) []float64 {
		x := r.ExpFloat64()
		return []float64{
			x,
			100*x + 200*r.ExpFloat64(),
			r.ExpFloat64() * float64(1+group),
			-x,
		}
	}},
	{"outliers", func(r *rand.Rand, _ int) []float64 {
		x := r.NormFloat64()
		if r.Float64() < .02 {
			return []float64{1000 * x, x, 50, 1e6}
		}
		return []float64{
			x, 2*x + r.NormFloat64(),
			r.NormFloat64(), r.Float64(),
		}
	}},
}

// describedTable draws a table of n records.
func describedTable(t *testing.T, law, n int) described {
	t.Helper()
	r := rand.New(rand.NewPCG(uint64(law), uint64(n)))
	x := described{name: describedLaws[law].name}
	x.columns = make([][]float64, 4)
	for range n {
		group := min(int(r.ExpFloat64()*1.2), 3)
		other := r.IntN(3)
		if r.Float64() < .3 {
			other = group % 3
		}
		x.groups = append(x.groups, int32(group))
		x.others = append(x.others, int32(other))
		for j, v := range describedLaws[law].draw(r, group) {
			x.columns[j] = append(x.columns[j], v)
		}
	}
	var data []dataset.ColumnData
	for j, column := range x.columns {
		x.schema.Columns = append(
			x.schema.Columns,
			dataset.Column{Name: fmt.Sprintf("n%d", j)},
		)
		data = append(data, dataset.ColumnData{Floats: column})
	}
	x.schema.Columns = append(
		x.schema.Columns,
		dataset.Column{
			Name:       "group",
			Kind:       dataset.Category,
			Categories: fourNames,
			Other:      true,
		},
		dataset.Column{
			Name:       "other",
			Kind:       dataset.Category,
			Categories: threeNames,
			Other:      true,
		},
	)
	data = append(
		data,
		dataset.ColumnData{Codes: x.groups},
		dataset.ColumnData{Codes: x.others},
	)
	var err error
	if x.table, err = dataset.NewTable(x.schema, data, nil); err != nil {
		t.Fatal(err)
	}
	return x
}

// knownValues returns the values of a column without missing ones, clamped to an interval.
func (x described) knownValues(j int, lower, upper float64) []float64 {
	var out []float64
	for _, v := range x.columns[j] {
		if v == v {
			out = append(out, min(max(v, lower), upper))
		}
	}
	return out
}

func meanAndSpread(values []float64) (mean, spread float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		spread += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(spread)
}

// An intervalTally counts, for each kind of number, the intervals and those that contain the number of the table.
type intervalTally map[string]*[2]float64

func (x intervalTally) add(kind string, lower, upper *float64, truth float64) {
	if x[kind] == nil {
		x[kind] = new([2]float64)
	}
	x[kind][0]++
	slack := 1e-9 * (1 + math.Abs(truth))
	if truth != truth ||
		(lower == nil || *lower <= truth+slack) &&
			(upper == nil || *upper >= truth-slack) {
		x[kind][1]++
	}
}

// total returns the number of intervals of all kinds and the number of hits.
func (x intervalTally) total() (n, hits float64) {
	for _, k := range x {
		n += k[0]
		hits += k[1]
	}
	return n, hits
}

// medians collects widths of intervals by the kind of number. The width is relative to the number of records for
// counts, absolute for correlations, and in standard deviations of the column for all other numbers.
type medians map[string][]float64

func (m medians) add(kind string, width float64) {
	m[kind] = append(m[kind], width)
}

// addIntervals adds the intervals of a release. Numbers that are hidden by the noise are left out.
func (x described) addIntervals(
	out intervalTally,
	widths medians,
	released *describe.Released,
) {
	card := describe.Read(released)
	n := float64(x.table.Len())
	out.add("records", card.Records.Lower, card.Records.Upper, n)
	filled := map[string][]float64{}
	spreads := map[string]float64{}
	widths.add("records", (*card.Records.Upper-*card.Records.Lower)/n)
	for j := range x.columns {
		c := card.Columns[j]
		raw := released.Columns[j]
		if c.Kind != describe.Numeric {
			continue
		}
		values := x.knownValues(j, math.Inf(-1), math.Inf(1))
		slices.Sort(values)
		out.add(
			"missing", c.Missing.Lower,
			c.Missing.Upper,
			1-float64(len(values))/n,
		)
		below, _ := slices.BinarySearch(values, raw.Lower)
		above, _ := slices.BinarySearchFunc(values, raw.Upper, func(v, end float64) int {
			if v <= end {
				return -1
			}
			return 1
		})
		out.add("counts", c.Below.Lower, c.Below.Upper, float64(below))
		out.add(
			"counts", c.Above.Lower,
			c.Above.Upper,
			float64(len(values)-above),
		)
		if c.Mean.Known() {
			mean, spread := meanAndSpread(x.knownValues(j, raw.Lower, raw.Upper))
			out.add("means", c.Mean.Lower, c.Mean.Upper, mean)
			if spread > 0 {
				widths.add("means", (*c.Mean.Upper-*c.Mean.Lower)/spread)
				widths.add("spreads", (*c.Deviation.Upper-*c.Deviation.Lower)/spread)
				for _, q := range c.Quartiles {
					if q.Lower != nil && q.Upper != nil {
						widths.add("quartiles", (*q.Upper-*q.Lower)/spread)
					}
				}
				spreads[c.Name] = spread
			}
			out.add("spreads", c.Deviation.Lower, c.Deviation.Upper, spread)
			for i, q := range []float64{.25, .5, .75} {
				out.add(
					"quartiles",
					c.Quartiles[i].Lower,
					c.Quartiles[i].Upper,
					values[max(
						int(math.Ceil(q*float64(len(values))))-1,
						0,
					)],
				)
			}
		}
		for _, v := range x.columns[j] {
			if v != v {
				v = raw.Fill
			}
			filled[c.Name] = append(
				filled[c.Name],
				min(max(v, raw.CutLower), raw.CutUpper),
			)
		}
	}
	codes := map[string][]int32{
		"group": x.groups,
		"other": x.others,
	}
	for _, c := range card.Columns[len(x.columns):] {
		for k, category := range c.Categories {
			truth := 0.
			for _, code := range codes[c.Name] {
				if int(code) == k {
					truth++
				}
			}
			out.add("counts", category.Count.Lower, category.Count.Upper, truth)
		}
	}
	for _, a := range card.Correlations {
		if a.Value == nil {
			continue
		}
		switch a.Measure {
		case describe.Correlation:
			widths.add("correlations", *a.Upper-*a.Lower)
			out.add(
				"correlations",
				a.Lower,
				a.Upper,
				correlationOf(filled[a.First], filled[a.Second]),
			)
		case describe.Eta:
			out.add(
				"correlation ratios",
				a.Lower,
				a.Upper,
				etaOf(filled[a.First], codes[a.Second], 4),
			)
		case describe.CramersV:
			out.add(
				"cramers v",
				a.Lower,
				a.Upper,
				cramerOf(codes[a.First], codes[a.Second]),
			)
		}
	}
	x.compareGroups(out, widths, spreads, released, card)
}

func (x described) compareGroups(
	out intervalTally,
	widths medians,
	spreads map[string]float64,
	released *describe.Released,
	card *describe.Card,
) {
	if card.By == nil {
		return
	}
	for k, g := range card.By.Groups {
		sums := make([]float64, len(x.columns))
		numbers := make([]float64, len(x.columns))
		records := 0.
		i := -1
		for j, column := range x.columns {
			raw := released.Columns[j]
			if raw.Kind != describe.Numeric {
				continue
			}
			i++
			for row, v := range column {
				if int(x.groups[row]) != k {
					continue
				}
				if v != v && !released.Groups.Counted[i] {
					v = raw.Fill
				}
				if v == v {
					sums[j] += min(max(v, raw.Lower), raw.Upper)
					numbers[j]++
				}
			}
		}
		for _, code := range x.groups {
			if int(code) == k {
				records++
			}
		}
		out.add("group counts", g.Count.Lower, g.Count.Upper, records)
		for _, m := range g.Means {
			j := x.schema.Index(m.Column)
			if m.Value != nil {
				if spread := spreads[m.Column]; spread > 0 {
					widths.add("group means", (*m.Upper-*m.Lower)/spread)
				}
				out.add(
					"group means", m.Lower, m.Upper,
					sums[j]/numbers[j],
				)
			}
		}
	}
}

func correlationOf(a, b []float64) float64 {
	ma, sa := meanAndSpread(a)
	mb, sb := meanAndSpread(b)
	product := 0.
	for i := range a {
		product += (a[i] - ma) * (b[i] - mb) / float64(len(a))
	}
	return product / (sa * sb)
}

func etaOf(values []float64, codes []int32, levels int) float64 {
	mean, spread := meanAndSpread(values)
	sums := make([]float64, levels)
	counts := make([]float64, levels)
	between := 0.
	for i, v := range values {
		sums[codes[i]] += v
		counts[codes[i]]++
	}
	for k, n := range counts {
		if n > 0 {
			between += n * (sums[k]/n - mean) * (sums[k]/n - mean)
		}
	}
	return math.Sqrt(between / (float64(len(values)) * spread * spread))
}

func cramerOf(a, b []int32) float64 {
	var cells [4][3]float64
	var rows [4]float64
	var columns [3]float64
	n := float64(len(a))
	for i := range a {
		cells[a[i]][b[i]]++
		rows[a[i]]++
		columns[b[i]]++
	}
	square := 0.
	for i := range cells {
		for j := range columns {
			e := rows[i] * columns[j] / n
			if e > 0 {
				square += (cells[i][j] - e) * (cells[i][j] - e) / e
			}
		}
	}
	return math.Sqrt(square / (2 * n))
}

// TestDescriptions measures, on 20 generated tables, how often the intervals of a description cover the numbers of the
// table. With the flag -runs their overall coverage must be at least .94.
//
// Without it there are 10 releases of each table, five under substitution. The intervals of one release may
// depend on each other, so the unit of analysis is the release, with the share of its intervals that miss. If that
// share has a mean of at most .06, Bernstein's inequality bounds the probability that the mean of 200 releases exceeds
// .19 by 1e-7, for all intervals together and for those of each kind.
func TestDescriptions(t *testing.T) {
	releases := 10
	least := .81
	if *runs > 0 {
		releases = *runs
		least = .94
	}
	settings := parseFloats(t, *epsilons)
	all := intervalTally{}
	widths := map[string]medians{}
	for law := range describedLaws {
		for _, n := range []int{2000, 10000} {
			x := describedTable(t, law, n)
			if !isWanted(x.name) {
				continue
			}
			for _, epsilon := range settings {
				var plans []*describe.Plan
				for _, relation := range []budget.Relation{budget.AddRemove, budget.Substitute} {
					s := describe.Study{
						Schema: x.schema,
						By:     "group",
						Budget: budget.Target{
							Epsilon:  epsilon,
							Delta:    delta,
							Relation: relation,
						},
					}
					plan, err := s.Plan()
					if err != nil {
						t.Fatal(err)
					}
					plans = append(plans, plan)
				}
				one := intervalTally{}
				setting := fmt.Sprintf("%d records, epsilon %v", n, epsilon)
				if widths[setting] == nil {
					widths[setting] = medians{}
				}
				for i := range releases {
					res, err := plans[i%2].Again().Run(context.Background(), x.table)
					if err != nil {
						t.Fatal(err)
					}
					into := widths[setting]
					if i%2 == 1 {
						into = medians{} // widths are those of add-remove
					}
					x.addIntervals(one, into, res.Released)
				}
				n, hits := one.total()
				t.Logf(
					"%s, %d records, epsilon %v: %.4f of %.0f intervals hold",
					x.name,
					x.table.Len(),
					epsilon,
					hits/n,
					n,
				)
				for kind, k := range one {
					if all[kind] == nil {
						all[kind] = new([2]float64)
					}
					all[kind][0] += k[0]
					all[kind][1] += k[1]
				}
			}
		}
	}
	for _, setting := range slices.Sorted(maps.Keys(widths)) {
		for _, kind := range slices.Sorted(maps.Keys(widths[setting])) {
			t.Logf(
				"%s: median width of %s %.3g",
				setting, kind,
				median(widths[setting][kind]),
			)
		}
	}
	n, hits := all.total()
	t.Logf(
		"all: %.4f of %.0f intervals hold",
		hits/n, n,
	)
	if !(hits >= least*n) {
		t.Errorf(
			"%.4f of all intervals hold, want %v",
			hits/n, least,
		)
	}
	for _, kind := range slices.Sorted(maps.Keys(all)) {
		share := all[kind][1] / all[kind][0]
		t.Logf(
			"%s: %.4f of %.0f",
			kind, share, all[kind][0],
		)
		if *runs == 0 && !(share >= least) {
			t.Errorf(
				"%s: %.4f of the intervals hold, want %v",
				kind, share, least,
			)
		}
	}
}
