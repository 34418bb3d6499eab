//go:build golearn || replay

package bench

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
)

// TestGolearnClassifiersRun checks that the methods of golearn read categories, are more accurate than the share of
// the largest class, and claim no guarantee.
func TestGolearnClassifiersRun(t *testing.T) {
	c := Config{
		Public:     true,
		Data:       []string{loans},
		Task:       "classification",
		Target:     "repaid",
		Categories: true,
		Trials:     1,
		Rows:       2000,
		Methods: []string{
			"golearn-knn",
			"none+golearn-id3",
			"golearn-forest",
		},
	}
	summaries, err := Run(context.Background(), c, func(r Row) {
		if r.Private || r.Epsilon != 0 || r.Err != nil {
			t.Errorf("%+v", r)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range summaries {
		if s.Trials != 1 || s.Median < .72 || s.Private {
			t.Errorf("%+v", s)
		}
	}
}

// TestNeighboursOfNumbers checks that of golearn's methods nearest neighbours also predict numbers, and that a trial
// with the same seed has the same value.
func TestNeighboursOfNumbers(t *testing.T) {
	all, err := os.ReadFile("../../testdata/houses.csv")
	if err != nil {
		t.Fatal(err)
	}
	const records = 800
	houses := filepath.Join(t.TempDir(), "houses.csv")
	lines := bytes.SplitAfterN(all, []byte("\n"), records+2)
	if err := os.WriteFile(houses, bytes.Join(lines[:records+1], nil), 0o600); err != nil {
		t.Fatal(err)
	}
	var values []float64
	for range 2 {
		_, err := Run(
			context.Background(),
			Config{
				Public:  true,
				Data:    []string{houses},
				Target:  "price",
				Trials:  1,
				Methods: []string{"golearn-knn"},
			},
			func(r Row) {
				if r.Private ||
					r.Epsilon != 0 ||
					r.Err != nil ||
					r.Value < .5 {
					t.Errorf("%+v", r)
				}
				values = append(values, r.Value)
			},
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(values) != 2 || values[0] != values[1] {
		t.Errorf("values %v", values)
	}
}
