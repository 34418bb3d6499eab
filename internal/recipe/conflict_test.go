package recipe

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	generate "github.com/invopop/jsonschema"
)

// TestConflictingSettings checks that two settings are rejected if one would overwrite the other, in either
// order, and that settings of different keys are accepted.
func TestConflictingSettings(t *testing.T) {
	const text = "data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\n"
	column := func(flag, key, value string) Setting {
		return SetNumber(flag, key, value).OfColumn("a")
	}
	for name, c := range map[string]struct {
		settings []Setting
		refused  bool
	}{
		"a flag and --set": {
			[]Setting{
				SetNumber("--epsilon", "privacy.epsilon", "1"),
				{Path: "privacy.epsilon", Value: "2"},
			},
			true,
		},
		"the same value": {
			[]Setting{
				SetNumber("--epsilon", "privacy.epsilon", "1"),
				{Path: "privacy.epsilon", Value: "1"},
			},
			true,
		},
		"--set twice": {
			[]Setting{
				{Path: "holdout", Value: ".1"},
				{Path: "holdout", Value: ".2"},
			},
			true,
		},
		"a column": {
			[]Setting{
				column("--range", "lower", "0"),
				column("--range", "upper", "1"),
				{Path: "data.columns.a.lower", Value: "-1"},
			},
			true,
		},
		"a section after a key": {
			[]Setting{
				column("--range", "lower", "0"),
				column("--range", "upper", "1"),
				{Path: "data.columns.a", Value: "{lower: 5, upper: 6}"},
			},
			true,
		},
		"a key after its section": {
			[]Setting{
				{Path: "data.columns.a", Value: "{lower: 5, upper: 6}"},
				column("--range", "lower", "0"),
			},
			true,
		},
		"another key of a section": {
			[]Setting{
				{Path: "data.columns.a", Value: "{lower: 5, upper: 6}"},
				column("--missing-value", "missing", "5"),
			},
			false,
		},
		"other columns": {
			[]Setting{
				column("--range", "lower", "0"),
				column("--range", "upper", "1"),
				{Path: "data.columns.b", Value: "{lower: 5, upper: 6}"},
			},
			false,
		},
		"other keys": {
			[]Setting{
				SetNumber("--epsilon", "privacy.epsilon", "2"),
				{Path: "privacy.delta", Value: "1e-7"},
			},
			false,
		},
	} {
		_, problems := Options{Set: c.settings}.Parse("r.yml", []byte(text))
		refused := len(problems) > 0
		if refused != c.refused {
			t.Errorf("%s: %v", name, problems)
		} else if refused && !strings.Contains(problems.Error(), "would have no effect") {
			t.Errorf("%s: %v", name, problems)
		}
	}
}

// TestNamesAsTextsAreCompared checks that names of one list are compared as readers compare texts: by their characters
// as written, in the normalization form NFC and without the blanks around them.
func TestNamesAsTextsAreCompared(t *testing.T) {
	for list, refused := range map[string]bool{
		`[1, 1.0]`:                    false,
		`[true, True]`:                false,
		`["1", 1]`:                    true,
		`["caf\u00e9", "cafe\u0301"]`: true,
		`["a", "\u00a0a"]`:            true,
		`["a", "a\u200b"]`:            true,
		`["\u00a0", "a"]`:             true,
		`[A, a]`:                      false,
	} {
		for _, text := range []string{
			"task: classification\ndata: {path: a.csv, target: y, classes: " + list + "}\nprivacy: {epsilon: 1}\n",
			"data: {path: a.csv, target: y, columns: {g: {categories: " + list + "}}}\nprivacy: {epsilon: 1}\n",
		} {
			_, problems := Parse("r.yml", []byte(text))
			got := len(problems) > 0
			if got != refused {
				t.Errorf("%s: %v", text, problems)
			}
			if refused && len(problems) > 0 && problems[0].Line == 0 {
				t.Errorf(
					"%s: a problem without a place: %v",
					text, problems,
				)
			}
		}
	}
}

// TestReferenceDefaults checks that the reference of the recipe states the default of every key that has one.
func TestReferenceDefaults(t *testing.T) {
	stated := map[string]string{}
	for line := range strings.SplitSeq(
		string(readFile(t, filepath.Join(
			"..",
			"..",
			"docs",
			"reference",
			"recipe.md",
		))),
		"\n",
	) {
		cells := strings.Split(line, " | ")
		key, ok := strings.CutPrefix(cells[0], "| `")
		if ok && len(cells) == 3 {
			stated[strings.TrimSuffix(key, "`")] = cells[1]
		}
	}
	checked := 0
	var walk func(path string, s *generate.Schema)
	walk = func(path string, s *generate.Schema) {
		for at := s.Properties.Oldest(); at != nil; at = at.Next() {
			p := strings.TrimPrefix(path+"."+at.Key, ".")
			cell, ok := stated[p]
			if ok && at.Value.Default != nil {
				checked++
				want := fmt.Sprint(at.Value.Default)
				if !strings.Contains(cell, want) &&
					!strings.Contains(cell, strings.TrimPrefix(want, "0")) {
					t.Errorf(
						"%s: the reference has the default %s, the schema %s",
						p,
						cell,
						want,
					)
				}
			}
			if at.Value.Properties != nil {
				walk(p, at.Value)
			}
		}
	}
	walk("", schema())
	if checked < 15 {
		t.Errorf("only %d defaults were compared", checked)
	}
}
