package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// bankTable returns a table in the style of the marketing data of a bank with n synthetic clients: semicolons, quoted texts,
// and two classes of different frequency.
func bankTable(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 3))
	choose := func(list ...string) string {
		return `"` + list[r.IntN(len(list))] + `"`
	}
	var b strings.Builder
	b.WriteString(`"age";"job";"marital";"education";"default";"balance";"housing";"loan";` +
		`"contact";"day";"month";"duration";"campaign";"pdays";"previous";"poutcome";"y"` + "\n")
	for range n {
		duration := int(60 + 250*r.ExpFloat64())
		y := "no"
		if r.Float64() < min(float64(duration)/2500, .8) {
			y = "yes"
		}
		pdays := -1
		previous := 0
		outcome := `"unknown"`
		if r.Float64() < .2 {
			pdays = 1 + r.IntN(400)
			previous = 1 + r.IntN(5)
			outcome = choose("failure", "success", "other")
		}
		fmt.Fprintf(
			&b,
			"%d;%s;%s;%s;%s;%d;%s;%s;%s;%d;%s;%d;%d;%d;%d;%s;\"%s\"\n",
			18+r.IntN(70),
			choose("admin.", "blue-collar", "technician", "services", "management", "retired",
				"student", "unemployed", "housemaid", "entrepreneur", "self-employed", "unknown"),
			choose("married", "single", "divorced"),
			choose("primary", "secondary", "tertiary", "unknown"),
			choose("no", "no", "no", "yes"),
			int(1400+3000*r.NormFloat64()),
			choose("yes", "no"),
			choose("no", "no", "yes"),
			choose("cellular", "telephone", "unknown"),
			1+r.IntN(31),
			choose(
				"jan", "feb", "mar",
				"apr", "may", "jun",
				"jul", "aug",
			),
			duration,
			1+r.IntN(6),
			pdays,
			previous,
			outcome,
			y,
		)
	}
	return b.String()
}

// TestSummaryFits checks that fit prints at most 24 lines of 80 characters by default, whatever the table, with the rows
// that its notes about the header take. The lines name the model, the guarantee and the folders; the whole report
// contains further details.
func TestSummaryFits(t *testing.T) {
	houses := readFile(t, "../../testdata/houses.csv")
	loans := readFile(t, "../../testdata/loans.csv")
	leaves := readFile(t, "../../testdata/leaves.csv")
	chdirTemp(t)
	writeFile(t, "houses.csv", houses)
	writeFile(
		t, "few.csv",
		strings.Join(strings.SplitAfter(houses, "\n")[:1000], ""),
	)
	writeFile(t, "loans.csv", loans)
	writeFile(t, "leaves.csv", leaves)
	writeFile(t, "stays.csv", hospitalTable(12000, 1))
	writeFile(t, "bank.csv", bankTable(8000, 1))
	writeFile(t, "export.csv", hospitalExport(8000, 1))
	for _, tt := range []struct {
		args  []string
		title string
	}{
		{
			[]string{
				"--data", "houses.csv",
				"--target", "price",
			},
			"price from ",
		},
		{
			[]string{
				"--data", "houses.csv",
				"--target", "price",
				"--method", "boosted-additive",
			},
			"price from ",
		},
		{
			[]string{
				"--data", "few.csv",
				"--target", "price",
			},
			"price from ",
		},
		{
			[]string{
				"--data", "loans.csv",
				"--target", "repaid",
				"--task", "classification",
			},
			"repaid from ",
		},
		{
			[]string{
				"--data", "leaves.csv",
				"--target", "species",
				"--task", "classification",
			},
			"species from ",
		},
		{
			[]string{
				"--data", "bank.csv",
				"--separator", ";",
				"--target", "y",
				"--task", "classification",
			},
			"y from ",
		},
		{
			[]string{
				"--data", "bank.csv",
				"--target", "balance",
			},
			"balance from ",
		},
		{
			[]string{
				"--data", "export.csv",
				"--separator", ";",
				"--decimal", ",",
				"--encoding", "windows-1252",
				"--target", "Verweildauer (Tage)",
				"--unit", "Patienten-ID",
				"--max-rows", "2",
				"--date", "Aufnahmedatum=auto",
			},
			"Verweildauer (Tage) from ",
		},
		{
			[]string{
				"--data", "stays.csv",
				"--target", "days",
			},
			"days from ",
		},
		{
			[]string{
				"--data", "stays.csv",
				"--target", "days",
				"--set", "data.undeclared=numbers",
			},
			"days from ",
		},
		{
			[]string{
				"--data", "stays.csv",
				"--target", "ward",
				"--task", "classification",
				"--relation", "substitute",
			},
			"ward from ",
		},
	} {
		got := dptrain(
			t,
			append([]string{"fit", "--epsilon", "1", "--force"}, tt.args...)...,
		)
		if got.code != exitOK {
			t.Errorf("%v: %+v", tt.args, got)
			continue
		}
		lines := strings.Split(strings.TrimSuffix(got.stdout, "\n"), "\n")
		rows := len(lines)
		for note := range strings.Lines(got.stderr) {
			rows += 1 + (utf8.RuneCountInString(note)-2)/report.SummaryWidth
		}
		if rows > report.SummaryLines {
			t.Errorf(
				"%v: %d rows of a terminal:\n%s%s",
				tt.args, rows, got.stderr, got.stdout,
			)
		}
		for _, line := range lines {
			n := utf8.RuneCountInString(line)
			if n > report.SummaryWidth {
				t.Errorf(
					"%v: %d characters: %s",
					tt.args, n, line,
				)
			}
		}
		for _, want := range []string{"Privacy   epsilon 1, delta 1e-6 per ",
			"note[no-ledger]", "out/release", "out/curator"} {
			if !strings.Contains(got.stdout, want) {
				t.Errorf(
					"%v: %q is missing:\n%s",
					tt.args, want, got.stdout,
				)
			}
		}
		if !strings.HasPrefix(got.stdout, tt.title) {
			t.Errorf(
				"%v: the title is %q",
				tt.args, lines[0],
			)
		}
		if testing.Verbose() {
			t.Log("\n" + got.stdout)
		}
	}
}
