package look_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ui/look"
)

// TestUnitColumnsAreRecognised checks that exactly the columns that identify the owners of records are recognised.
func TestUnitColumnsAreRecognised(t *testing.T) {
	const rows = 30_000
	type answer struct{ looks, byName bool }
	columns := []struct {
		name string
		cell func(i int) string
		want answer
	}{
		{
			"patient_id",
			func(i int) string {
				return fmt.Sprint(100_000 + i/3)
			},
			answer{true, true},
		},
		{
			"customerNo",
			func(i int) string {
				return fmt.Sprintf("K-%04d", i%900)
			},
			answer{true, true},
		},
		{
			"case",
			func(i int) string {
				return fmt.Sprintf("case %d/%d", i/2%7000, i%2)
			},
			answer{true, false},
		},
		{
			"record_id",
			func(i int) string {
				return fmt.Sprint(i)
			},
			answer{},
		}, // all distinct
		{
			"user_id",
			func(i int) string {
				return fmt.Sprint(i % 5)
			},
			answer{},
		}, // too few
		{
			"account no",
			func(i int) string {
				return []string{fmt.Sprint(i / 4), "", ""}[i%3]
			},
			answer{},
		}, // mostly missing
		{"age", func(i int) string {
			return fmt.Sprint(18 + i%70)
		}, answer{}},
		{"income", func(i int) string {
			return fmt.Sprint(20_000 + i*7%9_000)
		}, answer{}},
		{
			"area",
			func(i int) string {
				return fmt.Sprintf("%.2f", 40+float64(i%9000)/100)
			},
			answer{},
		},
		{
			"price",
			func(i int) string {
				return fmt.Sprintf("%d kg", i%9000)
			},
			answer{},
		}, // numbers with units
		{
			"seen",
			func(i int) string {
				return fmt.Sprintf(
					"2024-%02d-%02d",
					1+i%12, 1+i/12%28,
				)
			},
			answer{},
		},
		{
			"user_date",
			func(i int) string {
				return fmt.Sprintf(
					"2024-%02d-%02d",
					1+i%12, 1+i/12%28,
				)
			},
			answer{},
		},
		{
			"colour",
			func(i int) string {
				return []string{"red", "green", "blue"}[i%3]
			},
			answer{},
		},
		{
			"identity",
			func(i int) string {
				return fmt.Sprint(i / 3)
			},
			answer{},
		}, // starts with "id" by accident
	}
	var b strings.Builder
	for j, c := range columns {
		if j > 0 {
			b.WriteByte(',')
		}
		b.WriteString(c.name)
	}
	for i := range rows {
		b.WriteByte('\n')
		for j, c := range columns {
			if j > 0 {
				b.WriteByte(',')
			}
			b.WriteString(c.cell(i))
		}
	}
	path := filepath.Join(t.TempDir(), "t.csv")
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	table, err := look.CountCells(t.Context(), path, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range columns {
		looks, byName := table.Columns[j].Identifies(table.Rows)
		got := (answer{looks, byName})
		if got != c.want {
			t.Errorf(
				"%s: %+v, want %+v (%.0f values)",
				c.name,
				got,
				c.want,
				table.Columns[j].Different(),
			)
		}
	}
	// The standard error of the estimate is 1.6% (1/√4096). An error of five times that has a probability of about
	// one in a million.
	for name, want := range map[string]float64{"record_id": rows, "case": 14_000} {
		for j := range table.Columns {
			c := &table.Columns[j]
			if c.Name == name &&
				math.Abs(c.Different()/want-1) > .08 {
				t.Errorf(
					"%s: about %.0f different values, and there are %.0f",
					name,
					c.Different(),
					want,
				)
			}
		}
	}
}

// TestNamesUnit checks names that indicate an identifier, and names that do not.
func TestNamesUnit(t *testing.T) {
	for name, want := range map[string]bool{
		"patient_id":       true,
		"PatientID":        true,
		"userId":           true,
		"Customer No":      true,
		"ID":               true,
		"person":           true,
		"household-nr":     true,
		"e-mail":           true,
		"email":            true,
		"client code":      true,
		"age":              false,
		"idle":             false,
		"paid":             false,
		"video":            false,
		"member since":     false,
		"patient age":      false,
		"zip code":         false,
		"number of visits": false,
		"":                 false,
		"käufe":            false,
	} {
		if look.NamesUnit(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
