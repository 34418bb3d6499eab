//go:build replay

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestFormatsFromStdin checks that a table from standard input gives the same model and predictions as the file, in every
// format, and that a target whose type contradicts the task is refused before anything is spent.
func TestFormatsFromStdin(t *testing.T) {
	folder, err := filepath.Abs("../../testdata/formats")
	if err != nil {
		t.Fatal(err)
	}
	chdirTemp(t)
	rest := []string{
		"--target", "price",
		"--epsilon", "3",
		"--method", "joint-gram",
		"--quiet",
		"--out",
	}
	model := ""
	predictions := ""
	for _, format := range []string{"csv", "xlsx", "feather", "arrow", "parquet"} {
		path := filepath.Join(folder, "houses."+format)
		table := readFile(t, path)
		cmd := separateProcess(t, "", "", append([]string{"fit", "--data", "-." + format}, append(rest, format)...))
		cmd.Stdin = strings.NewReader(table)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", format, err, out)
		}
		if model == "" {
			cmd := separateProcess(t, "", "", append([]string{"fit", "--data", path}, append(rest, "file")...))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			model = readFile(t, "file/release/model.json")
			predictions = dptrain(t, "predict", "file/release/model.json", path).stdout
		}
		if readFile(t, format+"/release/model.json") != model {
			t.Errorf("%s: another model than from the CSV file", format)
		}
		got := dptrainIn(t, table, "predict", format+"/release/model.json", "-."+format)
		if got.code != exitOK || got.stdout != predictions {
			t.Errorf("%s: other predictions than for the CSV file: %+v", format, got)
		}
		if format == "csv" {
			continue
		}
		got = dptrainIn(t, table, "predict", format+"/release/model.json", "-")
		if !strings.Contains(got.stderr, "; give it as -.") && format != "xlsx" {
			t.Errorf("%s: %+v", format, got)
		}
	}
	for _, format := range []string{"arrow", "parquet"} {
		path := filepath.Join(folder, "houses."+format)
		flags := []string{"--target", "ocean", "--epsilon", "3", "--out", "wrong"}
		want := dptrain(t, append([]string{"fit", "--data", path}, flags...)...)
		got := dptrainIn(t, readFile(t, path), append([]string{"fit", "--data", "-." + format}, flags...)...)
		if want.code != exitRecipe || got.code != want.code || got.stderr != want.stderr {
			t.Errorf("%s: %+v, from the file %+v", format, got, want)
		}
		if _, err := os.Stat("wrong"); err == nil {
			t.Errorf("%s: the run left a folder", format)
		}
	}
}
