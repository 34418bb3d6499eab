package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestPitfallsNameTests checks that each row of docs/proofs/pitfalls.md names existing tests.
func TestPitfallsNameTests(t *testing.T) {
	page := readFile(t, "../../docs/proofs/pitfalls.md")
	name := regexp.MustCompile("`([a-z/]+)\\.((?:Test|Fuzz)\\w+)`")
	rows := 0
	tests := 0
	for line := range strings.Lines(page) {
		if !strings.HasPrefix(line, "| ") ||
			strings.HasPrefix(line, "| pitfall") ||
			strings.HasPrefix(line, "| ---") {
			continue
		}
		rows++
		cells := strings.Split(line, " | ")
		if !regexp.MustCompile(`^(critical|theoretical|negligible)( |$)`).MatchString(cells[1]) {
			t.Errorf("no severity: %s", line)
		}
		named := name.FindAllStringSubmatch(cells[len(cells)-1], -1)
		if len(named) == 0 {
			t.Errorf("no test: %s", line)
		}
		for _, n := range named {
			tests++
			if !isTest(t, n[1], n[2]) {
				t.Errorf(
					"there is no %s in %s",
					n[2], n[1],
				)
			}
		}
	}
	if rows < 40 || tests < rows {
		t.Errorf("%d rows, %d tests", rows, tests)
	}
}

// isTest reports whether a test function exists in a package or in one below internal/.
func isTest(t *testing.T, pkg, name string) bool {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(
		"..", "..", pkg,
		"*_test.go",
	))
	if err != nil {
		t.Fatal(err)
	}
	for _, below := range []string{
		"internal",
		filepath.Join("internal", "*"),
	} {
		more, err := filepath.Glob(filepath.Join(
			"..", "..", below, pkg,
			"*_test.go",
		))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), "\nfunc "+name+"(") {
			return true
		}
	}
	return false
}

// TestPlanFitsATerminal checks that a price has lines of at most 80 characters, except for the two numbers of a
// black box, and that every step is listed below its node.
func TestPlanFitsATerminal(t *testing.T) {
	for _, name := range []string{
		"classes", "search",
		"dpfsdr-sizes", "brc-pure",
	} {
		got := dptrain(
			t, "plan",
			"../../examples/"+name+".yaml",
		)
		if got.code != 0 ||
			!strings.Contains(got.stdout, "\nfit/holdout/") && name != "brc-pure" {
			t.Errorf("%s: %+v", name, got)
		}
		for line := range strings.Lines(got.stdout) {
			if utf8.RuneCountInString(line) > 81 {
				t.Errorf("%s: %s", name, line)
			}
		}
	}
}
