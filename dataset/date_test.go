package dataset

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// dateSchema has all parts of the dates in d.
func dateSchema(layout string) Schema {
	s := Schema{Columns: []Column{{Name: "x"}}}
	for _, p := range DateParts() {
		p.Name = "d." + p.Part
		p.Source = "d"
		p.Date = layout
		s.Columns = append(s.Columns, p)
	}
	return s
}

func TestDates(t *testing.T) {
	nan := math.NaN()
	for _, c := range []struct {
		layout, cell              string
		day, month, weekday, hour float64
	}{
		{"2006-01-02", "1970-01-01", 0, 1, 4, 0},
		{"2006-01-02", " 2024-02-29 ", 19782, 2, 4, 0},
		{"2006-01-02", "2023-02-29", nan, nan, nan, nan},
		{"2006-01-02", "", nan, nan, nan, nan},
		{
			"01/02/2006 15:04",
			"03/04/2024 06:30", 19786.270833333332,
			3, 1, 6.5,
		},
		{AutoDate, "03/04/2024", nan, nan, nan, nan},
		{AutoDate, "4.3.2024", 19786, 3, 1, 0},
		{
			AutoDate,
			"2024-03-04T23:59:00+05:00",
			19786.999305555557, 3, 1, 23.983333333333334,
		},
		{AutoDate, "20240304", 19786, 3, 1, 0},
		{AutoDate, "4 Mar 2024", 19786, 3, 1, 0},
		{AutoDate, "1969-12-31 12:00", -.5, 12, 3, 12},
		{AutoDate, "yesterday", nan, nan, nan, nan},
		{AutoDate, "NA", nan, nan, nan, nan},
	} {
		table, _ := readAll(
			t,
			"x,d\n7,\""+c.cell+"\"\n",
			dateSchema(c.layout), false,
		)
		for j, want := range []float64{
			7, c.day, c.month,
			c.weekday, c.hour,
		} {
			equalFloats(
				t, c.layout+" of "+c.cell,
				table.Float(j), []float64{want},
			)
		}
	}
}

// TestParquetDates checks that dates and timestamps in Parquet have the same parts as the same dates in text.
func TestParquetDates(t *testing.T) {
	type row struct {
		Date  int32     `parquet:"date,date"`
		Milli time.Time `parquet:"milli,timestamp(millisecond)"`
		Nano  time.Time `parquet:"nano,timestamp(nanosecond)"`
		Text  string    `parquet:"text"`
		Whole int64     `parquet:"whole"`
	}
	var rows []row
	for _, text := range []string{"2024-03-04 00:00:00", "1969-07-20 20:17:40",
		"2000-02-29 23:59:59"} {
		at, err := time.Parse(time.DateTime, text)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(
			rows,
			row{
				int32(momentIn(0, at.Unix(), 1, nil).Day),
				at,
				at,
				text,
				int64(at.Year()*10000 + int(at.Month())*100 + at.Day()),
			},
		)
	}
	path := writeParquet(t, rows)
	parts := map[string][]string{
		"date":  {cell.DayPart, cell.MonthPart, cell.WeekdayPart},
		"milli": nil,
		"nano":  nil,
		"text":  nil,
		"whole": {cell.MonthPart},
	}
	var s Schema
	for _, source := range []string{
		"text", "date", "milli", "nano",
		"whole",
	} {
		for _, p := range DateParts() {
			p.Name = source + "." + p.Part
			p.Source = source
			p.Date = AutoDate
			if source == "date" && p.Part == cell.DayPart {
				p.Name = "date.whole"
			}
			s.Columns = append(s.Columns, p)
		}
	}
	table, _, err := Read(context.Background(), path, s, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for j, c := range s.Columns {
		want := table.Float(s.Index("text." + c.Part))
		switch {
		case len(parts[c.Source]) > 0 && c.Part == cell.HourPart: // without a time
			continue
		case len(parts[c.Source]) > 0 && c.Part == cell.DayPart:
			want = []float64{
				math.Floor(want[0]),
				math.Floor(want[1]),
				math.Floor(want[2]),
			}
		}
		equalFloats(t, c.Name, table.Float(j), want)
	}
	var g gathered
	if err := g.outcomeAfter(
		Stream(context.Background(), path, s, ReadOptions{Workers: 2, BatchRows: 2},
			g.newConsumer(s))); err.err != "" {
		t.Fatal(err.err)
	}
}

func TestDateFaults(t *testing.T) {
	for name, columns := range map[string][]Column{
		"layout": {{
			Name:   "a",
			Part:   cell.MonthPart,
			Source: "d",
			Date:   "Jan",
		}},
		"no part": {{Name: "a", Source: "d"}},
		"unknown part": {{
			Name:   "a",
			Part:   "year",
			Source: "d",
			Date:   AutoDate,
		}},
		"category": {{
			Name:   "a",
			Kind:   Category,
			Part:   cell.MonthPart,
			Source: "d",
			Date:   AutoDate,
		}},
		"read twice": {
			{Name: "d"},
			{
				Name:   "a",
				Part:   cell.MonthPart,
				Source: "d",
				Date:   AutoDate,
			},
		},
	} {
		err := (Schema{Columns: columns}).Validate()
		if !errors.Is(err, ErrSchema) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for layout, want := range map[string]bool{
		"2006-01-02":       true,
		"01/02/06":         true,
		"Jan 2006":         false,
		"15:04":            false,
		"":                 false,
		"auto":             true,
		"02.01.2006 15:04": true,
	} {
		if ReadsDates(layout) != want {
			t.Errorf("%q: %v", layout, !want)
		}
	}
	for _, layout := range DateLayouts() {
		if !ReadsDates(layout) {
			t.Errorf("%q reads no dates", layout)
		}
	}
}
