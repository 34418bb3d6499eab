package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// fitArgs are the arguments of a run on line.csv.
var fitArgs = []string{
	"fit", "--data", "line.csv",
	"--target", "y", "--epsilon",
	"1",
}

// numbers matches the parts of the output that depend on noise.
var numbers = regexp.MustCompile(
	`(?m)^(R²|All errors|Error|MAE|Interval|Held out|Columns|Pairs)( +).*\n(          .*\n)*`)

// withoutChances removes the warnings that depend on noise.
func withoutChances(text string) string {
	var kept strings.Builder
	for _, paragraph := range paragraphs.FindAllString(text, -1) {
		if !chances.MatchString(strings.Join(strings.Fields(paragraph), " ")) {
			kept.WriteString(paragraph)
		}
	}
	return kept.String()
}

// paragraphs matches a label, or the heading of a warning, together with its text.
var paragraphs = regexp.MustCompile(`(?m)^(?:\S.*)?\n(  .*\n)*`)

// chances matches the headings of warnings that depend on noise.
var chances = regexp.MustCompile(`^(?:error|warning)\[(wide-interval|far-targets|large-errors)\]: `)

func TestFit(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(20000))
	got := dptrain(t, fitArgs...)
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	files.compare(
		t,
		"fit",
		numbers.ReplaceAllString(withoutChances(got.stdout), "${1}${2}…\n"),
	)
	var names []string
	err := filepath.WalkDir("out", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		names = append(names, info.Mode().String()+" "+path)
		return err
	})
	want := []string{
		"drwxr-xr-x out", "drwx------ out/curator", "-rw------- out/curator/run.json",
		"drwxr-xr-x out/release", "-rw-r--r-- out/release/model.json",
		"-rw-r--r-- out/release/recipe.yaml", "-rw-r--r-- out/release/report.html",
		"-rw-r--r-- out/release/report.json",
	}
	diff := cmp.Diff(want, names)
	if diff != "" || err != nil {
		t.Errorf("%v\n%s", err, diff)
	}
	r, err := report.Decode(strings.NewReader(readFile(t, "out/release/report.json")))
	if err != nil {
		t.Fatal(err)
	}
	if r.Metrics.R2 == nil ||
		r.Metrics.R2.Value < .9 ||
		r.Guarantee.Spent > 1 {
		t.Errorf(
			"a line of 20000 records: %+v, %+v",
			r.Metrics.R2, r.Guarantee,
		)
	}
	run := runFile(t, "out")
	if run.Rows != 20000 ||
		run.TrainRows+run.HoldoutRows != 20000 ||
		run.Data != "line.csv" ||
		run.Date == "" ||
		run.Tool.Go == "" {
		t.Errorf("%+v", run)
	} else if _, ok := run.Seconds["read"]; !ok {
		t.Errorf("seconds: %v", run.Seconds)
	}
	got = dptrain(t, "predict", "out/release/model.json", "line.csv")
	if got.code != exitOK ||
		strings.Count(got.stdout, "\n") != 20001 {
		t.Errorf(
			"predict with what was written: code %d, %s",
			got.code, got.stderr,
		)
	}
}

func TestNeverOverwrites(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(30))
	if got := dptrain(t, fitArgs...); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	before := readFile(t, "out/release/model.json")
	want := result{exitUsage, "",
		"out/release: already exists; choose another --out, or overwrite it with --force\n"}
	if got := dptrain(t, fitArgs...); got != want {
		t.Errorf("%+v", got)
	}
	err := os.Rename("line.csv", "moved.csv")
	if err != nil {
		t.Fatal(err)
	}
	if got := dptrain(t, fitArgs...); got != want { // the output folder is checked before the table
		t.Errorf("%+v", got)
	}
	got := dptrain(t, append(fitArgs, "--force")...)
	if got.code != exitData ||
		readFile(t, "out/release/model.json") != before {
		t.Errorf(
			"a run that fails must leave the old results: %+v",
			got,
		)
	}
	err = os.Rename("moved.csv", "line.csv")
	if err != nil {
		t.Fatal(err)
	}
	got = dptrain(t, append(fitArgs, "--force")...)
	if got.code != exitOK ||
		readFile(t, "out/release/model.json") == before {
		t.Errorf(
			"--force must replace the results: %+v",
			got,
		)
	}
	writeFile(t, "out/release/notes.txt", "mine")
	got = dptrain(t, append(fitArgs, "--force")...)
	if got.code != exitUsage ||
		!strings.Contains(got.stderr, "did not write") {
		t.Errorf(
			"--force must not remove other files: %+v",
			got,
		)
	}
}

func TestProgress(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(30))
	for _, quiet := range []bool{false, true} {
		var stdout, stderr bytes.Buffer
		a := newApp(strings.NewReader(""), &stdout, &stderr)
		a.terminal = true
		args := append(slices.Clone(fitArgs), "--force", "--progress")
		if quiet {
			args = append(args, "--quiet")
		}
		code := a.run(t.Context(), args)
		if code != exitOK {
			t.Fatalf(
				"code %d: %s",
				code, stderr.String(),
			)
		}
		if quiet {
			if stdout.Len()+stderr.Len() > 0 {
				t.Errorf(
					"--quiet printed %q and %q",
					stdout.String(), stderr.String(),
				)
			}
			continue
		}
		files.compare(t, "progress", stderr.String())
	}
}

// runCancelledFit runs fit and cancels it when stage number at starts, or before the run if at is -1. It returns the
// stages that started.
func runCancelledFit(t *testing.T, at int) (result, []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	if at < 0 {
		cancel()
	}
	var stdout, stderr bytes.Buffer
	var stages []string
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	a.onStage = func(stage string) {
		if len(stages) == at {
			cancel()
		}
		stages = append(stages, stage)
	}
	code := a.run(ctx, append(slices.Clone(fitArgs), "--force"))
	return result{code, stdout.String(), stderr.String()}, stages
}

// TestFitInterruptedAtEachStage cancels a run before it starts and at each of its stages.
func TestFitInterruptedAtEachStage(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(200))
	got, stages := runCancelledFit(t, 1000) // never
	if got.code != exitOK ||
		len(stages) < 5 ||
		stages[len(stages)-1] != "write" {
		t.Fatalf("%+v, stages %q", got, stages)
	}
	model := readFile(t, "out/release/model.json")
	want := result{exitInterrupted, "", "dptrain: interrupted\n"}
	for at := -1; at < len(stages); at++ {
		got, _ := runCancelledFit(t, at)
		if got != want {
			t.Errorf(
				"cancelled at %d of %q: %+v",
				at, stages, got,
			)
		}
		if readFile(t, "out/release/model.json") != model {
			t.Errorf(
				"cancelled at %d of %q: the old results changed",
				at, stages,
			)
		}
		entries, err := os.ReadDir("out")
		if err != nil || len(entries) != 2 {
			t.Errorf(
				"cancelled at %d of %q: in out are %v, error %v",
				at,
				stages,
				entries,
				err,
			)
		}
	}
	if err := os.RemoveAll("out"); err != nil {
		t.Fatal(err)
	}
	for at := -1; at < len(stages); at++ {
		got, _ := runCancelledFit(t, at)
		if got != want {
			t.Errorf(
				"cancelled at %d of %q: %+v",
				at, stages, got,
			)
		}
		onlyFiles(t, "line.csv")
	}
}

func gzipText(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestBadInput checks every documented error: the exit code, a message with the position and the reason, and that no
// file is written.
func TestBadInput(t *testing.T) {
	files := goldenFiles(t)
	long := lineCSV(5000)
	zip := gzipText(t, long)
	over := func(old, new string) string {
		return strings.Replace(goodRecipe, old, new, 1)
	}
	tests := []struct {
		name   string
		recipe string
		table  string // name of the file; defaults to line.csv
		data   string
		code   int
	}{
		{
			"unknown recipe key",
			goodRecipe + "holdot: 0.2\n",
			"", long, exitRecipe,
		},
		{
			"wrong type",
			over("target: y", "target: [y]"),
			"", long, exitRecipe,
		},
		{
			"epsilon 0",
			over("epsilon: 1", "epsilon: 0"),
			"", long, exitRecipe,
		},
		{
			"epsilon negative",
			over("epsilon: 1", "epsilon: -1"),
			"", long, exitRecipe,
		},
		{"delta 1", goodRecipe + "  delta: 1\n", "", long, exitRecipe},
		{
			"delta negative",
			goodRecipe + "  delta: -1e-6\n",
			"", long, exitRecipe,
		},
		{
			"k above d",
			goodRecipe + "selection: {method: auto, k: 3}\n",
			"",
			long,
			exitRecipe,
		},
		{
			"no feature left",
			over("target: y", "target: y\n  exclude: [a, b]"),
			"",
			long,
			exitRecipe,
		},
		{
			"absent target",
			over("target: y", "target: price"),
			"", long, exitData,
		},
		{
			"absent declared column",
			over(
				"target: y",
				"target: y\n  columns: {c: {lower: 0, upper: 1}}",
			),
			"",
			long,
			exitData,
		},
		{
			"duplicate header", goodRecipe, "",
			"a,a,y\n1,2,3\n",
			exitData,
		},
		{
			"empty name in header", goodRecipe, "",
			"a,,y\n1,2,3\n",
			exitData,
		},
		{
			"no header", goodRecipe, "",
			"1,2,3\n4,5,6\n",
			exitData,
		},
		{
			"text and no header", goodRecipe, "",
			"Miller,12,blue\nSmith,13,red\n",
			exitData,
		},
		{"empty file", goodRecipe, "", "", exitData},
		{
			"absent file",
			over("line.csv", "none.csv"),
			"", long, exitData,
		},
		{
			"unknown suffix",
			over("line.csv", "line.xls"),
			"line.xls", long, exitData,
		},
		{
			"truncated gz",
			over("line.csv", "line.csv.gz"),
			"line.csv.gz",
			zip[:len(zip)/2],
			exitData,
		},
		{
			"gz without its end",
			over("line.csv", "line.csv.gz"),
			"line.csv.gz",
			zip[:len(zip)-6],
			exitData,
		},
		{
			"not gz",
			over("line.csv", "line.csv.gz"),
			"line.csv.gz", long, exitData,
		},
		{
			"not parquet",
			over("line.csv", "line.parquet"),
			"line.parquet", long, exitData,
		},
		{
			"epsilon without a finite mu",
			over("epsilon: 1", "epsilon: 1e9") + "selection: {method: kendall, k: 1}\n",
			"",
			long,
			exitBudget,
		},
	}
	var b strings.Builder
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chdirTemp(t)
			table := tt.table
			if table == "" {
				table = "line.csv"
			}
			writeFile(t, table, tt.data)
			writeFile(t, "recipe.yaml", tt.recipe)
			got := dptrain(t, "fit", "recipe.yaml")
			if got.code != tt.code || got.stdout != "" {
				t.Errorf(
					"code %d, want %d; stdout %q, stderr %q",
					got.code,
					tt.code,
					got.stdout,
					got.stderr,
				)
			}
			for _, cell := range []string{"Miller", "Smith", "blue"} {
				if strings.Contains(got.stderr, cell) {
					t.Errorf(
						"a cell is in the message: %s",
						got.stderr,
					)
				}
			}
			onlyFiles(t, slices.Sorted(slices.Values([]string{table, "recipe.yaml"}))...)
			b.WriteString(tt.name + "\n  " +
				strings.ReplaceAll(
					strings.TrimSpace(got.stderr), "\n",
					"\n  ",
				) + "\n")
		})
	}
	files.compare(t, "bad-input", b.String())
}

// TestTotalOnRows runs fit on malformed rows of every kind. It checks that the exit code is 0, that the terminal
// output is the same, and that the counts of bad cells appear only in the curator folder.
func TestTotalOnRows(t *testing.T) {
	wide := func(rows int) string {
		names := make([]string, 40)
		cells := make([]string, 40)
		for j := range names {
			names[j] = "x" + strings.Repeat("i", j)
			cells[j] = "1"
		}
		names[39] = "y"
		return strings.Join(names, ",") + "\n" + strings.Repeat(
			strings.Join(cells, ",")+"\n",
			rows,
		)
	}
	tests := []struct {
		name, data                      string
		rows, long, short               int
		missing, unparseable, nonfinite int
	}{
		{name: "header only", data: "a,b,y\n"},
		{name: "header without newline", data: "a,b,y"},
		{
			name: "one row",
			data: "a,b,y\n1,2,3\n",
			rows: 1,
		},
		{
			name: "two rows",
			data: "a,b,y\n1,2,3\n4,5,6",
			rows: 2,
		},
		{
			name:    "ragged",
			data:    "a,b,y\n1\n1,2,3,4,5\n1,2\n",
			rows:    3,
			long:    1,
			short:   2,
			missing: 3,
		},
		{
			name:        "text",
			data:        "a,b,y\nred,2,3\n1,2,tall\n",
			rows:        2,
			unparseable: 2,
		},
		{
			name:      "not finite",
			data:      "a,b,y\nNaN,2,3\n1,+Inf,3\n1,2,-Infinity\n1,2,1e999\n",
			rows:      4,
			missing:   1,
			nonfinite: 3,
		},
		{
			name: "constant columns",
			data: "a,b,y\n" + strings.Repeat("1,1,1\n", 50),
			rows: 50,
		},
		{
			name:        "open quote",
			data:        "a,b,y\n\"1,2,3\n4,5,6\n7,8,\"9\n",
			rows:        3,
			short:       1,
			missing:     2,
			unparseable: 1,
		},
		{
			name: "more columns than rows",
			data: wide(3),
			rows: 3,
		},
		{
			name: "empty lines and CRLF",
			data: "a,b,y\r\n\r\n1,2,3\r\n\n4,5,6\r\n",
			rows: 2,
		},
		{
			name:        "zero bytes",
			data:        "a,b,y\n\x00,\xff\xfe,3\n",
			rows:        1,
			unparseable: 2,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			chdirTemp(t)
			writeFile(t, "line.csv", tt.data)
			got := dptrain(t, fitArgs...)
			if got.code != exitOK || got.stderr != "" {
				t.Fatalf("%+v", got)
			}
			run := runFile(t, "out")
			var missing, unparseable, nonfinite int
			for _, c := range run.Cells.Columns {
				missing += c.Missing
				unparseable += c.Unparseable
				nonfinite += c.Nonfinite
			}
			if run.Rows != tt.rows ||
				run.Cells.Long != tt.long ||
				run.Cells.Short != tt.short ||
				missing != tt.missing ||
				unparseable != tt.unparseable ||
				nonfinite != tt.nonfinite {
				t.Errorf(
					"counted rows %d, cells %+v",
					run.Rows, run.Cells,
				)
			}
			if got := dptrain(t, "predict", "out/release/model.json", "line.csv"); got.code != exitOK ||
				strings.Count(got.stdout, "\n") != tt.rows+1 {
				t.Errorf("predict: %+v", got)
			}
			if !strings.HasSuffix(got.stdout, "\nout/curator   exact counts: keep private\n") {
				t.Errorf(
					"the output does not end with the folders: %s",
					got.stdout,
				)
			}
		})
	}
}

// TestNoCellAnywhere plants a marker in cells and searches for it in all public output, the terminal and release/,
// for runs that succeed and runs that fail.
func TestNoCellAnywhere(t *testing.T) {
	const marker = "zq7w9marker"
	rows := strings.Repeat("1,2,3\n", 50)
	tables := map[string]string{
		"in cells":         "a,b,y\n" + rows + marker + ",2," + marker + "\n" + rows,
		"in a quoted cell": "a,b,y\n" + rows + "\"" + marker + ",2,3\n" + rows,
		"in extra fields":  "a,b,y\n" + rows + "1,2,3," + marker + "\n",
		"alone":            "a,b,y\n" + marker + "\n",
		"in the last line": "a,b,y\n" + rows + "1,2," + marker,
		"as the header":    marker + ",2," + marker + "\n" + rows,
		"without a header": marker + ",1,2\n" + rows,
	}
	for name, data := range tables {
		for _, verb := range []string{"fit", "plan"} {
			t.Run(name+" "+verb, func(t *testing.T) {
				chdirTemp(t)
				writeFile(t, "line.csv", data)
				writeFile(t, "recipe.yaml", goodRecipe+"holdout: 0.5\n")
				var stdout, stderr bytes.Buffer
				a := newApp(strings.NewReader(""), &stdout, &stderr)
				a.terminal = true
				a.debug = true
				a.run(t.Context(), []string{verb, "recipe.yaml"})
				all := stdout.String() + stderr.String()
				if strings.Contains(all, marker) {
					t.Errorf("on the terminal: %s", all)
				}
				err := filepath.WalkDir(
					"out/release",
					func(path string, d fs.DirEntry, err error) error {
						if err == nil &&
							d.Type().IsRegular() &&
							strings.Contains(readFile(t, path), marker) {
							t.Errorf("in %s", path)
						}
						return err
					},
				)
				if err != nil && !errors.Is(err, fs.ErrNotExist) {
					t.Error(err)
				}
			})
		}
	}
}

// A stalled input has some bytes, and never another. It ends a context when its reader waits for more.
type stalled struct {
	io.Reader
	interrupt context.CancelFunc
	forever   <-chan struct{}
}

func (s *stalled) Read(p []byte) (int, error) {
	n, err := s.Reader.Read(p)
	if err == io.EOF {
		s.interrupt()
		<-s.forever
	}
	return n, err
}

// TestInterruptedBeforeTheHeader interrupts commands that wait for the rest of a header, or of a table that they hold in
// memory.
func TestInterruptedBeforeTheHeader(t *testing.T) {
	chdirTemp(t)
	for _, command := range []string{"fit --target y --data", "plan --target y --data", "describe"} {
		for _, name := range []string{"-", "-.tsv", "-.parquet", "-.arrow", "-.xlsx", "-.csv.gz"} {
			ctx, cancel := context.WithCancel(t.Context())
			args := append(strings.Fields(command), name, "--epsilon", "1")
			var stdout, stderr bytes.Buffer
			code := run(ctx, args, &stalled{strings.NewReader("{\"a"), cancel, t.Context().Done()}, &stdout, &stderr)
			cancel()
			if code != exitInterrupted || stderr.String() != "dptrain: interrupted\n" {
				t.Errorf("%s %s: code %d, %q", command, name, code, stderr.String())
			}
		}
	}
	onlyFiles(t)
}
