package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/recipe"
)

// hospitalTable returns a table in the style of a hospital export with n synthetic stays. It has two numeric columns, one
// with 30% empty cells, and several columns whose content differs from their appearance.
func hospitalTable(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	b.WriteString("patient_id,ward,admitted,age,years,crp,income,smoker,note,weight,urea,days\n")
	for i := range n {
		age := 20 + 60*r.Float64()
		crp := fmt.Sprintf("%.1f", math.Exp(2+r.NormFloat64()))
		if r.Float64() < .4 {
			crp = "<5"
		}
		income := fmt.Sprintf("%d", 300+r.IntN(600))
		if r.Float64() < .5 {
			income = fmt.Sprintf(
				"\"%d,%03d\"",
				1+r.IntN(9),
				r.IntN(1000),
			)
		}
		urea := fmt.Sprintf(
			"%.2f",
			math.Exp(1+.5*r.NormFloat64()),
		)
		if r.Float64() < .3 {
			urea = ""
		}
		fmt.Fprintf(
			&b,
			"P%06d,ward %d,2024-%02d-%02d,%.1f,%.0f yrs,%s,%s,%s,gr\xf6\xdfer,%.0f kg,%s,%.2f\n",
			i,
			r.IntN(6),
			1+r.IntN(12),
			1+r.IntN(28),
			age,
			age,
			crp,
			income,
			[]string{"True", "False"}[r.IntN(2)],
			50+50*r.Float64(),
			urea,
			age/10+r.Float64(),
		)
	}
	return b.String()
}

// TestMisreadColumnsAreNamed checks that every misread column of a messy table is named on the terminal, and that no
// line of the release claims an effect of a column that was not read. At epsilon 3, a column of 12,000 numbers and a
// gap of 30% exceed their thresholds by more than seven standard deviations of the noise. A column without numbers
// passes as numeric, by noise alone, in fewer than one run in a thousand; the probability that more than two of four
// runs do is below 1e-8.
func TestMisreadColumnsAreNamed(t *testing.T) {
	strict := []string{"years", "weight"} // columns of numbers with additional characters
	missed := 0
	for seed := range uint64(4) {
		t.Chdir(t.TempDir())
		numbers := "lenient"
		unread := []string{}
		read1 := append([]string{"crp"}, strict...)
		gaps := []string{"income", "urea"}
		if seed > 0 {
			numbers = "strict"
			unread = strict
			read1 = nil
			gaps = []string{"crp", "income", "urea"}
		}
		writeFile(t, "stays.csv", hospitalTable(12000, seed))
		writeFile(t, "recipe.yaml", fmt.Sprintf(
			"data: {path: stays.csv, target: days, undeclared: numbers, numbers: %s}\nprivacy: {epsilon: 3}\nselection: {method: none}\nmodel: {method: boosted-additive}\n",
			numbers))
		got := dptrain(t, "fit", "recipe.yaml", "--verbose")
		if got.code != exitOK {
			t.Fatalf("%+v", got)
		}
		screen := strings.Join(strings.Fields(got.stdout+got.stderr), " ")
		model := readFile(t, "out/release/model.json")
		report := readFile(t, "out/release/report.json")
		_, selected, _ := strings.Cut(report, `"selected"`)
		selected, _, _ = strings.Cut(selected, "]")
		for _, name := range append(
			[]string{"patient_id", "ward", "admitted", "note"},
			unread...,
		) {
			if !strings.Contains(screen, `"`+name+`"`) {
				if missed++; missed > 2 {
					t.Errorf(
						"seed %d: %q is not named:\n%s",
						seed, name, screen,
					)
				}
				continue
			}
			if strings.Contains(model, `"`+name+`"`) ||
				strings.Contains(selected, `"`+name+`"`) {
				t.Errorf(
					"seed %d: the release claims an effect of %q",
					seed, name,
				)
			}
			if strings.Contains(report, `"column": "`+name+`"`) {
				t.Errorf(
					"seed %d: %q has an importance",
					seed, name,
				)
			}
		}
		for _, name := range gaps {
			if !strings.Contains(screen, `"`+name+`"`) ||
				!strings.Contains(model, `"`+name+`"`) {
				t.Errorf(
					"seed %d: %q is not named, or not in the model:\n%s",
					seed,
					name,
					screen,
				)
			}
		}
		for _, name := range append(read1, "age") {
			if !strings.Contains(selected, `"`+name+`"`) ||
				strings.Contains(screen, `"`+name+`"`) {
				t.Errorf(
					"seed %d: %q is not used, or named as misread:\n%s",
					seed,
					name,
					screen,
				)
			}
		}
	}
}

// TestHospitalExportFitsProposedRecipe trains on a hospital export with the recipe that look proposes. All columns must
// be used, and the patients protected with the proposed number of records. At epsilon 3, every column exceeds its
// threshold by more than six standard deviations of the noise.
func TestHospitalExportFitsProposedRecipe(t *testing.T) {
	t.Chdir(t.TempDir())
	writeFile(t, "export.csv", hospitalExport(12000, 5))
	got := dptrain(t, "look", "export.csv",
		"--separator", ";",
		"--decimal", ",",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	look := readFile(t, "look/curator/look.txt")
	for _, want := range []string{"encoding: windows-1252", "Encoding ", "fold: case", "Spelling   Some values of Abteilung differ",
		"pairs like 144/94: only the first value is used", "Pressure   Cells of Blutdruck are pairs",
		fmt.Sprintf(
			"unit: {column: Patienten-ID, max_rows: %d}",
			recipe.ProposedMaxRows,
		)} {
		if !strings.Contains(look, want) {
			t.Errorf(
				"look lacks %q:\n%s",
				want, look,
			)
		}
	}
	_, proposed, _ := strings.Cut(look, "# yaml-language")
	writeFile(t, "recipe.yaml", "# yaml-language"+proposed)
	got = dptrain(
		t, "fit", "recipe.yaml",
		"--epsilon", "3",
		"--quiet",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	var report struct {
		Features struct{ Considered, Selected []string }
	}
	err := json.Unmarshal(
		[]byte(readFile(t, "out/release/report.json")),
		&report,
	)
	if err != nil {
		t.Fatal(err)
	}
	n := len(report.Features.Selected)
	if n < 13 {
		t.Errorf(
			"%d columns are used: %q of %q",
			n,
			report.Features.Selected,
			report.Features.Considered,
		)
	}
	model := readFile(t, "out/release/model.json")
	if strings.Contains(model, "chirurgie ") ||
		strings.Contains(model, `"Chirurgie"`) ||
		!strings.Contains(model, `"chirurgie"`) {
		t.Error("a value in two spellings is two categories")
	}
}

// TestProposedMaxRows checks that look, init and the page propose the same number of records per person.
func TestProposedMaxRows(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "t.csv", "a,b\n1,2\n")
	want := fmt.Sprintf("max_rows: %d}", recipe.ProposedMaxRows)
	if got := dptrain(t, "init", "t.csv"); !strings.Contains(got.stdout, want) {
		t.Errorf(
			"init lacks %q:\n%s",
			want, got.stdout,
		)
	}
	got := dptrain(t, "look", "t.csv")
	if got.code != exitOK ||
		!strings.Contains(readFile(t, "look/curator/look.txt"), want) {
		t.Errorf("look lacks %q", want)
	}
}
