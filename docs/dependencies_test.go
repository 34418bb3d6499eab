package docs

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var required = regexp.MustCompile(`(?m)^\s*(?:require\s+)?([a-z0-9][a-z0-9.-]*\.[a-z]+/\S+|pgregory\.net/\S+) v\S+( // indirect)?$`)

// TestDependencies: CONTRIBUTING.md has a line for every module that this project requires by itself, and for no other. Modules
// that differ in their platform are one.
func TestDependencies(t *testing.T) {
	want := map[string]bool{}
	for _, dir := range []string{"..", "../sql", "../spark", "../adapter"} {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range required.FindAllStringSubmatch(string(text), -1) {
			if name := m[1]; m[2] == "" && !strings.HasPrefix(name, "github.com/dptrain/") {
				if before, _, found := strings.Cut(name, "duckdb-go-bindings/"); found {
					name = before + "duckdb-go-bindings"
				}
				want[name] = true
			}
		}
	}
	page, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Dependencies\n")
	section, _, _ = strings.Cut(section, "\n## ")
	got := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\| ([^|]+) \\| ([^|]+) \\|$").FindAllStringSubmatch(section, -1) {
		if got[m[1]] {
			t.Errorf("%s has two lines", m[1])
		}
		got[m[1]] = true
	}
	if len(want) < 20 {
		t.Fatalf("only %d modules were found: %v", len(want), want)
	}
	if a, b := slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got)); !slices.Equal(a, b) {
		t.Errorf("required: %v\nlisted: %v", a, b)
	}
}
