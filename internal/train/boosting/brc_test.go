package boosting

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// classSample returns n records with a class that depends on the public number a and category k and on the private
// number b and category s: yes if a + b + [k is x] - [s is t] is positive.
func classSample(t testing.TB, n int, classes ...string) sample {
	t.Helper()
	if classes == nil {
		classes = []string{"no", "yes"}
	}
	columns := []dataset.Column{
		{
			Name:   "a",
			Ranged: true,
			Lower:  -1,
			Upper:  1,
		},
		{
			Name:    "b",
			Ranged:  true,
			Lower:   -1,
			Upper:   1,
			Private: true,
		},
		{
			Name:       "k",
			Kind:       dataset.Category,
			Categories: []string{"x", "y"},
		},
		{
			Name:       "s",
			Kind:       dataset.Category,
			Categories: []string{"t", "u", "v"},
			Other:      true,
			Private:    true,
		},
		{
			Name:       "class",
			Kind:       dataset.Category,
			Categories: classes,
		},
	}
	data := make([]dataset.ColumnData, 5)
	p := testrows.Points(5)
	for i := range n {
		a := p.Next()
		b := p.Next()
		k := int32(i % 2)
		s := int32(i / 2 % 5)
		score := a + b + .5 - float64(k)
		if s == 0 {
			score--
		}
		c := int32(0)
		for range len(classes) - 1 {
			if score > 0 {
				c++
				score -= .7
			}
		}
		data[0].Floats = append(data[0].Floats, a)
		data[1].Floats = append(data[1].Floats, b)
		data[2].Codes = append(data[2].Codes, k)
		data[3].Codes = append(data[3].Codes, s)
		data[4].Codes = append(data[4].Codes, c)
	}
	return newSample(t, columns, data)
}

// related is BRC under a relation.
type related struct {
	BRC
	relation budget.Relation
}

// trainBoosted plans and runs a trainer. It also returns the session.
func (x sample) trainBoosted(
	t testing.TB, trainer related, epsilon float64,
) (*regression.Classifier, *mechanism.Session) {
	t.Helper()
	node, err := trainer.Plan(x.runFacts(trainer.relation))
	if err != nil {
		t.Fatal(err)
	}
	s := testrows.Session(t, node, epsilon, trainer.relation)
	fit, err := trainer.Fit(context.Background(), s, x.trainingData(trainer.relation))
	if err != nil {
		t.Fatal(err)
	}
	return fit.Model.(*regression.Classifier), s.Sub(brcNode)
}

// checkScore validates the first score of a classifier.
func checkScore(m *regression.Classifier) error {
	return m.Scores[0].(*regression.Votes).Validate()
}

// accuracy returns the accuracy of a model on the sample itself.
func (x sample) accuracy(t testing.TB, m regression.Model) float64 {
	t.Helper()
	got, err := m.Predict(nil, x.modelRows())
	if err != nil {
		t.Fatal(err)
	}
	right := 0
	for i, c := range x.tab.Codes(len(x.columns) - 1) {
		if got[i] == float64(c) {
			right++
		}
	}
	return float64(right) / float64(x.tab.Len())
}

// TestBRCLearns checks that the model is far more accurate than predicting the largest class, under every relation,
// in either form, with two classes and with three. The thresholds are at least .05 below the worst of 25 runs.
func TestBRCLearns(t *testing.T) {
	x := classSample(t, 20000)
	for name, c := range map[string]struct {
		trainer related
		least   float64
	}{
		"partly private": {related{BRC{}, budget.SubstitutePrivateColumns}, .75},
		"substitute":     {related{BRC{}, budget.Substitute}, .75},
		"add-remove":     {related{}, .75},
		"Laplace":        {related{BRC: BRC{Form: Laplace}}, .75},
		"as published": {
			related{BRC{Form: Paper}, budget.SubstitutePrivateColumns},
			.62,
		},
		"published, all": {related{BRC{Form: Paper}, budget.Substitute}, .62},
		"wide weights": {
			related{BRC: BRC{Lower: .1, Upper: 3}},
			.75,
		},
		"constant weight": {related{BRC: BRC{Lower: 1, Upper: 1}}, .65},
		"no intercept":    {related{BRC: BRC{Intercept: zeroIntercept}}, .65},
		"chosen":          {related{BRC: BRC{Intercept: chosenIntercept}}, .7},
		"chosen, paper": {
			related{
				BRC{Form: Paper, Intercept: chosenIntercept},
				budget.SubstitutePrivateColumns,
			},
			.6,
		},
	} {
		fit, _ := x.trainBoosted(t, c.trainer, 3)
		if err := checkScore(fit); err != nil {
			t.Fatal(err)
		}
		got := x.accuracy(t, fit)
		if got < c.least {
			t.Errorf("%s: accuracy %.3f", name, got)
		}
	}
	three := classSample(t, 20000, "none", "some", "much")
	for _, rel := range []budget.Relation{budget.AddRemove, budget.SubstitutePrivateColumns} {
		fit, _ := three.trainBoosted(t, related{relation: rel}, 5)
		got := three.accuracy(t, fit)
		if len(fit.Scores) != 3 || got < .62 {
			t.Errorf(
				"three classes, %v: accuracy %.3f",
				rel, got,
			)
		}
	}
}

// TestBRCNoise reproduces the values of the specification. For 25 rounds at (1, 1e-6) the standard deviation of the
// noise, in units of the sensitivity, is 35.4 for Laplace noise with basic composition, 27.9 with tight composition,
// and 21.1 for Gaussian noise.
func TestBRCNoise(t *testing.T) {
	x := classSample(t, 0)
	for _, c := range []struct {
		laplace     bool
		composition budget.Composition
		want        float64
	}{
		{true, budget.Basic, 35.4},
		{true, budget.Tight, 27.9},
		{false, budget.Tight, 21.1},
	} {
		node, err := BRC{
			Rounds: 25,
			Form:   map[bool]string{true: Laplace}[c.laplace],
		}.Plan(x.runFacts(budget.Substitute))
		if err != nil {
			t.Fatal(err)
		}
		priced, err := budget.Calibrate(
			node,
			budget.Target{
				Epsilon:     1,
				Delta:       1e-6,
				Relation:    budget.Substitute,
				Composition: c.composition,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		law := priced.Leaves()[0].Law
		got := 1 / law.Mu
		if c.laplace {
			got = math.Sqrt2 / law.Epsilon
		}
		if math.Abs(got-c.want) > .05 || law.Draws != 25 {
			t.Errorf(
				"Laplace %v, %v: standard deviation %.3f, want %.1f",
				c.laplace,
				c.composition,
				got,
				c.want,
			)
		}
	}
}

// TestBRCSpendsItsPlan checks that every draw of every leaf is released once, with sensitivity u under add-remove and
// 2u otherwise.
func TestBRCSpendsItsPlan(t *testing.T) {
	for rel, want := range map[budget.Relation]float64{
		budget.AddRemove:                2,
		budget.Substitute:               4,
		budget.SubstitutePrivateColumns: 4,
	} {
		for _, classes := range [][]string{
			{"no", "yes"},
			{"a", "b", "c"},
		} {
			_, s := classSample(t, 300, classes...).trainBoosted(
				t,
				related{BRC{Rounds: 7}, rel},
				1,
			)
			agreements := 0
			for _, e := range s.Events() {
				if e.Released != e.Law.Draws {
					t.Errorf(
						"%v: %s released %d of %d",
						rel, e.Path, e.Released,
						e.Law.Draws,
					)
				}
				if e.Law.Draws == 7 {
					agreements++
					if math.Abs(e.Sensitivity-want) > 1e-9 {
						t.Errorf(
							"%v: sensitivity %v, want %v",
							rel, e.Sensitivity, want,
						)
					}
				}
			}
			if agreements != scoreCount(len(classes)) {
				t.Errorf(
					"%v: %d boosting runs for %d classes",
					rel, agreements, len(classes),
				)
			}
		}
	}
}

// TestBRCKeys checks that settings reach the releases. The sensitivity is the largest weight. An intercept is a
// separate release with half of the budget; without that release no classifier has an intercept.
func TestBRCKeys(t *testing.T) {
	x := classSample(t, 300)
	made := func(v method.Values) BRC {
		return BRC{}.Method().New(v).(BRC)
	}
	for name, c := range map[string]struct {
		values     method.Values
		trainer    BRC
		upper      float64
		intercepts bool
	}{
		"none": {nil, BRC{}, defaultWeightUpper, false},
		"lower": {
			method.Values{lowerKey: .1},
			BRC{Lower: .1, Upper: defaultWeightUpper},
			defaultWeightUpper,
			false,
		},
		"upper": {
			method.Values{upperKey: 3.},
			BRC{Lower: defaultWeightLower, Upper: 3},
			3,
			false,
		},
		"chosen": {
			method.Values{upperKey: 3., "intercept": chosenIntercept},
			BRC{Lower: defaultWeightLower, Upper: 3, Intercept: chosenIntercept},
			3,
			true,
		},
		"zero": {
			method.Values{"intercept": zeroIntercept},
			BRC{Intercept: zeroIntercept},
			defaultWeightUpper,
			false,
		},
	} {
		trainer := made(c.values)
		if trainer != c.trainer {
			t.Errorf(
				"%s: %+v, want %+v",
				name, trainer, c.trainer,
			)
		}
		fit, s := x.trainBoosted(t, related{BRC: trainer}, 1)
		for _, e := range s.Events() {
			want := c.upper
			intercept := strings.HasSuffix(e.Path, "/"+interceptLeaf)
			switch {
			case strings.HasSuffix(e.Path, "/"+recordsLeaf):
				want = 1
			case intercept:
				want *= 2
			}
			if e.Released != e.Law.Draws ||
				math.Abs(e.Sensitivity-want) > 1e-9 {
				t.Errorf(
					"%s: %s released %d of %d, sensitivity %v, want %v",
					name,
					e.Path,
					e.Released,
					e.Law.Draws,
					e.Sensitivity,
					want,
				)
			}
			c.intercepts = c.intercepts && !intercept
		}
		if c.intercepts {
			t.Errorf("%s: no intercept was released", name)
		}
		for _, m := range fit.Scores[0].(*regression.Votes).Members {
			for _, term := range m.Terms { // a threshold of a number is in the middle of its range, in units of the column
				if name == "zero" &&
					x.columns[term.Column].Kind == dataset.Category &&
					m.Intercept != 0 {
					t.Errorf("an intercept of %v", m.Intercept)
				}
			}
		}
	}
	for name, v := range map[string]method.Values{
		lowerKey: {lowerKey: 3.},
		upperKey: {upperKey: .25},
		"ratio":  {lowerKey: .001, upperKey: 1000.},
	} {
		key, message, hint := checkWeights(v)
		if message == "" ||
			hint == "" ||
			key != name && name != "ratio" {
			t.Errorf(
				"%v: %s %s (%s)",
				v, key, message, hint,
			)
		}
	}
	key, _, _ := checkWeights(method.Values{lowerKey: .1, upperKey: 2.})
	if key != "" {
		t.Errorf("usual weights are refused at %s", key)
	}
}

// TestBRCKeepsItsVotes checks that the model in original units votes as it did in training, except for records so
// close to a threshold that the grid decides.
func TestBRCKeepsItsVotes(t *testing.T) {
	x := classSample(t, 3000)
	const rel = budget.SubstitutePrivateColumns
	node, err := BRC{}.Plan(x.runFacts(rel))
	if err != nil {
		t.Fatal(err)
	}
	set, err := BRC{}.settings()
	if err != nil {
		t.Fatal(err)
	}
	s := testrows.Session(t, node, 3, rel).Sub(brcNode).Sub(classNode(0))
	b, err := newRun(context.Background(), s, set, x.trainingData(rel), 1)
	if err != nil {
		t.Fatal(err)
	}
	b.records = 3000
	for range 50 {
		h, _ := b.private.draw()
		votes := b.private.votes(h)
		m := &regression.Votes{
			Linear:  b.model().Linear,
			Members: []regression.Member{h.member(b, 1)},
		}
		got, err := m.Predict(nil, x.modelRows())
		if err != nil {
			t.Fatal(err)
		}
		far := 0
		for i, v := range got {
			if v*float64(b.private.labels[i]) != float64(votes[i]) {
				far++
			}
		}
		if far > 5 {
			t.Fatalf(
				"%d of 3000 votes differ: %+v",
				far, h,
			)
		}
	}
}

// TestBRCRandomClassifiers checks that random classifiers depend only on the public stream of the run, not on the
// records, and that both halves occur.
func TestBRCRandomClassifiers(t *testing.T) {
	s := testrows.Session(
		t,
		budget.GaussianLeaf("x", 1, 1),
		1, budget.AddRemove,
	)
	for _, all := range []bool{false, true} {
		p := &privateSide{
			stream: s.PublicStream("c"),
			all:    all,
			names:  []int{4, 7, 9},
			features: []feature{
				{numbers: []int16{1}},
				{codes: []int32{0}, levels: 3},
				{numbers: []int16{2}},
			},
		}
		q := &privateSide{
			stream: s.PublicStream("c"),
			all:    all,
			names:  p.names,
			features: []feature{
				{numbers: []int16{9, 9}},
				{codes: []int32{1, 1}, levels: 3},
				{numbers: []int16{0, 0}},
			},
		}
		seen := map[int]int{}
		for range 300 {
			h, span := p.draw()
			same, its := q.draw()
			if !reflect.DeepEqual(h, same) || span != its {
				t.Fatal("the classifiers depend on the records")
			}
			for _, j := range h.columns {
				seen[j]++
			}
			if all != (len(h.columns) == 3) {
				t.Fatalf("%d columns", len(h.columns))
			}
		}
		// A column that is chosen with probability 1/3 occurs fewer than 50 times in 300 with probability below
		// 1e-10.
		if len(seen) != 3 ||
			slices.Min([]int{seen[4], seen[7], seen[9]}) < 50 {
			t.Errorf("columns %v", seen)
		}
	}
}

// TestBRCReweighs checks that a weight is multiplied by exp(-alpha y h), is clipped, and depends on its own record
// alone.
func TestBRCReweighs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SliceOfN(
			rapid.Float64Range(.5, 2), 1, 60,
		).Draw(t, "w")
		set := brcSettings{lower: .5, upper: 2}
		labels := make([]int8, len(w))
		for i := range labels {
			labels[i] = int8(i%3 - 1)
		}
		p := &privateSide{labels: labels, weights: slices.Clone(w)}
		alpha := rapid.Float64Range(-1, 1).Draw(t, "alpha")
		votes := make([]int8, len(w))
		for i, y := range labels {
			votes[i] = y * int8(1-2*(i%2))
		}
		p.reweigh(votes, alpha, set)
		for i, v := range votes {
			want := min(
				max(w[i]*math.Exp(-alpha*float64(v)), .5),
				2,
			)
			if math.Abs(p.weights[i]-want) > 1e-12 {
				t.Fatalf(
					"weight %v, want %v",
					p.weights[i], want,
				)
			}
		}
	})
}

// TestBRCRefusals covers settings that are refused at plan time.
func TestBRCRefusals(t *testing.T) {
	x := classSample(t, 10)
	private := budget.SubstitutePrivateColumns
	open := slices.Clone(x.columns)
	for j := range open {
		open[j].Private = false
	}
	one := slices.Clone(x.columns)
	one[4].Categories = []string{"yes"}
	for name, c := range map[string]struct {
		trainer BRC
		facts   method.Facts
		want    error
	}{
		"negative rounds": {
			BRC{Rounds: -1},
			method.Facts{Columns: x.columns},
			ErrRounds,
		},
		"too many rounds": {
			BRC{Rounds: MaxRounds + 1},
			method.Facts{Columns: x.columns},
			ErrRounds,
		},
		"weights": {
			BRC{Lower: 2, Upper: 1},
			method.Facts{Columns: x.columns},
			ErrWeights,
		},
		"one weight": {
			BRC{Upper: 2},
			method.Facts{Columns: x.columns},
			ErrWeights,
		},
		"NaN": {
			BRC{Lower: math.NaN(), Upper: 2},
			method.Facts{Columns: x.columns},
			ErrWeights,
		},
		"ratio of weights": {
			BRC{Lower: .001, Upper: 1000},
			method.Facts{Columns: x.columns},
			ErrWeights,
		},
		"intercept": {
			BRC{Intercept: "mean"},
			method.Facts{Columns: x.columns},
			method.ErrForm,
		},
		"published": {
			BRC{Form: Paper},
			method.Facts{Columns: x.columns},
			ErrPublished,
		},
		"numeric target": {
			BRC{},
			method.Facts{Columns: x.columns[:2]},
			ErrClasses,
		},
		"one class": {BRC{}, method.Facts{Columns: one}, ErrClasses},
		"no feature": {
			BRC{},
			method.Facts{Columns: x.columns[4:]},
			ErrClasses,
		},
		"nothing private": {
			BRC{},
			method.Facts{Columns: open, Relation: private},
			ErrNoPrivate,
		},
	} {
		if _, err := c.trainer.Plan(c.facts); !errors.Is(err, c.want) {
			t.Errorf(
				"%s: %v, want %v",
				name, err, c.want,
			)
		}
		if name == "no feature" || name == "nothing private" {
			continue // a run may have fewer columns than its plan
		}
		_, err := c.trainer.Fit(
			context.Background(),
			nil,
			method.Data{
				Facts:   c.facts,
				Records: memory.NewRecords(x.tab.View()),
				Ranges:  x.ranges,
			},
		)
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%s, run: %v, want %v",
				name, err, c.want,
			)
		}
	}
	s := testrows.Session(
		t,
		budget.GaussianLeaf("x", 1, 1),
		1, budget.AddRemove,
	)
	_, err := (BRC{}).Fit(
		context.Background(), s,
		x.trainingData(private),
	)
	if !errors.Is(err, mechanism.ErrRelation) {
		t.Errorf("another relation: %v", err)
	}
}

// TestBRCIsTotal checks that unusual tables yield a valid model, even if no record belongs to a class.
func TestBRCIsTotal(t *testing.T) {
	columns := classSample(t, 0).columns
	nan := math.NaN()
	inf := math.Inf(1)
	for name, x := range map[string][]float64{
		"none":     {},
		"one":      {3},
		"missing":  {nan, nan, nan},
		"infinite": {inf, -inf, 0},
	} {
		for _, code := range []int32{0, 1, 2} {
			codes := slices.Repeat([]int32{code}, len(x))
			y := newSample(
				t,
				columns,
				[]dataset.ColumnData{
					{Floats: x},
					{Floats: x},
					{Codes: codes},
					{Codes: codes},
					{Codes: codes},
				},
			)
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute,
				budget.SubstitutePrivateColumns} {
				fit, _ := y.trainBoosted(t, related{relation: rel}, .1)
				if err := checkScore(fit); err != nil {
					t.Errorf(
						"%s, %v: %v",
						name, rel, err,
					)
				}
			}
		}
	}
}

// TestBRCAbsurdRanges checks that the model is valid even for a range whose quotient overflows float64.
func TestBRCAbsurdRanges(t *testing.T) {
	x := classSample(t, 50)
	x.ranges[0] = scaling.Range{Lower: 0, Upper: 1e-300}
	x.ranges[1] = scaling.Range{Lower: -1e300, Upper: 1e300}
	fit, _ := x.trainBoosted(t, related{relation: budget.SubstitutePrivateColumns}, 1)
	if err := checkScore(fit); err != nil {
		t.Error(err)
	}
}

// TestBRCCancels checks that a cancelled context ends the run.
func TestBRCCancels(t *testing.T) {
	x := classSample(t, 100)
	node, err := BRC{}.Plan(x.runFacts(budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = (BRC{}).Fit(
		ctx,
		testrows.Session(t, node, 1, budget.AddRemove),
		x.trainingData(budget.AddRemove),
	)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestLogistic checks that the gradient vanishes at the returned coefficients for any weights, even if a plane
// separates the labels.
func TestLogistic(t *testing.T) {
	for _, separable := range []bool{false, true} {
		f := []feature{
			{numbers: make([]int16, 200)},
			{codes: make([]int32, 200), levels: 3},
		}
		labels := make([]int8, 200)
		weights := make([]float64, 200)
		p := testrows.Points(3)
		for i := range labels {
			x := p.Next()
			f[0].numbers[i] = int16(x * mechanism.FixedOne)
			f[1].codes[i] = int32(i % 4)
			labels[i] = 1
			weights[i] = 1 + p.Next()
			if separable && x < 0 || !separable && x+p.Next() < 0 {
				labels[i] = -1
			}
			if i%10 == 9 {
				labels[i] = 0
			}
		}
		theta, err := fitLogistic(context.Background(), f, labels, weights)
		if err != nil {
			t.Fatal(err)
		}
		problem := newLogistic(f, labels, weights)
		best := problem.value(theta)
		for k := range theta {
			for _, h := range []float64{-1e-3, 1e-3} {
				moved := slices.Clone(theta)
				moved[k] += h
				if v := problem.value(moved); v < best {
					t.Errorf(
						"separable %v: coefficient %d moved by %v is better by %v",
						separable,
						k,
						h,
						best-v,
					)
				}
			}
		}
		if theta[0] < 1 {
			t.Errorf(
				"separable %v: slope %v",
				separable, theta[0],
			)
		}
	}
}
