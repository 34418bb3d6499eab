//go:build replay

package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// A clipTable is a generated table on which a trainer loses accuracy if one of its clips is halved. The budget is so
// large that noise does not hide the loss. The records are the same in every run.
type clipTable struct {
	columns  []string // all in [-1, 1]
	records  int
	epsilon  float64
	trainers []string
	record   func(i int) (features []float64, target string)
}

// csv returns the content of the table. The name of the target is y.
func (x *clipTable) csv() string {
	var b strings.Builder
	b.WriteString(strings.Join(x.columns, ",") + ",y\n")
	for i := range x.records {
		features, target := x.record(i)
		for _, v := range features {
			fmt.Fprintf(&b, "%.4f,", v)
		}
		b.WriteString(target + "\n")
	}
	return b.String()
}

// spreadPoint returns coordinate k of point i of a sequence that fills [0, 1) evenly in up to four dimensions.
func spreadPoint(i, k int) float64 {
	steps := [...]float64{
		0.8191725133961645,
		0.6710436067037893,
		0.5497004779019703,
		0.4503069,
	}
	_, fraction := math.Modf(.5 + float64(i+1)*steps[k])
	return fraction
}

// spreadNumber returns a number in [-1, 1) from the same sequence.
func spreadNumber(i, k int) float64 {
	return 2*spreadPoint(i, k) - 1
}

// clipTables lists the generated tables; docs/proofs/checks.md has the accuracy with each clip and with half of it.
func clipTables() []floorTable {
	return []floorTable{
		{
			// The slope of a is opposite in long and in short rows, so a smaller bound on the norm of rows, which
			// gives long rows less weight, gives another slope.
			name:    "far",
			columns: "y: {lower: -1, upper: 1}",
			clip: &clipTable{
				columns: []string{"a", "b", "c"},
				records: 1000,
				epsilon: 100,
				trainers: []string{
					"joint-gram", "adassp",
					"boosted-adassp", "cost-tree",
				},
				record: farRecord,
			},
		},
		{
			// A minority of the residuals is large and has one sign, so a smaller clamp gives another mean.
			name:    "jumps",
			columns: "y: {lower: -1, upper: 1}",
			clip: &clipTable{
				columns:  []string{"a"},
				records:  600,
				epsilon:  12,
				trainers: []string{"boosted-additive"},
				record:   jumpRecord,
			},
		},
		{
			// The boundary between the classes is far from the centre.
			name:    "edge",
			classes: []string{"low", "high"},
			clip: &clipTable{
				columns:  []string{"a", "b", "c", "d"},
				records:  1000,
				epsilon:  100,
				trainers: []string{"svm", "logistic"},
				record:   edgeRecord,
			},
		},
		// The classes of the cells follow no line, so a classifier with one prototype for each class is a compromise between
		// cells, which depends on the bound on weights in the one table and on that of rows in the other.
		cellTable("blocks", "pqqqqqqpqpppppqqpppqppqqq", [25]int{
			336, 1, 133, 17, 429,
			2, 212, 114, 195, 860,
			27, 41, 123, 33, 31,
			26, 195, 208, 160, 25,
			259, 72, 26, 61, 54,
		}),
		cellTable("patches", "pqqpppqqpqpqqpqqqqqppqqpp", [25]int{
			27, 11, 50, 17, 7,
			51, 250, 161, 145, 25,
			77, 32, 19, 11, 24,
			262, 177, 164, 161, 21,
			37, 99, 132, 193, 212,
		}),
	}
}

func farRecord(i int) ([]float64, string) {
	a := .4 * spreadNumber(i, 0)
	slope := -a
	if spreadPoint(i, 1) < .3 {
		slope = math.Copysign(.4, a)
		a = 1.5 * slope
	}
	b := spreadNumber(i, 2)
	return []float64{a, b, spreadNumber(i, 3)}, fmt.Sprintf("%.4f", .5*slope+.2*b)
}

func jumpRecord(i int) ([]float64, string) {
	a := spreadNumber(i, 0)
	if spreadPoint(i, 1) < .2+.17*a {
		return []float64{a}, "0.3"
	}
	return []float64{a}, "-0.3"
}

func edgeRecord(i int) ([]float64, string) {
	features := []float64{spreadNumber(i, 0)}
	for k := 1; k < 4; k++ {
		features = append(features, .2*spreadNumber(i, k))
	}
	if features[0] > .6 {
		return features, "high"
	}
	return features, "low"
}

// cellTable returns a table of records in 25 cells of a square, by rows. Each cell has a weight and a class, which 7% of
// its records do not have.
func cellTable(name, labels string, weights [25]int) floorTable {
	total := 0
	for _, w := range weights {
		total += w
	}
	record := func(i int) ([]float64, string) {
		left := spreadPoint(i, 0) * float64(total)
		cell := 0
		for cell < len(weights)-1 && left > float64(weights[cell]) {
			left -= float64(weights[cell])
			cell++
		}
		class := labels[cell : cell+1]
		if spreadPoint(i, 3) < .07 {
			class = map[string]string{
				"p": "q",
				"q": "p",
			}[class]
		}
		return []float64{
			2*(float64(cell%5)+spreadPoint(i, 1))/5 - 1,
			2*(float64(cell/5)+spreadPoint(i, 2))/5 - 1,
		}, class
	}
	return floorTable{
		name:    name,
		classes: []string{"p", "q"},
		clip: &clipTable{
			columns:  []string{"a", "b"},
			records:  1000,
			epsilon:  100,
			trainers: []string{"prototypes"},
			record:   record,
		},
	}
}

// clipCases lists the trainers of every generated table.
func clipCases() []floorCase {
	tables := slices.Concat(clipTables(), boostingClipTables(), prototypeClipTables())
	var out []floorCase
	for _, table := range tables {
		table.target = "y"
		for _, column := range table.clip.columns {
			table.columns = strings.TrimPrefix(table.columns+", ", ", ") + column + ": {lower: -1, upper: 1}"
		}
		for _, m := range pipeline.Trainers() {
			if slices.Contains(table.clip.trainers, m.Name) {
				out = append(out, table.trainerCases(m)...)
			}
		}
	}
	return out
}
