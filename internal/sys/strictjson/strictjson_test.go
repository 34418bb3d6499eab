package strictjson

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

type point struct {
	X float64  `json:"x"`
	Y *float64 `json:"y,omitempty"`
}

type common struct {
	Name string `json:"name"`
}

type file struct {
	common
	Inner  point    `json:",inline"`
	Count  int      `json:"count" format:"1,3?"`
	On     bool     `json:"on" format:"2,3"`
	Points []point  `json:"points"`
	Nested *nested  `json:"nested" layout:"line"`
	Open   []nested `json:"open,omitempty" layout:"open"`
	Any    any      `json:"any,omitempty"`
	Raw    Value    `json:"raw,omitempty"`
	Grid   [][]int  `json:"grid,omitempty"`
}

type nested struct {
	List []string `json:"list"`
}

type (
	circle struct {
		Radius float64 `json:"radius"`
		Label  string  `json:"label"`
	}
	square struct {
		Label string  `json:"label"`
		Side  float64 `json:"side"`
	}
	shape struct {
		Name string `json:"name"`
		*circle
		Square *square `json:",inline"`
		Colour string  `json:"colour"`
	}
)

// TestSectionMembersAreRequired: the members of a section are required where the section is set, and unknown where it
// is nil, also if another section has a member of that name.
func TestSectionMembersAreRequired(t *testing.T) {
	const round, angular = `{"name":"a","radius":2,"label":"r","colour":"red"}`, `{"name":"a","label":"s","side":3,"colour":"red"}`
	for text, want := range map[string]shape{
		round: {
			Name:   "a",
			circle: &circle{2, "r"},
			Colour: "red",
		},
		angular: {
			Name:   "a",
			Square: &square{"s", 3},
			Colour: "red",
		},
		`{"name":"a","colour":"red"}`: {Name: "a", Colour: "red"},
	} {
		got := shape{}
		if want.circle != nil {
			got.circle = new(circle)
		}
		if want.Square != nil {
			got.Square = new(square)
		}
		doc, err := Parse([]byte(text))
		if err == nil {
			err = doc.Decode(&got, "1")
		}
		diff := cmp.Diff(want, got, cmp.AllowUnexported(shape{}))
		if err != nil || diff != "" {
			t.Errorf(
				"%s: %v %s",
				text, err, diff,
			)
		}
		file, err := Encode(&got, "1")
		short := strings.NewReplacer(
			"\n", "", "  ", "",
			": ", ":",
		).Replace(string(file))
		if err != nil || short != text {
			t.Errorf(
				"%s was encoded as %s, %v",
				text, short, err,
			)
		}
	}
	for _, c := range []struct {
		text  string
		shape shape
		want  string
	}{
		{round, shape{}, `1:13: unknown key "radius"`},
		{round, shape{Square: new(square)}, `1:13: unknown key "radius"`},
		{angular, shape{circle: new(circle)}, `1:25: unknown key "side"`},
		{
			`{"name":"a","colour":"red"}`,
			shape{circle: new(circle)},
			`1:1: key "radius" is absent`,
		},
	} {
		doc, err := Parse([]byte(c.text))
		if err != nil {
			t.Fatal(err)
		}
		if err := doc.Decode(&c.shape, "1"); err == nil || err.Error() != c.want {
			t.Errorf(
				"%s: %v, want %s",
				c.text, err, c.want,
			)
		}
	}
}

func decodeFile(text, version string) (file, error) {
	var f file
	doc, err := Parse([]byte(text))
	if err != nil {
		return f, err
	}
	return f, doc.Decode(&f, version)
}

func TestDecode(t *testing.T) {
	y := 2.5
	for text, want := range map[string]file{
		`{"name":"a","x":1,"y":2.5,"on":true,"points":[],"nested":null}`: {
			common: common{"a"},
			Inner:  point{1, &y},
			On:     true,
			Points: []point{},
		},
		" {\n\"nested\" : { \"list\":[ \"\\u0041\\\"\" , \"]}\" ] },\t\"points\":[{\"x\":-1e3},{\"y\":2.5,\"x\":0}],\"on\":false,\"x\":1,\"name\":\"\",\"count\":7}\r\n": {
			Inner:  point{1, nil},
			Count:  7,
			Points: []point{{-1000, nil}, {0, &y}},
			Nested: &nested{[]string{"A\"", "]}"}},
		},
		`{"name":"","x":1,"on":true,"points":[],"nested":null,"any":{"a":[1,null,true,{"b":"c"}]},"grid":[[1,-2],[]]}`: {
			Inner:  point{1, nil},
			On:     true,
			Points: []point{},
			Grid:   [][]int{{1, -2}, {}},
			Any:    map[string]any{"a": []any{1., nil, true, map[string]any{"b": "c"}}},
		},
	} {
		got, err := decodeFile(text, "3")
		diff := cmp.Diff(
			want,
			got,
			cmp.AllowUnexported(file{}),
			cmp.AllowUnexported(Value{}),
		)
		if err != nil || diff != "" {
			t.Errorf(
				"%s: %v %s",
				text, err, diff,
			)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	const good = `{"name":"a","x":1,"on":true,"points":[{"x":2}],"nested":{"list":["b"]},"any":[{}]}`
	if _, err := decodeFile(good, "3"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{good, ``, `1:1: is not JSON: unexpected end of JSON input`},
		{
			good,
			good + " {}",
			`1:84: is not JSON: invalid character '{' after top-level value`,
		},
		{good, `[]`, `1:1: must be an object`},
		{
			`"a"`,
			"\"\xff\"",
			`1:10: is not valid UTF-8`,
		},
		{`"name"`, `"Name"`, `1:2: unknown key "Name"`},
		{
			`"name"`,
			`"count":1,` + "\n " + `"count":1,"name"`,
			`2:2: key "count" is repeated`,
		},
		{
			`"name":"a",`,
			``,
			`1:1: key "name" is absent`,
		},
		{
			`{"x":2}`,
			`{"x":2,"x":3}`,
			`1:46: points[0]: key "x" is repeated`,
		},
		{
			`{"x":2}`,
			`{"x":2},{"y":1}`,
			`1:47: points[1]: key "x" is absent`,
		},
		{
			`{"x":2}`,
			`{"x":2,"y":null}`,
			`1:50: points[0].y: must be a number`,
		},
		{
			`[{"x":2}]`,
			`{"x":2}`,
			`1:38: points: must be a list`,
		},
		{
			`{"x":2}`,
			`null`,
			`1:39: points[0]: must be an object`,
		},
		{
			`"x":1`,
			`"x":"1"`,
			`1:17: x: must be a number`,
		},
		{
			`"x":1`,
			`"x":1e999`,
			`1:17: x: must be a number within the range of float64`,
		},
		{
			`"x":1`,
			`"x":1,"count":1.5`,
			`1:27: count: must be a whole number`,
		},
		{
			`"x":1`,
			`"x":1,"count":"1"`,
			`1:27: count: must be a whole number`,
		},
		{
			`"x":1`,
			`"x":1,"count":12345678901234567890`,
			`1:27: count: must be a whole number`,
		},
		{`true`, `1`, `1:24: on: must be true or false`},
		{`true`, `"true"`, `1:24: on: must be true or false`},
		{
			`"name":"a"`,
			`"name":null`,
			`1:9: name: must be a string`,
		},
		{
			`["b"]`,
			`["b",3]`,
			`1:70: nested.list[1]: must be a string`,
		},
		{
			`["b"]`, `null`,
			`1:65: nested.list: must be a list`,
		},
		{
			`[{}]`,
			`[{"a":{"b":1,"b":2}}]`,
			`1:91: any: key "b" is repeated`,
		},
		{
			`"name"`,
			`"` + strings.Repeat("é", 30) + `":1,"name"`,
			`1:2: unknown key "` + strings.Repeat("é", 20) + `"...`,
		},
	} {
		text := strings.Replace(good, c.old, c.new, 1)
		_, err := decodeFile(text, "3")
		var e *Error
		if !errors.As(err, &e) || err.Error() != c.want {
			t.Errorf(
				"%s:\n%v, want\n%s",
				text, err, c.want,
			)
		}
	}
}

func TestVersions(t *testing.T) {
	for version, want := range map[string]string{
		"1": `1:31: unknown key "on"`,
		"2": `1:21: unknown key "count"`,
		"3": "",
		"4": `1:21: unknown key "count"`,
	} {
		_, err := decodeFile(
			`{"name":"a","x":1,  "count":1,"on":true,"points":[],"nested":null}`,
			version,
		)
		if want == "" && err != nil ||
			want != "" && (err == nil || err.Error() != want) {
			t.Errorf(
				"version %s: %v, want %s",
				version, err, want,
			)
		}
	}
	type later struct {
		Needed int `json:"needed" format:"3+"`
		Spare  int `json:"spare" format:"2,4+?"`
	}
	for version, want := range map[string]string{
		"2":  `key "needed" unknown`,
		"3":  `key "spare" unknown`,
		"4":  "",
		"10": "",
		"":   `both unknown`,
	} {
		sch := newSchema(version)
		var got string
		fields := sch.fieldsOf(reflect.TypeFor[later]())
		switch needed, spare := findField(fields, "needed"), findField(fields, "spare"); {
		case needed < 0 && spare < 0:
			got = "both unknown"
		case needed < 0:
			got = `key "needed" unknown`
		case spare < 0:
			got = `key "spare" unknown`
		case fields[needed].use != required || fields[spare].use != optional:
			got = "another use"
		}
		if got != want {
			t.Errorf(
				"version %q of a key that is known from a version on: %q, want %q",
				version,
				got,
				want,
			)
		}
	}
	_, err := decodeFile(
		`{"name":"a","x":1,"points":[],"nested":null}`,
		"1",
	)
	if err == nil ||
		!strings.HasSuffix(err.Error(), `key "count" is absent`) {
		t.Errorf("%v", err)
	}
}

func TestEncode(t *testing.T) {
	y := .1
	f := &file{
		common: common{"<a>"},
		Inner:  point{1, &y},
		On:     true,
		Points: []point{{1e21, nil}, {-0.5, &y}},
		Nested: &nested{},
		Open:   []nested{{[]string{"b"}}, {}},
		Any:    map[string]any{"b": 1., "a": nil},
	}
	got, err := Encode(f, "2")
	const want = `{
  "name": "<a>",
  "x": 1,
  "y": 0.1,
  "on": true,
  "points": [
    {"x":1e+21},
    {"x":-0.5,"y":0.1}
  ],
  "nested": {"list":[]},
  "open": [
    {
      "list": ["b"]
    },
    {
      "list": []
    }
  ],
  "any": {"a":null,"b":1}
}
`
	diff := cmp.Diff(want, string(got))
	if err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
	f.Inner.X = math.Inf(1)
	if _, err := Encode(f, "2"); err == nil {
		t.Error("an infinity was written")
	}
	if line, err := Line([]any{"<", 1}); err != nil || line != `["<",1]` {
		t.Error(line, err)
	}
}

func TestRawAndText(t *testing.T) {
	doc, err := Parse([]byte(`{"a":[{"b":1},{"kind":"x","b":3}],"kind":"y"}`))
	if err != nil {
		t.Fatal(err)
	}
	var f struct {
		A    []Value `json:"a"`
		Kind string  `json:"kind"`
	}
	if err := doc.Decode(&f, ""); err != nil || len(f.A) != 2 {
		t.Fatal(err)
	}
	if kind, err := f.A[1].Text("kind"); kind != "x" || err != nil {
		t.Error(kind, err)
	}
	_, err = f.A[0].Text("kind")
	if err == nil ||
		err.Error() != `1:7: key "kind" is absent` {
		t.Error(err)
	}
	_, err = f.A[1].Text("b")
	if err == nil ||
		err.Error() != `1:31: b: must be a string` {
		t.Error(err)
	}
	for path, want := range map[string]string{
		"":         "1:1: p",
		"a[1].b":   "1:31: a[1].b: p",
		"a[1].c.d": "1:15: a[1].c.d: p",
		"a[7]":     "1:6: a[7]: p",
		"kind":     "1:42: kind: p",
		"x.y":      "1:1: x.y: p",
	} {
		got := doc.Problem(path, "p").Error()
		if got != want {
			t.Errorf(
				"%q: %s, want %s",
				path, got, want,
			)
		}
	}
	got := (&Error{Path: "[1].b"}).InValue("a").InValue(
		"scores[0]").Path
	if got != "scores[0].a[1].b" {
		t.Error(got)
	}
}

func TestRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		f := file{
			common: common{text.Draw(t, "name")},
			Points: []point{},
			On:     rapid.Bool().Draw(t, "on"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "points") {
			y := rapid.Float64Range(-math.MaxFloat64, math.MaxFloat64).Draw(t, "y")
			f.Points = append(f.Points, point{y / 3, &y})
		}
		f.Nested = &nested{rapid.SliceOfN(text, 1, 3).Draw(t, "list")}
		data, err := Encode(&f, "2")
		if err != nil {
			t.Fatal(err)
		}
		got, err := decodeFile(string(data), "2")
		diff := cmp.Diff(
			f,
			got,
			cmp.AllowUnexported(file{}),
			cmp.AllowUnexported(Value{}),
		)
		if err != nil || diff != "" {
			t.Fatalf(
				"%s: %v %s",
				data, err, diff,
			)
		}
	})
}

// FuzzDecode checks that arbitrary bytes are either read, or rejected with a position.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(
		`{"name":"a","x":1,"on":true,"points":[{"x":2}],"nested":{"list":["b"]},"any":[{}],"raw":{"x":[1]}}`))
	f.Add([]byte(`[{"a":1.5e-3},"\u0000"]`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, err := decodeFile(string(data), "3")
		var e *Error
		if err != nil &&
			(!errors.As(err, &e) || e.Line < 1 || e.Column < 1) {
			t.Fatalf("%v", err)
		}
	})
}
