//go:build replay

package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestFormatsRelease checks that a table gives the same model, predictions, first look and benchmark in any format.
func TestFormatsRelease(t *testing.T) {
	folder, err := filepath.Abs("../../testdata/formats")
	if err != nil {
		t.Fatal(err)
	}
	chdirTemp(t)
	want := map[string]string{}
	for _, format := range []string{
		"csv", "xlsx", "feather", "arrow",
		"parquet",
	} {
		table := filepath.Join(folder, "houses."+format)
		out, err := separateProcess(
			t,
			"",
			"",
			[]string{
				"fit",
				"--data", table,
				"--target", "price",
				"--epsilon", "3",
				"-q",
				"--out", format,
			},
		).CombinedOutput()
		if err != nil {
			t.Fatalf(
				"%s: %v\n%s",
				format, err, out,
			)
		}
		predicted := dptrain(t, "predict", format+"/release/model.json", table)
		got := map[string]string{
			"model":       readFile(t, format+"/release/model.json"),
			"predictions": predicted.stdout,
		}
		if format != "parquet" { // which has no text form
			appended := dptrain(
				t,
				"predict",
				format+"/release/model.json",
				table,
				"--append",
			)
			lines := strings.Split(appended.stdout, "\n")
			if len(lines) != 402 ||
				!strings.HasPrefix(lines[0], "area,rooms,") ||
				!strings.HasSuffix(lines[0], ",price,prediction") {
				t.Errorf(
					"%s: %d lines of %q",
					format, len(lines), lines[0],
				)
			}
		}
		looked := dptrain(t, "look", table,
			"--target", "price",
			"--out", "look-"+format,
		)
		if looked.code != 0 {
			t.Fatalf("%+v", looked)
		}
		_, got["look"], _ = strings.Cut(
			readFile(t, "look-"+format+"/curator/look.txt"),
			"400 records",
		)
		got["look"], _, _ = strings.Cut(got["look"], "A recipe")
		bench := dptrain(t, "bench",
			"--public",
			"--data", table,
			"--target", "price",
			"--categories",
			"--method", "nonprivate-ols",
			"--trials", "2",
			"--json",
		)
		if bench.code != 0 {
			t.Fatalf("%+v", bench)
		}
		for key, text := range got {
			if want[key] == "" {
				want[key] = text
			}
			if text != want[key] {
				t.Errorf(
					"%s: another %s:\n%s\nwant\n%s",
					format, key, text, want[key],
				)
			}
		}
		header := dptrain(t, "init", table, "--json")
		if header.code != 0 || !strings.Contains(header.stdout, `"ocean"`) {
			t.Errorf("%+v", header)
		}
		names := dptrain(t, "__complete", "fit",
			"--data", table,
			"--target", "",
		)
		if !strings.Contains(names.stdout, "ocean\n") {
			t.Errorf(
				"%s: %q is completed",
				format, names.stdout,
			)
		}
	}
}
