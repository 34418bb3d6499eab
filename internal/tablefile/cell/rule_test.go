package cell

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestRule(t *testing.T) {
	lenient := Rule{Lenient: true}
	strict := Rule{}
	comma := Rule{
		Decimal:   ',',
		Thousands: '.',
		Lenient:   true,
	}
	for _, c := range []struct {
		rule  Rule
		text  string
		v     float64
		class Class
	}{
		{lenient, "45 yrs", 45, Good},
		{lenient, "45yrs", 45, Good},
		{lenient, "27.1%", 27.1, Good},
		{lenient, "27.1 %", 27.1, Good},
		{lenient, "EUR 12", 12, Good},
		{lenient, "€12", 12, Good},
		{lenient, "12 €", 12, Good},
		{lenient, "-$12.50", -12.5, Good},
		{lenient, "$-12.50", -12.5, Good},
		{lenient, "<5", 5, Good},
		{lenient, ">= 100", 100, Good},
		{lenient, "≤5%", 5, Good},
		{lenient, "85+", 85, Good},
		{lenient, "~ 3 kg", 3, Good},
		{lenient, "1,234.50", 1234.5, Good},
		{lenient, "$1,234,567", 1234567, Good},
		{lenient, "1'234.5", 1234.5, Good},
		{lenient, "1\u202f234", 1234, Good},
		{lenient, "1,234", 0, Unparseable},
		{lenient, "1,23,456", 0, Unparseable},
		{lenient, "12,34.5", 0, Unparseable},
		{lenient, "1234,567,890", 0, Unparseable},
		{lenient, "True", 1, Good},
		{lenient, "FALSE", 0, Good},
		{lenient, "\u22125", -5, Good},
		{lenient, "1e3 kg", 1000, Good},
		{lenient, "59 Jahre", 59, Good},
		{lenient, "2 Tage", 2, Good},
		{lenient, "3 ans", 3, Good},
		{lenient, "4 AÑOS", 4, Good},
		{lenient, "5.3 mg/l", 5.3, Good},
		{comma, "5,3 g/dl", 5.3, Good},
		{lenient, "144/94", 144, Good},
		{comma, "144/94", 144, Good},
		{lenient, "95/60 mmHg", 95, Good},
		{lenient, ">180/110", 180, Good},
		{lenient, "299/20", 299, Good},
		{lenient, "300/20", 0, Unparseable},
		{lenient, "50/19", 0, Unparseable},
		{lenient, "49/20", 0, Unparseable},
		{lenient, "90/90", 0, Unparseable},
		{lenient, "60/95", 0, Unparseable},
		{lenient, "144/094", 0, Unparseable},
		{lenient, "144/94/1", 0, Unparseable},
		{lenient, "-144/94", 0, Unparseable},
		{lenient, "144 / 94", 0, Unparseable},
		{lenient, "144,5/94", 0, Unparseable},
		{strict, "144/94", 0, Unparseable},
		{
			Rule{Missing: []float64{144}, Lenient: true},
			"144/94", 0, Missing,
		},
		{lenient, "5k", 0, Unparseable},
		{lenient, "5 m", 0, Unparseable},
		{lenient, "12 Main", 0, Unparseable},
		{lenient, "3/4", 0, Unparseable},
		{lenient, "2020-01-02", 0, Unparseable},
		{lenient, "1e999 kg", 0, Unparseable},
		{lenient, "inf kg", 0, Unparseable},
		{lenient, "--5 kg", 0, Unparseable},
		{lenient, "1 2", 0, Unparseable},
		{lenient, "0x1 kg", 0, Unparseable},
		{lenient, "kg", 0, Unparseable},
		{lenient, "5" + strings.Repeat(" ", 60) + "kg", 0, Unparseable},
		{lenient, "E11.9", 0, Unparseable},
		{lenient, "401A1", 0, Unparseable},
		{strict, "45 yrs", 0, Unparseable},
		{strict, "True", 1, Good},
		{strict, "t", 0, Unparseable},
		{lenient, "t", 1, Good},
		{lenient, " F ", 0, Good},
		{lenient, "tt", 0, Unparseable},
		{lenient, "\u00a045\u202fyrs\u00a0", 45, Good},
		{comma, "true", 1, Good},
		{strict, "1,234.50", 0, Unparseable},
		{strict, "1.5", 1.5, Good},
		{Rule{Thousands: ','}, "1,234", 1234, Good},
		{Rule{Thousands: ','}, "-1,234.5e2", -123450, Good},
		{Rule{Thousands: ','}, "1,23", 0, Unparseable},
		{Rule{Thousands: ','}, "1234", 1234, Good},
		{Rule{Thousands: ','}, ",234", 0, Unparseable},
		{Rule{Thousands: ','}, "1,2345", 0, Unparseable},
		{Rule{Thousands: ','}, "1.5,000", 0, Unparseable},
		{Rule{Thousands: ','}, "1234,567", 0, Unparseable},
		{Rule{Thousands: ' '}, "1\u00a0234,5", 0, Unparseable},
		{Rule{Thousands: ' '}, "1\u00a0234", 1234, Good},
		{comma, "1,5", 1.5, Good},
		{comma, "1.5", 0, Unparseable},
		{comma, "1.500", 1500, Good},
		{comma, "-1.234.567,25", -1234567.25, Good},
		{comma, "1,5e2", 150, Good},
		{comma, "12,5 %", 12.5, Good},
		{comma, "€ 1.234,50", 1234.5, Good},
		{comma, "NA", 0, Missing},
		{comma, "7", 7, Good},
		{Rule{Decimal: ',', Lenient: true}, "1.234", 0, Unparseable},
		{
			Rule{Decimal: ',', Lenient: true},
			"1.234,5", 1234.5,
			Good,
		},
		{Rule{Decimal: ','}, "inf", 0, Nonfinite},
		{Rule{Missing: []float64{-999}}, "-999.0", 0, Missing},
		{Rule{Missing: []float64{-999}}, "-998", -998, Good},
		{
			Rule{Missing: []float64{9}, Lenient: true},
			"9%", 0, Missing,
		},
	} {
		v, class := c.rule.Number(c.text)
		if v != c.v || class != c.class {
			t.Errorf(
				"%+v of %q: %v, %v; want %v, %v",
				c.rule, c.text, v, class,
				c.v, c.class,
			)
		}
	}
}

// TestHasSecond checks which cells have a second value that a lenient rule ignores.
func TestHasSecond(t *testing.T) {
	for text, want := range map[string]bool{
		"144/94":      true,
		" 95/60 mmHg": true,
		"144":         false,
		"94/144":      false,
		"3/4":         false,
		"":            false,
		"12/2023":     false,
	} {
		if got := HasSecond(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// TestRuleKeepsNumbers checks that a lenient rule gives the same result for every text that is a number or
// missing by the plain definition.
func TestRuleKeepsNumbers(t *testing.T) {
	cells := rapid.StringOfN(
		rapid.RuneFrom([]rune("0123456789+-.,eE xX_NaAinf%$<> ")),
		0,
		12,
		-1,
	)
	rapid.Check(t, func(t *rapid.T) {
		text := cells.Draw(t, "cell")
		v, class := Number(text)
		r := Rule{Lenient: true}
		got, gotClass := r.Number(text)
		if class != Unparseable && (got != v || gotClass != class) {
			t.Fatalf(
				"%q: %v, %v; plainly %v, %v",
				text, got, gotClass, v, class,
			)
		}
		if class == Unparseable &&
			(gotClass == Missing || gotClass == Nonfinite || math.IsNaN(got)) {
			t.Fatalf(
				"%q: %v, %v",
				text, got, gotClass,
			)
		}
	})
}

// TestRuleFast checks that a decimal comma is read from bytes as it is from a string.
func TestRuleFast(t *testing.T) {
	r := Rule{Decimal: ',', Missing: []float64{-1}}
	parse := func(b []byte) (float64, bool) {
		v, err := strconv.ParseFloat(string(b), 64)
		return v, err == nil && !strings.ContainsAny(string(b), "xX_iIn")
	}
	cells := rapid.StringOfN(
		rapid.RuneFrom([]rune("0123456789+-.,eE")),
		0, 9, -1,
	)
	rapid.Check(t, func(t *rapid.T) {
		text := cells.Draw(t, "cell")
		v, ok := r.Fast(
			[]byte(text),
			make([]byte, 0, 8), parse,
		)
		want, class := r.Number(text)
		if ok && (class != Good || want != v) {
			t.Fatalf(
				"%q: %v; want %v, %v",
				text, v, want, class,
			)
		}
	})
}
