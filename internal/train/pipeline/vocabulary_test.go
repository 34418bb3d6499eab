package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/boosting"
	"github.com/dptrain/dptrain/internal/train/tukey"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
)

// wordRun is a regression on a column whose text categories are to be found, one that may be numeric or text, a
// numeric one, one of names that are unique to each record, and a target that depends on the texts.
func wordRun() *Pipeline {
	return &Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{
				Name:  "ward",
				Kind:  dataset.Category,
				Other: true,
				Found: true,
			},
			{Name: "color", Found: true},
			{Name: "age", Found: true},
			{Name: "name", Found: true},
			{
				Name:   "y",
				Ranged: true,
				Lower:  0,
				Upper:  10,
			},
		}},
		Target:  "y",
		Budget:  budget.Target{Epsilon: 2, Delta: 1e-6},
		Holdout: .2,
	}
}

func wordRows(t *testing.T, p *Pipeline, n int) *dataset.Table {
	t.Helper()
	words := []string{"red", "green", "blue", "rare"}
	var names []string
	columns := make([]dataset.ColumnData, len(p.Schema.Columns))
	columns[0].Words = words
	columns[1].Words = words
	for i := range n {
		a := i % 3
		b := (i / 3) % 3
		if i%500 == 0 {
			a = 3
		}
		names = append(names, fmt.Sprint("person ", i))
		columns[0].Codes = append(columns[0].Codes, int32(a))
		columns[1].Codes = append(columns[1].Codes, int32(b))
		columns[1].Floats = append(columns[1].Floats, math.NaN())
		columns[2].Floats = append(columns[2].Floats, float64(20+i%60))
		columns[3].Codes = append(columns[3].Codes, int32(i))
		columns[3].Floats = append(columns[3].Floats, math.NaN())
		columns[4].Floats = append(
			columns[4].Floats,
			float64(2*a+b)+float64(i%60)/60,
		)
	}
	columns[3].Words = names
	table, err := dataset.NewTable(p.Schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestVocabulary checks that frequent text categories are found and rare ones are not, that a numeric column stays
// numeric, that a column of names leaves the model, and that the model uses the categories found.
func TestVocabulary(t *testing.T) {
	p := wordRun()
	res, err := p.Fit(
		context.Background(),
		wordRows(t, p, 9000), Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, v := range res.Vocabulary {
		got[v.Column] = v.Words
	}
	colors := []string{"blue", "green", "red"}
	if len(got) != 3 ||
		!slices.Equal(got["ward"], colors) ||
		!slices.Equal(got["color"], colors) ||
		len(got["name"]) != 0 {
		t.Errorf("found %v", got)
	}
	if !slices.Equal(res.Selected, []string{"ward", "color", "age"}) {
		t.Errorf("the model has %v", res.Selected)
	}
	if res.R2.Value < .9 {
		t.Errorf("R² is %v", res.R2.Value)
	}
	codes := map[string]bool{}
	for _, w := range res.Warnings {
		codes[w.Code] = true
		if strings.Contains(w.Text, "person") ||
			strings.Contains(w.Text, "rare\"") {
			t.Errorf(
				"%s: %s",
				w.Code, w.Text,
			)
		}
	}
	if !codes["words-found"] ||
		!codes["no-words"] ||
		codes["no-range"] {
		t.Errorf("warnings %v", codes)
	}
	for _, f := range res.Unprotected {
		if strings.HasPrefix(f.Name, "categories of") {
			t.Errorf("%s is listed as declared", f.Name)
		}
	}
}

// TestVocabularyOfFewRecords checks that a very small number of records gives no categories and no error.
func TestVocabularyOfFewRecords(t *testing.T) {
	p := wordRun()
	for n := range 3 {
		res, err := p.Fit(
			context.Background(),
			wordRows(t, p, n), Options{},
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range res.Vocabulary {
			if len(v.Words) > 0 {
				t.Errorf("%d records: %v", n, v)
			}
		}
	}
	c := wordRun()
	c.Task = "classification"
	c.Target = "ward"
	c.Schema.Columns[0].Other = false
	c.Schema.Columns[4] = dataset.Column{Name: "y"}
	res, err := c.Fit(
		context.Background(),
		wordRows(t, c, 2), Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(res.Warnings, func(w Warning) bool {
		return w.Code == "no-classes"
	}) || !res.LacksClasses() || res.Model != nil {
		t.Errorf(
			"%v, model %v",
			res.Warnings, res.Model,
		)
	}
}

// TestVocabularyPrices checks that the plan spends exactly the requested budget, including the delta of new text
// categories, and that no leaf is paid for if there are no categories to find.
func TestVocabularyPrices(t *testing.T) {
	p := wordRun()
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	delta := plan.Delta(2)
	if delta > 1e-6 || delta < .99e-6 {
		t.Errorf("delta %v", delta)
	}
	got := plan.Delta(200)
	if got < .79e-11 || got > 1.6e-11 { // with the slack of the accountant
		t.Errorf(
			"delta at a huge epsilon is %v, not that of new words",
			got,
		)
	}
	mu := plan.Guarantee().Mu
	if math.IsInf(mu, 1) {
		t.Error("the run has no mu")
	}
	leaves := map[string]budget.Statistic{}
	for _, l := range plan.Leaves() {
		if l.Place.Stage == vocabulary.Node {
			leaves[l.Path] = l.Statistic
		}
	}
	want := map[string]budget.Statistic{
		"fit/train/vocabulary/kinds":  mechanism.StatHistogram,
		"fit/train/vocabulary/counts": mechanism.StatWords,
		"fit/train/vocabulary/words":  mechanism.StatNewWords,
	}
	if fmt.Sprint(leaves) != fmt.Sprint(want) {
		t.Errorf("leaves %v", leaves)
	}
	if got := plan.Gathers(); !slices.Contains(got, vocabulary.Node) {
		t.Errorf("gathers %v", got)
	}
	for j := range p.Schema.Columns {
		p.Schema.Columns[j] = dataset.Column{Name: p.Schema.Columns[j].Name}
	}
	plan, err = p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range plan.Leaves() {
		if strings.Contains(l.Path, vocabulary.Node) {
			t.Errorf(
				"%s is paid for and nothing is to be found",
				l.Path,
			)
		}
	}
}

// askingRun is a run without declarations, which pays for text categories only if there are some.
func askingRun() *Pipeline {
	p := wordRun()
	for j := range p.Schema.Columns[:4] {
		p.Schema.Columns[j] = dataset.Column{
			Name:  p.Schema.Columns[j].Name,
			Found: true,
		}
	}
	return p
}

// askingRows are the rows of wordRows, optionally with numbers in place of the texts.
func askingRows(t *testing.T, p *Pipeline, n int, numbers bool) *dataset.Table {
	t.Helper()
	wide := wordRows(t, wordRun(), n)
	columns := make([]dataset.ColumnData, len(p.Schema.Columns))
	for j := range columns {
		d := wide.Data(j)
		if j < 4 && d.Floats == nil {
			d.Floats = slices.Repeat([]float64{math.NaN()}, n)
		}
		if numbers && j < 4 {
			for i := range d.Floats {
				d.Floats[i] = float64(i % (17 + j))
			}
			d.Codes = nil
			d.Words = nil
		}
		if j == 4 {
			d.Codes = nil
			d.Words = nil
		}
		columns[j] = d
	}
	table, err := dataset.NewTable(p.Schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestKindsAreCountedBeforeText checks that a table of numbers spends only the counts of kinds on text categories, that
// a table with texts finds them, and that the skipped branch makes no releases.
func TestKindsAreCountedBeforeText(t *testing.T) {
	for _, numbers := range []bool{false, true} {
		p := askingRun()
		res, err := p.Fit(
			context.Background(),
			askingRows(t, p, 6000, numbers),
			Options{},
		)
		if err != nil {
			t.Fatal(err)
		}
		way := vocabulary.WordsBranch
		other := vocabulary.NumbersBranch
		if numbers {
			way, other = other, way
		}
		if res.Branch != way || (len(res.Vocabulary) > 0) == numbers {
			t.Errorf(
				"way %s: branch %q, found %v",
				way, res.Branch, res.Vocabulary,
			)
		}
		released := map[string]int{}
		for _, e := range res.Events {
			for _, name := range []string{way, other, "kinds"} {
				if strings.Contains(e.Path, "/"+name) {
					released[name] += e.Released
				}
			}
		}
		if released[way] == 0 ||
			released[other] != 0 ||
			released["kinds"] != 1 {
			t.Errorf("way %s: releases %v", way, released)
		}
		if math.IsInf(res.Guarantee.Mu, 1) {
			t.Errorf("way %s: no mu", way)
		}
	}
}

// TestSelectorsOfWords checks that every selector chooses among columns that turn out to be text, by the steps that
// were planned when this was not known.
func TestSelectorsOfWords(t *testing.T) {
	for _, m := range Selectors() {
		if !m.Private || m.NeedsClasses {
			continue
		}
		for _, numbers := range []bool{false, true} {
			p := askingRun()
			p.Budget.Epsilon = 8
			p.Selector = m.New(SelectorSettings{K: 1})
			res, err := p.Fit(
				context.Background(),
				askingRows(t, p, 6000, numbers),
				Options{},
			)
			if err != nil {
				t.Errorf("%s: %v", m.Name, err)
				continue
			}
			if (res.Branch == vocabulary.NumbersBranch) != numbers ||
				len(res.Selected) > 1 {
				t.Errorf(
					"%s: branch %q, selected %q",
					m.Name, res.Branch, res.Selected,
				)
			}
		}
	}
}

// TestPriceOfAsking checks that, if all columns are undeclared numbers, the noise of every step is at most 1% larger
// than if they were known to be numeric, and that each branch by itself is within the promise.
func TestPriceOfAsking(t *testing.T) {
	for name, change := range map[string]func(*Pipeline){
		"kernel": func(*Pipeline) {},
		"epsilon .3": func(p *Pipeline) {
			p.Budget.Epsilon = .3
		},
		"joint-gram": func(p *Pipeline) {
			p.Model = adassp.JointGram{}
		},
		"no holdout": func(p *Pipeline) {
			p.Holdout = 0
		},
		"substitution": func(p *Pipeline) {
			p.Budget.Relation = budget.Substitute
		},
		"auto": func(p *Pipeline) {
			for j := range 6 {
				p.Schema.Columns = append(
					[]dataset.Column{{Name: fmt.Sprint("more ", j), Found: true}},
					p.Schema.Columns...)
			}
		},
	} {
		asking := askingRun()
		change(asking)
		known := *asking
		known.Schema = asking.Schema.Clone()
		for j := range known.Schema.Columns {
			known.Schema.Columns[j].Found = false
		}
		plan, err := asking.Plan()
		if err != nil {
			t.Fatal(err)
		}
		cheap, err := known.Plan()
		if err != nil {
			t.Fatal(err)
		}
		compared := 0
		for _, l := range plan.Leaves() {
			path := strings.Replace(
				l.Path,
				"/"+vocabulary.UndeclaredNode+"/"+vocabulary.NumbersBranch,
				"",
				1,
			)
			if was, ok := cheap.Law(path); ok {
				compared++
				if l.Law.Mu < was.Mu/1.01 ||
					l.Law.Epsilon < was.Epsilon/1.01 {
					t.Errorf(
						"%s: %s has %+v, and without asking %+v",
						name,
						l.Path,
						l.Law,
						was,
					)
				}
			}
		}
		if compared != len(cheap.Leaves()) {
			t.Errorf(
				"%s: %d of %d steps compared",
				name, compared, len(cheap.Leaves()),
			)
		}
		for _, way := range []string{vocabulary.NumbersBranch, vocabulary.WordsBranch} {
			alone, err := budget.Calibrate(onlyWay(plan.Tree(), way), plan.Target())
			if err != nil {
				t.Fatal(err)
			}
			d := alone.Delta(plan.Target().Epsilon)
			if d > plan.Target().Delta*(1+1e-9) {
				t.Errorf(
					"%s: the way %s alone has delta %v",
					name, way, d,
				)
			}
		}
	}
}

// onlyWay returns a priced tree with fixed privacy parameters and only one of the two branches.
func onlyWay(n budget.Node, way string) budget.Node {
	if n.Op == budget.OpLeaf {
		return budget.FixedLeaf(n.Name, n.Leaf.Law)
	}
	kids := n.Kids
	if n.Name == vocabulary.UndeclaredNode {
		n = budget.Sequence(n.Name)
		kids = slices.DeleteFunc(slices.Clone(kids), func(kid budget.Node) bool {
			return kid.Name != way
		})
	}
	n.Kids = nil
	for _, kid := range kids {
		n.Kids = append(n.Kids, onlyWay(kid, way))
	}
	return n
}

// TestTextBranchesAreRehearsed checks that both branches are rehearsed at a budget near the end of the grid.
func TestTextBranchesAreRehearsed(t *testing.T) {
	p := askingRun()
	p.Budget.Epsilon = 1e-4
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	empty, err := EmptyTable(p.Schema)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range plan.stageBranches() {
		only := plan.forceBranch(0)
		only.forcedWay = way
		s, err := mechanism.NewRehearsal(plan.Priced)
		if err != nil {
			t.Fatal(err)
		}
		res, err := p.runPlan(
			t.Context(),
			only,
			openedSession(s),
			empty,
			Options{},
		)
		if err != nil || res.Branch != way {
			t.Errorf(
				"way %s: %v, %v",
				way, res, err,
			)
		}
	}
	if err := p.Rehearse(t.Context(), plan); err != nil {
		t.Error(err)
	}
}

// TestTextPricesAreRehearsedAtTinyBudget checks that a run that may pay for text categories is rehearsed at a tiny
// budget only. The part of the budget that new text categories lose outright draws no noise.
func TestTextPricesAreRehearsedAtTinyBudget(t *testing.T) {
	for epsilon, want := range map[float64]bool{1: false, .3: false, 1e-4: true} {
		p := askingRun()
		p.Budget.Epsilon = epsilon
		plan, err := p.Plan()
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.hasFaintDraw(); got != want {
			t.Errorf("epsilon %v: %v", epsilon, got)
		}
	}
}

// TestVocabularyRefused checks that the plan reports settings under which text categories have no price.
func TestVocabularyRefused(t *testing.T) {
	for name, change := range map[string]func(*Pipeline){
		"delta of 0": func(p *Pipeline) {
			p.Budget.Delta = 0
		},
		"basic": func(p *Pipeline) {
			p.Budget.Composition = budget.Basic
		},
		"substitute-": func(p *Pipeline) {
			p.Budget.Relation = budget.SubstitutePrivateColumns
			p.Schema.Columns[1] = dataset.Column{Name: "color", Private: true}
		},
		"tukey": func(p *Pipeline) {
			p.Model = tukey.Tukey{}
		},
	} {
		p := wordRun()
		change(p)
		_, err := p.Plan()
		if !errors.Is(err, vocabulary.ErrUnsupported) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := wordRun()
	p.Schema.Columns[4] = dataset.Column{Name: "y", Found: true}
	_, err := p.Plan()
	if !errors.Is(err, ErrTarget) {
		t.Errorf("a target that may be words: %v", err)
	}
}

// TestVocabularyInASearch checks that the text categories are found once, before the first try.
func TestVocabularyInASearch(t *testing.T) {
	p := wordRun()
	p.Search = &Search{
		Runs:    2,
		Holdout: .2,
		Candidates: []Candidate{
			{Model: adassp.JointGram{}},
			{Model: boosting.Additive{}},
		},
	}
	res, err := p.Fit(
		context.Background(),
		wordRows(t, p, 6000), Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Vocabulary) != 3 || res.Search == nil {
		t.Errorf(
			"%v, %v",
			res.Vocabulary, res.Search,
		)
	}
}
