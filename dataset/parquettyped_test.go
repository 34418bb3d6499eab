package dataset

import (
	"context"
	"encoding/csv"
	"strings"
	"testing"
	"time"
)

// typedRow has a column of every kind of stored number, and dates and times.
type typedRow struct {
	Int     int64     `parquet:"int"`
	Small   int32     `parquet:"small"`
	Natural uint32    `parquet:"natural"`
	Double  float64   `parquet:"double"`
	Float   float32   `parquet:"float"`
	Cents   int64     `parquet:"cents,decimal(2:18)"`
	True    bool      `parquet:"true"`
	Text    string    `parquet:"text"`
	Maybe   *float64  `parquet:"maybe,optional"`
	Day     int32     `parquet:"day,date"`
	Moment  time.Time `parquet:"moment,timestamp(microsecond:local)"`
	Clock   int32     `parquet:"clock,time(millisecond:local)"`
}

// TestParquetCellsAreThoseOfText checks that stored numbers, dates and times are the cells of the CSV file with the
// same values: under declared codes of missing cells, under a decimal comma, and as categories and units.
func TestParquetCellsAreThoseOfText(t *testing.T) {
	x := -999.
	at := time.Date(2024, 2, 29, 13, 5, 0, 250_000_000, time.UTC)
	before := time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC)
	path := writeParquet(t, []typedRow{
		{
			-999, -999, 999, -999, -999,
			-99900, true, "-999", &x, 19782,
			at, 47_100_000,
		},
		{
			1, 2, 3, 4.5, .25, 150,
			false, "4,5", nil, -1, before,
			1,
		},
		{
			7, 7, 7, 7, 7, 700, true,
			"7.0", &x, 0, before, 0,
		},
	})
	const header = "int,small,natural,double,float,cents,true,text,maybe,day,moment,clock"
	const points = `-999,-999,999,-999,-999,-999.00,true,-999,-999,2024-02-29,2024-02-29 13:05:00.25,13:05:00
1,2,3,4.5,0.25,1.50,false,"4,5",,1969-12-31,1969-12-31 23:59:59,00:00:00.001
7,7,7,7,7,7.00,true,7.0,-999,1970-01-01,1969-12-31 23:59:59,00:00:00
`
	commas := strings.NewReplacer("4.5", `"4,5"`, "0.25,1.50", `"0,25","1,50"`,
		"-999.00", `"-999,00"`, "7.00", `"7,00"`).Replace(points)
	names := strings.Split(header, ",")
	for title, c := range map[string]struct {
		text   string
		format Format
	}{
		"plain":   {points, Format{}},
		"missing": {points, Format{Missing: []float64{-999, 999, 1}}},
		"comma":   {commas, Format{Decimal: ','}},
		"comma codes": {
			commas,
			Format{Decimal: ',', Missing: []float64{-999, 4.5, .25}},
		},
		"strict": {points, Format{Strict: true, Missing: []float64{7}}},
	} {
		for _, as := range []string{"numbers", "categories"} {
			records, err := csv.NewReader(strings.NewReader(c.text)).ReadAll()
			if err != nil {
				t.Fatal(err)
			}
			var s Schema
			for j, name := range names {
				column := Column{Name: name}
				if as == "categories" {
					column.Kind = Category
					column.Other = true
					for _, r := range records {
						text := r[j]
						if text != "" && column.categoryIndex(text) < 0 {
							column.Categories = append(column.Categories, text)
						}
					}
				}
				s.Columns = append(s.Columns, column)
			}
			want, wantStats, err := ReadFrom(
				context.Background(),
				strings.NewReader(header+"\n"+c.text),
				"stdin",
				s,
				ReadOptions{Format: c.format},
			)
			if err != nil {
				t.Fatal(title, err)
			}
			got, stats, err := Read(
				context.Background(),
				path,
				s,
				ReadOptions{Format: c.format},
			)
			if err != nil {
				t.Fatal(title, err)
			}
			for j, column := range s.Columns {
				if column.Kind == Category {
					for i, code := range want.Codes(j) {
						if got.Codes(j)[i] != code {
							t.Errorf(
								"%s: %s: category %d, want %d",
								title,
								column.Name,
								got.Codes(j)[i],
								code,
							)
						}
					}
					continue
				}
				equalFloats(
					t, title+": "+column.Name,
					got.Float(j), want.Float(j),
				)
				if stats.Columns[j].Missing != wantStats.Columns[j].Missing {
					t.Errorf(
						"%s: %s: %d missing cells, want %d",
						title,
						column.Name,
						stats.Columns[j].Missing,
						wantStats.Columns[j].Missing,
					)
				}
			}
		}
	}
}

// categoryIndex returns the position of a category, or -1.
func (c *Column) categoryIndex(category string) int {
	for k, known := range c.Categories {
		if known == category {
			return k
		}
	}
	return -1
}
