package recipe

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

var writeReference = flag.Bool(
	"write",
	false,
	"write the tables of methods in docs/reference/recipe.md anew",
)

// TestReferenceTables compares the tables of methods and their keys in the reference with the lists of methods. With
// -write it writes the tables.
func TestReferenceTables(t *testing.T) {
	file := filepath.Join(
		"..", "..", "docs",
		"reference", "recipe.md",
	)
	old := string(readFile(t, file))
	page := old
	for name, table := range map[string]string{
		"selectors":         selectorTable(),
		"keys of selectors": keyTable(selectionSection),
		"trainers":          trainerTable(),
		"keys of trainers":  keyTable(modelSection),
	} {
		begin := "<!-- begin " + name + " -->\n"
		end := "<!-- end " + name + " -->\n"
		before, rest, ok := strings.Cut(page, begin)
		_, after, closed := strings.Cut(rest, end)
		if !ok || !closed {
			t.Fatalf(
				"%s has no place for the table of %s",
				file, name,
			)
		}
		page = before + begin + "\n" + table + "\n" + end + after
	}
	if page == old {
		return
	}
	if !*writeReference {
		t.Fatalf(
			"the tables of methods in %s are not those of the lists; run go test ./internal/recipe -run TestReferenceTables -write",
			file)
	}
	err := os.WriteFile(file, []byte(page), 0o644)
	if err != nil {
		t.Fatal(err)
	}
}

// newTable returns a table in Markdown.
func newTable(head ...string) *tableText {
	x := &tableText{}
	x.addRow(head...)
	x.addRow(slices.Repeat(
		[]string{"---"},
		len(head),
	)...)
	return x
}

type tableText struct{ strings.Builder }

func (x *tableText) addRow(cells ...string) {
	fmt.Fprintf(x, "| %s |\n", strings.Join(cells, " | "))
}

func selectorTable() string {
	x := newTable("selector", "keeps", "target", "relations")
	for _, m := range pipeline.Selectors() {
		relations := method.EveryRelation()
		if m.Private {
			relations = method.EveryRecord()
		}
		x.addRow(
			linkMethod(m.Name),
			m.Summary,
			targetText(!m.NeedsClasses, m.TwoClasses),
			relationNames(relations),
		)
	}
	return x.String()
}

func trainerTable() string {
	x := newTable("trainer", "is", "target", "relations")
	for _, m := range pipeline.Trainers() {
		is := m.Summary
		if m.Abstains {
			is += " (may abstain)"
		}
		x.addRow(
			linkMethod(m.Name),
			is,
			targetText(!m.ClassesOnly(), m.TwoClasses()),
			relationNames(m.Relations),
		)
	}
	return x.String()
}

// methodPages are the pages whose headings are names of methods.
var methodPages = []string{"regression", "classifiers", "columns"}

// linkMethod returns a name as code, linked to its heading on a page of methods if there is one.
func linkMethod(name string) string {
	for _, page := range methodPages {
		text, err := os.ReadFile(filepath.Join(
			"..", "..", "docs",
			"methods", page+".md",
		))
		if err == nil &&
			strings.Contains(string(text), "\n## "+name+"\n") {
			return "[" + asCode(name) + "](../methods/" + page + ".md#" + name + ")"
		}
	}
	return asCode(name)
}

func inlineCodes(words []string) string {
	var out []string
	for _, w := range words {
		out = append(out, asCode(w))
	}
	return strings.Join(out, ", ")
}

func targetText(numbers, twoClasses bool) string {
	classes := "classes"
	if twoClasses {
		classes = "two classes"
	}
	if numbers {
		return "a number, " + classes
	}
	return classes
}

func relationNames(relations []budget.Relation) string {
	if len(relations) == len(method.EveryRelation()) {
		return "all"
	}
	var out []string
	for _, r := range relations {
		out = append(out, r.String())
	}
	return inlineCodes(out)
}

func keyTable(section string) string {
	x := newTable("key", "methods", "value", "default", "meaning")
	for _, k := range keysOf(section) {
		if k.Common { // described once on the page, next to method
			continue
		}
		var values, defaults []string
		text := k.Text + "."
		for _, o := range k.owners {
			values = append(values, valueOf(o.key))
			defaults = append(defaults, defaultOf(o.key))
			if !strings.Contains(text, o.key.Doc) {
				text += " " + o.key.Doc
			}
		}
		x.addRow(
			asCode(section+"."+k.Name),
			inlineCodes(k.users()),
			joinByMethod(k, values),
			joinByMethod(k, defaults),
			text,
		)
	}
	return x.String()
}

func valueOf(k method.Key) string {
	switch k.Kind {
	case method.Word:
		return inlineCodes(k.Words)
	case method.Whole:
		if k.OpenEnded {
			return "a whole number, " + k.Bounds()
		}
		return "a whole number " + k.Bounds()
	case method.Number:
		return "a number " + k.Bounds()
	case method.Wholes:
		return fmt.Sprintf(
			"%d or more whole numbers, at least %s",
			k.Least, k.Written(k.Min),
		)
	case method.Flag:
		return inlineCodes([]string{"true", "false"})
	case method.Prices:
		return "a number per column, " + k.Bounds()
	}
	return fmt.Sprintf("%d or more columns", k.Least)
}

// TestInitListsWhatFits checks that a starter recipe lists only the methods for its task, and can be parsed.
func TestInitListsWhatFits(t *testing.T) {
	for _, x := range []struct {
		classes  []string
		has, not []string
	}{
		{
			nil,
			[]string{"kendall", "tukey", "joint-gram"},
			[]string{"dpfs", "svm", "brc"},
		},
		{
			[]string{"no", "yes"},
			[]string{"kendall", "tukey", "dpfs", "svm"},
			nil,
		},
		{
			[]string{"a", "b", "c"},
			[]string{"dpfs", "svm", "joint-gram"},
			[]string{"kendall", "tukey"},
		},
	} {
		text, err := Init(
			[]string{"x", "z", "y"},
			"t.csv", "y",
			Names{List: x.classes},
		)
		if err != nil {
			t.Fatal(err)
		}
		_, problems := Parse("starter", text)
		if len(problems) > 0 {
			t.Error(problems)
		}
		lists := func(name string) bool {
			return strings.Contains(string(text), "\n#   "+name+" ")
		}
		for _, name := range x.has {
			if !lists(name) {
				t.Errorf(
					"%d classes: %s is not listed",
					len(x.classes), name,
				)
			}
		}
		for _, name := range x.not {
			if lists(name) {
				t.Errorf(
					"%d classes: %s is listed",
					len(x.classes), name,
				)
			}
		}
	}
}
