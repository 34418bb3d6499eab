package pipeline

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// TestNumbersAsText checks which columns of groups and target encodings get a warning that their values are numbers. It
// depends on the values that were released only.
func TestNumbersAsText(t *testing.T) {
	column := func(name string, encoded, found bool) dataset.Column {
		return dataset.Column{Name: name, Kind: dataset.Category, Found: found, Other: true, TargetEncoded: encoded}
	}
	p := &Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			column("group", false, true),
			column("encoded", true, true),
			column("declared", true, false),
			column("private", false, true),
			{Name: "undeclared", Found: true},
		}},
		Groups: "group",
	}
	for _, c := range []struct {
		column string
		words  []string
		want   string // in the text of the warning; empty: no warning
	}{
		{"group", []string{"1", "2", "3"}, "evaluate.by (--by) makes them text categories"},
		{"group", []string{"1.5", "2", "1e3"}, "evaluate.by (--by)"},
		{"group", []string{"0", "1"}, ""},
		{"group", []string{"1", "2", "three"}, ""},
		{"group", []string{"false", "no", "true"}, ""},
		{"group", nil, "No value of \"group\" is frequent enough"},
		{"encoded", []string{"1", "2", "3"}, "encode (--encode)"},
		{"encoded", nil, "encode (--encode)"},
		{"declared", []string{"1", "2", "3"}, ""},
		{"private", []string{"1", "2", "3"}, ""},
		{"undeclared", []string{"1", "2", "3"}, ""},
	} {
		got := p.numberWarnings(stage.Findings{Vocabulary: []stage.Vocabulary{{Column: c.column, Words: c.words}}})
		switch {
		case c.want == "" && len(got) > 0:
			t.Errorf("%v: %v", c, got)
		case c.want != "" && (len(got) != 1 || got[0].Code != stage.CodeNumbersAsText || !strings.Contains(got[0].Text, c.want)):
			t.Errorf("%v: %v", c, got)
		}
	}
}
