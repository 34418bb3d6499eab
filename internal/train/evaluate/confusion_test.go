package evaluate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

func letterNames(l int) []string {
	out := make([]string, l)
	for k := range out {
		out[k] = string(rune('a' + k))
	}
	return out
}

// sixteenBins returns equal bins of [-1, 1].
func sixteenBins() Bins {
	var b Bins
	for k := 1; k < 16; k++ {
		b.Edges = append(b.Edges, float64(k)/8-1)
	}
	return b
}

func newLabels(
	t testing.TB,
	l int,
	truth []int32,
	prediction, score []float64,
	bins Bins,
) Labels {
	t.Helper()
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{
			Name:       "y",
			Kind:       dataset.Category,
			Labels:     true,
			Categories: letterNames(l),
		}}},
		[]dataset.ColumnData{{Codes: truth}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	return Labels{
		Records: memory.NewRecords(tab.View()),
		Model:   fixed{prediction, score},
		Bins:    bins,
	}
}

func priceClasses(t testing.TB, l int, target budget.Target) *budget.Priced {
	t.Helper()
	node, err := Classification{Classes: letterNames(l)}.Plan()
	if err != nil {
		t.Fatal(err)
	}
	target.Delta = 1e-5
	priced, err := budget.Calibrate(budget.Sequence("holdout", node), target)
	if err != nil {
		t.Fatal(err)
	}
	return priced
}

func releaseClasses(t testing.TB, priced *budget.Priced, l int, x Labels) *Confusion {
	t.Helper()
	s, err := mechanism.NewSession(priced.Again())
	if err != nil {
		t.Fatal(err)
	}
	c, err := Classification{Classes: letterNames(l)}.Run(context.Background(), s, x)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// A population has classes with given shares, recalls and normal scores. A share missing of its records has no
// label, and a share other of the remaining records has a label outside the classes.
type population struct {
	shares, recalls []float64
	missing, other  float64
}

// accuracy counts records with other labels as errors.
func (p population) accuracy() float64 {
	a := 0.
	for k, share := range p.shares {
		a += share * p.recalls[k]
	}
	return (1 - p.other) * a
}

func (p population) balancedAccuracy() float64 {
	a := 0.
	for _, r := range p.recalls {
		a += r / float64(len(p.recalls))
	}
	return a
}

// drawRecords returns n records.
func (p population) drawRecords(
	r *rand.Rand,
	n int,
) (truth []int32, prediction, score []float64) {
	l := len(p.shares)
	for range n {
		k := 0
		u := r.Float64()
		for k < l-1 && u > p.shares[k] {
			u -= p.shares[k]
			k++
		}
		guess := (k + 1) % l
		s := .4 * r.NormFloat64()
		if r.Float64() < p.recalls[k] {
			guess = k
			s += .3
		}
		if r.Float64() < p.other {
			k = l
		}
		if r.Float64() < p.missing {
			k = l + 1
		}
		truth = append(truth, int32(k))
		prediction = append(prediction, float64(guess))
		score = append(score, s)
	}
	return truth, prediction, score
}

// TestClassesCoverage checks that the intervals cover the shares of the population that records are drawn
// from at their stated rate. Of 400 intervals that each cover with probability .95, fewer
// than 356 cover with probability below 1e-6.
func TestClassesCoverage(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, c := range map[string]struct {
		n int
		population
	}{
		"two": {
			600,
			population{
				[]float64{.3, .7},
				[]float64{.7, .9},
				.05, .02,
			},
		},
		"few records": {
			120,
			population{
				[]float64{.4, .6},
				[]float64{.6, .8},
				0, 0,
			},
		},
		"perfect": {
			600,
			population{
				[]float64{.5, .5},
				[]float64{1, 1}, .1,
				0,
			},
		},
		"two of many": {
			900,
			population{
				[]float64{.5, .5},
				[]float64{.9, .9},
				.1, .6,
			},
		},
		"three": {
			900,
			population{
				[]float64{.2, .3, .5},
				[]float64{.5, .9, .7},
				.05, .2,
			},
		},
		"five": {
			3000,
			population{
				[]float64{.1, .1, .2, .3, .3},
				[]float64{.2, .5, .7, .9, 1},
				.05, .01,
			},
		},
	} {
		l := len(c.shares)
		for _, epsilon := range []float64{.5, 1, 50} {
			priced := priceClasses(t, l, budget.Target{Epsilon: epsilon})
			covered := make([]int, l+3)
			count := func(k int, s Share, want float64) {
				checkShare(t, s)
				if want >= s.Lower-1e-12 && want <= s.Upper+1e-12 {
					covered[k]++
				}
			}
			for range 400 {
				truth, prediction, score := c.drawRecords(r, c.n)
				x := releaseClasses(
					t,
					priced,
					l,
					newLabels(t, l, truth, prediction, score, sixteenBins()),
				)
				for k, s := range x.Recalls {
					count(k, s, c.recalls[k])
				}
				count(l, x.Accuracy, c.accuracy())
				count(l+1, x.Balanced, c.balancedAccuracy())
				count(l+2, x.OtherShare, c.other)
			}
			for k, n := range covered {
				if n < 356 {
					t.Errorf(
						"%s, epsilon %v: %d of 400 intervals of share %d cover",
						name,
						epsilon,
						n,
						k,
					)
				}
			}
		}
	}
}

// TestBalancedCoverage checks the interval of the balanced accuracy of a large part, which has almost no sampling
// error: it covers also where noise hides some classes or all of them, and near the
// border between the two ways to compute it. Of 2000 intervals that each cover with
// probability .95, fewer than 1845 cover with probability below 1e-6.
func TestBalancedCoverage(t *testing.T) {
	const (
		sigma = 10
		runs  = 2000
	)
	r := rand.New(rand.NewPCG(1, 2))
	try := func(rows, hits []float64) {
		l := len(rows)
		want := 0.
		for k := range l {
			want += hits[k] / rows[k] / float64(l)
		}
		covered := 0
		draw := func(x float64, cells int) noisy {
			sd := sigma * math.Sqrt(float64(cells))
			return noisy{value: x + sd*r.NormFloat64(), variance: sd * sd}
		}
		for range runs {
			right := make([]noisy, l)
			wrong := make([]noisy, l)
			for k := range l {
				right[k], wrong[k] = draw(hits[k], 1), draw(rows[k]-hits[k], l-1)
			}
			_, s := classRecalls(right, wrong)
			checkShare(t, s)
			if want >= s.Lower-1e-12 && want <= s.Upper+1e-12 {
				covered++
			}
		}
		if covered < 1845 {
			t.Errorf(
				"rows %v, hits %v: %d of %d cover",
				rows, hits, covered, runs,
			)
		}
	}
	for _, l := range []int{2, 3, 6, 12} {
		for _, small := range []float64{1, 10, 30, 60, 100, 200, 400} {
			for _, c := range []struct{ first, recall float64 }{
				{2000, 0},
				{2000, 1},
				{small, 0},
				{small, 1},
				{small, .5},
			} {
				rows := make([]float64, l)
				hits := make([]float64, l)
				for k := range rows {
					rows[k] = small
					hits[k] = math.Round(c.recall * small)
				}
				rows[0] = c.first // a plain class, of which all records are predicted rightly, or one like the others
				if c.first > small {
					hits[0] = c.first
				}
				try(rows, hits)
			}
		}
	}
}

func checkShare(t testing.TB, s Share) {
	t.Helper()
	if !(0 <= s.Lower && s.Lower <= s.Value && s.Value <= s.Upper && s.Upper <= 1) ||
		s.Level != Level {
		t.Errorf("%+v", s)
	}
}

// TestClassesLargeBudget: with a large budget matrix and table are the exact ones.
func TestClassesLargeBudget(t *testing.T) {
	for _, l := range []int{2, 3} {
		p := population{
			[]float64{.2, .3, .5}[:l],
			[]float64{.5, .9, .7}[:l],
			.1, .2,
		}
		truth, prediction, score := p.drawRecords(
			rand.New(rand.NewPCG(5, 6)),
			900,
		)
		exact := make([][]int, l+1)
		table := [2][16]int{}
		right := make([][2]int, l)
		for k := range exact {
			exact[k] = make([]int, l)
		}
		missing := 0.
		other := 0.
		hits := 0.
		for i, k := range truth {
			if int(k) == l+1 {
				missing++
				continue
			}
			exact[k][int(prediction[i])]++
			side := 0
			if prediction[i] == float64(k) {
				side = 1
				hits++
			}
			if int(k) == l {
				other++
			} else if l > 2 {
				right[k][side]++
			}
			if l == 2 {
				side = int(k)
			}
			if side < 2 { // the table of two classes has no other labels
				table[side][int(min(
					max(math.Ceil((score[i]+1)*8)-1, 0),
					15,
				))]++
			}
		}
		r := releaseClasses(
			t,
			priceClasses(t, l, budget.Target{Epsilon: 600}),
			l,
			newLabels(t, l, truth, prediction, score, sixteenBins()),
		)
		if fmt.Sprint(r.Counts) != fmt.Sprint(exact) {
			t.Errorf(
				"cells %v, want %v",
				r.Counts, exact,
			)
		}
		if fmt.Sprint(r.Scores.Counts) != fmt.Sprint(table) {
			t.Errorf(
				"scores %v, want %v",
				r.Scores.Counts, table,
			)
		}
		if l > 2 && fmt.Sprint(r.Right) != fmt.Sprint(right) ||
			l == 2 && r.Right != nil {
			t.Errorf(
				"right %v, want %v",
				r.Right, right,
			)
		}
		labelled := 900 - missing
		if math.Abs(r.Records.Value-labelled) > 1e-9 ||
			r.Missing.Value != missing ||
			math.Abs(r.Other.Value-other) > 1e-9 ||
			math.Abs(r.OtherShare.Value-other/labelled) > 1e-9 ||
			math.Abs(r.Accuracy.Value-hits/labelled) > 1e-9 ||
			(r.Scores.AUC == nil) != (l > 2) {
			t.Errorf("%+v", r)
		}
		// Without scores the matrix has all of the budget.
		bare := releaseClasses(
			t,
			priceClasses(t, l, budget.Target{Epsilon: 600}),
			l,
			newLabels(t, l, truth, prediction, nil, Bins{}),
		)
		if fmt.Sprint(bare.Counts) != fmt.Sprint(exact) ||
			bare.Scores != nil ||
			math.Abs(bare.Accuracy.Value-r.Accuracy.Value) > 1e-9 ||
			math.Abs(bare.Other.Value-other) > 1e-9 ||
			math.Abs(bare.Sigma/(r.Sigma*math.Sqrt([]float64{.3, .25}[l-2]))-1) > .01 {
			t.Errorf("%+v", bare)
		}
	}
}

// TestCutoffIsAnEdge: of two classes whose cutoff is an edge, accuracy and recalls are read from both tables: they are the
// exact ones of a large budget, and of a small one the number of records has less noise than that of the matrix.
func TestCutoffIsAnEdge(t *testing.T) {
	p := population{
		[]float64{.3, .7},
		[]float64{.5, .9},
		0, .1,
	}
	truth, prediction, score := p.drawRecords(
		rand.New(rand.NewPCG(5, 6)),
		900,
	)
	hits := [2]float64{}
	all := [2]float64{}
	for i, k := range truth {
		prediction[i] = 0
		if score[i] > 0 {
			prediction[i] = 1
		}
		if k < 2 {
			all[k]++
			if prediction[i] == float64(k) {
				hits[k]++
			}
		}
	}
	bins := sixteenBins()
	bins.Cutoff = slices.Index(bins.Edges, 0) + 1
	x := newLabels(t, 2, truth, prediction, score, bins)
	r := releaseClasses(
		t,
		priceClasses(t, 2, budget.Target{Epsilon: 600}),
		2, x,
	)
	for k, recall := range r.Recalls {
		if math.Abs(recall.Value-hits[k]/all[k]) > 1e-9 {
			t.Errorf(
				"recall %d is %v, want %v",
				k, recall.Value,
				hits[k]/all[k],
			)
		}
	}
	if math.Abs(r.Accuracy.Value-(hits[0]+hits[1])/900) > 1e-9 {
		t.Errorf(
			"accuracy %v, want %v",
			r.Accuracy.Value,
			(hits[0]+hits[1])/900,
		)
	}
	small := priceClasses(t, 2, budget.Target{Epsilon: 1})
	with := releaseClasses(t, small, 2, x)
	x.Bins.Cutoff = 0
	without := releaseClasses(t, small, 2, x)
	if with.Records.Sigma > .95*without.Records.Sigma {
		t.Errorf(
			"noise of %v in the number of records, and of %v from the matrix alone",
			with.Records.Sigma,
			without.Records.Sigma,
		)
	}
}

// TestClassesTotal checks that the shares are ordered numbers in [0, 1] for any held-out part, and are
// unknown without records.
func TestClassesTotal(t *testing.T) {
	for name, c := range map[string]struct {
		truth      []int32
		prediction []float64
	}{
		"nothing": {nil, nil},
		"one":     {[]int32{1}, []float64{0}},
		"no class": {
			[]int32{2, 2, 7, -1},
			[]float64{0, 1, 1, 0},
		},
		"no label": {
			[]int32{3, 3, -1},
			[]float64{0, 1, 1},
		},
		"other labels": {
			slices.Repeat([]int32{2}, 300),
			make([]float64, 300),
		},
		"one class only": {make([]int32, 300), make([]float64, 300)},
		"strange predictions": {
			[]int32{0, 1, 0},
			[]float64{math.NaN(), -3, 1e9},
		},
	} {
		bins := sixteenBins()
		bins.Chance = make([]float64, 16)
		x := newLabels(t, 2, c.truth, c.prediction, c.prediction, bins)
		for _, epsilon := range []float64{.05, 1, 20} {
			priced := priceClasses(
				t,
				2,
				budget.Target{Epsilon: epsilon, Relation: budget.Substitute},
			)
			unknown := 0
			for range 40 {
				r := releaseClasses(t, priced, 2, x)
				for _, s := range append(
					[]Share{
						r.Accuracy,
						r.Balanced,
						r.Largest.Share,
						r.OtherShare,
						*r.Scores.AUC,
					},
					r.Recalls...) {
					checkShare(t, s)
				}
				for _, th := range r.Scores.Thresholds {
					checkShare(t, th.Recall)
					checkShare(t, th.FirstRecall)
					checkShare(t, th.Precision)
				}
				l := r.Scores.LogLoss
				if l != nil &&
					!(0 <= l.Lower &&
						l.Lower <= l.Value &&
						l.Value <= l.Upper &&
						l.Upper < math.Inf(1)) {
					t.Errorf("%+v", l)
				}
				x := r.Largest
				if !(-1 <= x.GainLower &&
					x.GainLower <= x.GainUpper &&
					x.GainUpper <= 1) {
					t.Errorf("%+v", x)
				}
				if !r.Accuracy.Known() {
					unknown++
				}
			}
			if name == "nothing" && unknown == 0 {
				t.Errorf(
					"epsilon %v: an accuracy of no record is claimed every time",
					epsilon,
				)
			}
		}
	}
}

// TestConfusionSensitivity searches the change of the released counts over all tables of two
// records and all their neighbours: two classes, and three without two scores in
// one bin. It adds the contributions of records to a tally with weights of its own, so that it does not
// depend on those of the accumulator, whose declared bound it compares.
func TestConfusionSensitivity(t *testing.T) {
	for _, l := range []int{2, 3} {
		type record struct {
			truth, guess int
			score        float64
		}
		var records []record
		for truth := range l + 2 { // the last but one has another label, the last none
			for guess := range l {
				for _, score := range []float64{-2, 0, .1} {
					records = append(records, record{truth, guess, score})
				}
			}
		}
		bins := Bins{Edges: []float64{-1, 0}}
		joint := math.Sqrt(1 / float64(l)) // two tables of two classes, three of three
		exact := priceClasses(t, l, budget.Target{Epsilon: 3000})
		cells := func(rows ...record) []float64 {
			truth := make([]int32, len(rows))
			prediction := make([]float64, len(rows))
			score := make([]float64, len(rows))
			for i, r := range rows {
				truth[i] = int32(r.truth)
				prediction[i] = float64(r.guess)
				score[i] = r.score
			}
			x := newLabels(t, l, truth, prediction, score, bins)
			s, err := mechanism.NewSession(exact.Again())
			if err != nil {
				t.Fatal(err)
			}
			s = s.Sub(accuracyNode)
			pass, err := mechanism.Sum[*confusionPass](
				context.Background(),
				s,
				x.Records,
				confusionStatistic{l, x.Target, x.Model, bins, Groups{}},
			)
			if err != nil {
				t.Fatal(err)
			}
			noisy, _, err := mechanism.WeightedGaussian(
				s,
				confusionLeaf,
				pass.cells.Bound(),
			)
			if err != nil {
				t.Fatal(err)
			}
			out := noisy.Value()
			for i := range out {
				if out[i] = math.Round(out[i]); i < len(out)-1 { // the last is that of records without a label
					out[i] *= joint
				}
			}
			return out
		}
		single := make([][]float64, len(records))
		for i, r := range records {
			single[i] = cells(r)
		}
		distance := func(a, b []float64) float64 {
			sum := 0.
			for i := range a {
				sum += (a[i] - b[i]) * (a[i] - b[i])
			}
			return math.Sqrt(sum)
		}
		empty := cells()
		for rel, want := range map[budget.Relation]float64{
			budget.AddRemove:                1,
			budget.Substitute:               math.Sqrt2,
			budget.SubstitutePrivateColumns: math.Sqrt2,
		} {
			s, err := mechanism.NewSession(
				priceClasses(t, l, budget.Target{Epsilon: 1, Relation: rel}))
			if err != nil {
				t.Fatal(err)
			}
			declared := (confusionStatistic{Classes: l, Bins: bins}).New(
				s.Maker).(*confusionPass).cells.Bound().Sensitivity()
			if declared < want || declared > want*(1+1e-9) {
				t.Errorf(
					"%v: declared %v, want %v",
					rel, declared, want,
				)
			}
			worst := 0.
			for i, a := range single {
				if rel == budget.AddRemove {
					worst = max(worst, distance(empty, a))
				}
				for j, b := range single {
					same := records[i].truth == records[j].truth // the target is public there
					if rel == budget.Substitute ||
						rel == budget.SubstitutePrivateColumns && same {
						worst = max(worst, distance(a, b))
					}
				}
			}
			if worst > declared || worst < .999*declared {
				t.Errorf(
					"%d classes, %v: largest change %v, declared %v",
					l,
					rel,
					worst,
					declared,
				)
			}
		}
		for i, a := range single { // what two records add is the sum of what each adds
			j := (7*i + 3) % len(single)
			both := cells(records[i], records[j])
			for k := range both {
				both[k] -= a[k]
			}
			if distance(both, single[j]) > 1e-9 {
				t.Errorf(
					"records %v and %v do not add up",
					records[i], records[j],
				)
			}
		}
	}
}

// TestClassesUnits: where units of several records are protected, the noise is that many times
// as large.
func TestClassesUnits(t *testing.T) {
	truth, prediction, score := population{
		[]float64{.5, .5},
		[]float64{.8, .8},
		0,
		0,
	}.drawRecords(rand.New(rand.NewPCG(1, 1)), 10)
	x := newLabels(t, 2, truth, prediction, score, sixteenBins())
	one := releaseClasses(
		t,
		priceClasses(t, 2, budget.Target{Epsilon: 1}),
		2, x,
	)
	many := releaseClasses(
		t,
		priceClasses(
			t,
			2,
			budget.Target{Epsilon: 1, Unit: budget.Unit{Column: "who", MaxRows: 5}},
		),
		2,
		x,
	)
	a := many.Missing.Sigma / one.Missing.Sigma
	b := many.Sigma / one.Sigma
	if math.Abs(b-5) > 1e-3 ||
		math.Abs(a-5) > .02 { // of a rounded cell
		t.Errorf(
			"noise %v and %v, of units of five %v and %v",
			one.Sigma,
			one.Missing.Sigma,
			many.Sigma,
			many.Missing.Sigma,
		)
	}
}

func TestClassesPlan(t *testing.T) {
	for _, l := range []int{0, 1, MaxClasses + 1} {
		_, err := (Classification{Classes: make([]string, l)}).Plan()
		if !errors.Is(err, ErrClasses) {
			t.Errorf("%d classes: %v", l, err)
		}
	}
	_, err := (Classification{Classes: make([]string, MaxClasses)}).Plan()
	if err != nil {
		t.Error(err)
	}
}

func ExampleClassification() {
	classes := []string{"no", "yes"}
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: classes,
		}}},
		[]dataset.ColumnData{{Codes: make([]int32, 5000)}},
		nil,
	) // 5000 times "no"
	if err != nil {
		fmt.Println(err)
		return
	}
	metric := Classification{Classes: classes}
	node, err := metric.Plan()
	if err != nil {
		fmt.Println(err)
		return
	}
	priced, err := budget.Calibrate(
		budget.Sequence("holdout", node),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := metric.Run(
		context.Background(),
		s,
		Labels{Records: memory.NewRecords(tab.View())},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf(
		"accuracy above .98: %v, cells: %d by %d\n",
		c.Accuracy.Lower > .98,
		len(c.Counts),
		len(c.Counts[0]),
	)
	// Output: accuracy above .98: true, cells: 3 by 2
}
