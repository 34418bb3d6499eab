package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// writeLeaves writes the public table of the repository to the working directory, in two parts.
func writeLeaves(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(
		"..", "..", "testdata",
		"leaves.csv",
	))
	if err != nil {
		t.Fatal(err)
	}
	chdirTemp(t)
	lines := strings.SplitAfter(string(text), "\n")
	writeFile(t, "known.csv", strings.Join(lines[:1001], ""))
	writeFile(
		t, "new.csv",
		lines[0]+strings.Join(lines[1001:1401], ""),
	)
}

// TestCompress checks that predict can read the model of every method, and that the model has the printed errors.
func TestCompress(t *testing.T) {
	writeLeaves(t)
	truth := strings.Split(
		readFile(t, "new.csv"),
		"\n",
	)[1:401]
	for name, args := range map[string][]string{
		"snc":        nil,
		"metric":     {"--metric", "--passes", "30"},
		"components": {"--components", "3", "--vectors", "30"},
		"subsample": {
			"--method", "subsample",
			"--share", "0.2",
		},
		"cnn":  {"--method", "cnn"},
		"fcnn": {"--method", "fcnn"},
		"knn":  {"--method", "knn", "--neighbours", "5"},
	} {
		out := name + ".json"
		args = append(
			[]string{
				"compress", "--public", "known.csv",
				"--test", "new.csv",
				"-o", out,
			},
			args...,
		)
		got := dptrain(t, args...)
		if got.code != 0 ||
			got.stderr != "" ||
			!strings.Contains(got.stdout, "privacy      none: ") ||
			!strings.Contains(got.stdout, "tested on 400 records") {
			t.Fatalf("%s: %+v", name, got)
		}
		again := dptrain(t, append(args, "--force")...)
		if again != got {
			t.Errorf(
				"%s is not repeated: %+v",
				name, again,
			)
		}
		file := readFile(t, out)
		if !strings.Contains(file, "without privacy") ||
			!strings.Contains(file, `"guarantee": null`) {
			t.Errorf(
				"%s does not say so: %.400s",
				name, file,
			)
		}
		predicted := strings.Split(
			dptrain(t, "predict", out, "new.csv").stdout,
			"\n",
		)[1:]
		wrong := 0
		for i, line := range truth {
			if line[strings.LastIndex(line, ",")+1:] != predicted[i] {
				wrong++
			}
		}
		_, sentence, _ := strings.Cut(got.stdout, "the model")
		fields := strings.Fields(strings.Split(sentence, "\n")[0])
		said := fields[len(fields)-1]
		if said != formatShare(wrong, 400) || wrong > 100 {
			t.Errorf(
				"%s: %d of 400 are wrong, and it says %s",
				name, wrong, said,
			)
		}
	}
}

// formatShare formats n/of with four decimals.
func formatShare(n, of int) string {
	digits := "0000" + strconv.Itoa(n*10000/of)
	return "0." + digits[len(digits)-4:]
}

// TestCompressHoldsRecords checks that the points kept by subsampling, condensing and knn are exact records of the
// table, which is why these methods have no privacy.
func TestCompressHoldsRecords(t *testing.T) {
	writeLeaves(t)
	got := dptrain(t, "compress",
		"--public", "known.csv",
		"--method", "knn",
		"-o", "all.json",
	)
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	file := readFile(t, "all.json")
	cells := strings.Split(
		strings.Split(readFile(t, "known.csv"), "\n")[1],
		",",
	)
	want := `{"class":"` + cells[6] + `","at":[` +
		strings.ReplaceAll(
			strings.Join(cells[:5], ","),
			".0,", ",",
		) + ","
	if !strings.Contains(file, want) {
		t.Errorf("%s is not in the model", want)
	}
}

// TestCompressIsRefused checks that other commands do not accept a model without privacy as a release.
func TestCompressIsRefused(t *testing.T) {
	writeLeaves(t)
	must := func(code int, says string, args ...string) {
		t.Helper()
		got := dptrain(t, args...)
		if got.code != code || !strings.Contains(got.stdout+got.stderr, says) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	must(
		0, "", "compress",
		"--public", "known.csv",
		"-o", "leaves.json",
	)
	const what = "this is a model made by compress, without privacy, not a report"
	must(4, what, "report", "leaves.json")
	must(4, what, "verify", "leaves.json")
	must(2, "the model has no probabilities: it is a nearest-neighbour model", "predict", "--probability",
		"leaves.json", "new.csv")
	must(
		4, "this one predicts classes", "predict",
		"--interval", "0.9",
		"leaves.json", "new.csv",
	)

	writeFile(t, "line.csv", lineCSV(200))
	must(0, "", "fit",
		"--data", "line.csv",
		"--target", "y",
		"--epsilon", "1",
		"--out", "out",
		"-q",
	)
	must(0, "OK  ", "verify", "out")
	err := os.Rename(
		"leaves.json",
		filepath.Join("out", "release", "model.json"),
	)
	if err != nil {
		t.Fatal(err)
	}
	must(8, "it was trained without privacy", "verify", "out")
}

// TestCompressMistakes checks that invalid requests are reported before a table is read.
func TestCompressMistakes(t *testing.T) {
	writeLeaves(t)
	writeFile(t, "there.json", "{}")
	writeFile(t, "one.csv", "a,b\n1,x\n2,x\n")
	writeFile(t, "alone.csv", "b\nx\ny\n")
	for _, c := range []struct {
		args string
		code int
		says string
	}{
		{"known.csv -o m.json", 2, "add --public"},
		{"--public known.csv", 2, "with -o"},
		{"--public -o m.json", 2, "one table"},
		{
			"--public known.csv -o m.json --method lvq",
			2,
			"snc, subsample, cnn, fcnn, knn",
		},
		{
			"--public known.csv -o m.json --method knn --share 0.1",
			2,
			"no effect with --method knn",
		},
		{
			"--public known.csv -o m.json --method fcnn --metric",
			2,
			"no effect with --method fcnn",
		},
		{
			"--public known.csv -o m.json --method knn --gamma2 2",
			2,
			"no effect with --method knn",
		},
		{
			"--public known.csv -o m.json --optimizer lbfgs",
			2,
			"--optimizer must be one of adam, conjugate-gradient",
		},
		{
			"--public known.csv -o m.json --gamma2 0",
			2,
			"--gamma2 must be above 0 and at most 1e+06",
		},
		{
			"--public known.csv -o m.json --share 0.1 --vectors 9",
			2, "not both",
		},
		{
			"--public known.csv -o m.json --share 1.5",
			2, "at most 1",
		},
		{
			"--public known.csv -o m.json --vectors 0",
			2, "at least 1",
		},
		{
			"--public known.csv -o m.json --vectors 6 --neighbours 7",
			2,
			"fewer vectors than voting neighbours: 6 of 7",
		},
		{
			"--public known.csv -o m.json --neighbours 0",
			2, "between 1 and 1000",
		},
		{
			"--public known.csv -o m.json --components 0",
			2, "at least 1",
		},
		{
			"--public known.csv -o m.json --passes 0",
			2, "at least 1",
		},
		{
			"--public known.csv -o m.json --target leaf",
			2, `no column "leaf"`,
		},
		{
			"--public known.csv -o m.json --categories leaf",
			2, `no column "leaf"`,
		},
		{"--public known.csv -o there.json", 2, "already exists"},
		{"--public one.csv -o m.json", 2, "--target"},
		{"--public alone.csv -o m.json", 4, "there is no feature column"},
		{"--public nowhere.csv -o m.json", 4, "nowhere.csv"},
		{
			"--public known.csv --test nowhere.csv -o m.json",
			4, "nowhere.csv",
		},
	} {
		got := dptrain(t, append([]string{"compress"}, strings.Fields(c.args)...)...)
		if got.code != c.code || !strings.Contains(got.stderr, c.says) {
			t.Errorf("%s: %+v", c.args, got)
		}
		if _, err := os.Stat("m.json"); err == nil {
			t.Fatalf("%s: a model was written", c.args)
		}
	}
}

// TestCompressKnownTable checks that compress refuses a table known to a ledger, both for training and for testing.
func TestCompressKnownTable(t *testing.T) {
	writeLeaves(t)
	for _, args := range [][]string{
		{
			"ledger", "init", "dptrain.ledger",
			"--dataset", "leaves", "--epsilon",
			"9",
		},
		{
			"fit",
			"--data", "known.csv",
			"--target", "stalk",
			"--epsilon", "1",
			"--dataset", "leaves",
			"--out", "out",
			"-q",
		},
	} {
		got := dptrain(t, args...)
		if got.code != 0 {
			t.Fatalf("%+v", got)
		}
	}
	for _, args := range [][]string{
		{"--public", "known.csv"},
		{"--public", "new.csv", "--test", "known.csv"},
	} {
		got := dptrain(t, append(
			append([]string{"compress"}, args...),
			"-o", "m.json",
		)...)
		if got.code != 6 ||
			!strings.Contains(got.stderr, `as data set "leaves"`) {
			t.Errorf("%q: %+v", args, got)
		}
	}
	got := dptrain(
		t, "compress", "--public",
		"new.csv", "-o",
		"m.json",
	)
	if got.code != 0 {
		t.Errorf("%+v", got)
	}
}
