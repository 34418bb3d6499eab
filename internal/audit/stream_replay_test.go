//go:build replay

package audit

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestStreamAgrees checks, for every example whose statistics are sums, that the engine with a scratch file gives the
// release of a table in memory under the same key, byte for byte, whether the table comes in 1, 3 or 17 files and is
// kept in chunks of several sizes. The scratch folder must be empty afterwards.
//
// Files and chunks are split in one place for all statistics. So an example is left out if earlier ones have all its
// statistics, and the others run with one number of files each, in turn. With -full, every example runs with all numbers.
func TestStreamAgrees(t *testing.T) {
	var refused []string
	covered := map[budget.Statistic]bool{}
	for i, file := range recipeFiles(t) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			m := memoryRunOf(t, file)
			r := m.r
			p := m.p
			plan := m.plan
			err := p.CheckEngine(plan, stream.Empty(p.Schema))
			if err != nil {
				if !errors.Is(err, pipeline.ErrEngine) {
					t.Error(err)
				}
				refused = append(refused, strings.TrimSuffix(filepath.Base(file), ".yaml"))
				return
			}
			if more := addStatistics(covered, plan); !more && !*full {
				return
			}
			chunks := map[int]int{1: 0, 3: 257, 17: 64} // by the number of files
			if !*full {
				files := []int{1, 3, 17}[i%3]
				chunks = map[int]int{files: chunks[files]}
			}
			for cuts, chunk := range chunks {
				folder := t.TempDir()
				e, stats, err := stream.Open(
					t.Context(),
					stream.Source{
						Path:   cutFile(t, r.DataFile(), cuts),
						Folder: folder,
						Chunk:  chunk,
					},
					p.Schema,
				)
				if err != nil {
					t.Fatal(err)
				}
				m.compareOn(t, e, stats, fmt.Sprintf("%d files", cuts))
				if err := e.Close(); err != nil {
					t.Error(err)
				}
				if left, err := os.ReadDir(folder); err != nil || len(left) > 0 {
					t.Errorf(
						"%d files are left in the scratch folder: %v",
						len(left), err,
					)
				}
			}
		})
	}
	want := strings.Fields(
		"brc-paper brc-pure brc dpfs-substitute dpfsdr-sizes logistic-output private-columns-brc private-target-classes search-dpfsdr svm keys-brc keys-svm pure-logistic-substitute pure-svm")
	slices.Sort(want)
	slices.Sort(refused)
	if !slices.Equal(refused, want) {
		t.Errorf(
			"these examples need memory: %q, want %q",
			refused, want,
		)
	}
}

// cutFile splits a CSV file into several of unequal length with the same header, and returns their pattern.
func cutFile(t *testing.T, path string, parts int) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	header, rest, _ := strings.Cut(string(data), "\n")
	lines := strings.SplitAfter(strings.TrimSuffix(rest, "\n"), "\n")
	dir := t.TempDir()
	at := 0
	for i := range parts {
		end := len(lines) * (i + 1) * (i + 1) / (parts * parts)
		text := header + "\n" + strings.Join(lines[at:end], "")
		at = end
		err := os.WriteFile(
			filepath.Join(dir, fmt.Sprintf("part-%02d.csv", i)),
			[]byte(text),
			0o600,
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "part-*.csv")
}
