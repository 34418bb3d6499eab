package tablefile

import "testing"

func TestParsePath(t *testing.T) {
	for path, want := range map[string]struct {
		kind  Kind
		stem  string
		ok    bool
		holds bool
	}{
		"a/b.csv": {
			Kind{Comma: ','},
			"a/b", true, true,
		},
		"b.CSV.gz": {
			Kind{Comma: ',', Coding: "gzip"},
			"b", true, true,
		},
		"b.tsv": {Kind{Comma: '\t'}, "b", true, true},
		"b.Tsv.GZ": {
			Kind{Comma: '\t', Coding: "gzip"},
			"b", true, true,
		},
		"b.jsonl": {
			Kind{Comma: ',', JSON: true},
			"b", true, true,
		},
		"b.ndjson.gz": {
			Kind{
				Comma:  ',',
				JSON:   true,
				Coding: "gzip",
			},
			"b", true, true,
		},
		"b.parquet":    {Kind{Parquet: true}, "b", true, true},
		"b.parquet.gz": {Kind{}, "b.parquet.gz", false, true},
		"b.yaml":       {Kind{}, "b.yaml", false, false},
		"csv":          {Kind{}, "csv", false, false},
		"b.gz":         {Kind{}, "b.gz", false, false},
		"":             {Kind{}, "", false, false},
		"b.csv/run.yaml": {
			Kind{},
			"b.csv/run.yaml", false,
			false,
		},
	} {
		kind, stem, ok := ParsePath(path)
		decodes := kind.Decode != nil
		same := kind.Comma == want.kind.Comma &&
			kind.Coding == want.kind.Coding &&
			kind.Parquet == want.kind.Parquet &&
			kind.JSON == want.kind.JSON &&
			decodes == (kind.Coding != "")
		if !same ||
			stem != want.stem ||
			ok != want.ok ||
			Holds(path) != want.holds {
			t.Errorf(
				"%q: %+v, %q, %v, %v; want %+v",
				path, kind, stem, ok,
				Holds(path), want,
			)
		}
	}
	for _, suffix := range Suffixes() {
		_, stem, ok := ParsePath("x" + suffix)
		if !ok || stem != "x" {
			t.Errorf("%q of x%s", stem, suffix)
		}
	}
}

func TestStdin(t *testing.T) {
	for path, want := range map[string]string{
		"-":             "stdin",
		"-.jsonl":       "stdin.jsonl",
		"-.csv.gz":      "stdin.csv.gz",
		"-.TSV":         "stdin.TSV",
		"stdin:-.jsonl": "stdin.jsonl",
		"-.parquet":     "stdin.parquet",
		"-.yaml":        "",
		"-x.csv":        "",
		"./-.csv":       "",
		"":              "",
		"stdin:":        "",
		"stdin.jsonl":   "",
	} {
		name, ok := Stdin(path)
		if ok != (want != "") || ok && name != want {
			t.Errorf(
				"%q: %q, %v; want %q",
				path, name, ok, want,
			)
		}
	}
	for arg, want := range map[string]string{
		"-":       "-",
		"-.jsonl": "stdin:-.jsonl",
		"--data":  "--data",
		"-o":      "-o",
		"a.csv":   "a.csv",
	} {
		if got := Argument(arg); got != want {
			t.Errorf(
				"%q becomes %q, want %q",
				arg, got, want,
			)
		}
	}
}
