package main

import (
	"os"
	"strings"
	"testing"
)

// TestPredictWithoutRecipe checks tables of every kind for a model file alone: JSON Lines need no list of columns, and an
// error about the header of a text table explains that its format is unknown.
func TestPredictWithoutRecipe(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	const objects = `{"id": 1, "a": 1, "b": "north"}` + "\n" + `{"b": "south"}` + "\n"
	const want = "prediction\n112\n-80\n"
	writeFile(t, "new.jsonl", objects)
	for _, args := range [][]string{
		{"predict", "model.json", "new.jsonl"},
		{"predict", "model.json", "new.jsonl", "--strict"},
		{"predict", "model.json", "new.jsonl", "--header", "id,a,b"},
	} {
		if got := dptrain(t, args...); got.code != 0 || got.stdout != want || got.stderr != "" {
			t.Errorf("%v: %+v", args, got)
		}
	}
	if got := dptrainIn(t, objects, "predict", "model.json", "-.jsonl"); got.code != 0 || got.stdout != want {
		t.Errorf("standard input: %+v", got)
	}
	got := dptrainIn(t, objects, "predict", "model.json", "-")
	if got.code != exitData || !strings.Contains(got.stderr, "give it as -.jsonl in place of -") {
		t.Errorf("JSON Lines as CSV: %+v", got)
	}
	got = dptrain(t, "predict", "model.json", "new.jsonl", "--append")
	if got.code != exitUsage || !strings.Contains(got.stderr, "name the columns to copy with --header") {
		t.Errorf("--append: %+v", got)
	}
	got = dptrain(t, "predict", "model.json", "new.jsonl", "--append", "--header", "id,a,b")
	if got.code != 0 || !strings.HasPrefix(got.stdout, "id,a,b,prediction\n1,1,north,112\n") {
		t.Errorf("--append with --header: %+v", got)
	}
}

// TestPredictExplainsUnknownFormat checks the errors about the header of a text table if the recipe of the run cannot be used,
// and that they lack the explanation next to a recipe and for other formats.
func TestPredictExplainsUnknownFormat(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	writeFile(t, "bare.csv", "1,2\n3,4\n")
	writeFile(t, "other.csv", "x,b\n3,north\n")
	const unknown = "the separator, quotes, character set and header line of its tables are unknown"
	for _, table := range []string{"bare.csv", "other.csv"} {
		got := dptrain(t, "predict", "model.json", table)
		if got.code != exitData || !strings.Contains(got.stderr, "model.json: there is no recipe.yaml of its run next to it, so "+unknown) {
			t.Errorf("%s: %+v", table, got)
		}
	}
	writeFile(t, "recipe.yaml", "version: 1\ndata: {target: y, header: [a, b, y]}\nprivacy: {epsilon: 1}\nwhat: 2\n")
	got := dptrain(t, "predict", "model.json", "other.csv")
	if got.code != exitData || !strings.Contains(got.stderr, "the recipe.yaml next to it cannot be used (recipe.yaml:4:1: ") {
		t.Errorf("an invalid recipe: %+v", got)
	}
	writeFile(t, "recipe.yaml", "version: 1\ndata: {target: y, header: [a, b, y]}\nprivacy: {epsilon: 1}\n")
	got = dptrain(t, "predict", "model.json", "other.csv")
	if got.code != exitData || strings.Contains(got.stderr, unknown) {
		t.Errorf("with a recipe: %+v", got)
	}
	if err := os.Remove("recipe.yaml"); err != nil {
		t.Fatal(err)
	}
	got = dptrain(t, "predict", "model.json", "absent.csv")
	if got.code != exitData || strings.Contains(got.stderr, unknown) {
		t.Errorf("no file: %+v", got)
	}
}
