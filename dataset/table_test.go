package dataset

import (
	"errors"
	"math"
	"strings"
	"testing"
)

func TestSchemaValidate(t *testing.T) {
	inf := math.Inf(1)
	nan := math.NaN()
	for _, c := range []struct {
		name   string
		schema Schema
		want   string // part of the message; "" when valid
	}{
		{"empty", Schema{}, ""},
		{
			"plain",
			Schema{Columns: []Column{
				{Name: "a"},
				{
					Name:       "b",
					Kind:       Category,
					Categories: []string{"x", ""},
				},
			}},
			"",
		},
		{
			"range",
			Schema{Columns: []Column{{
				Name:       "a",
				Ranged:     true,
				Lower:      -1,
				Upper:      1,
				HasMissing: true,
			}}},
			"",
		},
		{
			"no name",
			Schema{Columns: []Column{{}}},
			"column 1 has no name",
		},
		{
			"twice",
			Schema{Columns: []Column{{Name: "a"}, {Name: "a"}}},
			`"a" is declared twice`,
		},
		{
			"unit is a column",
			Schema{Columns: []Column{{Name: "a"}}, Unit: "a"},
			"privacy unit",
		},
		{
			"kind",
			Schema{Columns: []Column{{Name: "a", Kind: 7}}},
			"unknown kind",
		},
		{
			"infinite bound",
			Schema{Columns: []Column{{Name: "a", Ranged: true, Upper: inf}}},
			"not finite",
		},
		{
			"NaN bound",
			Schema{Columns: []Column{{Name: "a", Ranged: true, Lower: nan}}},
			"not finite",
		},
		{
			"empty range",
			Schema{Columns: []Column{{Name: "a", Ranged: true}}},
			"not below",
		},
		{
			"NaN missing",
			Schema{Columns: []Column{{Name: "a", HasMissing: true, Missing: nan}}},
			"missing value",
		},
		{
			"ranged category",
			Schema{Columns: []Column{{Name: "a", Kind: Category, HasMissing: true}}},
			"is a category",
		},
		{
			"categories of a number",
			Schema{Columns: []Column{{
				Name:       "a",
				Categories: []string{"x"},
			}}},
			"is numeric",
		},
		{
			"category twice",
			Schema{Columns: []Column{{
				Name:       "a",
				Kind:       Category,
				Categories: []string{"x", " x"},
			}}},
			"twice",
		},
	} {
		err := c.schema.Validate()
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" &&
			(!errors.Is(err, ErrSchema) || !strings.Contains(err.Error(), c.want)):
			t.Errorf(
				"%s: error %v, want one with %q",
				c.name, err, c.want,
			)
		}
	}
}

func TestSchemaReportsEverything(t *testing.T) {
	err := Schema{Columns: []Column{
		{}, {Name: "a"},
		{Name: "a", Kind: 9},
	}}.Validate()
	n := strings.Count(err.Error(), "invalid schema")
	if n != 3 {
		t.Errorf(
			"%d problems in %v, want 3",
			n, err,
		)
	}
}

func TestNewTableTotalRules(t *testing.T) {
	schema := Schema{Columns: []Column{
		{Name: "plain"},
		{
			Name:       "declared",
			HasMissing: true,
			Missing:    -7,
		},
		{
			Name:       "colour",
			Kind:       Category,
			Categories: []string{"red", "blue"},
		},
	}}
	in := []float64{
		1, math.NaN(),
		math.Inf(1),
		math.Inf(-1),
	}
	codes := []int32{0, 1, 5, -3}
	table, err := NewTable(
		schema,
		[]ColumnData{{Floats: in}, {Floats: in}, {Codes: codes}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	equalFloats(
		t, "plain", table.Float(0),
		[]float64{1, nan, nan, nan},
	)
	equalFloats(
		t, "declared", table.Float(1),
		[]float64{1, -7, -7, -7},
	)
	equalFloats(
		t, "the caller's slice", in,
		[]float64{1, nan, math.Inf(1), math.Inf(-1)},
	)
	got := table.Codes(2)
	if got[0] != 0 ||
		got[1] != 1 ||
		got[2] != 2 ||
		got[3] != 2 ||
		codes[2] != 5 {
		t.Errorf("codes %v from %v", got, codes)
	}
	if table.Len() != 4 ||
		table.ID(3) != 3 ||
		table.Float(2) != nil ||
		table.Codes(0) != nil {
		t.Error("length, identity or kinds are wrong")
	}
}

func TestNewTableRefusesShapes(t *testing.T) {
	num := Schema{Columns: []Column{
		{Name: "a"},
		{Name: "b"},
	}}
	two := []float64{1, 2}
	for name, f := range map[string]func() (*Table, error){
		"column count": func() (*Table, error) {
			return NewTable(num, []ColumnData{{Floats: two}}, nil)
		},
		"row count": func() (*Table, error) {
			return NewTable(
				num,
				[]ColumnData{{Floats: two}, {Floats: two[:1]}},
				nil,
			)
		},
		"kind": func() (*Table, error) {
			return NewTable(
				num,
				[]ColumnData{{Floats: two}, {Codes: []int32{1, 2}}},
				nil,
			)
		},
		"both": func() (*Table, error) {
			return NewTable(
				num,
				[]ColumnData{{Floats: two}, {Floats: two, Codes: []int32{1}}},
				nil,
			)
		},
		"identities": func() (*Table, error) {
			return NewTable(
				num,
				[]ColumnData{{Floats: two}, {Floats: two}},
				[]uint64{1},
			)
		},
		"unit without identities": func() (*Table, error) {
			s := num
			s.Unit = "person"
			return NewTable(s, []ColumnData{{Floats: two}, {Floats: two}}, nil)
		},
	} {
		_, err := f()
		if !errors.Is(err, ErrSchema) {
			t.Errorf(
				"%s: error %v, want ErrSchema",
				name, err,
			)
		}
	}
	table, err := NewTable(Schema{}, nil, []uint64{4, 5})
	if err != nil ||
		table.Len() != 2 ||
		table.ID(1) != 5 {
		t.Errorf("a table without columns: %v", err)
	}
}

func TestTableDoesNotShareTheSchema(t *testing.T) {
	s := Schema{Columns: []Column{{
		Name:       "c",
		Kind:       Category,
		Categories: []string{"x"},
	}}}
	table, err := NewTable(
		s,
		[]ColumnData{{Codes: []int32{0}}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	s.Columns[0].Name = "changed"
	s.Columns[0].Categories[0] = "changed"
	c := table.Schema().Columns[0]
	if c.Name != "c" || c.Categories[0] != "x" {
		t.Errorf("the table's schema changed to %+v", c)
	}
	if table.Schema().Index("c") != 0 ||
		table.Schema().Index("x") != -1 {
		t.Error("Index is wrong")
	}
}

// equalFloats compares bit for bit, except that any NaN equals any NaN.
func equalFloats(t *testing.T, what string, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf(
			"%s: %d values, want %d",
			what, len(got), len(want),
		)
	}
	for i := range got {
		if math.Float64bits(got[i]) != math.Float64bits(want[i]) &&
			!(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
			t.Errorf(
				"%s: value %d is %v, want %v",
				what, i, got[i], want[i],
			)
		}
	}
}
