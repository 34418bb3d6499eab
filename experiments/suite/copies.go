package suite

import (
	"context"
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/train/selection"
)

// Copies is the name of the experiment on correlated copies: the construction of
// theorem 3.8 of "Better Private Linear Regression Through Better Private
// Feature Selection".
const Copies = "copies"

// The parameters of the experiment.
const (
	copiesInformative = 5   // k of the theorem
	copiesColumns     = 100 // d of the theorem
	copiesEpsilon     = 1.
	copiesNoise       = 1. // variance of xi
	copiesRows        = 4000
	copiesEach        = 4 // copies of each informative column while n varies
	copiesTrials      = 100
	nearCorrelation   = .99
)

var (
	copiesCounts = [...]int{0, 1, 2, 4, 9, 19}
	copiesSizes  = [...]int{250, 500, 1000, 2000, 4000, 8000}
)

// The tables of the experiment.
const (
	exactCopies = "copies"
	nearCopies  = "near-copies"
)

// copiesSelectors lists the methods of the experiment.
func copiesSelectors() []namedSelector {
	return []namedSelector{
		{"kendall", func(p problem, k int) selection.Selector {
			return selection.Kendall{K: k}
		}},
		{"sublasso", func(p problem, k int) selection.Selector {
			return selection.SubLasso{
				K:       k,
				Buckets: rootOf(p.table.Len()),
			}
		}},
		{"sis-tau", func(p problem, k int) selection.Selector {
			return selection.SIS{
				K:     k,
				Score: selection.ScoreTau,
			}
		}},
	}
}

// A namedSelector creates a selector of k columns for a problem.
type namedSelector struct {
	name string
	of   func(p problem, k int) selection.Selector
}

// rootOf returns the number of buckets of the two-stage method, the square root of n.
func rootOf(n int) int {
	return max(2, int(math.Sqrt(float64(n))))
}

// copiesPlan is the experiment.
func copiesPlan(o Options) (*Plan, error) {
	p := &Plan{Page: copiesPage}
	for _, data := range []string{exactCopies, nearCopies} {
		var cells []Cell
		add := func(n, copies int) {
			for _, s := range copiesSelectors() {
				cells = append(cells, copiesCell(data, s.name, n, copies))
			}
		}
		for _, c := range copiesCounts {
			add(copiesRows, c)
		}
		for _, n := range copiesSizes {
			if n != copiesRows { // the other axis of the theorem includes this point
				add(n, copiesEach)
			}
		}
		p.Tasks = append(p.Tasks,
			Task{
				Name:   data,
				Cells:  cells,
				Trials: o.trials(copiesTrials),
				Run:    copiesRun(o.Seed),
			})
	}
	return p, nil
}

func copiesCell(data, method string, n, copies int) Cell {
	return Cell{data, method,
		Setting{
			K:       copiesInformative,
			Epsilon: copiesEpsilon,
			N:       n,
			Copies:  copies,
		}}
}

// copiesRun chooses in fresh tables. All methods see the same tables.
func copiesRun(seed uint64) func(context.Context, []Key, func(Key, Outcome)) error {
	return func(ctx context.Context, todo []Key, emit func(Key, Outcome)) error {
		return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
			t := newCopiesTable(
				k.Data,
				k.Setting,
				newGenerator(fmt.Sprint(k.Data, " ", k.Setting), seed, uint64(k.Trial)),
			)
			p, err := newProblem(nil, t.x, t.y)
			if err != nil {
				return failed(err)
			}
			for _, s := range copiesSelectors() {
				if s.name != k.Method {
					continue
				}
				picked, err := p.choose(
					ctx,
					s.of(p, k.Setting.K),
					pure(k.Setting.Epsilon),
				)
				if err != nil {
					return failed(err)
				}
				return Outcome{
					Status: OK,
					Values: t.compareGroups(picked),
					Picked: fromOne(picked),
				}
			}
			return failure(Unavailable, fmt.Errorf("%w: method %q", ErrUnknown, k.Method))
		}, emit)
	}
}

// A copiesTable is a table of the theorem: X_1..X_k are independent standard normal, y is their sum plus noise, each
// has copies, and the remaining columns are independent. Columns are in random order.
type copiesTable struct {
	x     [][]float64
	y     []float64
	group []int // the informative column that each column is or copies; -1 if independent
}

func newCopiesTable(data string, s Setting, g *generator) copiesTable {
	t := copiesTable{
		x:     make([][]float64, copiesColumns),
		y:     make([]float64, s.N),
		group: make([]int, copiesColumns),
	}
	place := g.permutation(copiesColumns)
	next := 0
	put := func(column []float64, group int) {
		t.x[place[next]], t.group[place[next]] = column, group
		next++
	}
	for i := range t.y {
		t.y[i] = math.Sqrt(copiesNoise) * g.normal()
	}
	for j := range s.K {
		original := g.normals(s.N)
		for i, v := range original {
			t.y[i] += v
		}
		put(original, j)
		for range s.Copies {
			put(copyOf(data, original, g), j)
		}
	}
	for next < copiesColumns {
		put(g.normals(s.N), -1)
	}
	return t
}

// copyOf returns the column itself, or one whose correlation with it is nearCorrelation.
func copyOf(data string, original []float64, g *generator) []float64 {
	if data != nearCopies {
		return original
	}
	out := make([]float64, len(original))
	for i, v := range original {
		out[i] = nearCorrelation*v + math.Sqrt(1-nearCorrelation*nearCorrelation)*g.normal()
	}
	return out
}

// The metrics of the experiment.
const (
	metricRight  = "right"  // 1 if exactly one column of each group is chosen, else 0
	metricGroups = "groups" // share of the groups with a chosen column
)

// compareGroups compares the chosen columns with the groups.
func (t copiesTable) compareGroups(picked []int) map[string]float64 {
	seen := map[int]int{}
	for _, j := range picked {
		seen[t.group[j]]++
	}
	hit := 0
	right := 1.
	for group := range copiesInformative {
		if seen[group] > 0 {
			hit++
		}
		if seen[group] != 1 {
			right = 0
		}
	}
	return map[string]float64{
		metricRight:  right,
		metricGroups: float64(hit) / copiesInformative,
	}
}
