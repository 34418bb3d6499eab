package report

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// TestShortAlike checks that an estimate and its ends are printed with equally many decimals.
func TestShortAlike(t *testing.T) {
	for _, c := range []struct {
		list []float64
		want []string
	}{
		{[]float64{1.31, 1.1, 1.53}, []string{"1.31", "1.10", "1.53"}},
		{[]float64{1.16, .937, 1.37}, []string{"1.16", "0.94", "1.37"}},
		{[]float64{.404, .13, .0768}, []string{"0.404", "0.130", "0.077"}},
		{[]float64{44.8, 12, 7.9}, []string{"44.8", "12.0", "7.9"}},
		{[]float64{9.999, .004}, []string{"10.0", "0.004"}},
		{[]float64{88600, 24100, 640}, []string{"88,600", "24,100", "640"}},
		{[]float64{5, 2e9, 1234.5, -.001, 0}, []string{"5.00", "2e+9", "1,234.50", "-0.001", "0"}},
		{[]float64{math.NaN(), 1}, []string{short(math.NaN()), "1"}},
		{[]float64{0, 1.5}, []string{"0", "1.5"}},
		{nil, []string{}},
	} {
		if got := shortAlike(c.list...); !slices.Equal(got, c.want) {
			t.Errorf("%v: %q, want %q", c.list, got, c.want)
		}
	}
}

// TestSummaryOfLongNames checks that names of columns up to 20 characters are not cut, and that a line holds two columns.
func TestSummaryOfLongNames(t *testing.T) {
	r := &Report{Training: &Training{}}
	r.Model.Kind = "kernel"
	for _, name := range []string{"distribution_channel", "avg_price_per_room_x", strings.Repeat("w", 30), "age"} {
		r.Importances = append(r.Importances, Importance{Column: name, Value: 10.5})
	}
	text := strings.Join(r.summaryColumns(5), "\n")
	for _, want := range []string{"distribution_channel", "avg_price_per_room_x", strings.Repeat("w", 19) + "…", "10.5"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimRight(line, " \n"))); n > SummaryWidth {
			t.Errorf("%d characters: %s", n, line)
		}
	}
}

// TestSummaryKeepsRemedies checks that the reason for having no model is printed with all its remedies.
func TestSummaryKeepsRemedies(t *testing.T) {
	last := "the last remedy (data.format.thousands)"
	text := "The target contains no numbers: " + strings.Repeat("another remedy; ", 18) + last + "."
	for code, want := range map[string]bool{
		noTargetCode:         true,
		stage.CodeNoClasses:  true,
		stage.CodeFewRecords: false,
	} {
		lines := strings.Join(warningLines(pipeline.Warning{Code: code, Severity: pipeline.Critical, Text: text}), " ")
		if got := strings.Contains(strings.Join(strings.Fields(lines), " "), last); got != want {
			t.Errorf("%s: %v, want %v:\n%s", code, got, want, lines)
		}
	}
}
