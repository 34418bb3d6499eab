package recipe

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestFoundDefaults checks that, without a key, text columns and classes are found whenever this has a price, and
// that the maximum number of classes follows from the methods.
func TestFoundDefaults(t *testing.T) {
	for name, c := range map[string]struct {
		text       string
		undeclared string
		classes    bool // found
		most       int
	}{
		"regression": {"data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\n", "found",
			false, 0},
		"version": {"version: 1\ndata: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\n",
			"found", false, 0},
		"classes": {"task: classification\ndata: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\n",
			"found", true, pipeline.DefaultMostClasses},
		"stated": {"task: classification\ndata: {path: a.csv, target: y, most_classes: 5}\nprivacy: {epsilon: 1}\n",
			"found", true, 5},
		"listed": {"task: classification\ndata: {path: a.csv, target: y, classes: [a, b]}\nprivacy: {epsilon: 1}\n",
			"found", false, 0},
		"two at most": {"task: classification\ndata: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\nselection: {method: kendall, k: 2}\n",
			"found", true, 2},
		"told how many": {"task: classification\ndata: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\nselection: {k: 2}\n",
			"found", true, 2},
		"search": {"data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\nsearch: {candidates: [{model: {method: joint-gram}}, {model: {method: adassp}}]}\n",
			"found", false, 0},
		"numbers": {"data: {path: a.csv, target: y, undeclared: numbers}\nprivacy: {epsilon: 1}\n",
			"numbers", false, 0},
		"basic": {"data: {path: a.csv, target: y}\nprivacy: {epsilon: 1, composition: basic}\n",
			"numbers", false, 0},
		"tukey": {"data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\nmodel: {method: tukey}\n",
			"numbers", false, 0},
		"private columns": {"data: {path: a.csv, target: y, columns: {x: {private: true}}}\nprivacy: {epsilon: 1, relation: substitute-private-columns}\n",
			"numbers", false, 0},
		"declared": {"data: {path: a.csv, target: y, columns: {y: {lower: 0, upper: 1}}}\nprivacy: {epsilon: 1}\nscaling: {method: declared}\n",
			"numbers", false, 0},
	} {
		r, problems := Parse(name, []byte(c.text))
		if problems != nil {
			t.Errorf("%s: %v", name, problems)
			continue
		}
		got := r.Undeclared()
		if got != c.undeclared {
			t.Errorf("%s: undeclared is %s", name, got)
		}
		if got := r.Classes().Found; got != c.classes {
			t.Errorf(
				"%s: classes are found: %v",
				name, got,
			)
		}
		public, err := r.Public()
		if err != nil {
			t.Fatal(err)
		}
		back, problems := Parse(
			name,
			[]byte(strings.Replace(
				string(public),
				"\ndata:\n",
				"\ndata:\n  path: a.csv\n",
				1,
			)),
		)
		if problems != nil ||
			back.Data.Undeclared != c.undeclared ||
			back.Data.Classes.Found != c.classes ||
			back.Data.MostClasses != c.most {
			t.Errorf(
				"%s: published\n%s\n%v",
				name, public, problems,
			)
		}
	}
}

// TestEarlierDefaults checks that a recipe published by an earlier version keeps the defaults of that version, with
// and without a table, and that a recipe written by a user does not.
func TestEarlierDefaults(t *testing.T) {
	const published = `version: 1
task: classification
data:
  target: y
  header: [x, y]
  multiline_quotes: false
  classes: private
privacy:
  epsilon: 1
  delta: 1e-06
  relation: add-remove
  composition: tight
holdout: 0.2
scaling:
  method: private
selection:
  method: auto
model:
  method: auto
  fallback: none
`
	for _, text := range []string{
		published,
		strings.Replace(
			published, "  target: y",
			"  path: a.csv\n  target: y",
			1,
		),
	} {
		r, problems := Parse("", []byte(text))
		if problems != nil {
			t.Fatal(problems)
		}
		if r.Undeclared() != "numbers" || r.Data.MostClasses != 2 {
			t.Errorf(
				"undeclared %s, %d classes",
				r.Undeclared(), r.Data.MostClasses,
			)
		}
	}
	for change, most := range map[string]int{
		"  composition: tight\n":      pipeline.DefaultMostClasses,
		"  multiline_quotes: false\n": pipeline.DefaultMostClasses,
		"holdout: 0.2\n":              pipeline.DefaultMostClasses,
	} {
		r, problems := Parse(
			"",
			[]byte(strings.Replace(published, change, "", 1)),
		)
		if problems != nil {
			t.Fatal(problems)
		}
		p, err := r.Pipeline([]string{"x", "y"})
		if err != nil ||
			r.Undeclared() != "found" ||
			p.MostClassesFound() != most {
			t.Errorf(
				"without %q: undeclared %s, %v",
				change, r.Undeclared(), err,
			)
		}
	}
	search := strings.Replace(
		strings.Replace(
			published, "  classes: private\n",
			"  classes: [a, b]\n", 1,
		),
		"selection:\n  method: auto\nmodel:\n  method: auto\n  fallback: none\n",
		"search:\n  runs: 5\n  holdout: 0.1\n  candidates:\n    - {selection: {method: none}, model: {method: joint-gram, fallback: none}}\n    - {selection: {method: none}, model: {method: adassp, fallback: none}}\n",
		1)
	r, problems := Parse("", []byte(search))
	if problems != nil ||
		r.Undeclared() != "numbers" ||
		r.Data.MostClasses != 0 {
		t.Errorf("a search: %v", problems)
	}
}
