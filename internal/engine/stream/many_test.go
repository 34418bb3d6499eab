package stream

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestStreamBeyond32Bits checks that records after the 2^32nd have their own identities, and therefore their own
// coins, on every engine that knows where a piece starts, and that a table ends at the limit of the run.
func TestStreamBeyond32Bits(t *testing.T) {
	path := t.TempDir() + "/t.csv"
	const rows, first = 1000, 1<<32 + 7
	if err := os.WriteFile(path, []byte("x\n"+strings.Repeat("1\n", rows)), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{Columns: []dataset.Column{{Name: "x", Kind: dataset.Numeric}}}
	source := Source{
		Path:   path,
		Folder: t.TempDir(),
		Chunk:  300,
	}
	e, _, err := Open(t.Context(), source, schema)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	low := make([]uint64, 0, rows)
	for i := range e.chunks {
		e.chunks[i].first += first
	}
	coins := testCoins(7)
	want := 0
	folded := 0
	for k := range uint64(rows) {
		if coins.Heads(first+k, .5) {
			want++
			low = append(low, first+k)
		}
		if coins.Heads(uint64(uint32(first+k)), .5) { // the coin that 32 bits would give
			folded++
		}
	}
	_, heads := mechanism.RecordsOf(e, []int{0}).Deal(coins, .5)
	n, err := heads.Len(t.Context())
	if err != nil || n != want || want == folded {
		t.Errorf(
			"%d records have heads, want %d (%d with identities of 32 bits): %v",
			n,
			want,
			folded,
			err,
		)
	}
	v, err := heads.View(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := make([]uint64, v.Len())
	for k := range got {
		got[k] = v.ID(k)
	}
	if !slices.Equal(got, low) {
		t.Error("the identities are others")
	}
	source.Most = rows
	if e, _, err := Open(t.Context(), source, schema); err != nil {
		t.Errorf("as many as there may be: %v", err)
	} else {
		_ = e.Close()
	}
	source.Most = rows - 1
	_, _, err = Open(t.Context(), source, schema)
	if !errors.Is(err, dataset.ErrTooLarge) {
		t.Errorf("one too many: %v", err)
	}
}
