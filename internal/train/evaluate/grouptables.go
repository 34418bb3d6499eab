package evaluate

import (
	"github.com/dptrain/dptrain/internal/mechanism"
)

// ReleasedTable are the released numbers from which the metrics of a classification are computed by group: rounded noisy numbers
// of records.
type ReleasedTable struct {
	Classes int
	// Counts has for every group the numbers of records by class, first those that are classified wrongly and then those
	// classified correctly, and last the number of records with another label.
	Counts [][]int
	Scale  float64 // standard deviation of the noise in each
	// Right has, of more than two classes, for every group the numbers of records that are classified wrongly and correctly, with
	// less noise than sums of Counts.
	Right      [][2]int
	RightScale float64 // standard deviation of the noise in each; 0 of two classes
}

// groupShare is the part of the squared sensitivity of the counts of a classifier that goes to its tables by group.
const groupShare = .5

// groupTables returns the tables by group: classes and whether they are right and, of more than two classes, of all classes
// together, because sums of many cells have much noise.
func groupTables(classes, groups int) []mechanism.JointTable {
	byClass := mechanism.JointTable{
		Cells: groups * (2*classes + 1),
		Share: groupShare,
	}
	if classes == 2 {
		return []mechanism.JointTable{byClass}
	}
	byClass.Share = groupShare / 2
	return []mechanism.JointTable{byClass, {
		Cells: groups * 2,
		Share: groupShare / 2,
	}}
}

// readTable splits the cells of these tables, with their noise, by group.
func readTable(classes, groups int, cells, noise []float64) *ReleasedTable {
	out := &ReleasedTable{Classes: classes, Scale: noise[0]}
	width := 2*classes + 1
	for g := range groups {
		out.Counts = append(out.Counts, roundCells(cells[g*width:][:width]))
	}
	if classes > 2 {
		at := groups * width
		out.Right = inPairs(roundCells(cells[at:][:2*groups]))
		out.RightScale = noise[at]
	}
	return out
}

// A groupCells are the numbers of a group.
type groupCells struct {
	hits, misses []noisy // by class
	other        noisy   // records with another label
	right, wrong noisy   // of all classes; a record with another label is classified wrongly
}

// cells returns the numbers of a group. Those of all classes are joined from both tables by their noise.
func (x *ReleasedTable) cells(group int) groupCells {
	v := square(x.Scale) + 1./12
	row := x.Counts[group]
	out := groupCells{other: noisy{value: float64(row[2*x.Classes]), variance: v}}
	out.hits, out.misses = rightPredictions(inPairs(row[:2*x.Classes]), v)
	out.right = sumNoisy(out.hits)
	out.wrong = sumNoisy(out.misses).addNoisy(out.other)
	if len(x.Right) > 0 {
		alone := square(x.RightScale) + 1./12
		out.right = bestMean(out.right, noisy{value: float64(x.Right[group][1]), variance: alone})
		out.wrong = bestMean(out.wrong, noisy{value: float64(x.Right[group][0]), variance: alone})
	}
	return out
}

// sum returns the numbers of all groups together.
func (x *ReleasedTable) sum() groupCells {
	out := groupCells{
		hits:   make([]noisy, x.Classes),
		misses: make([]noisy, x.Classes),
	}
	for g := range x.Counts {
		c := x.cells(g)
		for k := range c.hits {
			out.hits[k] = out.hits[k].addNoisy(c.hits[k])
			out.misses[k] = out.misses[k].addNoisy(c.misses[k])
		}
		out.other = out.other.addNoisy(c.other)
		out.right = out.right.addNoisy(c.right)
		out.wrong = out.wrong.addNoisy(c.wrong)
	}
	return out
}

// ClassGroups computes the metrics of every group from released numbers. names are those of all groups but the last.
func ClassGroups(column string, names []string, x *ReleasedTable) *ByGroup {
	out := newByGroup(column, names)
	out.Tables = x
	for k := range out.Groups {
		g := &out.Groups[k]
		c := x.cells(k)
		if !g.setRecords(c.right.addNoisy(c.wrong).toCount()) {
			continue
		}
		accuracy := portionOf(c.right, c.wrong, Level)
		g.Accuracy = &accuracy
		for class := range c.hits {
			g.Recalls = append(g.Recalls, portionOf(c.hits[class], c.misses[class], Level))
		}
	}
	out.compare(func(group int, level float64) groupMetric {
		c := x.cells(group)
		s := portionOf(c.right, c.wrong, level)
		return groupMetric{s.Value, s.Lower, s.Upper, s.Known()}
	})
	return out
}

// joinGroups joins the numbers of all records with the sums of the tables by group, with weights 1/variance.
func (c *groupCells) joinGroups(x *ReleasedTable) {
	sum := x.sum()
	for k := range c.hits {
		c.hits[k] = bestMean(c.hits[k], sum.hits[k])
		c.misses[k] = bestMean(c.misses[k], sum.misses[k])
	}
	c.other = bestMean(c.other, sum.other)
	if x.Classes == 2 {
		c.right = sumNoisy(c.hits)
		c.wrong = sumNoisy(c.misses).addNoisy(c.other)
		return
	}
	c.right = bestMean(c.right, sum.right)
	c.wrong = bestMean(c.wrong, sum.wrong)
}
