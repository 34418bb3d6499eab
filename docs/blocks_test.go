package docs

import (
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/recipe"
)

// TestBlocks: every block says what it is in, and a block that the tests leave out says why.
func TestBlocks(t *testing.T) {
	languages := []string{"console", "sh", "yaml", "go", "json", "csv", "text", "sql", "python"}
	ran, skipped := 0, 0
	for name, p := range all(t) {
		for _, b := range p.Blocks {
			if !slices.Contains(languages, b.Language) {
				t.Errorf("%s:%d: a block in %q", name, b.Line, b.Language)
			}
			if b.Language != "sh" && b.Language != "console" {
				continue
			}
			reason, ok := b.Skipped()
			switch {
			case ok && reason == "":
				t.Errorf("%s:%d: no reason", name, b.Line)
			case ok:
				skipped++
			default:
				ran++
			}
		}
	}
	if ran < 10 || skipped > ran {
		t.Errorf("%d blocks are run, %d are not", ran, skipped)
	}
}

// TestRecipeBlocks: every recipe that a page shows is one. What a fragment leaves out is put
// before it; a recipe that is marked invalid is.
func TestRecipeBlocks(t *testing.T) {
	recipes := 0
	for name, p := range all(t) {
		for _, b := range p.Blocks {
			if b.Language != "yaml" {
				continue
			}
			recipes++
			_, problems := recipe.Parse(name, []byte(whole(b.Text)))
			if invalid := slices.Contains(strings.Fields(b.Options), "invalid"); invalid != (len(problems) > 0) {
				t.Errorf("%s:%d: invalid is %v, problems: %v", name, b.Line, invalid, problems)
			}
		}
	}
	if recipes < 8 {
		t.Errorf("%d recipes", recipes)
	}
}

// whole completes a fragment with the keys that every recipe must have.
func whole(text string) string {
	for _, section := range []struct{ key, text string }{
		{"data:", "data: {path: t.csv, target: y}\n"},
		{"privacy:", "privacy: {epsilon: 1}\n"},
	} {
		if !strings.HasPrefix(text, section.key) && !strings.Contains(text, "\n"+section.key) {
			text = section.text + text
		}
	}
	return text
}

// TestGoBlocks: every program that a page shows stands, line by line, in a file of the
// repository, so that it compiles.
func TestGoBlocks(t *testing.T) {
	var code []string
	for _, name := range filesOf(t, ".go") {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, level(string(text)))
	}
	programs := 0
	for name, p := range all(t) {
		for _, b := range p.Blocks {
			if b.Language != "go" {
				continue
			}
			programs++
			if !slices.ContainsFunc(code, func(file string) bool { return strings.Contains(file, level(b.Text)) }) {
				t.Errorf("%s:%d: the program stands in no file", name, b.Line)
			}
		}
	}
	if programs == 0 {
		t.Error("no program")
	}
}

// level removes the indentation of every line.
func level(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
