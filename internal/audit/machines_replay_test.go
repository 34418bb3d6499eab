//go:build replay

package audit

import (
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
)

var machines = flag.String(
	"machines",
	"",
	"write what every release of the examples gave to this file",
)

// TestSameReleasesOnEveryMachine runs the examples under one key and, on request, writes a line with the hash of each
// release. scripts/long.sh compares the lines of amd64, 386 and, emulated, arm64, on which noise, coins and integer
// sums are the same.
func TestSameReleasesOnEveryMachine(t *testing.T) {
	if *machines == "" {
		t.Skip("compared by scripts/long.sh")
	}
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example recipes: %v", err)
	}
	var lines strings.Builder
	for _, file := range files {
		r, p, table := loadExample(t, file)
		recorder := mechanism.NewRecorder(1)
		if p.Search != nil {
			recorder.ForceTries(2)
		}
		recordRelease(t, r, p, planPipeline(t, p), table, recorder)
		for _, release := range recorder.Releases() {
			fmt.Fprintf(
				&lines,
				"%s %s %d %x\n",
				filepath.Base(file),
				release.Path,
				release.Draw,
				sha256.Sum256(fmt.Append(nil, release.Out, release.Words)),
			)
		}
	}
	if err := os.WriteFile(*machines, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
}
