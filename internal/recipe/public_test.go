package recipe

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// TestPublicHeader checks that a published recipe with the columns of the table describes the same run as one without
// them.
func TestPublicHeader(t *testing.T) {
	src := "data: {path: x.csv, target: y, exclude: ['007']}\nprivacy: {epsilon: 1}\n"
	r, problems := Parse("r.yml", []byte(src))
	if problems != nil {
		t.Fatal(problems)
	}
	r.Data.Header = []string{
		"007", "no", "a: b # c",
		"1e3", "null", "öl\tx",
		"y",
	}
	text, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	again, problems := Parse("recipe.yaml", text)
	if problems != nil {
		t.Fatalf("%v in\n%s", problems, text)
	}
	want, err := r.Pipeline(r.Data.Header)
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Pipeline(again.Data.Header)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) ||
		again.DataFile() != "" {
		t.Errorf("%+v, want %+v", got, want)
	}
	if twice, err := again.Public(); err != nil || !bytes.Equal(text, twice) {
		t.Errorf("%v: %s", err, twice)
	}
}

// TestLongHeader checks that the header is left out of a recipe that would be too long to read with it.
func TestLongHeader(t *testing.T) {
	r := Default()
	r.Data.Target = "y"
	r.Privacy.Epsilon = 1
	for i := range 30 {
		r.Data.Header = append(
			r.Data.Header,
			strings.Repeat(string(rune('a'+i)), MaxSize/30),
		)
	}
	text, err := r.Public()
	if err != nil ||
		len(text) > MaxSize ||
		bytes.Contains(text, []byte("header")) {
		t.Errorf(
			"%d bytes, %v",
			len(text), err,
		)
	}
	r.Data.Header = r.Data.Header[:3]
	if text, err = r.Public(); err != nil || !bytes.Contains(text, []byte("header")) {
		t.Errorf(
			"%d bytes, %v",
			len(text), err,
		)
	}
}
