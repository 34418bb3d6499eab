package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"testing"
)

// TestLook checks that the description of a table is written only to the curator folder, together with a recipe that
// reads the table, and that the terminal output is the same for any table.
func TestLook(t *testing.T) {
	chdirTemp(t)
	table := func(rows int, more string) string {
		var b strings.Builder
		b.WriteString("when;age;cost;ward;stay\n")
		for i := range rows {
			fmt.Fprintf(
				&b,
				"%02d/%02d/2024;%d yrs;1.%03d,5;%s;%d\n",
				13+i%15,
				1+i%12,
				20+i%60,
				i%1000,
				[]string{"secretward", "other"}[i%2],
				i%9,
			)
		}
		return b.String() + more
	}
	writeFile(t, "t.csv", table(400, ""))
	if got := dptrain(t, "look", "t.csv", "--separator", ","); got.code != exitData ||
		!strings.Contains(got.stderr, `--separator ";"`) {
		t.Errorf("%+v", got)
	}
	_, err := os.Stat("look")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Error("a folder was made for nothing")
	}
	if got := dptrain(t, "ledger", "init", "l.ledger", "--dataset", "clinic", "--epsilon", "1",
		"--delta", "1e-5"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	args := []string{
		"look", "t.csv",
		"--separator", ";",
		"--target", "stay",
		"--ledger", "l.ledger",
		"--dataset", "clinic",
	}
	got := dptrain(t, args...)
	if got.code != exitOK ||
		strings.Count(got.stderr, "\n") != 1 ||
		!strings.Contains(got.stderr, "--decimal ,") ||
		!strings.Contains(got.stdout, "look/curator/look.txt") ||
		strings.Contains(got.stdout, "400") {
		t.Fatalf("%+v", got)
	}
	if shown := dptrain(t, "ledger", "show", "l.ledger"); !strings.Contains(shown.stdout, "1 profile of the table") {
		t.Errorf("%+v", shown)
	}
	for path, mode := range map[string]os.FileMode{
		"look/curator":          0o700,
		"look/curator/look.txt": 0o600,
	} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != mode {
			t.Errorf(
				"%s: %v, %v",
				path, info, err,
			)
		}
	}
	text := readFile(t, "look/curator/look.txt")
	for _, want := range []string{"400 records", "dates: 02/01/2006", "numbers with decimal commas",
		"informal numbers", "categories, to be found privately",
		"    ward: {categories: private}", "    when: {date: 02/01/2006}", "Not safe to use"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "secretward") {
		t.Error("a value of a cell is in the file")
	}
	shown, _, _ := strings.Cut(text, "A recipe with")
	for line := range strings.Lines(shown) {
		if len([]rune(line)) > 81 {
			t.Errorf(
				"%d characters: %s",
				len([]rune(line)), line,
			)
		}
	}
	_, recipe, _ := strings.Cut(text, "# yaml-language")
	writeFile(t, "recipe.yaml", "# yaml-language"+recipe)
	if got := dptrain(t, "check", "recipe.yaml"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	for target, want := range map[string][2]string{
		"ward": {"It contains text", "\ntask: classification\n"},
		"stay": {"It has 9 different values", "\ntask: regression\n"},
		"cost": {"", "\ntask: regression\n"},
	} {
		got := dptrain(t, "look", "t.csv",
			"--separator", ";",
			"--target", target,
			"--out", target,
		)
		if got.code != exitOK {
			t.Fatalf("%+v", got)
		}
		text := readFile(t, target+"/curator/look.txt")
		if !strings.Contains(text, want[0]) ||
			!strings.Contains(text, want[1]) ||
			want[0] == "" && strings.Contains(text, "Target ") {
			t.Errorf(
				"%s: no %q in\n%s",
				target, want, text,
			)
		}
		_, recipe, _ := strings.Cut(text, "# yaml-language")
		if strings.Contains(recipe, "secretward") ||
			strings.Contains(recipe, "most_classes") {
			t.Errorf(
				"%s: the recipe has what is in the table:\n%s",
				target, recipe,
			)
		}
		writeFile(t, "recipe.yaml", "# yaml-language"+recipe)
		if got := dptrain(t, "check", "recipe.yaml"); got.code != exitOK {
			t.Errorf("%s: %+v", target, got)
		}
	}
	writeFile(t, "t.csv", table(0, "\x00;;\"\n"))
	again := dptrain(t, args...)
	if again.code != exitUsage {
		t.Errorf("a file that is there: %+v", again)
	}
	again = dptrain(t, append(args, "--force")...)
	if again != got {
		t.Errorf("%+v, want %+v", again, got)
	}
	got = dptrain(t, "look", "t.csv",
		"--separator", ";",
		"--target", "ward no",
	)
	if got.code != exitData {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "look", "t.csv",
		"--separator", ";",
		"--out", "o2",
		"--ledger", "l.ledger",
		"--dataset", "another",
	)
	if got.code != exitLedger {
		t.Errorf("%+v", got)
	}
}

// TestLookProposesUnit checks that for persons with several records the recipe protects the unit or proposes it,
// that the file contains the reason, and that the recipe passes check.
func TestLookProposesUnit(t *testing.T) {
	chdirTemp(t)
	for name, x := range map[string]struct {
		column       string
		cell         func(i int) string
		wants, never string
	}{
		"by name": {
			"patient_id",
			func(i int) string {
				return fmt.Sprint(7000 + i/3)
			},
			"\n  unit: {column: patient_id, max_rows: 2}\n",
			"# unit:",
		},
		"by values": {
			"label",
			func(i int) string {
				return fmt.Sprintf("case %d", i/3)
			},
			"\n  # unit: {column: label, max_rows: 2}\n",
			"\n  unit:",
		},
		"none": {
			"label",
			func(i int) string {
				return fmt.Sprintf("case %d", i)
			},
			"\n  # unit: {column: PERSON, max_rows: 2}\n",
			"Unit ",
		},
	} {
		var b strings.Builder
		b.WriteString(x.column + ",dose,stay\n")
		for i := range 600 {
			fmt.Fprintf(
				&b,
				"%s,%d,%d\n",
				x.cell(i), i%40,
				i%9,
			)
		}
		writeFile(t, "t.csv", b.String())
		out := strings.ReplaceAll(name, " ", "-")
		got := dptrain(t, "look", "t.csv", "--out", out)
		if got.code != exitOK || strings.Contains(got.stdout, "200") {
			t.Fatalf("%s: %+v", name, got)
		}
		text := readFile(t, out+"/curator/look.txt")
		if !strings.Contains(text, x.wants) || strings.Contains(text, x.never) {
			t.Errorf(
				"%s: want %q and never %q in\n%s",
				name, x.wants, x.never, text,
			)
		}
		if name != "none" &&
			!strings.Contains(strings.Join(strings.Fields(text), " "),
				x.column+
					" has about 200 different values in 600 records and looks like an identifier.") {
			t.Errorf(
				"%s: no reason in\n%s",
				name, text,
			)
		}
		_, recipe, _ := strings.Cut(text, "# yaml-language")
		writeFile(t, "recipe.yaml", "# yaml-language"+recipe)
		if got := dptrain(t, "check", "recipe.yaml"); got.code != exitOK {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
