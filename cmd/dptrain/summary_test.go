package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// TestSummaryFits checks that fit prints at most 24 lines of 80 characters by default, whatever the table. The lines
// name the model, the guarantee and the folders; the whole report contains further details.
func TestSummaryFits(t *testing.T) {
	houses, loans, leaves := read(t, "../../testdata/houses.csv"),
		read(t, "../../testdata/loans.csv"), read(t, "../../testdata/leaves.csv")
	chdir(t)
	write(t, "houses.csv", houses)
	write(t, "few.csv", strings.Join(strings.SplitAfter(houses, "\n")[:1000], ""))
	write(t, "loans.csv", loans)
	write(t, "leaves.csv", leaves)
	write(t, "stays.csv", hospital(12000, 1))
	for _, tt := range []struct {
		args  []string
		title string
	}{
		{[]string{"--data", "houses.csv", "--target", "price"}, "price from "},
		{[]string{"--data", "houses.csv", "--target", "price", "--method", "boosted-additive"},
			"price from "},
		{[]string{"--data", "few.csv", "--target", "price"}, "price from "},
		{[]string{"--data", "loans.csv", "--target", "repaid", "--task", "classification"},
			"repaid from "},
		{[]string{"--data", "leaves.csv", "--target", "species", "--task", "classification"},
			"species from "},
		{[]string{"--data", "stays.csv", "--target", "days"}, "days from "},
		{[]string{"--data", "stays.csv", "--target", "days", "--set", "data.undeclared=numbers"},
			"days from "},
		{[]string{"--data", "stays.csv", "--target", "ward", "--task", "classification",
			"--relation", "substitute"}, "ward from "},
	} {
		got := dptrain(t, append([]string{"fit", "--epsilon", "1", "--force"}, tt.args...)...)
		if got.code != exitOK {
			t.Errorf("%v: %+v", tt.args, got)
			continue
		}
		lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
		if len(lines) > report.SummaryLines {
			t.Errorf("%v: %d lines:\n%s", tt.args, len(lines), got.stdout)
		}
		for _, line := range lines {
			if n := utf8.RuneCountInString(line); n > report.SummaryWidth {
				t.Errorf("%v: %d characters: %s", tt.args, n, line)
			}
		}
		for _, want := range []string{"Privacy   epsilon 1, delta 1e-6 per record",
			"note[no-ledger]", "out/release", "out/curator"} {
			if !strings.Contains(got.stdout, want) {
				t.Errorf("%v: %q is missing:\n%s", tt.args, want, got.stdout)
			}
		}
		if !strings.HasPrefix(got.stdout, tt.title) {
			t.Errorf("%v: the title is %q", tt.args, lines[0])
		}
		if testing.Verbose() {
			t.Log("\n" + got.stdout)
		}
	}
}
