package report

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestSummaryBounds checks that the summary of any report has at most 24 lines of 80 characters, apart from the paths of
// the folders, and names every message: errors and warnings always, and notes unless a line is cut. Up to 4 lines that
// precede it count, unless it has no room for the text of a warning.
func TestSummaryBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	codes := []string{"no-ledger", "wide-interval", "no-range", "no-words", "words-found",
		"large-epsilon", "no-signal", "fallback", "far-targets", "classes-cut"}
	long := strings.Repeat("long name ", 30)
	for run := range testkit.Size(500, 2000) {
		mu := 10 * r.Float64()
		x := &Report{
			Format: Format,
			Training: &Training{
				Target: long[:1+r.IntN(200)],
				Model:  Model{Method: "boosted-additive", Kind: "additive"},
			},
			Guarantee: Guarantee{
				Epsilon:  1.234567,
				Delta:    1.2345e-7,
				Relation: "add-remove",
				Mu:       &mu,
			},
		}
		if r.IntN(3) == 0 {
			x.Guarantee.Unit = &Unit{long[:1+r.IntN(100)], 1000}
		}
		if r.IntN(2) == 0 {
			x.Ledger = &Ledger{
				Dataset: long[:1+r.IntN(100)],
				Entry:   1234567,
				Head:    strings.Repeat("f", 64),
			}
		}
		value := func() float64 {
			return -1e9 * r.NormFloat64()
		}
		if r.IntN(2) == 0 {
			x.Metrics.R2 = &R2{
				Value:      .5,
				Lower:      -.2,
				Upper:      .7,
				Level:      .95,
				ErrorLimit: 1e9 * r.Float64(),
				AllErrors:  &AllErrors{Lower: r.Float64() - .5},
			}
			x.Metrics.MAE = &Quality{
				Value: value(),
				Lower: value(),
				Upper: value(),
			}
			x.Metrics.RMSE = &Quality{}
			x.Metrics.Intervals = []Interval{
				{.9, value()},
				{.95, value()},
			}
		} else {
			x.Metrics.Accuracy = &Share{Value: .5}
			x.Metrics.BalancedAccuracy = &Share{Value: .5}
			x.Metrics.AUC = &Share{
				Value: .5,
				Lower: .2,
				Upper: .8,
			}
			x.Metrics.LargestClass = &LargestClass{Class: long[:1+r.IntN(100)]}
			for range 2 + r.IntN(5) {
				x.Metrics.Recalls = append(
					x.Metrics.Recalls,
					Recall{
						Class: long[:1+r.IntN(100)],
						Value: r.Float64(),
						Upper: .9,
					},
				)
			}
		}
		x.Metrics.Records = &Count{Value: 123456789, Scale: 3}
		for range r.IntN(12) {
			x.Importances = append(
				x.Importances,
				Importance{
					Column: long[:1+r.IntN(60)],
					Value:  value() * value(),
				},
			)
			x.Features.Selected = append(
				x.Features.Selected,
				long[:1+r.IntN(60)],
			)
		}
		var urgent []string
		for _, at := range r.Perm(len(codes))[:r.IntN(len(codes))] {
			w := pipeline.Warning{
				Code:     codes[at],
				Severity: []pipeline.Severity{pipeline.Critical, pipeline.Negligible}[r.IntN(2)],
				Text:     long[:1+r.IntN(300)],
			}
			x.Warnings = append(x.Warnings, w)
			if rankOf(w) != rankNote {
				urgent = append(
					urgent,
					fmt.Sprintf("%s[%s]", rankOf(w), w.Code),
				)
			}
		}
		if len(urgent) > 4 {
			urgent = urgent[:0] // more than fit on the screen
		}
		var b strings.Builder
		before := r.IntN(7)
		if err := Summary(&b, x, "out", before); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(
			strings.TrimSuffix(b.String(), "\n"),
			"\n",
		)
		most := SummaryLines
		if !strings.Contains(b.String(), "in the report: ") {
			most -= min(before, 4)
		}
		if len(lines) > most {
			t.Fatalf(
				"run %d: %d lines:\n%s",
				run, len(lines), b.String(),
			)
		}
		for _, line := range lines {
			if utf8.RuneCountInString(line) > SummaryWidth {
				t.Fatalf(
					"run %d: too long: %q",
					run, line,
				)
			}
		}
		for _, w := range x.Warnings {
			if !strings.Contains(b.String(), "["+w.Code+"]") &&
				!strings.Contains(b.String(), " …\n") {
				t.Fatalf(
					"run %d: %s is missing:\n%s",
					run, w.Code, b.String(),
				)
			}
		}
		for _, want := range append(urgent, "Privacy", "may be published") {
			if !strings.Contains(b.String(), want) {
				t.Fatalf(
					"run %d: %q is missing:\n%s",
					run, want, b.String(),
				)
			}
		}
	}
}

func TestRoundedNumbers(t *testing.T) {
	for x, want := range map[float64]string{
		39437:      "39,400",
		.9512:      "0.951",
		999.6:      "1,000",
		1234567:    "1,230,000",
		-1234:      "-1,230",
		12:         "12",
		0:          "0",
		1e-6:       "1e-6",
		1.23456e12: "1.23e+12",
		.25:        "0.25",
		-.5:        "-0.5",
	} {
		if got := short(x); got != want {
			t.Errorf(
				"%v: %s, want %s",
				x, got, want,
			)
		}
	}
	for x, want := range map[float64]string{
		.2405:  "0.241",
		.24:    "0.24",
		1.2301: "1.24",
		0:      "0",
		12345:  "12400",
	} {
		if got := roundedUp(x); got != want {
			t.Errorf(
				"%v rounded up: %s, want %s",
				x, got, want,
			)
		}
	}
	for text, want := range map[string]string{
		"One. Two.":     "One.",
		`A "b. C" d. E`: `A "b. C" d.`,
		"1.5 of x":      "1.5 of x",
	} {
		if got := firstSentence(text); got != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
