package coverage

import (
	"cmp"
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// heldRecords is the number of test records, a fifth of the table.
const heldRecords = 9768

// groupRuns is the number of releases of each setting without the flag -runs.
const groupRuns = 40

// A groupLine is a finished setting of one group.
type groupLine struct {
	Kind    string  `json:"kind"` // groups
	Metric  string  `json:"metric"`
	By      string  `json:"by"`
	Group   string  `json:"group"`
	Share   float64 `json:"share"` // of the records
	Epsilon float64 `json:"epsilon"`
	Runs    int     `json:"runs"`
	TooFew  float64 `json:"too_few"`          // share of the runs
	Covered float64 `json:"covered"`          // share of the other runs whose interval holds the metric of the pool
	Width   float64 `json:"width"`            // median
	MAE     float64 `json:"mae,omitempty"`    // share whose interval holds the mean absolute error
	Bias    float64 `json:"bias,omitempty"`   // share whose interval holds the bias
	Recalls float64 `json:"recall,omitempty"` // the same of recalls, mean over the classes
	// Differences is the share of differences from the largest group that are in their intervals.
	Differences float64 `json:"differences,omitempty"`
}

// A groupPool has records that a model was not fitted to, with their group.
type groupPool struct {
	names []string
	group []int32
	y, p  []float64
}

// adultPools returns the pools of the table Adult by a column, for its classes and for the age. The model is the mean of the target by
// education and marital status over the first third of the table.
func adultPools(t *testing.T, by string) (classes, ages groupPool) {
	t.Helper()
	lines := testkit.PublicLines(t, "classification", "adult.raw.csv.gz")
	at := func(name string) int {
		return slices.Index(lines[0], name)
	}
	rows := lines[1:]
	income := func(row []string) float64 {
		if row[at("income")] == ">50K" {
			return 1
		}
		return 0
	}
	age := func(row []string) float64 {
		x := 0.
		for _, digit := range row[at("age")] {
			x = 10*x + float64(digit-'0')
		}
		return x
	}
	cell := func(row []string) string {
		return row[at("education")] + "/" + row[at("marital-status")]
	}
	train := len(rows) / 3
	type sums struct{ n, income, age float64 }
	means := map[string]sums{}
	for _, row := range rows[:train] {
		m := means[cell(row)]
		means[cell(row)] = sums{
			m.n + 1,
			m.income + income(row),
			m.age + age(row),
		}
	}
	var names []string
	counts := map[string]int{}
	for _, row := range rows {
		counts[row[at(by)]]++
	}
	for name := range counts {
		names = append(names, name)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Compare(counts[b], counts[a])
	})
	classes.names = names
	ages.names = names
	for _, row := range rows[train:] {
		m := means[cell(row)]
		m.n = max(m.n, 1)
		group := int32(slices.Index(names, row[at(by)]))
		classes.group = append(classes.group, group)
		ages.group = append(ages.group, group)
		classes.y, ages.y = append(classes.y, income(row)), append(ages.y, age(row))
		classes.p = append(classes.p, math.Round(m.income/m.n))
		ages.p = append(ages.p, m.age/m.n)
	}
	return classes, ages
}

// drawTable returns n records of the pool, drawn with replacement, as a table of targets and groups, and their predictions. A target of
// classes is a category.
func (p groupPool) drawTable(
	t *testing.T, r *rand.Rand, n int, classes bool,
) (*dataset.Table, []float64) {
	t.Helper()
	group := make([]int32, n)
	code := make([]int32, n)
	y := make([]float64, n)
	prediction := make([]float64, n)
	for i := range n {
		k := r.IntN(len(p.y))
		group[i] = p.group[k]
		y[i] = p.y[k]
		prediction[i] = p.p[k]
		code[i] = int32(p.y[k])
	}
	target := dataset.Column{Name: "y"}
	data := dataset.ColumnData{Floats: y}
	if classes {
		target = dataset.Column{
			Name:       "y",
			Kind:       dataset.Category,
			Labels:     true,
			Categories: []string{"no", "yes"},
		}
		data = dataset.ColumnData{Codes: code}
	}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{target, p.groupColumn()}},
		[]dataset.ColumnData{data, {Codes: group}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return tab, prediction
}

func (p groupPool) groupColumn() dataset.Column {
	return dataset.Column{
		Name:       "group",
		Kind:       dataset.Category,
		Categories: p.names,
		Other:      true,
	}
}

func (p groupPool) newGroups() evaluate.Groups {
	return evaluate.NewGroups(p.groupColumn(), 1, p.names, true)
}

// recordsOf returns the records of a group.
func (p groupPool) recordsOf(group int) fresh {
	var f fresh
	for i, g := range p.group {
		if int(g) == group {
			f.y = append(f.y, p.y[i])
			f.prediction = append(f.prediction, p.p[i])
		}
	}
	return f
}

// TestGroups measures the metrics by group on Adult, by sex and by race, with test records drawn from a pool. Each interval
// holds in at least 93% of the runs, less six standard deviations of their number. With 40 runs the odds of a failure by chance
// are below 1e-4 for all intervals together.
func TestGroups(t *testing.T) {
	n := groupRuns
	if *runs > 0 {
		n = *runs
	}
	few := func(l groupLine, shares ...float64) bool {
		shown := float64(n) * (1 - l.TooFew)
		return shown > 0 && slices.Min(shares) < .93-6*math.Sqrt(.95*.05/shown)
	}
	for _, by := range []string{"sex", "race"} {
		classes, ages := adultPools(t, by)
		for _, epsilon := range []float64{1, 3} {
			for _, l := range classGroups(t, by, classes, epsilon, n) {
				appendLine(t, l)
				if few(l, l.Covered, l.Recalls) {
					t.Errorf(
						"accuracy of %s at epsilon %v: %+v",
						l.Group, epsilon, l,
					)
				}
			}
			for _, l := range numberGroups(t, by, ages, epsilon, n) {
				appendLine(t, l)
				if few(l, l.Covered, l.MAE, l.Bias) {
					t.Errorf(
						"R² of %s at epsilon %v: %+v",
						l.Group, epsilon, l,
					)
				}
			}
		}
	}
}

// sessionOpener returns a function that opens a session of the held-out part of a run, whose split is secret.
func sessionOpener(
	t *testing.T,
	metric budget.Node,
	epsilon float64,
) func() *mechanism.Session {
	t.Helper()
	root := budget.Parallel("fit",
		budget.Sequence("train", budget.GaussianLeaf("model", 1, 1)),
		budget.Sequence("holdout", metric),
	)
	root.Coin = mechanism.Odds(pipeline.DefaultHoldout)
	priced, err := budget.Calibrate(root, budget.Target{Epsilon: epsilon, Delta: delta})
	if err != nil {
		t.Fatal(err)
	}
	return func() *mechanism.Session {
		s, err := mechanism.NewSession(priced.Again())
		if err != nil {
			t.Fatal(err)
		}
		return s.Sub("holdout")
	}
}

// A groupTally adds up the runs of one group.
type groupTally struct {
	shown, few, covered, mae, bias, recalls float64
	compared, differences                   float64
	widths                                  []float64
}

func (x groupTally) resultLine(
	metric, by string,
	p groupPool,
	group int,
	epsilon float64,
	n int,
) groupLine {
	share := float64(len(p.recordsOf(group).y)) / float64(len(p.y))
	if x.shown == 0 {
		return groupLine{
			Kind:    "groups",
			Metric:  metric,
			By:      by,
			Group:   p.names[group],
			Share:   share,
			Epsilon: epsilon,
			Runs:    n,
			TooFew:  1,
		}
	}
	return groupLine{
		Kind:        "groups",
		Metric:      metric,
		By:          by,
		Group:       p.names[group],
		Share:       share,
		Epsilon:     epsilon,
		Runs:        n,
		TooFew:      x.few / float64(n),
		Covered:     x.covered / x.shown,
		Width:       median(x.widths),
		MAE:         x.mae / x.shown,
		Bias:        x.bias / x.shown,
		Recalls:     x.recalls / x.shown,
		Differences: x.differences / max(x.compared, 1),
	}
}

// addDifference counts a difference from the reference group; truth has the metric of each group.
func (x *groupTally) addDifference(d *evaluate.Difference, truth float64) {
	if d == nil {
		return
	}
	x.compared++
	x.differences += countHit(evaluate.Quality{Lower: d.Lower, Upper: d.Upper}, truth)
}

func classGroups(
	t *testing.T,
	by string,
	p groupPool,
	epsilon float64,
	n int,
) []groupLine {
	t.Helper()
	e := evaluate.Classification{Classes: []string{"no", "yes"}}
	metric, err := e.Plan()
	if err != nil {
		t.Fatal(err)
	}
	open := sessionOpener(t, metric, epsilon)
	accuracy := make([]float64, len(p.names))
	recalls := make([][2]float64, len(p.names))
	for k := range p.names {
		f := p.recordsOf(k)
		of := [2]float64{}
		for i, y := range f.y {
			of[int(y)]++
			if f.prediction[i] == y {
				accuracy[k] += 1 / float64(len(f.y))
				recalls[k][int(y)]++
			}
		}
		recalls[k][0] /= of[0]
		recalls[k][1] /= of[1]
	}
	tallies := make([]groupTally, len(p.names))
	r := rand.New(rand.NewPCG(21, uint64(1000*epsilon)))
	for range n {
		tab, prediction := p.drawTable(t, r, heldRecords, true)
		c, err := e.Run(context.Background(), open(), evaluate.Labels{
			Records: memory.NewRecords(tab.View()),
			Model:   classOf(prediction),
			Bins:    evaluate.Bins{Edges: []float64{-.5, 0, .5}},
			Groups:  p.newGroups(),
		})
		if err != nil {
			t.Fatal(err)
		}
		for k := range tallies {
			x := &tallies[k]
			g := c.Groups.Groups[k]
			if g.TooFew {
				x.few++
				continue
			}
			x.shown++
			x.covered += countHit(evaluate.Quality(*g.Accuracy), accuracy[k])
			x.widths = append(x.widths, g.Accuracy.Upper-g.Accuracy.Lower)
			for y, s := range g.Recalls {
				x.recalls += countHit(evaluate.Quality(s), recalls[k][y]) / 2
			}
			x.addDifference(g.Difference, accuracy[k]-accuracy[c.Groups.Reference])
		}
	}
	var out []groupLine
	for k, x := range tallies {
		out = append(out, x.resultLine("accuracy", by, p, k, epsilon, n))
	}
	return out
}

// classOf predicts classes by the place of a record.
type classOf []float64

func (p classOf) Classify(b dataset.Block) (prediction, score []float64) {
	prediction = p[b.Start() : b.Start()+b.Len()]
	return prediction, make([]float64, b.Len())
}

func numberGroups(
	t *testing.T,
	by string,
	p groupPool,
	epsilon float64,
	n int,
) []groupLine {
	t.Helper()
	e := evaluate.Regression{ByGroup: true}
	open := sessionOpener(t, e.Plan(), epsilon)
	tallies := make([]groupTally, len(p.names))
	pools := make([]fresh, len(p.names))
	for k := range p.names {
		pools[k] = p.recordsOf(k)
	}
	r := rand.New(rand.NewPCG(22, uint64(1000*epsilon)))
	for range n {
		tab, prediction := p.drawTable(t, r, heldRecords, false)
		got, err := e.Run(context.Background(), open().Sub("r2"), evaluate.Pairs{
			Records: memory.NewRecords(tab.View()),
			Model:   byPlace(prediction),
			Lower:   17,
			Upper:   80,
			Center:  38,
			Groups:  p.newGroups(),
		})
		if err != nil {
			t.Fatal(err)
		}
		truths := make([]measures, len(p.names))
		for k, f := range pools {
			truths[k] = f.clampedMeasures(
				got.TargetLower,
				got.TargetUpper,
				got.Groups.ErrorLimit,
			)
		}
		for k := range tallies {
			x := &tallies[k]
			g := got.Groups.Groups[k]
			if g.TooFew {
				x.few++
				continue
			}
			size, bias := pools[k].meanErrors(got)
			x.shown++
			x.covered += countHit(*g.R2, truths[k].r2)
			x.widths = append(x.widths, g.R2.Upper-g.R2.Lower)
			x.mae += countHit(*g.MAE, size)
			x.bias += countHit(*g.Bias, bias)
			if got.Groups.Reference >= 0 && got.Groups.Reference < len(truths) {
				x.addDifference(g.Difference, truths[k].r2-truths[got.Groups.Reference].r2)
			}
		}
	}
	var out []groupLine
	for k, x := range tallies {
		out = append(out, x.resultLine("R²", by, p, k, epsilon, n))
	}
	return out
}

// meanErrors returns the mean size of the errors and the mean error, with targets and predictions cut as stated for groups.
func (f fresh) meanErrors(r evaluate.R2) (size, bias float64) {
	limit := r.Groups.ErrorLimit
	for i, y := range f.y {
		d := min(max(y, r.TargetLower), r.TargetUpper) -
			min(max(f.prediction[i], r.TargetLower), r.TargetUpper)
		d = min(max(d, -limit), limit)
		size += math.Abs(d) / float64(len(f.y))
		bias += d / float64(len(f.y))
	}
	return size, bias
}
