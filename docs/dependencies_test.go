package docs

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var required = regexp.MustCompile(
	`(?m)^\s*(?:require\s+)?([a-z0-9][a-z0-9.-]*\.[a-z]+/\S+|pgregory\.net/\S+) v\S+( // indirect)?$`)

// dependencyRow matches a row of DEPENDENCIES.md: module, use, maintainer and replacement.
var dependencyRow = regexp.MustCompile(
	"(?m)^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\| ([^|]+) \\|$")

// TestDependencies checks that DEPENDENCIES.md has a row for every module that a go.mod of the repository requires
// directly, and no other rows. Modules that differ only in their platform share a row.
func TestDependencies(t *testing.T) {
	want := map[string]bool{}
	for _, dir := range []string{
		"..", "../experiments",
		"../sql", "../spark",
		"../scripts/pack",
	} {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range required.FindAllStringSubmatch(string(text), -1) {
			name := m[1]
			if m[2] == "" &&
				!strings.HasPrefix(name, "github.com/dptrain/") {
				before, _, found := strings.Cut(name, "duckdb-go-bindings/")
				if found {
					name = before + "duckdb-go-bindings"
				}
				want[name] = true
			}
		}
	}
	page, err := os.ReadFile("../DEPENDENCIES.md")
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]bool{}
	for _, m := range dependencyRow.FindAllStringSubmatch(string(page), -1) {
		if got[m[1]] {
			t.Errorf("%s has two rows", m[1])
		}
		got[m[1]] = true
	}
	if len(want) < 20 {
		t.Fatalf(
			"only %d modules were found: %v",
			len(want), want,
		)
	}
	a := slices.Sorted(maps.Keys(want))
	b := slices.Sorted(maps.Keys(got))
	if !slices.Equal(a, b) {
		t.Errorf(
			"required: %v\nlisted: %v",
			a, b,
		)
	}
}

// TestImportingCompilesFewModules checks that a program that imports the root package compiles at most ten modules besides
// this one and those of the Go project.
func TestImportingCompilesFewModules(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", "..")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	modules := strings.Fields(string(out))
	slices.Sort(modules)
	modules = slices.DeleteFunc(slices.Compact(modules), func(module string) bool {
		return module == "github.com/dptrain/dptrain" || strings.HasPrefix(module, "golang.org/x/")
	})
	if len(modules) == 0 || len(modules) > 10 {
		t.Errorf("%d modules: %q", len(modules), modules)
	}
}
