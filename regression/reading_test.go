package regression

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// germanModel was trained on a table with decimal commas, -999 for missing numbers, and dates.
func germanModel() *Linear {
	m := &Linear{
		Target: "y",
		Lower:  -1e9,
		Upper:  1e9,
		Columns: []Column{
			{
				Name:    "x",
				Lower:   -1e6,
				Upper:   1e6,
				Missing: -777,
			},
			{
				Name:    "seen.days",
				Lower:   0,
				Upper:   1e5,
				Missing: 1,
			},
			{
				Name:    "seen.month",
				Lower:   1,
				Upper:   12,
				Missing: 6,
			},
			{
				Name:       "c",
				Type:       Category,
				Categories: []string{"1", "0"},
				Other:      true,
			},
		},
		Terms: []Term{
			{Column: 0, Coefficient: 1},
			{Column: 1, Coefficient: 1e-6},
			{Column: 2, Coefficient: 1e-9},
			{
				Column:      3,
				Category:    "1",
				Coefficient: 1000,
			},
		},
	}
	SetReading(m, func(column string, r *Reading) {
		r.Decimal = ','
		r.Thousands = '.'
		r.Missing = []float64{-999}
		if source, part, ok := strings.Cut(column, "."); ok {
			r.Source = source
			r.Part = part
			r.Date = "auto"
		}
	})
	return m
}

// TestReading checks that a model reads texts by the settings of its training table, and so does the model that
// its file restores, whether it is a regression model or a score of a classifier.
func TestReading(t *testing.T) {
	var file bytes.Buffer
	if err := EncodeModel(&file, germanModel()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"format": "dptrain.model/3"`,
		`"reading": {"decimal":",","thousands":".","missing":[-999],"dates":[{"column":"seen.days","source":"seen","part":"days","layout":"auto"},{"column":"seen.month"`} {
		if !strings.Contains(file.String(), want) {
			t.Errorf(
				"%s is not in the file:\n%s",
				want, file.String(),
			)
		}
	}
	read, err := DecodeModel(&file)
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(germanModel(), read)
	if diff != "" {
		t.Error(diff)
	}
	classifier := &Classifier{
		Target:  "y",
		Classes: []string{"a", "b"},
		Scores:  []Model{germanModel()},
	}
	file.Reset()
	if err := EncodeModel(&file, classifier); err != nil {
		t.Fatal(err)
	}
	again, err := DecodeModel(&file)
	if err != nil {
		t.Fatal(err)
	}
	diff = cmp.Diff(classifier, again)
	if diff != "" {
		t.Error(diff)
	}
	p, err := Compile(read)
	if err != nil {
		t.Fatal(err)
	}
	const (
		days  = 19737
		month = 1
	)
	at := time.Date(
		2024, 1, 15, 0, 0, 0, 0,
		time.FixedZone("", -5*3600),
	)
	for _, c := range []struct {
		record map[string]any
		want   float64
	}{
		{
			map[string]any{
				"x":    "1.234,5",
				"seen": "2024-01-15",
				"c":    "1,0",
			},
			1234.5 + days*1e-6 + month*1e-9 + 1000,
		},
		{
			map[string]any{
				"x":    1234.5,
				"seen": at,
				"c":    1.0,
			},
			1234.5 + days*1e-6 + month*1e-9 + 1000,
		},
		{
			map[string]any{
				"x":    "1234.5",
				"seen": 20240115,
				"c":    "0",
			},
			-777 + days*1e-6 + month*1e-9,
		},
		{
			map[string]any{
				"x":    -999,
				"seen": json.Number("20240115.0"),
				"c":    nil,
			},
			-777 + days*1e-6 + month*1e-9,
		},
		{
			map[string]any{
				"x":    "-999",
				"seen": "soon",
				"c":    true,
			},
			-777 + 1e-6 + 6e-9 + 1000,
		},
		{
			map[string]any{
				"x":          1,
				"seen":       nil,
				"seen.days":  5,
				"seen.month": 2,
				"c":          "",
			},
			1 + 5e-6 + 2e-9,
		},
	} {
		got, err := p.PredictRecord(c.record)
		if err != nil || math.Abs(got-c.want) > 1e-10 {
			t.Errorf(
				"%v: %v, %v; want %v",
				c.record, got, err, c.want,
			)
		}
	}
	american := germanModel()
	SetReading(american, func(_ string, r *Reading) {
		if r.Date != "" {
			r.Date = "01/02/2006"
		}
	})
	if p, err = Compile(american); err != nil {
		t.Fatal(err)
	}
	for cell, want := range map[any]float64{
		"01/15/2024": days*1e-6 + 1e-9,
		at:           days*1e-6 + 1e-9,
		&at:          days*1e-6 + 1e-9,
		"2024-01-15": 1e-6 + 6e-9,
	} {
		got, err := p.PredictRecord(map[string]any{"x": 0, "c": 0, "seen": cell})
		if err != nil || math.Abs(got-want) > 1e-10 {
			t.Errorf(
				"%v: %v, %v; want %v",
				cell, got, err, want,
			)
		}
	}
	_, err = p.PredictRecord(map[string]any{"x": 1, "c": 1})
	if !errors.Is(err, ErrColumnAbsent) ||
		!strings.Contains(err.Error(), `"seen"`) {
		t.Error(err)
	}
	rows := Rows{
		N:       2,
		Numeric: map[string][]float64{"x": {1, 2}},
		Labels: map[string][]string{
			"seen": {"2024-01-15 23:30:00 UTC", "?"},
			"c":    {" 1,0", "true"},
		},
	}
	got, err := read.Predict(nil, rows)
	want := []float64{
		1 + (days+84600./86400)*1e-6 + 1e-9 + 1000,
		2 + 1e-6 + 6e-9 + 1000,
	}
	if err != nil ||
		len(got) != 2 ||
		math.Abs(got[0]-want[0]) > 1e-9 ||
		math.Abs(got[1]-want[1]) > 1e-9 {
		t.Errorf(
			"%v, %v; want %v",
			got, err, want,
		)
	}
	delete(rows.Labels, "seen")
	if _, err := read.Predict(nil, rows); !errors.Is(err, ErrColumnAbsent) {
		t.Error(err)
	}
}

// TestReadingDefault checks that a model without settings for cells is written as before, and reads numbers
// leniently.
func TestReadingDefault(t *testing.T) {
	m := sampleModel()
	if hasReading(m) {
		t.Error("a model says something about cells")
	}
	var file bytes.Buffer
	err := EncodeModel(&file, m)
	if err != nil ||
		!strings.Contains(file.String(), `"dptrain.model/2"`) ||
		strings.Contains(file.String(), "reading") {
		t.Errorf(
			"%v\n%s",
			err, file.String(),
		)
	}
}

func TestReadingInvalid(t *testing.T) {
	for want, change := range map[string]func(column string, r *Reading){
		"reading.decimal": func(_ string, r *Reading) {
			r.Decimal = ';'
		},
		"reading.thousands": func(_ string, r *Reading) {
			r.Thousands = 'x'
		},
		"decimal mark too": func(_ string, r *Reading) {
			r.Thousands = ','
		},
		"not finite": func(_ string, r *Reading) {
			r.Missing = []float64{math.NaN()}
		},
		"in another way": func(column string, r *Reading) {
			r.Strict = column == "x"
		},
		"no source": func(_ string, r *Reading) {
			r.Source = ""
		},
		"no known part": func(_ string, r *Reading) {
			r.Part = "year"
		},
		"without year": func(_ string, r *Reading) {
			r.Date = "15:04"
		},
		"of dates holds numbers": func(column string, r *Reading) {
			if column == "c" {
				r.Source = "seen"
				r.Part = "days"
				r.Date = "auto"
			}
		},
	} {
		m := germanModel()
		SetReading(m, func(column string, r *Reading) {
			if column == "x" || column == "c" || r.Source != "" {
				change(column, r)
			}
			if column != "c" &&
				want == "no source" &&
				column != "seen.days" {
				*r = germanModel().Columns[0].Reading
			}
			if want == "no known part" || want == "without year" {
				if column == "x" || column == "c" {
					*r = germanModel().Columns[0].Reading
				}
			}
		})
		var problem *ModelError
		err := m.Validate()
		if !errors.As(err, &problem) ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	var file bytes.Buffer
	if err := EncodeModel(&file, germanModel()); err != nil {
		t.Fatal(err)
	}
	for old, change := range map[string][2]string{
		"reading.numbers": {
			`"thousands":"."`,
			`"numbers":"often"`,
		},
		"reading.decimal": {
			`"decimal":","`,
			`"decimal":",,"`,
		},
		"reading.dates[0].column": {
			`"column":"seen.days","source"`,
			`"column":"x y","source"`,
		},
		"unknown key": {
			`"dptrain.model/3"`,
			`"dptrain.model/2"`,
		},
	} {
		_, err := DecodeModel(
			strings.NewReader(
				strings.Replace(file.String(), change[0], change[1], 1)))
		if err == nil || !strings.Contains(err.Error(), old) {
			t.Errorf("%s: %v", old, err)
		}
	}
}
