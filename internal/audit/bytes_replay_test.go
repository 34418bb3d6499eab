//go:build replay

package audit

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/publish/report"
)

var writeBytes = flag.Bool("write-bytes", false, "write testdata/releases.sha256 anew")

// TestReleasesKeepTheirBytes runs the examples under one key and compares the hash of every file of every release
// with testdata/releases.sha256. A change that is meant to change no release leaves that file alone. The released
// integers are the same on every processor, but the last digits of numbers computed from them are not, so only amd64
// is compared.
func TestReleasesKeepTheirBytes(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("the hashes are those of amd64")
	}
	if os.Getenv(secret.SeedVariable) != "" {
		t.Skip("the hashes are those of the tests' own seed, which names of units are hashed with")
	}
	const golden = "testdata/releases.sha256"
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example recipes: %v", err)
	}
	var lines []string
	for _, file := range files {
		for name, content := range memoryRunOf(t, file).fromMemory(t) {
			switch name {
			case "report.html": // derived from the other files; its wording may change
				continue
			case "report.json":
				content = withoutPage(t, content)
			}
			lines = append(
				lines,
				fmt.Sprintf(
					"%x  %s/%s",
					sha256.Sum256([]byte(content)),
					filepath.Base(file),
					name,
				),
			)
		}
	}
	lines = append(lines, studyBytes(t)...)
	slices.SortFunc(lines, func(a, b string) int {
		return strings.Compare(a[64:], b[64:])
	})
	if *writeBytes {
		err := os.WriteFile(
			golden,
			[]byte(strings.Join(lines, "\n")+"\n"),
			0o600,
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(
		strings.Split(strings.TrimSuffix(string(want), "\n"), "\n"),
		lines,
	)
	if diff != "" {
		t.Errorf(
			"other bytes than before (-want +got):\n%s",
			diff,
		)
	}
}

// withoutPage returns report.json without the hash of the page.
func withoutPage(t *testing.T, content string) string {
	t.Helper()
	r, err := report.Decode(strings.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	if r.Files.Page == "" {
		t.Error("the report does not name its page")
	}
	r.Files.Page = ""
	var b strings.Builder
	if err := report.Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
