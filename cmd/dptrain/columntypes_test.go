package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

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
		records = append(
			records,
			record{
				Area:  float64(i),
				Items: []int64{1, 2},
				Price: float64(2 * i),
			},
		)
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
			args := []string{
				verb,
				"--data", "lists.parquet",
				"--target", "price",
				"--epsilon", "0.1",
				"--exclude", excluded,
			}
			if verb == "fit" {
				args = append(args,
					"--ledger", "my.ledger",
					"--dataset", "houses",
					"--out", "refused",
				)
			}
			got := dptrain(t, args...)
			if got.code != exitData ||
				!strings.Contains(got.stderr,
					`column "`+refused+`" has the unsupported Parquet type list or group`) ||
				!strings.Contains(got.stderr, "--exclude") ||
				strings.Contains(got.stderr, "remains spent") {
				t.Errorf(
					"%s without %q: exit code %d, %s",
					verb,
					excluded,
					got.code,
					got.stderr,
				)
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
	got := dptrain(t, "fit",
		"--data", "lists.parquet",
		"--target", "price",
		"--epsilon", "0.1",
		"--exclude", "items,pair",
		"--out", "trained",
	)
	if got.code != 0 {
		t.Errorf(
			"without both columns: exit code %d, %s",
			got.code, got.stderr,
		)
	}
}

// TestStoredDatesAreNoted checks that plan and fit note dates of a Parquet file that no declaration covers, once, and that
// they are texts, as in the CSV file of the same table.
func TestStoredDatesAreNoted(t *testing.T) {
	chdirTemp(t)
	type record struct {
		Day int32   `parquet:"day,date"`
		X   float64 `parquet:"x"`
		Y   float64 `parquet:"y"`
	}
	var records []record
	text := "day,x,y\n"
	for i := range 400 {
		day := int32(19700 + i%200)
		records = append(records, record{day, float64(i % 7), float64(i % 13)})
		text += fmt.Sprintf(
			"%s,%d,%d\n",
			time.Unix(int64(day)*24*60*60, 0).UTC().Format(time.DateOnly),
			i%7,
			i%13,
		)
	}
	if err := parquet.WriteFile("t.parquet", records); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "t.csv", text)
	const note = `note: t.parquet: the dates in ["day"] are read as text; add --date day=auto`
	for _, verb := range []string{"plan", "fit"} {
		for flags, want := range map[string]int{
			"":                1,
			"--date day=auto": 0,
			"--exclude day":   0,
		} {
			args := append(
				[]string{
					verb, "--data", "t.parquet",
					"--target", "y", "--epsilon",
					"1",
				},
				strings.Fields(flags)...,
			)
			if verb == "fit" {
				args = append(args, "--out", "out", "--force")
			}
			r := dptrain(t, args...)
			if r.code != exitOK || strings.Count(r.stderr, note) != want {
				t.Errorf(
					"%s %s: %d, %s",
					verb, flags, r.code, r.stderr,
				)
			}
		}
	}
	counts := map[string]string{}
	for _, name := range []string{"t.parquet", "t.csv"} {
		r := dptrain(
			t, "look", name, "--target",
			"y", "--force",
		)
		if r.code != exitOK {
			t.Fatalf("%+v", r)
		}
		_, profile, _ := strings.Cut(
			readFile(t, "look/curator/look.txt"),
			"\n",
		)
		counts[name] = strings.ReplaceAll(profile, name, "t")
	}
	r := dptrain(t, "fit",
		"--data", "t.parquet",
		"--target", "day",
		"--epsilon", "1",
		"--force",
	)
	if r.code !=
		exitRecipe || !strings.Contains(r.stderr, "as dates, but regression needs numbers") {
		t.Errorf("a target of dates: %+v", r)
	}
	if counts["t.csv"] != counts["t.parquet"] {
		t.Errorf(
			"look differs:\n%s\n%s",
			counts["t.csv"],
			counts["t.parquet"],
		)
	}
}
