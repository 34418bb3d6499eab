package main

import (
	"path/filepath"
	"strings"
	"testing"
)

const semicolons = "größe;preis;ort\n1,5;100,25;a\n2,5;200;b\n-999;1.300,5;a\n"

// TestFormatFlags checks that the separator is detected from the header, that a warning names the flag of the
// decimal mark, that init writes the settings of the flags to the recipe, and that predict reads a table with the
// settings of the model's recipe.
func TestFormatFlags(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "t.csv", semicolons)
	args := []string{
		"plan", "--data", "t.csv",
		"--target", "preis", "--epsilon",
		"1",
	}
	told := "note: t.csv: read with --separator \";\", as its header shows\nwarning[decimal-point]: t.csv: "
	got := dptrain(t, args...)
	if got.code != exitOK ||
		!strings.HasPrefix(got.stderr, told) ||
		!strings.Contains(got.stderr, "--decimal ,") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, append(args, "--decimal", ",")...)
	if got.code != exitOK || strings.Contains(got.stderr, "warning") {
		t.Errorf("%+v", got)
	}
	flags := []string{
		"--separator", ";",
		"--decimal", ",",
		"--thousands", ".",
		"--missing", "-999",
	}
	if got := dptrain(t, append(args, flags...)...); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	starter := dptrain(
		t,
		append([]string{"init", "t.csv", "--target", "preis"}, flags...)...,
	)
	if !strings.Contains(starter.stdout,
		`  format: {separator: ";", decimal: ",", thousands: ., missing: [-999]}`) {
		t.Errorf("%+v", starter)
	}
	writeFile(t, "recipe.yaml", starter.stdout)
	if got := dptrain(t, "check", "recipe.yaml"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "plan", "recipe.yaml", "--separator", "|")
	if got.code != exitData || !strings.Contains(got.stderr, "semicolons") {
		t.Errorf("a flag goes before the recipe: %+v", got)
	}
	for flag, value := range map[string]string{
		"separator": "x",
		"escape":    "slash",
		"decimal":   ";",
		"encoding":  "latin99",
		"missing":   "x",
		"numbers":   "loose",
		"skip":      "-1",
	} {
		for _, verb := range [][]string{
			args,
			{"init", "t.csv"},
			{"predict", "m.json", "t.csv"},
		} {
			got := dptrain(t, append(verb, "--"+flag, value)...)
			if verb[0] == "predict" && got.code == exitData {
				continue // there is no model
			}
			if got.code == exitOK ||
				!strings.Contains(got.stderr, "--"+flag) ||
				strings.Contains(got.stderr, "data.") {
				t.Errorf(
					"%s --%s: %+v",
					verb[0], flag, got,
				)
			}
		}
	}
}

// TestPredictReadsAsTheRecipe checks that predict reads a table with the settings of the recipe next to the model,
// and that flags override them.
func TestPredictReadsAsTheRecipe(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	want := dptrainIn(t, newCSV, "predict", "model.json", "-")
	writeFile(
		t,
		"recipe.yaml",
		"data: {header: [a, b], target: b, format: {separator: \";\", decimal: \".\", skip: 1}}\nprivacy: {epsilon: 1}\n",
	)
	other := "a title\n" + strings.ReplaceAll(newCSV, ",", ";")
	got := dptrainIn(t, other, "predict", "model.json", "-")
	below := want
	below.stderr = strings.Replace(want.stderr, "stdin:6:", "stdin:7:", 1) // the title is a line
	if got != below || got.code != exitOK {
		t.Errorf("%+v, want %+v", got, want)
	}
	got = dptrainIn(t, newCSV, "predict", "model.json", "-",
		"--separator", ",",
		"--skip", "0",
	)
	if got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestDeclareFlags checks that declarations by flags and by recipe give the same plan.
func TestDeclareFlags(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "t.csv",
		"who,color,size,y\na,red,1,2\n",
	)
	writeFile(
		t,
		"recipe.yaml",
		`data: {path: t.csv, target: y, columns: {color: {categories: [red, "dark, blue"]}}}
privacy: {epsilon: 1, unit: {column: who, max_rows: 3}}
selection: {method: kendall, k: 1}
model: {method: adassp}
`,
	)
	want := dptrain(t, "plan", "recipe.yaml", "--json")
	writeFile(
		t,
		"short.yaml",
		"data: {path: t.csv, target: y}\nprivacy: {epsilon: 1}\nselection: {method: kendall, k: 1}\n",
	)
	flags := []string{
		"--unit", "who",
		"--max-rows", "3",
		"--categories", `color=red,"dark, blue"`,
		"--method", "adassp",
	}
	got := dptrain(
		t,
		append(
			[]string{
				"plan", "short.yaml", "--json",
				"--select", "kendall",
			},
			flags...,
		)...,
	)
	if got != want || got.code != exitOK {
		t.Errorf("%+v, want %+v", got, want)
	}
	base := []string{
		"plan", "--data", "t.csv",
		"--target", "y", "--epsilon",
		"1",
	}
	for text, args := range map[string][]string{
		"--max-rows: privacy.unit.max_rows is required": {"--unit", "who"},
		"--unit: privacy.unit.column is required":       {"--max-rows", "3"},
		"--categories needs":                            {"--categories", "color"},
		`--method: unknown name "adasp"`:                {"--method", "adasp"},
		`--select: unknown name "kendal"`:               {"--select", "kendal"},
	} {
		got := dptrain(t, append(base, args...)...)
		if !strings.Contains(got.stderr, text) ||
			strings.Contains(got.stderr, "model.method") {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// TestValueFlags checks that flags for merging texts and for assigning numbers to them give the same plan as a
// recipe. A column without further declarations is a text column whose categories are found privately.
func TestValueFlags(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "t.csv",
		"a,b,c,y\n1,2,3,4\n",
	)
	writeFile(t, "recipe.yaml", `data:
  path: t.csv
  target: y
  undeclared: found
  columns: {a: {categories: private, prefix: 3}, b: {hash: 64, encode: target}, c: {categories: [x, z], encode: target}}
privacy: {epsilon: 1}
`)
	want := dptrain(t, "plan", "recipe.yaml", "--json")
	base := []string{
		"plan", "--data", "t.csv",
		"--target", "y", "--epsilon",
		"1",
	}
	got := dptrain(
		t,
		append(base,
			"--json",
			"--prefix", "a=3",
			"--hash", "b=64",
			"--encode", "b,c",
			"--categories", "c=x,z",
		)...,
	)
	if got != want || got.code != exitOK {
		t.Errorf("%+v, want %+v", got, want)
	}
	for text, args := range map[string][]string{
		"--prefix needs":                   {"--prefix", "a"},
		"--hash needs":                     {"--hash", "b=x"},
		"must be from 2 to 1024, not 5000": {"--hash", "b=5000"},
		"from 1 to 64, not 99":             {"--prefix", "a=99"},
		"cannot be encoded by itself":      {"--encode", "y"},
		"is not in the header":             {"--encode", "nobody"},
	} {
		got := dptrain(t, append(base, args...)...)
		if got.code == exitOK || !strings.Contains(got.stderr, text) {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// TestShapeOfWords checks that a report lists the number assigned to each text.
func TestShapeOfWords(t *testing.T) {
	houses, err := filepath.Abs("../../testdata/houses.csv")
	if err != nil {
		t.Fatal(err)
	}
	chdirTemp(t)
	if got := dptrain(t, "fit", "--data", houses, "--target", "price", "--epsilon", "3", "--encode",
		"ocean", "--method", "joint-gram", "-q"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	got := dptrain(t, "report", "out", "--shape", "ocean")
	if got.code != exitOK ||
		!strings.Contains(got.stdout, "means of the target") ||
		!strings.Contains(got.stdout, `"inland"`) ||
		!strings.Contains(got.stdout, "all others") {
		t.Errorf("%+v", got)
	}
}

// TestHelpSuggests checks that the error for an unknown help topic suggests a similar one.
func TestHelpSuggests(t *testing.T) {
	for args, want := range map[string]string{
		"recpie":         "`dptrain help recipe`",
		"fitt":           `"fit"`,
		"nothing at all": "--help",
	} {
		got := dptrain(
			t,
			append([]string{"help"}, strings.Fields(args)...)...,
		)
		if got.code != exitUsage || !strings.Contains(got.stderr, want) {
			t.Errorf("%s: %+v", args, got)
		}
	}
	for _, args := range [][]string{
		{"help"},
		{"help", "ledger", "show"},
		{"help", "methods"},
	} {
		got := dptrain(t, args...)
		if got.code != exitOK || got.stdout == "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
}

// TestTopics checks that the help topics name every method and every section.
func TestTopics(t *testing.T) {
	for topic, words := range map[string][]string{
		"methods": {"joint-gram", "tukey", "kendall", "fixed"},
		"formats": {
			".xlsx", "--separator",
			"data.format.decimal",
			"standard input",
		},
		"recipe": {"columns.NAME.encode", "columns.NAME.lower", "format.separator",
			"unit.max_rows", "epsilon", "ledger", "holdout"},
	} {
		got := dptrain(t, "help", topic)
		for _, w := range words {
			if !strings.Contains(got.stdout, w) {
				t.Errorf("help %s lacks %s", topic, w)
			}
		}
	}
}
