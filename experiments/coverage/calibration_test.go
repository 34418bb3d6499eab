package coverage

import (
	"cmp"
	"context"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// A calibrationLine is a finished setting of the probabilities of two classes. All numbers are means over the runs whose model has
// probabilities.
type calibrationLine struct {
	Kind    string  `json:"kind"` // calibration
	Name    string  `json:"name"` // of the table and, if it is not auto, the method
	N       int     `json:"n"`    // records of a fit
	Epsilon float64 `json:"epsilon"`
	Runs    int     `json:"runs"`

	Known    float64      `json:"known"`    // share of runs whose model has probabilities
	Model    calibrations `json:"model"`    // the model's probabilities
	Identity calibrations `json:"identity"` // (1 + score)/2 in their place
}

// calibrations are measures of probabilities on new records.
type calibrations struct {
	LogLoss float64 `json:"log_loss"` // within [.001, .999]
	Error   float64 `json:"error"`    // mean distance of probability and share in equally large groups of similar probabilities
	IfExact float64 `json:"if_exact"` // about what Error would be if the probabilities were exact
}

// calibrationGroups is the number of groups of a calibration error.
const calibrationGroups = 15

// add adds the measures of probabilities of class 1, divided by runs.
func (c *calibrations) add(probabilities []float64, codes []int32, runs float64) {
	order := make([]int, len(codes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(probabilities[a], probabilities[b])
	})
	n := float64(len(codes)) * runs
	for k := range calibrationGroups {
		distance := 0.
		variance := 0.
		for _, i := range order[k*len(order)/calibrationGroups : (k+1)*len(order)/calibrationGroups] {
			p := probabilities[i]
			distance += p - float64(codes[i])
			variance += p * (1 - p)
			cut := min(max(p, .001), .999)
			c.LogLoss -= math.Log(math.Abs(1-float64(codes[i])-cut)) / n
		}
		c.Error += math.Abs(distance) / n
		c.IfExact += math.Sqrt(variance*2/math.Pi) / n
	}
}

// oneClass names the class that is separated from the others in tables of more than two classes.
var oneClass = map[string][]string{
	"satellite": {"damp_grey_soil"},
	"letters":   {"A", "E", "I", "O", "U"},
	"usps":      {"8"},
	"penbased":  {"c6"},
	"segment":   {"c3"},
}

// classesOfMore lists the classes of the tables in the folder more-classes.
var classesOfMore = map[string][]string{
	"magic":    {"cg", "ch"},
	"penbased": numberedNames(10),
	"segment":  numberedNames(7),
}

// numberedNames lists c1 to cn.
func numberedNames(n int) []string {
	var list []string
	for k := range n {
		list = append(list, "c"+strconv.Itoa(k+1))
	}
	return list
}

// readTwoClasses reads a table as two classes. The second is the last of two, or oneClass of more.
func readTwoClasses(t *testing.T, name string) *classTable {
	t.Helper()
	var c *classTable
	classes, more := classesOfMore[name]
	if more {
		c = readClassesFrom(t, "more-classes", name, classes)
	} else {
		classes = classesOf[name]
		c = readClasses(t, name)
	}
	second := oneClass[name]
	if second == nil {
		second = classes[1:]
	}
	for i, code := range c.codes {
		c.codes[i] = 0
		if int(code) < len(classes) && slices.Contains(second, classes[code]) {
			c.codes[i] = 1
		}
	}
	last := len(c.schema.Columns) - 1
	c.schema.Columns[last] = dataset.Column{
		Name:       "second",
		Kind:       dataset.Category,
		Categories: []string{"0", "1"},
	}
	return c
}

// thresholds lists regression tables whose target is turned into two classes, with the share of records in the second class.
// No constant of the probabilities was chosen on them.
var thresholds = map[string]float64{
	"361078_houses":              .5,
	"361087_MiamiHousing2016":    .3,
	"361089_california":          .25,
	"361096_diamonds":            .1,
	"361099_Bike_Sharing_Demand": .5,
	"361104_SGEMM":               .3,
	"361074_elevators":           .2,
	"uci_protein_CASP":           .4,
	"uci_power_plant":            .5,
	"uci_kin8nm":                 .15,
}

// readThreshold reads a table of thresholds. The second class holds the records whose target is above the quantile that
// leaves this share of the records.
func readThreshold(t *testing.T, name string) *classTable {
	t.Helper()
	tab := readTable(t, name)
	columns := tab.Schema().Columns
	last := len(columns) - 1
	block := tab.View().Block(0, tab.Len())
	target := slices.Clone(block.Float(last, nil))
	sorted := slices.Clone(target)
	slices.Sort(sorted)
	cutoff := sorted[int((1-thresholds[name])*float64(len(sorted)))]
	c := &classTable{name: name, codes: make([]int32, len(target))}
	for j := range last {
		c.columns = append(c.columns, slices.Clone(block.Float(j, nil)))
	}
	for i, y := range target {
		if y > cutoff {
			c.codes[i] = 1
		}
	}
	c.schema.Columns = append(slices.Clone(columns[:last]), dataset.Column{
		Name:       "second",
		Kind:       dataset.Category,
		Categories: []string{"0", "1"},
	})
	return c
}

// measureCalibration fits on some rows and measures the probabilities of others.
func measureCalibration(
	t *testing.T,
	l *calibrationLine,
	c *classTable,
	model method.Trainer,
	train, rest []int,
) {
	t.Helper()
	last := len(c.schema.Columns) - 1
	p := &pipeline.Pipeline{
		Task:    regression.TaskClassification,
		Schema:  c.schema,
		Target:  c.schema.Columns[last].Name,
		Holdout: pipeline.DefaultHoldout,
		Model:   model,
		Budget:  budget.Target{Epsilon: l.Epsilon, Delta: delta},
	}
	res, err := p.Fit(
		context.Background(),
		c.selectRows(t, train),
		pipeline.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	fitted := res.Model.(*regression.Classifier)
	if fitted.Probability == nil {
		return
	}
	l.Known++
	fresh := c.selectRows(t, rest)
	_, scores, err := fitted.Classify(pipeline.RowsOf(fresh.View()))
	if err != nil {
		t.Fatal(err)
	}
	probabilities := make([]float64, len(scores))
	for i, score := range scores {
		probabilities[i] = fitted.Probability.Evaluate(score)
	}
	l.Model.add(probabilities, fresh.Codes(last), 1)
	for i, score := range scores {
		probabilities[i] = min(max((1+score)/2, 0), 1)
	}
	l.Identity.add(probabilities, fresh.Codes(last), 1)
}

// result turns sums into means.
func (l calibrationLine) result() calibrationLine {
	for _, c := range []*calibrations{&l.Model, &l.Identity} {
		for _, x := range []*float64{&c.LogLoss, &c.Error, &c.IfExact} {
			*x /= max(l.Known, 1)
		}
	}
	l.Known /= float64(l.Runs)
	return l
}

// TestCalibration: probabilities of two classes hold on new records. By default one distribution of two equal classes is fit once; the mean
// distance is about .015 with a standard deviation below .006 and must be below .06: odds below 1e-9.
func TestCalibration(t *testing.T) {
	if *runs == 0 {
		const n = 10_000
		l := calibrationLine{
			Kind:    "calibration",
			Name:    "half",
			N:       n,
			Epsilon: 1,
			Runs:    1,
		}
		c := lawOfClasses(
			classLaws["half"], 2*n,
			rand.New(rand.NewPCG(3, 7)),
		)
		measureCalibration(
			t,
			&l,
			c,
			adassp.JointGram{},
			indexRange(0, n),
			indexRange(n, 2*n),
		)
		if l.result().Known != 1 ||
			l.result().Model.Error > .06 {
			t.Errorf("%+v", l.result())
		}
		return
	}
	done := finishedKeys(t)
	names := []string{"adult.raw", "credit_default.raw", "letters", "magic", "penbased",
		"satellite", "segment", "spambase", "usps"}
	names = append(names, slices.Sorted(maps.Keys(thresholds))...)
	for _, name := range names {
		if !isWanted(name) {
			continue
		}
		var c *classTable
		if _, ok := thresholds[name]; ok {
			c = readThreshold(t, name)
		} else {
			c = readTwoClasses(t, name)
		}
		for suffix, model := range map[string]method.Trainer{
			"":                   nil,
			", joint-gram":       adassp.JointGram{},
			", boosted-additive": boosting.Additive{},
		} {
			for _, epsilon := range parseFloats(t, *epsilons) {
				l := calibrationLine{
					Kind:    "calibration",
					Name:    name + suffix,
					N:       min(10_000, len(c.codes)*3/4),
					Epsilon: epsilon,
					Runs:    *runs,
				}
				if done[line{
					Kind:    l.Kind,
					Name:    l.Name,
					N:       l.N,
					Epsilon: l.Epsilon,
				}.key()] {
					continue
				}
				for i := range *runs {
					order := rand.New(rand.NewPCG(uint64(i), 77)).Perm(len(c.codes))
					measureCalibration(
						t, &l, c, model,
						order[:l.N],
						order[l.N:],
					)
				}
				appendLine(t, l.result())
			}
		}
	}
}
