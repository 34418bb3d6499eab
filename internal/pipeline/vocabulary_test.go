package pipeline

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/tukey"
)

// wordRun is a regression on a column whose words are to be found, one that may be numbers or
// words, one of numbers, one of names that no two records share, and a target that follows the words.
func wordRun() *Pipeline {
	return &Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{Name: "ward", Kind: dataset.Category, Other: true, Found: true}, {Name: "color", Found: true}, {Name: "age", Found: true},
			{Name: "name", Found: true}, {Name: "y", Ranged: true, Lower: 0, Upper: 10},
		}},
		Target: "y", Budget: budget.Target{Epsilon: 2, Delta: 1e-6}, Holdout: .2,
	}
}

func wordRows(t *testing.T, p *Pipeline, n int) *dataset.Table {
	t.Helper()
	words := []string{"red", "green", "blue", "rare"}
	var names []string
	columns := make([]dataset.ColumnData, len(p.Schema.Columns))
	columns[0].Words, columns[1].Words = words, words
	for i := range n {
		a, b := i%3, (i/3)%3
		if i%500 == 0 {
			a = 3
		}
		names = append(names, fmt.Sprint("person ", i))
		columns[0].Codes = append(columns[0].Codes, int32(a))
		columns[1].Codes, columns[1].Floats = append(columns[1].Codes, int32(b)), append(columns[1].Floats, math.NaN())
		columns[2].Floats = append(columns[2].Floats, float64(20+i%60))
		columns[3].Codes, columns[3].Floats = append(columns[3].Codes, int32(i)), append(columns[3].Floats, math.NaN())
		columns[4].Floats = append(columns[4].Floats, float64(2*a+b)+float64(i%60)/60)
	}
	columns[3].Words = names
	table, err := dataset.NewTable(p.Schema, columns, nil)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestVocabulary: words that many records have are found and rare ones are not, a column of numbers
// stays one, a column of names leaves the model, and the model uses what was found.
func TestVocabulary(t *testing.T) {
	p := wordRun()
	res, err := p.Fit(context.Background(), wordRows(t, p, 9000), Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, v := range res.Vocabulary {
		got[v.Column] = v.Words
	}
	colors := []string{"blue", "green", "red"}
	if len(got) != 3 || !slices.Equal(got["ward"], colors) || !slices.Equal(got["color"], colors) || len(got["name"]) != 0 {
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
		if strings.Contains(w.Text, "person") || strings.Contains(w.Text, "rare\"") {
			t.Errorf("%s: %s", w.Code, w.Text)
		}
	}
	if !codes["words-found"] || !codes["no-words"] || codes["no-range"] {
		t.Errorf("warnings %v", codes)
	}
	for _, f := range res.Unprotected {
		if strings.HasPrefix(f.Name, "categories of") {
			t.Errorf("%s is listed as declared", f.Name)
		}
	}
}

// TestVocabularyOfFewRecords: with so few records nothing is found, and nothing fails.
func TestVocabularyOfFewRecords(t *testing.T) {
	p := wordRun()
	for n := range 3 {
		res, err := p.Fit(context.Background(), wordRows(t, p, n), Options{})
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
	c.Task, c.Target = "classification", "ward"
	c.Schema.Columns[0].Other = false
	c.Schema.Columns[4] = dataset.Column{Name: "y"}
	res, err := c.Fit(context.Background(), wordRows(t, c, 2), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(res.Warnings, func(w Warning) bool { return w.Code == "no-classes" }) || len(res.Model.Output().Classes) != 2 {
		t.Errorf("%v, classes %q", res.Warnings, res.Model.Output().Classes)
	}
}

// TestVocabularyPrices: the plan is exactly what was asked for, with the delta of new words in
// it; nothing is spent where nothing is to be found.
func TestVocabularyPrices(t *testing.T) {
	p := wordRun()
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	if delta := plan.Delta(2); delta > 1e-6 || delta < .99e-6 {
		t.Errorf("delta %v", delta)
	}
	if got := plan.Delta(200); got < .79e-7 || got > 1.01e-7 {
		t.Errorf("delta at a huge epsilon is %v, not that of new words", got)
	}
	leaves := map[string]budget.Statistic{}
	for _, l := range plan.Leaves() {
		if l.Place.Stage == vocabularyNode {
			leaves[l.Path] = l.Statistic
		}
	}
	if want := map[string]budget.Statistic{
		"fit/train/vocabulary/kinds": mechanism.StatHistogram, "fit/train/vocabulary/counts": mechanism.StatWords, "fit/train/vocabulary/words": mechanism.StatNewWords,
	}; fmt.Sprint(leaves) != fmt.Sprint(want) {
		t.Errorf("leaves %v", leaves)
	}
	if got := plan.Gathers(); !slices.Contains(got, vocabularyNode) {
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
		if strings.Contains(l.Path, vocabularyNode) {
			t.Errorf("%s is paid for and nothing is to be found", l.Path)
		}
	}
}

// TestVocabularyRefused: where words have no price the plan says so.
func TestVocabularyRefused(t *testing.T) {
	for name, change := range map[string]func(*Pipeline){
		"delta of 0": func(p *Pipeline) { p.Budget.Delta = 0 },
		"basic":      func(p *Pipeline) { p.Budget.Composition = budget.Basic },
		"substitute-": func(p *Pipeline) {
			p.Budget.Relation = budget.SubstitutePrivateColumns
			p.Schema.Columns[1] = dataset.Column{Name: "color", Private: true}
		},
		"tukey": func(p *Pipeline) { p.Model = tukey.Tukey{} },
	} {
		p := wordRun()
		change(p)
		if _, err := p.Plan(); !errors.Is(err, ErrVocabulary) || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
	p := wordRun()
	p.Schema.Columns[4] = dataset.Column{Name: "y", Found: true}
	if _, err := p.Plan(); !errors.Is(err, ErrTarget) {
		t.Errorf("a target that may be words: %v", err)
	}
}

// TestVocabularyInASearch: the words are found once, before the first try.
func TestVocabularyInASearch(t *testing.T) {
	p := wordRun()
	p.Search = &Search{Runs: 2, Holdout: .2, Candidates: []Candidate{{Model: adassp.JointGram{}}, {Model: boosting.Additive{}}}}
	res, err := p.Fit(context.Background(), wordRows(t, p, 6000), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(res.Vocabulary) != 3 || res.Search == nil {
		t.Errorf("%v, %v", res.Vocabulary, res.Search)
	}
}

func BenchmarkKinds(b *testing.B) {
	x := kindStatistic{[]int{0}}.New(mechanism.NewMaker(budget.AddRemove))
	table, err := dataset.NewTable(dataset.Schema{Columns: []dataset.Column{{Name: "a", Found: true}}}, []dataset.ColumnData{{Floats: make([]float64, 1<<20)}}, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		x.Add(mechanism.Block{Block: table.All().Block(0, 1<<20)})
	}
}
