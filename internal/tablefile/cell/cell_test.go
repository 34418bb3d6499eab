package cell

import (
	"math"
	"strings"
	"testing"
)

func TestNumber(t *testing.T) {
	for text, want := range map[string]struct {
		v     float64
		class Class
	}{
		"1":                              {1, Good},
		" 1\t":                           {1, Good},
		"-1.5e3":                         {-1500, Good},
		".5":                             {.5, Good},
		"+7":                             {7, Good},
		"1e-999":                         {0, Good},
		"":                               {0, Missing},
		" ":                              {0, Missing},
		"NA":                             {0, Missing},
		"N/A":                            {0, Missing},
		"?":                              {0, Missing},
		"None":                           {0, Missing},
		"NAN":                            {0, Missing},
		"none":                           {0, Unparseable},
		"red":                            {0, Unparseable},
		"0x1p4":                          {0, Unparseable},
		"1_000":                          {0, Unparseable},
		"1,5":                            {0, Unparseable},
		"\u00a01":                        {1, Good},
		"\ufeff1\u200b":                  {1, Good},
		"\r\n1\n":                        {1, Good},
		"1\r":                            {0, Unparseable},
		"1\n2":                           {0, Unparseable},
		"\n":                             {0, Missing},
		"true":                           {1, Good},
		" True":                          {1, Good},
		"FALSE":                          {0, Good},
		"t":                              {0, Unparseable},
		"truE1":                          {0, Unparseable},
		"yes":                            {0, Unparseable},
		strings.Repeat("1", 1<<12) + "a": {0, Unparseable},
		"inf":                            {0, Nonfinite},
		"-Infinity":                      {0, Nonfinite},
		"1e309":                          {0, Nonfinite},
	} {
		v, class := Number(text)
		if v != want.v || class != want.class {
			t.Errorf(
				"%.40q: %v, %v; want %+v",
				text, v, class, want,
			)
		}
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		v, want float64
		class   Class
	}{
		{2, 2, Good},
		{math.NaN(), 0, Missing},
		{math.Inf(1), 0, Nonfinite},
		{math.Inf(-1), 0, Nonfinite},
	} {
		v, class := Classify(c.v)
		if v != c.want || class != c.class {
			t.Errorf(
				"%v: %v, %v",
				c.v, v, class,
			)
		}
	}
}
