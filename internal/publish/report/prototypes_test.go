package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/regression"
)

// prototypeModel has two classes, a number with an indicator of missing cells and a category.
func prototypeModel() *regression.Classifier {
	columns := []regression.Column{
		{
			Name:    "age",
			Lower:   0,
			Upper:   120,
			Missing: 40,
		},
		{
			Name:       "home",
			Type:       regression.Category,
			Categories: []string{"rent", "own"},
			Other:      true,
		},
	}
	terms := []regression.Term{
		{Column: 0},
		{Column: 0, Missing: true},
		{Column: 1, Category: "rent"},
		{Column: 1, Category: "own"},
		{Column: 1, Other: true},
	}
	return &regression.Classifier{
		Target:  "repaid",
		Classes: []string{"no", "yes"},
		Scores: []regression.Model{&regression.Prototypes{
			Linear: regression.Linear{
				Target:  "repaid",
				Columns: columns,
				Lower:   -9,
				Upper:   9,
			},
			Prototypes: []regression.Prototype{
				{
					Against: true,
					Terms:   terms,
					Centers: []float64{31.23456, .1, .7, .2, .1},
				},
				{Terms: terms, Centers: []float64{45, 0, .2, .1, .6}},
			},
		}},
	}
}

// TestTypicalRecordsNameTheirClass checks that every prototype names its class and its likeliest values, that the page
// has a row for every term, and that the output for another model is empty.
func TestTypicalRecordsNameTheirClass(t *testing.T) {
	m := prototypeModel()
	if err := m.Validate(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := Typical(&b, m); err != nil {
		t.Fatal(err)
	}
	want := "Typical    no: age 31.23, home rent (70%)\nTypical    yes: age 45, home another (60%)\n"
	if b.String() != want {
		t.Errorf(
			"%q, want %q",
			b.String(), want,
		)
	}
	blocks := typicalBlocks(Source{Model: m})
	if len(blocks) != 1 {
		t.Fatal(blocks)
	}
	got := ""
	for _, row := range append([][]string{blocks[0].Table.Head}, blocks[0].Table.Rows...) {
		got += strings.Join(row, " | ") + "\n"
	}
	want = "Column | no | yes\nage | 31.23 | 45\nage is missing | 10% | 0%\nhome is rent | 70% | 20%\nhome is own | 20% | 10%\nhome is another | 10% | 60%\n"
	if got != want || blocks[0].Fold != "" {
		t.Errorf("%s, want %s", got, want)
	}
	b.Reset()
	err := Typical(&b, &m.Scores[0].(*regression.Prototypes).Linear)
	if err != nil ||
		b.Len() > 0 ||
		typicalBlocks(Source{}) != nil {
		t.Errorf(
			"%q, %v",
			b.String(), err,
		)
	}
}

// TestManyPrototypesGoDownThePage checks that a table of more prototypes than terms has a row for each prototype.
func TestManyPrototypesGoDownThePage(t *testing.T) {
	m := prototypeModel()
	score := m.Scores[0].(*regression.Prototypes)
	score.Columns = []regression.Column{{Name: "age", Upper: 90}}
	score.Prototypes = nil
	for age := range 3 {
		score.Prototypes = append(score.Prototypes, regression.Prototype{
			Terms:   []regression.Term{{Column: 0}},
			Centers: []float64{float64(30 + age)},
		})
	}
	got := typicalBlocks(Source{Model: m})[0].Table
	if len(got.Rows) != 3 || !slices.Equal(got.Head, []string{"Class", "age"}) ||
		!slices.Equal(got.Rows[2], []string{"yes", "32"}) {
		t.Errorf("%q %q", got.Head, got.Rows)
	}
}

// TestTypicalRecordsAreLimited checks that columns and prototypes beyond a limit are counted, not listed.
func TestTypicalRecordsAreLimited(t *testing.T) {
	m := prototypeModel()
	score := m.Scores[0].(*regression.Prototypes)
	var terms []regression.Term
	score.Columns = nil
	for i := range 30 {
		score.Columns = append(
			score.Columns,
			regression.Column{
				Name:  "x" + string(rune('a'+i)),
				Upper: 1,
			},
		)
		terms = append(terms, regression.Term{Column: i})
	}
	score.Prototypes = nil
	for range 20 {
		score.Prototypes = append(
			score.Prototypes,
			regression.Prototype{Terms: terms, Centers: make([]float64, 30)},
		)
	}
	var b strings.Builder
	if err := Typical(&b, m); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "and 8 more prototypes") ||
		!strings.Contains(b.String(), "and 10\n") {
		t.Error(b.String())
	}
	blocks := typicalBlocks(Source{Model: m})
	if blocks[0].Fold != "20 prototypes" {
		t.Errorf("%q", blocks[0].Fold)
	}
}
