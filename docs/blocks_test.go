package docs

import (
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit/pages"
)

// TestBlocks checks that every block names its language and uses only known options.
func TestBlocks(t *testing.T) {
	languages := []string{
		"console", "sh", "yaml", "go",
		"json", "csv", "text", "sql",
		"python",
	}
	for name, p := range readPages(t) {
		for _, b := range p.Blocks {
			if !slices.Contains(languages, b.Language) {
				t.Errorf(
					"%s:%d: a block in %q",
					name, b.Line, b.Language,
				)
			}
			odd := b.Unknown()
			if len(odd) > 0 {
				t.Errorf(
					"%s:%d: options %q",
					name, b.Line, odd,
				)
			}
		}
	}
}

// TestBlocksAreRun checks that every block of commands is run in one of three ways: by TestPages, which runs the
// blocks of the pages that it reads; by .ci/run, which has each of its lines; or by scripts/long.sh pages, with a
// reason. Both scripts run the tests that they claim to run.
func TestBlocksAreRun(t *testing.T) {
	ci := readScript(t, ".ci/run")
	long := readScript(t, "scripts/long.sh")
	if !strings.Contains(ci,
		"\nstep scripts/runtimes.sh go test -tags replay -timeout 20m ./...\n") {
		t.Error(".ci/run does not run TestPages")
	}
	if !strings.Contains(long,
		"step scripts/runtimes.sh go test -tags replay ./cmd/dptrain -run '^TestPages$'") {
		t.Error("scripts/long.sh does not run TestPages")
	}
	count := map[string]int{}
	for name, p := range readPages(t) {
		for _, b := range p.Blocks {
			if b.Language != "sh" && b.Language != "console" {
				continue
			}
			count[b.Runner()]++
			read := path.Dir(name) == "." ||
				path.Dir(name) == "docs" ||
				path.Dir(path.Dir(name)) == "docs"
			switch {
			case !read:
				t.Errorf(
					"%s:%d: TestPages does not read this page",
					name, b.Line,
				)
			case b.Runner() == pages.CI:
				for line := range strings.Lines(b.Text) {
					line = strings.TrimSpace(line)
					if line != ".ci/run" && !strings.Contains(ci, line) {
						t.Errorf(
							"%s:%d: .ci/run does not run %s",
							name, b.Line, line,
						)
					}
				}
			case b.Runner() == pages.Long && b.Reason() == "":
				t.Errorf(
					"%s:%d: no reason",
					name, b.Line,
				)
			case b.Runner() != pages.Long && b.Runner() != pages.Tests:
				t.Errorf(
					"%s:%d: by %s",
					name, b.Line, b.Runner(),
				)
			}
		}
	}
	if count[pages.Tests] < 40 ||
		count[pages.Long] > count[pages.Tests]/2 {
		t.Errorf("%v", count)
	}
}

// TestLongParts checks that scripts/long.sh has every part that a page names. It runs pages itself, so
// scripts/long.sh pages leaves such lines out.
func TestLongParts(t *testing.T) {
	_, parts, _ := strings.Cut(
		readScript(t, "scripts/long.sh"),
		"case $part in ",
	)
	parts, _, _ = strings.Cut(parts, ")")
	for name, p := range readPages(t) {
		for _, b := range p.Blocks {
			for line := range strings.Lines(b.Text) {
				line, _, _ = strings.Cut(line, "#")
				words := strings.Fields(line)
				if len(words) > 1 &&
					words[0] == "scripts/long.sh" &&
					!slices.Contains(strings.Split(parts, " | "), words[1]) {
					t.Errorf(
						"%s:%d: no part %s",
						name, b.Line, words[1],
					)
				}
			}
		}
	}
}

func readScript(t *testing.T, name string) string {
	t.Helper()
	text, err := fs.ReadFile(tree, name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestRecipeBlocks checks that every recipe on a page is valid. A fragment is completed with the missing fields
// first, and a recipe that is marked invalid must be invalid.
func TestRecipeBlocks(t *testing.T) {
	recipes := 0
	for name, p := range readPages(t) {
		for _, b := range p.Blocks {
			if b.Language != "yaml" {
				continue
			}
			recipes++
			_, problems := recipe.Parse(name, []byte(completeRecipe(b.Text)))
			invalid := slices.Contains(
				strings.Fields(b.Options),
				"invalid",
			)
			if invalid != (len(problems) > 0) {
				t.Errorf(
					"%s:%d: invalid is %v, problems: %v",
					name, b.Line, invalid, problems,
				)
			}
		}
	}
	if recipes < 8 {
		t.Errorf("%d recipes", recipes)
	}
}

// completeRecipe completes a fragment with the keys that every recipe must have.
func completeRecipe(text string) string {
	for _, section := range []struct{ key, text string }{
		{"data:", "data: {path: t.csv, target: y}\n"},
		{"privacy:", "privacy: {epsilon: 1}\n"},
	} {
		if !strings.HasPrefix(text, section.key) &&
			!strings.Contains(text, "\n"+section.key) {
			text = section.text + text
		}
	}
	return text
}

// TestGoBlocks checks that every program on a page occurs, line by line, in a file of the repository, so that it
// compiles.
func TestGoBlocks(t *testing.T) {
	var code []string
	for _, name := range filesOf(t, ".go") {
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		code = append(code, trimLines(string(text)))
	}
	programs := 0
	for name, p := range readPages(t) {
		for _, b := range p.Blocks {
			if b.Language != "go" {
				continue
			}
			programs++
			if !slices.ContainsFunc(code, func(file string) bool {
				return strings.Contains(file, trimLines(b.Text))
			}) {
				t.Errorf(
					"%s:%d: the program stands in no file",
					name, b.Line,
				)
			}
		}
	}
	if programs == 0 {
		t.Error("no program")
	}
}

// trimLines removes the indentation of every line.
func trimLines(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	return strings.Join(lines, "\n")
}
