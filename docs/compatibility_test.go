package docs

import (
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

var formatName = regexp.MustCompile(
	`dptrain\.(model|report|causal|describe|ledger|run|audit)/(\d+)`)

// TestCompatibility checks that the table "Formats" of docs/reference/compatibility.md names the newest version of
// every file format in the code.
func TestCompatibility(t *testing.T) {
	newest := map[string]int{}
	for _, name := range filesOf(t, ".go") {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		text, err := fs.ReadFile(tree, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range formatName.FindAllStringSubmatch(string(text), -1) {
			version, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			newest[m[1]] = max(newest[m[1]], version)
		}
	}
	listed := map[string]int{}
	for _, l := range readPages(t)["docs/reference/compatibility.md"].Prose {
		for _, m := range formatName.FindAllStringSubmatch(l.Text, -1) {
			version, err := strconv.Atoi(m[2])
			if err != nil {
				t.Fatal(err)
			}
			listed[m[1]] = max(listed[m[1]], version)
		}
	}
	if len(newest) != 7 {
		t.Errorf("formats %v", newest)
	}
	for name, version := range newest {
		if listed[name] != version {
			t.Errorf(
				"the newest format of %s is version %d, and the page lists version %d",
				name,
				version,
				listed[name],
			)
		}
	}
}
