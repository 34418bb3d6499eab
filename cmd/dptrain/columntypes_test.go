package main

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestColumnTypesAreRefusedBeforeTheyArePaidFor checks that every command that computes a price refuses a column of
// lists or groups and leaves the ledger unchanged. Without the column, the run succeeds.
func TestColumnTypesAreRefusedBeforeTheyArePaidFor(t *testing.T) {
	withLedger(t)
	type group struct {
		First  int64 `parquet:"first"`
		Second int64 `parquet:"second"`
	}
	type record struct {
		Area  float64 `parquet:"area"`
		Items []int64 `parquet:"items,list"`
		Pair  group   `parquet:"pair"`
		Price float64 `parquet:"price"`
	}
	var records []record
	for i := range 50 {
		records = append(records,
			record{Area: float64(i), Items: []int64{1, 2}, Price: float64(2 * i)})
	}
	if err := parquet.WriteFile("lists.parquet", records); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile("my.ledger")
	if err != nil {
		t.Fatal(err)
	}
	for excluded, refused := range map[string]string{"pair": "items", "items": "pair"} {
		for _, verb := range []string{"plan", "fit"} {
			args := []string{verb, "--data", "lists.parquet", "--target", "price", "--epsilon",
				"0.1", "--exclude", excluded}
			if verb == "fit" {
				args = append(args, "--ledger", "my.ledger", "--dataset", "houses", "--out",
					"refused")
			}
			got := dptrain(t, args...)
			if got.code != exitData ||
				!strings.Contains(got.stderr,
					`column "`+refused+`" has the unsupported Parquet type list or group`) ||
				!strings.Contains(got.stderr, "--exclude") ||
				strings.Contains(got.stderr, "remains spent") {
				t.Errorf("%s without %q: exit code %d, %s", verb, excluded, got.code, got.stderr)
			}
		}
	}
	after, err := os.ReadFile("my.ledger")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(after, before) {
		t.Error("the ledger has changed")
	}
	got := dptrain(t, "fit", "--data", "lists.parquet", "--target", "price", "--epsilon", "0.1",
		"--exclude", "items,pair", "--out", "trained")
	if got.code != 0 {
		t.Errorf("without both columns: exit code %d, %s", got.code, got.stderr)
	}
}
