package parquetfile

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// TestFields checks that the fields of a schema are those that the Parquet library sees, regardless of other
// parts of the footer.
func TestFields(t *testing.T) {
	type nested struct {
		A int32
		B []string
	}
	type row struct {
		Flag   bool
		Inside nested
		Deep   map[string]nested
		Small  uint16
		Day    int32    `parquet:",date"`
		When   int64    `parquet:",timestamp(microsecond)"`
		Money  int64    `parquet:",decimal(2:10)"`
		Key    [16]byte `parquet:",uuid"`
		Text   *string
		Many   []float64
		Last   float32
	}
	var file bytes.Buffer
	if err := parquet.Write(&file, []row{{}}); err != nil {
		t.Fatal(err)
	}
	at := bytes.NewReader(file.Bytes())
	f, ok := ReadFooter(at, at.Size())
	if !ok {
		t.Fatal("the footer is refused")
	}
	fields, ok := f.Fields()
	if !ok {
		t.Fatal("the schema is refused")
	}
	pf, err := parquet.OpenFile(at, at.Size())
	if err != nil {
		t.Fatal(err)
	}
	columns := pf.Root().Columns()
	if len(columns) != len(fields) {
		t.Fatalf(
			"%d fields, the library has %d",
			len(fields), len(columns),
		)
	}
	for k, c := range columns {
		got := fields[k]
		plain := c.Leaf() && c.MaxRepetitionLevel() == 0
		if got.Name != c.Name() || (got.Leaf >= 0) != plain {
			t.Errorf(
				"field %d is %+v, the library has %v",
				k, got, c,
			)
		}
		if plain &&
			(got.Leaf != c.Index() ||
				int(got.Type.Kind) != int(c.Type().Kind()) ||
				got.String() != c.Type().String() ||
				got.Type.Optional != (c.MaxDefinitionLevel() > 0)) {
			t.Errorf(
				"%s is %v (%+v), the library has %v at %d",
				got.Name,
				&got,
				got,
				c.Type(),
				c.Index(),
			)
		}
	}
}

// TestFieldsOfOldWriters checks that annotations from before logical types have the same meaning.
func TestFieldsOfOldWriters(t *testing.T) {
	for _, test := range []struct {
		element string // of the compact encoding: from the type on, after which the name "a" stands
		want    string
	}{
		{
			"\x15\x0C\x25\x02\x18\x01a\x25\x00\x00",
			"STRING",
		},
		{
			"\x15\x04\x25\x02\x18\x01a\x25\x1C\x00",
			"INT(64,false)",
		},
		{
			"\x15\x02\x25\x02\x18\x01a\x25\x0A\x15\x04\x15\x12\x00",
			"DECIMAL(9,2)",
		},
		{
			"\x15\x02\x25\x02\x18\x01a\x25\x0C\x00",
			"DATE",
		},
		{
			"\x15\x04\x25\x02\x18\x01a\x25\x14\x00",
			"TIMESTAMP(isAdjustedToUTC=false,unit=MICROS)",
		},
		{
			"\x15\x0E\x15\x0A\x15\x00\x18\x01a\x00",
			"FIXED_LEN_BYTE_ARRAY(5)",
		},
		{"\x15\x06\x25\x02\x18\x01a\x00", "INT96"},
	} {
		f := Footer{schema: []byte("\x2C\x48\x01r\x15\x02\x00" + test.element)}
		fields, ok := f.Fields()
		if !ok ||
			len(fields) != 1 ||
			fields[0].String() != test.want {
			t.Errorf(
				"%q is %v (%v), want %s",
				test.element, fields, ok, test.want,
			)
		}
	}
}

// TestDamagedSchemas reads trees that claim more or fewer elements than there are.
func TestDamagedSchemas(t *testing.T) {
	root := func(children string) string {
		return "\x48\x01r\x15" + children + "\x00"
	}
	leaf := "\x15\x02\x38\x01a\x00"
	group := func(children string) string {
		return "\x48\x01g\x15" + children + "\x00"
	}
	for _, test := range []struct {
		elements []string
		want     []string // names; nil for damaged
	}{
		{
			[]string{root("\x04"), leaf, leaf},
			[]string{"a", "a"},
		},
		{
			[]string{root("\x04"), group("\x02"), leaf, leaf},
			[]string{"g", "a"},
		},
		{
			[]string{root("\x04"), group("\x00"), leaf},
			[]string{"g", "a"},
		},
		{[]string{root("\x04"), leaf}, nil},
		{[]string{root("\x02"), leaf, leaf}, nil},
		{
			[]string{root("\x02"), group("\x04"), leaf},
			nil,
		},
		{
			[]string{root("\x02"), group("\x01"), leaf},
			nil,
		},
		{
			[]string{
				root("\x02"),
				group("\xFE\xFF\xFF\xFF\x0F"),
				leaf,
			},
			nil,
		},
		{nil, nil},
	} {
		f := Footer{schema: []byte(string(rune(len(test.elements)<<4|12)) +
			strings.Join(test.elements, ""))}
		fields, ok := f.Fields()
		var names []string
		for _, field := range fields {
			names = append(names, field.Name)
		}
		if ok != (test.want != nil) ||
			ok && !slices.Equal(names, test.want) {
			t.Errorf(
				"%q: fields %q, %v; want %q",
				test.elements, names, ok, test.want,
			)
		}
	}
}
