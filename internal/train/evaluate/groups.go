package evaluate

import (
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// MaxGroups is the largest number of named groups.
const MaxGroups = 32

// groupSeen is the number of standard deviations of its noise that the number of records of a group must have for its
// metrics to be shown.
const groupSeen = 4

// Groups divide the held-out records by the values of a category column. The zero value does not divide them.
type Groups struct {
	Column string // its name
	Place  int    // its position in the held-out records
	// Names are the values that have a group, at least one and at most [MaxGroups], and Of is the position in Names for
	// each code of the column. All other records, also those without a value, are in one more group: Of has -1 for codes
	// without a name.
	Names []string
	Of    []int32
	// Change reports whether a record that is replaced under the relation of the run may be in another group.
	Change bool
}

// NewGroups returns the groups of a category column at position place: those of the given names, which are categories of
// the column.
func NewGroups(
	c dataset.Column,
	place int,
	names []string,
	change bool,
) Groups {
	g := Groups{
		Column: c.Name,
		Place:  place,
		Names:  names,
		Of:     make([]int32, len(c.Categories)),
		Change: change,
	}
	at := make(map[string]int32, len(names))
	for k, name := range names {
		at[name] = int32(k)
	}
	for code, name := range c.Categories {
		k, ok := at[name]
		if !ok {
			k = -1
		}
		g.Of[code] = k
	}
	return g
}

// count returns the number of groups with that of all other records; 0 if the records are not divided.
func (g Groups) count() int {
	if g.Column == "" {
		return 0
	}
	return len(g.Names) + 1
}

// index returns the group of a code of the column.
func (g Groups) index(code int32) int32 {
	if code >= 0 && int(code) < len(g.Of) && g.Of[code] >= 0 {
		return g.Of[code]
	}
	return int32(len(g.Names))
}

// readGroups returns the group of each record of a block, and the buffer of codes.
func (g Groups) readGroups(
	b mechanism.Block,
	group, codes []int32,
) (groups, buffer []int32) {
	n := b.Len()
	group = resizeBuffer(group, n)
	codes = resizeBuffer(codes, n)
	for i, code := range b.Codes(g.Place, codes) {
		group[i] = g.index(code)
	}
	return group, codes
}

// A Group is the quality of a model on the held-out records of one group. Each interval has the level [Level] by itself.
type Group struct {
	Name    string // "" if Other
	Other   bool   // the group of all records without one of the names
	Records Count  // held-out records with a target
	// TooFew reports that the noise hides how many records the group has. Then there are no metrics.
	TooFew bool
	// Of a classification: the share of the records that are classified correctly, by class as well. A share is unknown if the
	// noise hides the records that it is about; see [Share.Known].
	Accuracy *Share
	Recalls  []Share
	// Of a regression: R² is 1 - E r²/Var t with the variance around the mean of the group. RMSE is the root of the mean
	// squared error, MAE the mean absolute error, and Bias the mean of the target minus the prediction, in units of the target.
	// Errors count as at most [ByGroup.ErrorLimit].
	R2, MAE, RMSE, Bias *Quality
	// Difference is the accuracy or R² minus that of the reference group; nil for that group itself, if either has
	// too few records, and for an accuracy that is unknown.
	Difference *Difference
}

// Known reports whether the accuracy or R² of the group is known: neither has it too few records nor is the interval too wide
// for the value to be informative.
func (g Group) Known() bool {
	if g.R2 != nil {
		return R2Measured(g.R2.Lower, g.R2.Upper)
	}
	return g.Accuracy != nil && ShareMeasured(g.Accuracy.Lower, g.Accuracy.Upper)
}

// A Difference is between a metric of two groups. Together with all other differences of the report it is within its
// interval at the level [Level].
type Difference struct{ Value, Lower, Upper float64 }

// Seen reports whether the difference exceeds its noise and sampling error: its interval does not contain 0.
func (d Difference) Seen() bool {
	return d.Lower > 0 || d.Upper < 0
}

// ByGroup holds the metrics of all groups. It is a function of released numbers, which it has as well, so that it can be computed
// anew. All of it is public.
type ByGroup struct {
	Column string
	Groups []Group // in the order of the names, that of all other records last
	// Reference is the position of the group with the largest noisy number of records, with which the others are compared; -1 if
	// all groups have too few.
	Reference int
	// DifferenceLevel is the level of each difference by itself.
	DifferenceLevel float64
	ErrorLimit      float64        // of a regression, in units of the target
	Sums            *ReleasedSums  // of a regression
	Tables          *ReleasedTable // of a classification
}

// newGroups returns the groups without metrics.
func newByGroup(column string, names []string) *ByGroup {
	out := &ByGroup{Column: column, Reference: -1}
	for _, name := range names {
		out.Groups = append(out.Groups, Group{Name: name})
	}
	out.Groups = append(out.Groups, Group{Other: true})
	return out
}

// setRecords sets the number of records of a group, and reports whether its metrics are shown.
func (g *Group) setRecords(n Count) bool {
	g.Records = n
	g.TooFew = !(n.Value >= groupSeen*n.Sigma)
	return !g.TooFew
}

// An estimate is a metric of a group with its interval at the level of differences.
type groupMetric struct {
	value float64
	lower float64
	upper float64
	known bool
}

// compare sets the reference group and the differences from it. measured returns the metric of a group at a level.
//
// With the metric x of a group and the ends l, u of its interval, and y, m, v of the reference, the difference is between
//
//	x - y - hypot(x-l, v-y)     and     x - y + hypot(u-x, y-m)
//
// (G. Y. Zou and A. Donner, "Construction of confidence limits about effect measures: a general approach", Statistics in
// Medicine 2008). With k comparisons each has the level 1 - (1 - Level)/k, so that all hold jointly at Level.
func (b *ByGroup) compare(measured func(group int, level float64) groupMetric) {
	compared := -1
	for k, g := range b.Groups {
		if g.TooFew {
			continue
		}
		compared++
		if b.Reference < 0 || g.Records.Value > b.Groups[b.Reference].Records.Value {
			b.Reference = k
		}
	}
	b.DifferenceLevel = 1 - (1-Level)/float64(max(compared, 1))
	if compared < 1 {
		return
	}
	y := measured(b.Reference, b.DifferenceLevel)
	for k := range b.Groups {
		if k == b.Reference || b.Groups[k].TooFew || !y.known {
			continue
		}
		if x := measured(k, b.DifferenceLevel); x.known {
			d := difference(x, y)
			b.Groups[k].Difference = &d
		}
	}
}

// difference returns x - y with its interval.
func difference(x, y groupMetric) Difference {
	d := x.value - y.value
	return Difference{d, d - math.Hypot(x.value-x.lower, y.upper-y.value),
		d + math.Hypot(x.upper-x.value, y.value-y.lower)}
}
