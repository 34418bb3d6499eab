package bench

import (
	"encoding/csv"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"github.com/dptrain/dptrain/dataset"
)

// A parquetLoan is a row of testdata/loans.csv with natural Parquet types.
type parquetLoan struct {
	Income  *float64 `parquet:"income,optional"`
	Age     *int64   `parquet:"age,optional"`
	Debt    *float64 `parquet:"debt,optional"`
	Late    *int32   `parquet:"late,optional"`
	Home    *string  `parquet:"home,optional,dict"`
	Purpose *string  `parquet:"purpose,optional"`
	Rating  *string  `parquet:"rating,optional,dict"`
	Repaid  *bool    `parquet:"repaid,optional"`
}

// asParquet writes testdata/loans.csv as Parquet and returns its path.
func asParquet(t *testing.T) string {
	t.Helper()
	f, err := os.Open(loans)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var rows []parquetLoan
	for _, cells := range lines[1:] {
		number := func(j int) *float64 {
			x, err := strconv.ParseFloat(cells[j], 64)
			if err != nil {
				return nil
			}
			return &x
		}
		text := func(j int) *string {
			if cells[j] == "" {
				return nil
			}
			return &cells[j]
		}
		r := parquetLoan{
			Income:  number(0),
			Debt:    number(2),
			Home:    text(4),
			Purpose: text(5),
			Rating:  text(6),
		}
		if x := number(1); x != nil {
			age := int64(*x)
			r.Age = &age
		}
		if x := number(3); x != nil {
			late := int32(*x)
			r.Late = &late
		}
		if cells[7] != "" {
			repaid := cells[7] == "yes"
			r.Repaid = &repaid
		}
		rows = append(rows, r)
	}
	path := filepath.Join(t.TempDir(), "loans.PARQUET")
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestRunParquet checks that a table has the same classes, categories and results as a CSV and as a Parquet file,
// even if its classes are booleans.
func TestRunParquet(t *testing.T) {
	path := asParquet(t)
	for _, target := range []string{"rating", "repaid"} {
		for _, classes := range [][]string{nil, {"fair", "weak", "very good"}} {
			if target == "repaid" && classes != nil {
				continue
			}
			var want Summary
			for _, data := range []string{loans, path} {
				summaries, err := Run(
					t.Context(),
					Config{
						Public:     true,
						Data:       []string{data},
						Task:       "classification",
						Target:     target,
						Classes:    classes,
						Categories: true,
						Trials:     2,
						Methods:    []string{"nonprivate-logistic"},
					},
					nil,
				)
				if err != nil {
					t.Fatal(err)
				}
				got := summaries[0]
				got.Seconds = 0
				if data == loans {
					want = got
				} else if got != want {
					t.Errorf(
						"%s: Parquet %+v, CSV %+v",
						target, got, want,
					)
				}
			}
			if want.Trials != 2 || want.Median < .5 {
				t.Errorf("%s: %+v", target, want)
			}
		}
	}
}

// TestPublicColumnsOfParquet checks that a Parquet file yields the same declarations as a CSV file of the same table.
func TestPublicColumnsOfParquet(t *testing.T) {
	path := asParquet(t)
	got, err := PublicColumns(
		t.Context(), path, "",
		[]string{"late"},
	)
	if err != nil {
		t.Fatal(err)
	}
	want, err := PublicColumns(
		t.Context(), loans, "",
		[]string{"late"},
	)
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range got {
		if c.Name == "repaid" {
			want[j].Categories = []string{"false", "true"}
		}
		if c.Kind != want[j].Kind ||
			!slices.Equal(c.Categories, want[j].Categories) {
			t.Errorf(
				"%s: %v %q, want %v %q",
				c.Name,
				c.Kind,
				c.Categories,
				want[j].Kind,
				want[j].Categories,
			)
		}
	}
}

// TestPublicColumnsTarget checks that a named target comes last, as classes, and that an error names unknown columns.
func TestPublicColumnsTarget(t *testing.T) {
	got, err := PublicColumns(t.Context(), loans, "late", nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := PublicColumns(t.Context(), loans, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, c := range want {
		if c.Name != "late" {
			names = append(names, c.Name)
		}
	}
	for j, c := range got[:len(got)-1] {
		if c.Name != names[j] {
			t.Errorf(
				"column %d is %q, want %q",
				j, c.Name, names[j],
			)
		}
	}
	c := got[len(got)-1]
	if c.Name != "late" ||
		c.Kind != dataset.Category ||
		len(c.Categories) < 2 {
		t.Errorf("%+v", c)
	}
	for _, unknown := range [][]string{{"none"}, {"late", "none"}} {
		_, err := PublicColumns(t.Context(), loans, unknown[0], unknown[1:])
		if !errors.Is(err, ErrColumn) {
			t.Errorf("%v: %v", unknown, err)
		}
	}
}

// TestDamagedParquet checks that a damaged file returns the error of the reader.
func TestDamagedParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.parquet")
	data, err := os.ReadFile(asParquet(t))
	if err != nil {
		t.Fatal(err)
	}
	half := len(data) / 3
	clear(data[half : half+200]) // clears pages; the footer is intact
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = Run(
		t.Context(),
		Config{
			Public:     true,
			Data:       []string{path},
			Task:       "classification",
			Categories: true,
			Methods:    []string{"nonprivate-svm"},
		},
		nil,
	)
	if !errors.Is(err, dataset.ErrCorrupt) ||
		!strings.Contains(err.Error(), "t.parquet") {
		t.Errorf("%v", err)
	}
}
