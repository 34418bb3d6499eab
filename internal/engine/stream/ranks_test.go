package stream

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
)

// TestRanksOfStream checks that pairs of a part are counted as in memory, for any number of records held at a time,
// and that space in the file is reused.
func TestRanksOfStream(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,k,y\n")
	for i := range 3000 {
		x := fmt.Sprint(i * 7919 % 3001)
		if i%11 == 0 {
			x = ""
		}
		fmt.Fprintf(
			&text,
			"%s,%c,%d\n",
			x, 'a'+rune(i%4),
			(i*7919%3001+i*31%500)/20,
		)
	}
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "x"},
		{
			Name:       "k",
			Kind:       dataset.Category,
			Categories: []string{"a", "b", "c"},
			Other:      true,
		},
		{Name: "y"},
	}}
	table, _, err := dataset.Read(
		t.Context(), path, schema,
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	cut := testCoins(2)
	part := mechanism.Part{
		Columns: []int{0, 1, 2},
		Cuts:    []mechanism.Cut{{Coin: &cut, Share: .3}},
	}
	v, err := memory.New(table.View()).Gather(t.Context(), part)
	if err != nil {
		t.Fatal(err)
	}
	b := v.Block(0, v.Len())
	ranks := []*kendall.Ranks{
		kendall.Rank(b.Float(0, nil), nil),
		kendall.RankCodes(b.Codes(1, nil), nil),
		kendall.Rank(b.Float(2, nil), nil),
	}
	e, _, err := Open(
		t.Context(),
		Source{
			Path:   path,
			Folder: t.TempDir(),
			Chunk:  257,
		},
		schema,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, most := range []int{1, 10, 256, rankedRows} {
		var size int64
		for range 2 {
			for j, target := range ranks {
				got, err := e.concordanceIn(t.Context(), part, 2, j, most)
				if err != nil {
					t.Fatal(err)
				}
				for i := range got {
					want := kendall.S(ranks[i], target, nil)
					if got[i] != want || want == 0 {
						t.Errorf(
							"columns %d and %d, %d records held: %d, in memory %d",
							i,
							j,
							most,
							got[i],
							want,
						)
					}
				}
			}
			if size > 0 && e.file.Size() > 2*size {
				t.Errorf(
					"the file grows from %d to %d bytes",
					size, e.file.Size(),
				)
			}
			size = e.file.Size()
		}
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := e.Concordance(ended, part, 2, 2); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
