package coverage

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// freshRecords is the number of new records from a distribution that intervals are compared with.
const freshRecords = 40000

// A classLine is a finished setting of a classification.
type classLine struct {
	Kind    string  `json:"kind"` // class-laws or class-tables
	Name    string  `json:"name"`
	N       int     `json:"n"` // records of a fit
	Epsilon float64 `json:"epsilon"`
	Runs    int     `json:"runs"`

	Measures map[string]covered `json:"measures"`
}

// covered is the result of a measure over all runs (and for recalls over all classes). Covered is the share of
// intervals that contain the value for new records.
type covered struct {
	Covered float64 `json:"covered"`
	Known   float64 `json:"known"` // share of intervals that are not [0, 1]
	Error   float64 `json:"error"` // median of |reported - fresh| where it is known
	Width   float64 `json:"width"` // median where it is known
}

// intervals accumulates the intervals of one measure.
type intervals struct {
	n, hits        float64
	errors, widths []float64
}

func (x *intervals) add(s evaluate.Share, fresh float64) {
	if fresh != fresh {
		return
	}
	x.n++
	if s.Lower-1e-12 <= fresh && fresh <= s.Upper+1e-12 {
		x.hits++
	}
	if s.Known() {
		x.errors = append(x.errors, math.Abs(s.Value-fresh))
		x.widths = append(x.widths, s.Upper-s.Lower)
	}
}

func (x *intervals) result() covered {
	out := covered{
		Covered: x.hits / x.n,
		Known:   float64(len(x.errors)) / x.n,
	}
	if len(x.errors) > 0 {
		out.Error = median(x.errors)
		out.Width = median(x.widths)
	}
	return out
}

// A classTable has its classes in the last column.
type classTable struct {
	name    string
	schema  dataset.Schema
	columns [][]float64
	codes   []int32
}

// selectRows returns a table of the given rows.
func (c *classTable) selectRows(t *testing.T, rows []int) *dataset.Table {
	t.Helper()
	data := make([]dataset.ColumnData, len(c.columns)+1)
	for j, column := range c.columns {
		for _, i := range rows {
			data[j].Floats = append(data[j].Floats, column[i])
		}
	}
	for _, i := range rows {
		data[len(c.columns)].Codes = append(
			data[len(c.columns)].Codes,
			c.codes[i],
		)
	}
	tab, err := dataset.NewTable(c.schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// lawOfClasses draws n records of classes with the given shares. Two numbers depend on the class and one does not.
func lawOfClasses(shares []float64, n int, r *rand.Rand) *classTable {
	c := &classTable{columns: make([][]float64, 3)}
	target := dataset.Column{Name: "class", Kind: dataset.Category}
	for k := range shares {
		target.Categories = append(target.Categories, strconv.Itoa(k))
	}
	for _, name := range []string{"a", "b", "c"} {
		c.schema.Columns = append(c.schema.Columns, dataset.Column{Name: name})
	}
	c.schema.Columns = append(c.schema.Columns, target)
	for range n {
		k := 0
		u := r.Float64()
		for k < len(shares)-1 && u > shares[k] {
			u -= shares[k]
			k++
		}
		angle := 2 * math.Pi * float64(k) / float64(len(shares))
		c.columns[0] = append(
			c.columns[0],
			1.2*math.Cos(angle)+r.NormFloat64(),
		)
		c.columns[1] = append(
			c.columns[1],
			1.2*math.Sin(angle)+r.NormFloat64(),
		)
		c.columns[2] = append(c.columns[2], r.NormFloat64())
		c.codes = append(c.codes, int32(k))
	}
	return c
}

// readClasses reads the numbers and the classes of a public table. The list of classes is taken from the file.
func readClasses(t *testing.T, name string) *classTable {
	t.Helper()
	return readClassesFrom(t, "classification", name, classesOf[name])
}

// readClassesFrom reads a table from a folder.
func readClassesFrom(t *testing.T, folder, name string, classes []string) *classTable {
	t.Helper()
	path := testkit.PublicData(t, folder, name+".csv.gz")
	header, err := dataset.Header(path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	last := header[len(header)-1]
	all := dataset.Schema{}
	for _, column := range header[:len(header)-1] {
		all.Columns = append(all.Columns, dataset.Column{Name: column})
	}
	all.Columns = append(
		all.Columns,
		dataset.Column{
			Name:       last,
			Kind:       dataset.Category,
			Categories: classes,
		},
	)
	tab, _, err := dataset.Read(
		context.Background(), path, all,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	c := &classTable{name: name}
	block := tab.View().Block(0, tab.Len())
	for j := range header[:len(header)-1] {
		cells := block.Float(j, nil)
		if slices.ContainsFunc(cells, func(x float64) bool { return x == x }) { // not text
			c.columns = append(c.columns, slices.Clone(cells))
			c.schema.Columns = append(c.schema.Columns, all.Columns[j])
		}
	}
	c.codes = slices.Clone(block.Codes(len(header)-1, nil))
	c.schema.Columns = append(c.schema.Columns, all.Columns[len(header)-1])
	return c
}

// classesOf lists the tables whose classes are in the last column.
var classesOf = map[string][]string{
	"credit_default.raw": {"0", "1"},
	"spambase":           {"0", "1"},
	"adult.raw":          {"<=50K", ">50K"},
	"wdbc":               {"0", "1"},
	"ionosphere":         {"0", "1"},
	"satellite": {"cotton_crop", "damp_grey_soil", "grey_soil", "red_soil", "vegetation_stubble",
		"very_damp_grey_soil"},
	"letters":    capitalLetters(),
	"usps":       upTo(0, 9),
	"isolet1560": upTo(1, 26),
}

// upTo lists integers as texts.
func upTo(first, last int) []string {
	var out []string
	for k := first; k <= last; k++ {
		out = append(out, strconv.Itoa(k))
	}
	return out
}

func capitalLetters() []string {
	var out []string
	for c := 'A'; c <= 'Z'; c++ {
		out = append(out, string(c))
	}
	return out
}

// measureClasses fits on some rows of a table and compares the reported measures with those on the other rows.
func measureClasses(
	t *testing.T,
	sums map[string]*intervals,
	c *classTable,
	epsilon float64,
	train, rest []int,
) {
	t.Helper()
	last := len(c.schema.Columns) - 1
	p := &pipeline.Pipeline{
		Task:    regression.TaskClassification,
		Schema:  c.schema,
		Target:  c.schema.Columns[last].Name,
		Holdout: pipeline.DefaultHoldout,
		Budget:  budget.Target{Epsilon: epsilon, Delta: delta},
	}
	res, err := p.Fit(
		context.Background(),
		c.selectRows(t, train),
		pipeline.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	fresh := c.selectRows(t, rest)
	guess, scores, err := res.Model.(*regression.Classifier).Classify(pipeline.RowsOf(fresh.View()))
	if err != nil {
		t.Fatal(err)
	}
	classes := len(c.schema.Columns[last].Categories)
	right := make([]float64, classes)
	all := make([]float64, classes)
	hits := 0.
	n := 0.
	balanced := 0.
	codes := fresh.Codes(last)
	for i, k := range codes {
		if int(k) < classes {
			all[k]++
			n++
			if guess[i] == float64(k) {
				right[k]++
				hits++
			}
		}
	}
	add := func(name string, s evaluate.Share, x float64) {
		if sums[name] == nil {
			sums[name] = &intervals{}
		}
		sums[name].add(s, x)
	}
	x := res.Confusion
	for k := range right {
		add("recalls", x.Recalls[k], right[k]/all[k])
		balanced += right[k] / all[k] / float64(classes)
	}
	add("accuracy", x.Accuracy, hits/n)
	add("balanced", x.Balanced, balanced)
	if x.Scores.AUC != nil {
		add("auc", *x.Scores.AUC, exactAUC(scores, codes))
	}
	if classes == 2 {
		loss := evaluate.Share{Upper: 1} // unknown
		fresh := 0.
		if l := x.Scores.LogLoss; l != nil {
			loss = evaluate.Share{
				Value: l.Value,
				Lower: l.Lower,
				Upper: l.Upper,
				Level: l.Level,
			}
			fresh = lossOf(x.Scores.Bins, scores, codes)
		}
		add("log-loss", loss, fresh)
	}
}

// lossOf is the exact mean loss of the probabilities that the bins of scores assign to the second class, clamped to
// [.001, .999] as in [evaluate.Scores].
func lossOf(bins evaluate.Bins, scores []float64, codes []int32) float64 {
	sum := 0.
	n := 0.
	for i, score := range scores {
		chance := min(
			max(bins.Chance[sort.SearchFloat64s(bins.Edges, score)], .001),
			.999,
		)
		switch codes[i] {
		case 0:
			sum -= math.Log(1 - chance)
			n++
		case 1:
			sum -= math.Log(chance)
			n++
		}
	}
	return sum / n
}

// exactAUC returns the exact AUC of scores.
func exactAUC(scores []float64, codes []int32) float64 {
	order := make([]int, len(scores))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(scores[a], scores[b])
	})
	below := 0.
	sum := 0.
	p := 0.
	q := 0.
	for i := 0; i < len(order); {
		first := 0.
		second := 0.
		for s := scores[order[i]]; i < len(order) && scores[order[i]] == s; i++ {
			switch codes[order[i]] {
			case 0:
				first++
			case 1:
				second++
			}
		}
		sum += second * (below + first/2)
		below += first
		p += second
		q += first
	}
	return sum / p / q
}

// classLaws are the class shares of the distributions, by name.
var classLaws = map[string][]float64{
	"half":    {.5, .5},
	"quarter": {.75, .25},
	"tenth":   {.9, .1},
	"four":    {.4, .3, .2, .1},
}

// TestClasses checks that the intervals of whole runs cover the accuracy, the recalls, the AUC and the log loss on
// records that the run never saw. By default one distribution is fitted 12 times: with a coverage of .9 fewer than 3
// hits have probability below 1e-7.
func TestClasses(t *testing.T) {
	done := finishedKeys(t)
	setting := func(l classLine, number int, draw func(i int) (c *classTable, train, rest []int)) {
		for _, l.Epsilon = range parseFloats(t, *epsilons) {
			if done[fmt.Sprintf("%s %s %d %g", l.Kind, l.Name, l.N, l.Epsilon)] {
				continue
			}
			sums := map[string]*intervals{}
			for i := range number {
				c, train, rest := draw(i)
				measureClasses(t, sums, c, l.Epsilon, train, rest)
			}
			l.Runs = number
			l.Measures = map[string]covered{}
			for name, s := range sums {
				l.Measures[name] = s.result()
				if s.hits < .2*s.n {
					t.Errorf(
						"%+v: %s %+v",
						l, name, s.result(),
					)
				}
			}
			appendLine(t, l)
		}
	}
	number := *runs
	numbers := parseFloats(t, *sizes)
	laws := classLaws
	tables := classesOf
	if number == 0 {
		number = 12
		numbers = []float64{400}
		laws = map[string][]float64{"tenth": classLaws["tenth"]}
		tables = nil
	}
	for _, name := range slices.Sorted(maps.Keys(laws)) {
		if !isWanted(name) {
			continue
		}
		for _, held := range numbers {
			n := int(held / pipeline.DefaultHoldout)
			setting(
				classLine{
					Kind: "class-laws",
					Name: name,
					N:    n,
				},
				number,
				func(i int) (*classTable, []int, []int) {
					c := lawOfClasses(
						laws[name],
						n+freshRecords,
						rand.New(rand.NewPCG(uint64(i), 7)),
					)
					return c, indexRange(0, n), indexRange(n, n+freshRecords)
				},
			)
		}
	}
	for _, c := range readAll(t, tables) {
		used := min(len(c.codes), *most)
		n := int(*share * float64(used))
		setting(
			classLine{
				Kind: "class-tables",
				Name: c.name,
				N:    n,
			},
			number,
			func(i int) (*classTable, []int, []int) {
				order := rand.New(rand.NewPCG(uint64(i), 1)).Perm(len(c.codes))[:used]
				return c, order[:n], order[n:]
			},
		)
	}
}

// readAll reads the requested tables. Those with the fastest fits come first.
func readAll(t *testing.T, classes map[string][]string) []*classTable {
	t.Helper()
	var all []*classTable
	for name := range classes {
		if isWanted(name) {
			all = append(all, readClasses(t, name))
		}
	}
	work := func(c *classTable) int {
		l := len(c.schema.Columns[len(c.schema.Columns)-1].Categories)
		return min(len(c.codes), *most) * len(c.columns) * (len(c.columns) + l)
	}
	slices.SortFunc(all, func(a, b *classTable) int {
		return cmp.Compare(work(a), work(b))
	})
	return all
}

func indexRange(from, to int) []int {
	out := make([]int, to-from)
	for i := range out {
		out[i] = from + i
	}
	return out
}
