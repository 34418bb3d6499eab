package cell

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// TestNames checks which listed name a text denotes; -1 means other, and -2 no value.
func TestNames(t *testing.T) {
	for _, c := range []struct {
		names string
		texts map[string]int
	}{
		{"0 1", map[string]int{
			"0":     0,
			"1":     1,
			"0.0":   0,
			"1.0":   1,
			"1.00":  1,
			"-0":    0,
			"01":    -1,
			"1.5":   -1,
			"1.":    -1,
			"true":  1,
			"False": 0,
			"T":     1,
			"f":     0,
			"10":    -1,
			"1e0":   -1,
			"1,0":   -1,
			"":      -2,
			"NA":    -2,
			"+Inf":  -2,
		}},
		{
			"0.0 1.0",
			map[string]int{
				"0":    0,
				"1":    1,
				"1.0":  1,
				"TRUE": 1,
				"1.00": 1,
			},
		},
		{
			"1 1.0 1.10",
			map[string]int{
				"1":    0,
				"1.0":  1,
				"1.10": 2,
				"1.00": -1,
				"1.1":  -1,
				"true": -1,
			},
		},
		{
			"1.0 1.10",
			map[string]int{
				"1":    0,
				"1.0":  0,
				"1.10": 1,
				"1.1":  -1,
			},
		},
		{
			"0 1 2",
			map[string]int{
				"2.0":  2,
				"true": -1,
				"t":    -1,
			},
		},
		{
			"0 1 NA",
			map[string]int{
				"true": 1,
				"NA":   2,
				"":     -2,
				"nan":  -2,
			},
		},
		{
			"true false",
			map[string]int{
				"true":  0,
				"True":  0,
				"TRUE":  0,
				"t":     0,
				"T":     0,
				"1":     0,
				"1.0":   0,
				"f":     1,
				"0":     1,
				"0.0":   1,
				"FALSE": 1,
				"yes":   -1,
				"2":     -1,
			},
		},
		{
			"True False unknown",
			map[string]int{
				"true":    0,
				"T":       0,
				"1":       0,
				"unknown": 2,
				"f":       1,
			},
		},
		{
			"true false 2",
			map[string]int{
				"True": 0,
				"1":    -1,
				"2.0":  2,
			},
		},
		{
			"true false t",
			map[string]int{
				"t":     2,
				"T":     -1,
				"f":     -1,
				"FALSE": 1,
			},
		},
		{
			"true True",
			map[string]int{
				"true": 0,
				"True": 1,
				"TRUE": -1,
				"1":    -1,
			},
		},
		{
			"true",
			map[string]int{
				"TRUE":  0,
				"1":     0,
				"false": -1,
				"0":     -1,
			},
		},
		{
			"f t",
			map[string]int{
				"t":     1,
				"f":     0,
				"T":     1,
				"true":  1,
				"FALSE": 0,
				"1.0":   1,
				"0":     0,
			},
		},
		{
			"f m",
			map[string]int{
				"f":     0,
				"F":     -1,
				"false": -1,
				"0":     -1,
				"t":     -1,
			},
		},
		{
			"f t x",
			map[string]int{
				"f":    0,
				"t":    1,
				"T":    -1,
				"true": -1,
				"1":    -1,
			},
		},
		{
			"None Mild",
			map[string]int{
				"None": 0,
				"Mild": 1,
				"NA":   -2,
				"":     -2,
			},
		},
		{
			"-1 007",
			map[string]int{
				"-1.0":  0,
				"7":     -1,
				"007":   1,
				"007.0": -1,
			},
		},
		{
			"Zoe\u0308 yes",
			map[string]int{
				"Zoë":       0,
				"Zoe\u0308": 0,
				"yes\u00a0": 1,
				"Zoe":       -1,
			},
		},
	} {
		list := strings.Fields(c.names)
		n := NewNames(list, Text{}, 0)
		for text, want := range c.texts {
			code, class := n.Find(text)
			got := int(code)
			switch {
			case class == Unlisted && got == len(list):
				got = -1
			case class == Missing && got == len(list):
				got = -2
			case class != Good:
				got = -3
			}
			if got != want {
				t.Errorf(
					"%q among %q: %d, class %d; want %d",
					text, list, code, class, want,
				)
			}
			known, ok := n.Known([]byte(text))
			if ok && int(known) != want {
				t.Errorf(
					"%q among %q is known as %d",
					text, list, known,
				)
			}
		}
	}
	comma := NewNames([]string{"1", "2"}, Text{}, ',')
	empty := NewNames([]string{"a", ""}, Text{}, 0)
	for _, c := range []struct {
		n     *Names
		text  string
		code  int32
		class Class
	}{
		{comma, "1,0", 0, Good},
		{comma, "1.000", 2, Unlisted},
		{comma, "1.0", 2, Unlisted},
		{empty, "", 1, Good},
		{empty, " NA ", 1, Missing},
		{empty, "b", 2, Unlisted},
	} {
		code, class := c.n.Find(c.text)
		if code != c.code || class != c.class {
			t.Errorf(
				"%q: %d, %d",
				c.text, code, class,
			)
		}
	}
	for _, rule := range []Text{{Prefix: 3}, {Hash: 4}} {
		n := NewNames(append(rule.Buckets(), "1"), rule, 0)
		code, _ := n.Find("1.0")
		if rule.Prefix > 0 && code == 0 || n.Spellings() != nil {
			t.Errorf("%+v has spellings", rule)
		}
	}
	code, class := NewNames(
		[]string{"true", "no"},
		Text{Fold: FoldCase}, 0,
	).Find("TRUE\u00a0")
	if code != 0 || class != Good {
		t.Errorf("folded: %d, %d", code, class)
	}
}

// TestNamesAreExact checks that a listed name denotes itself, regardless of the other names in the list.
func TestNamesAreExact(t *testing.T) {
	words := []string{"true", "True", "t", "f", "FALSE", "0", "1", "1.0", "0.0", "-1", "-1.0",
		"1.00", "NA", "", "None", "x", "é", "e\u0301x"}
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOfNDistinct(rapid.SampledFrom(words), 1, 6, Normal).Draw(
			t,
			"list",
		)
		n := NewNames(list, Text{}, 0)
		for k, name := range list {
			code, class := n.Find(" " + name + "\u00a0")
			if int(code) != k || class != Good {
				t.Fatalf(
					"%q among %q: %d, %d",
					name, list, code, class,
				)
			}
		}
		for key, code := range n.Spellings() {
			if spellingKey(key, '.') != key ||
				code < 0 ||
				int(code) >= len(list) {
				t.Fatalf(
					"%q: the key %q has the code %d",
					list, key, code,
				)
			}
		}
	})
}

// TestTexts checks that every text of the list has the code that Find returns.
func TestTexts(t *testing.T) {
	for _, c := range []struct {
		names string
		texts int
	}{
		{"0 1", 16},
		{"true false", 16},
		{"f t", 16},
		{"a b", 2},
		{"1 1.0", 2},
		{"a NA", 2},
	} {
		n := NewNames(strings.Fields(c.names), Text{}, 0)
		if len(n.Texts()) != c.texts {
			t.Errorf(
				"%q: %v",
				c.names, n.Texts(),
			)
		}
		for text, code := range n.Texts() {
			got, _ := n.Find(text)
			if got != code {
				t.Errorf(
					"%q: %q has the code %d, and not %d",
					c.names, text, got, code,
				)
			}
		}
	}
	texts := NewNames(
		[]string{"", "a"},
		Text{}, 0,
	).Texts()
	if texts["NA"] != 0 ||
		texts["null"] != 0 ||
		texts["a"] != 1 {
		t.Errorf("%v", texts)
	}
}

func TestValues(t *testing.T) {
	for x, want := range map[float64]string{
		1:                    "1",
		math.Copysign(0, -1): "0",
		1.5:                  "1.5",
		1234567.5:            "1234567.5",
		1e15:                 "1000000000000000",
		1e16:                 "1e+16",
		9007199254740994:     "9007199254740994",
		1e-4:                 "0.0001",
		1e-5:                 "1e-05",
		1.25e300:             "1.25e+300",
	} {
		got := string(AppendFloat(nil, x, 64))
		if got != want {
			t.Errorf(
				"%v: %s, want %s",
				x, got, want,
			)
		}
	}
	if got := string(AppendFloat(nil, float64(float32(.1)), 32)); got != "0.1" {
		t.Error(got)
	}
	for literal, want := range map[string]string{
		"1":                    "1",
		"1.0":                  "1",
		"-0":                   "0",
		"-0.0":                 "0",
		"1e2":                  "100",
		"1E-7":                 "1e-07",
		"12345678901234567890": "12345678901234567890",
		"1.10":                 "1.1",
		"1e999":                "+Inf",
		"-1e999":               "-Inf",
		"1e-999":               "0",
		"20240115.0":           "20240115",
	} {
		got := string(AppendNumber(nil, literal))
		if got != want {
			t.Errorf(
				"%s: %s, want %s",
				literal, got, want,
			)
		}
	}
	at := time.Date(
		2024, 1, 15, 23, 30, 0, 250e6,
		time.FixedZone("", -5*3600),
	)
	if got := TimeText(at); got != "2024-01-15 23:30:00.25" {
		t.Error(got)
	}
	m, class := NewDates(AutoDate).Read(TimeText(at))
	if class != Good || m.Second != 84600.25 {
		t.Error(m, class)
	}
	got := fmt.Sprint(MissingWords())
	if got != fmt.Sprint(func() (out []string) {
		for _, word := range MissingWords() {
			if MissingWord(word) {
				out = append(out, word)
			}
		}
		return out
	}()) {
		t.Error("a listed word is none:", got)
	}
}
