package audit

import (
	"cmp"
	"math"
	"slices"

	"github.com/dptrain/dptrain/dataset"
)

// farthest bounds the distance of a cell from the median in a column without a declared range, in units of the
// distance within which nine of ten records are, so that one absurd cell does not dominate. In a column with a
// declared range, distances end at the range, because values are clamped there.
const farthest = 8

// standout is a record, or all records of a unit, with its distance from the others.
type standout struct {
	id    uint64
	first int32   // position of the (first) record
	norm  float64 // squared distance of the features from their centres
	pull  float64 // the same, times the squared distance of the target: what moves a model
	why   string
	rows  int
}

// scoreUnits scores every record, or every unit by its records: the mean, times as many
// as are kept. Records that belong to no unit are in no run.
func (w *owner) scoreUnits() []standout {
	t := w.table
	norm, pull := w.distances()
	if t.Schema().Unit == "" {
		out := make([]standout, t.Len())
		for i := range out {
			out[i] = standout{
				first: int32(i),
				norm:  norm[i],
				pull:  pull[i],
			}
		}
		return out
	}
	var out []standout
	index := map[uint64]int{}
	for i := range t.Len() {
		id := t.ID(i)
		if id == dataset.NoUnit {
			continue
		}
		k, ok := index[id]
		if !ok {
			k = len(out)
			index[id] = k
			out = append(out, standout{
				id:    id,
				first: int32(i),
			})
		}
		out[k].norm += norm[i]
		out[k].pull += pull[i]
		out[k].rows++
	}
	for k := range out {
		kept := float64(min(out[k].rows, w.pipeline.Budget.Unit.MaxRows)) / float64(out[k].rows)
		out[k].norm *= kept
		out[k].pull *= kept
	}
	return out
}

// distances returns the distance of each record from the centers of the columns, and its leverage. A rare
// category counts as far away, a missing cell as distance 0.
func (w *owner) distances() (norm, pull []float64) {
	t := w.table
	norm = make([]float64, t.Len())
	pull = make([]float64, t.Len())
	target := make([]float64, t.Len())
	for j, c := range t.Schema().Columns {
		sum := norm
		if c.Name == w.pipeline.Target {
			sum = target
		}
		if c.Kind == dataset.Category {
			counts := map[int32]int{}
			for _, k := range t.Codes(j) {
				counts[k]++
			}
			for i, k := range t.Codes(j) {
				sum[i] += 1 - float64(counts[k])/float64(t.Len())
			}
			continue
		}
		center, half, most := centerOf(c, t.Float(j))
		for i, x := range t.Float(j) {
			if d := math.Abs(x-center) / half; !math.IsNaN(d) {
				sum[i] += min(d, most) * min(d, most)
			}
		}
	}
	for i := range pull {
		pull[i] = (1 + norm[i]) * target[i]
	}
	return norm, pull
}

// centerOf returns the center of a column, its typical distance, and the maximum distance in units of that.
func centerOf(c dataset.Column, x []float64) (center, half, most float64) {
	if c.Ranged {
		return c.Lower/2 + c.Upper/2, c.Upper/2 - c.Lower/2, 1
	}
	known := make([]float64, 0, len(x))
	for _, v := range x {
		if !math.IsNaN(v) {
			known = append(known, v)
		}
	}
	if len(known) == 0 {
		return 0, 1, farthest
	}
	slices.Sort(known)
	center = known[len(known)/2]
	for i, v := range known {
		known[i] = math.Abs(v - center)
	}
	slices.Sort(known)
	half = known[len(known)*9/10]
	if half == 0 {
		half = known[len(known)-1]
	}
	if half == 0 || math.IsInf(half, 1) {
		half = 1
	}
	return center, half, farthest
}

// endsOf returns the smallest and the largest value of every numeric column; apart,
// also where all are equal or missing.
func endsOf(t *dataset.Table) map[string][2]float64 {
	out := map[string][2]float64{}
	for j, c := range t.Schema().Columns {
		lo, hi := math.Inf(1), math.Inf(-1)
		for _, v := range t.Float(j) {
			if !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
		switch {
		case lo > hi:
			lo, hi = -1, 1
		case lo == hi:
			lo -= max(1, math.Abs(lo)/2)
			hi += max(1, math.Abs(hi)/2)
		}
		out[c.Name] = [2]float64{max(lo, -math.MaxFloat64), min(hi, math.MaxFloat64)}
	}
	return out
}

// chooseStandouts selects n items, or all items if there are fewer: half by the largest distance and leverage,
// alternately, then the first ones, then those with the smallest lots.
func chooseStandouts(all []standout, n int, lot func(i int) uint64) []standout {
	by := func(value func(i int) float64) []int {
		order := make([]int, len(all))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			return cmp.Compare(value(b), value(a))
		})
		return order
	}
	var out []standout
	taken := map[int]bool{}
	take := func(i int, why string) {
		if !taken[i] && len(out) < n {
			taken[i] = true
			g := all[i]
			g.why = why
			out = append(out, g)
		}
	}
	norm := by(func(i int) float64 {
		return all[i].norm
	})
	pull := by(func(i int) float64 {
		return all[i].pull
	})
	for k := 0; k < len(all) && len(out) < (n+1)/2; k++ {
		take(norm[k], "far from the others")
		if len(out) < (n+1)/2 {
			take(pull[k], "far from the others with its target")
		}
	}
	if len(all) > 0 {
		take(0, "the first")
	}
	lots := make([]float64, len(all))
	for i := range lots {
		lots[i] = float64(lot(i))
	}
	for _, i := range by(func(i int) float64 {
		return lots[i]
	}) {
		if len(out) == n {
			break
		}
		take(i, "drawn")
	}
	return out
}
