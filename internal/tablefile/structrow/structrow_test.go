package structrow

import (
	"reflect"
	"strings"
	"testing"
)

type place struct{ Street string }

type house struct {
	place
	Area   float64 `dptrain:"area"`
	Rooms  *int
	Ocean  string `dptrain:"ocean"`
	Sold   bool
	Owner  string `dptrain:"owner,unit"`
	Hidden []byte `dptrain:"-"`
	note   string
}

// TestFields checks names, kinds, units and the fields that are left out, and that a nil pointer is a missing cell.
func TestFields(t *testing.T) {
	fields, err := Fields(reflect.TypeFor[*house]())
	if err != nil {
		t.Fatal(err)
	}
	rooms := 3
	row := reflect.ValueOf(house{
		place: place{"Elm"},
		Area:  70,
		Rooms: &rooms,
		note:  "no column",
	})
	var got []string
	for _, f := range fields {
		v, ok := f.Value(row)
		if !ok {
			t.Errorf("%s is missing", f.Name)
		}
		if f.Name == "Street" && v.String() != "Elm" ||
			f.Name == "Rooms" && v.Int() != 3 {
			t.Errorf("%s = %v", f.Name, v)
		}
		if f.Unit != (f.Name == "owner") {
			t.Errorf(
				"%s: unit %v",
				f.Name, f.Unit,
			)
		}
		got = append(
			got,
			f.Name+":"+map[Kind]string{
				Number: "n",
				Text:   "t",
				Truth:  "b",
			}[f.Kind],
		)
		if _, ok := f.Value(reflect.ValueOf((*house)(nil))); ok {
			t.Errorf("%s of no row", f.Name)
		}
	}
	want := "Street:t area:n Rooms:n ocean:t Sold:b owner:t"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
	_, ok := fields[2].Value(reflect.ValueOf(house{}))
	if ok {
		t.Error("a nil pointer has a value")
	}
}

// TestFieldsRejected checks that types without columns are rejected with the name of the field.
func TestFieldsRejected(t *testing.T) {
	for want, typ := range map[string]reflect.Type{
		"must be a struct": reflect.TypeFor[int](),
		"field When":       reflect.TypeFor[struct{ When []string }](),
		"unknown option": reflect.TypeFor[struct {
			A int `dptrain:"a,key"`
		}](),
		"the column name": reflect.TypeFor[struct {
			A int `dptrain:"x"`
			B int `dptrain:"x"`
		}](),
		"at most one": reflect.TypeFor[struct {
			A int `dptrain:"a,unit"`
			B int `dptrain:"b,unit"`
		}](),
	} {
		_, err := Fields(typ)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf(
				"%v: %v, want %s",
				typ, err, want,
			)
		}
	}
}
