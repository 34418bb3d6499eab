package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dptrain/dptrain/dataset"
)

// modelJSON predicts 10 + 2a + (100 in the north, -100 elsewhere), with a clamped to [0, 50] and 5 if it is missing.
const modelJSON = `{
  "format": "dptrain.model/1",
  "kind": "linear",
  "task": "regression",
  "target": "y",
  "columns": [
    {"name":"a","type":"numeric","lower":0,"upper":50,"missing":5},
    {"name":"b","type":"category","categories":["north"],"other":true}
  ],
  "terms": [
    {"column":"a","coefficient":2,"std_error":0},
    {"column":"b","category":"north","coefficient":100,"std_error":0},
    {"column":"b","other":true,"coefficient":-100,"std_error":0}
  ],
  "intercept": {"coefficient":10,"std_error":0},
  "prediction": {"lower":-1000,"upper":1000},
  "guarantee": null
}
`

const newCSV = "id,b,a\n7,north,1\n8,south,2.5\n9,north,\n10,\"north\",99\n11,north\n12,north,crimson,extra\n"

func TestPredict(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	writeFile(t, "new.csv", newCSV)
	writeFile(t, "new.csv.gz", gzipText(t, newCSV))
	writeFile(t, "new.tsv", strings.ReplaceAll(newCSV, ",", "\t"))
	const column = "prediction\n112\n-85\n120\n210\n120\n120\n"
	const appended = "id,b,a,prediction\n7,north,1,112\n8,south,2.5,-85\n9,north,,120\n10,north,99,210\n11,north,,120\n12,north,crimson,120\n"
	tests := []struct {
		args, stdin, want string
	}{
		{"new.csv", "", column},
		{"new.csv.gz", "", column},
		{"new.tsv", "", column},
		{"-", newCSV, column},
		{
			"- --multiline-quotes",
			"a,b,c\n1,north,\"two\nlines\"\n2,north,x\n",
			"prediction\n112\n114\n",
		},
		{"new.csv --append", "", appended},
		{"new.csv.gz --append", "", appended},
		{
			"new.tsv --append", "",
			strings.ReplaceAll(appended, ",", "\t"),
		},
		{
			"- --append",
			"\uFEFF" + strings.ReplaceAll(newCSV, "\n", "\r\n"),
			appended,
		},
		{
			"- --append",
			"a,b,note\n1,north,\"open, quote\n\n2,north,\"x, \"\"y\"\"\"\n",
			"a,b,note,prediction\n1,north,\"open, quote\",112\n2,north,\"x, \"\"y\"\"\",114\n",
		},
		{
			"- --append --multiline-quotes",
			"a,b,c\n1,north,\"two\nlines\"\n",
			"a,b,c,prediction\n1,north,\"two\nlines\",112\n",
		},
		{"- --append", "a,b", "a,b,prediction\n"},
		{
			"- --strict",
			"a,b\n1,north\nNA,north\n",
			"prediction\n112\n120\n",
		},
	}
	for _, tt := range tests {
		args := append([]string{"predict", "model.json"}, strings.Fields(tt.args)...)
		got := dptrainIn(t, tt.stdin, args...)
		want := (result{0, tt.want, ""})
		if tt.want == column || strings.HasPrefix(tt.want, "id") {
			place := strings.ReplaceAll(strings.Fields(tt.args)[0], "-", "stdin")
			want.stderr = "note: " + place + unevenNote
		}
		if got != want {
			t.Errorf(
				"%s of %q:\n got %+v\nwant %+v",
				tt.args, tt.stdin, got, want,
			)
		}
	}
	writeFile(t, "old.csv", "old")
	got := dptrain(t, "predict", "model.json", "new.csv", "-o", "old.csv",
		"--force")
	if got != (result{stderr: "note: new.csv" + unevenNote}) ||
		readFile(t, "old.csv") != column {
		t.Errorf(
			"-o: %+v, file %q",
			got, readFile(t, "old.csv"),
		)
	}
	onlyFiles(
		t, "model.json", "new.csv",
		"new.csv.gz", "new.tsv",
		"old.csv",
	)
}

// unevenNote ends the note about the last two records of newCSV.
const unevenNote = ":6: 1 line with fewer and 1 line with more than 3 values; absent values count as missing, extra ones are ignored. " +
	"If quoted values contain line breaks, use --multiline-quotes\n"

// TestPredictNotesUnevenLines checks that predict names the first line with more or fewer values than the header and counts
// them, for all batches of a table, that --strict refuses such a line, and that records of JSON may lack columns.
func TestPredictNotesUnevenLines(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	const remedy = "; absent values count as missing, extra ones are ignored. If quoted values contain line breaks, use --multiline-quotes\n"
	many := "a,b\n" + strings.Repeat("1,north\n", 200_000) + "1\n" + strings.Repeat("1,north\n", 200_000) + "1\n"
	for _, c := range []struct{ stdin, note string }{
		{"a,b\n1,north\n\n2,north\n", ""},
		{"a,b,c\n1,north,\"two\nlines\"\n2,north,x\n", "note: stdin:3: 1 line with fewer than 3 values" + remedy},
		{"a,b\n1,north,x\n2,north,x,y\n", "note: stdin:2: 2 lines with more than 2 values" + remedy},
		{"a,b\n1\n2,north,x\n3\n", "note: stdin:2: 2 lines with fewer and 1 line with more than 2 values" + remedy},
		{many, "note: stdin:200002: 2 lines with fewer than 2 values" + remedy},
	} {
		for _, flag := range []string{"--append", "--json"} {
			got := dptrainIn(t, c.stdin, "predict", "model.json", "-", flag)
			if got.code != exitOK || got.stderr != c.note {
				t.Errorf("%.60q %s: code %d, %q", c.stdin, flag, got.code, got.stderr)
			}
		}
		strict := dptrainIn(t, c.stdin, "predict", "model.json", "-", "--strict")
		place, _, _ := strings.Cut(strings.TrimPrefix(c.note, "note: "), ": ")
		if (strict.code == exitData) != (c.note != "") ||
			!strings.HasPrefix(strict.stderr, place) {
			t.Errorf("%.60q: %d, %q", c.stdin, strict.code, strict.stderr)
		}
	}
	const short = "a,b\n1\n"
	got := dptrainIn(t, short, "predict", "model.json", "-", "--multiline-quotes")
	if got.stderr != "note: stdin:2: 1 line with fewer than 2 values; absent values count as missing, extra ones are ignored\n" {
		t.Errorf("%+v", got)
	}
	got = dptrainIn(t, short, "predict", "model.json", "-", "--strict", "--multiline-quotes")
	if got.code != exitData || strings.Contains(got.stderr, "--multiline-quotes") {
		t.Errorf("%+v", got)
	}
	writeFile(t, "new.jsonl", "{\"a\": 1}\n{\"a\": 2, \"b\": \"north\", \"c\": 3}\n")
	got = dptrain(t, "predict", "model.json", "new.jsonl", "--header", "a,b,c")
	if got.code != exitOK || got.stderr != "" {
		t.Errorf("%+v", got)
	}
}

// TestPredictClearsDrafts checks that predict removes the drafts that a killed predict left for the same output, and
// no other file.
func TestPredictClearsDrafts(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	writeFile(t, "new.csv", newCSV)
	for _, name := range []string{
		draftPrefix + "1/out.csv",
		draftPrefix + "2/other.csv",
	} {
		if err := os.Mkdir(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		writeFile(t, name, "half a dra")
	}
	r := dptrain(
		t, "predict", "model.json",
		"new.csv", "-o",
		"out.csv",
	)
	if r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	left, err := filepath.Glob(".dptrain-*/*")
	if err != nil ||
		!slices.Equal(left, []string{draftPrefix + "2/other.csv"}) {
		t.Errorf("left %q, %v", left, err)
	}
}

func TestPredictMistakes(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	writeFile(
		t,
		"broken.json",
		strings.Replace(
			modelJSON, `"missing":5`,
			`"missing":"5"`, 1,
		),
	)
	writeFile(
		t, "later.json",
		strings.Replace(modelJSON, "model/1", "model/4", 1),
	)
	writeFile(t, "new.csv", newCSV)
	writeFile(
		t, "report.json",
		`{"format":"dptrain.report/2","guar`,
	)
	writeFile(t, "recipe.yaml", "version: 1\n")
	if err := os.MkdirAll("out/release", 0o700); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "absent.csv", "b,A\nnorth,1\n")
	writeFile(t, "repeated.csv", "b,a,a\nnorth,1,2\n")
	writeFile(t, "named.csv", "a,b,prediction\n1,north,3\n")
	writeFile(
		t, "infinite.csv",
		"a,b\n1,north\n\n-inf,north\n",
	)
	writeFile(
		t, "infinite.csv.gz",
		gzipText(t, "a,b\n1,north\n\n-inf,north\n"),
	)
	tests := []struct {
		args string
		code int
	}{
		{"none.json new.csv", exitData},
		{"broken.json new.csv", exitData},
		{"later.json new.csv", exitData},
		{"new.csv model.json", exitData},
		{"out new.csv", exitData},
		{"report.json new.csv", exitData},
		{"recipe.yaml new.csv", exitData},
		{"model.json none.csv", exitData},
		{"model.json none.csv --strict", exitData},
		{"model.json none.csv --append", exitData},
		{"model.json model.json --append", exitData},
		{"model.json absent.csv", exitData},
		{"model.json repeated.csv", exitData},
		{"model.json new.csv --strict", exitData},
		{"model.json infinite.csv --strict", exitData},
		{"model.json infinite.csv --strict --multiline-quotes", exitData},
		{"model.json infinite.csv.gz --strict", exitData},
		{"model.json named.csv --append", exitUsage},
	}
	var b strings.Builder
	for _, tt := range tests {
		got := dptrain(
			t,
			append(
				append([]string{"predict"}, strings.Fields(tt.args)...),
				"-o",
				"p.csv",
			)...,
		)
		if got.code != tt.code ||
			got.stdout != "" ||
			strings.Contains(got.stderr, "crimson") {
			t.Errorf(
				"%s: %+v, want code %d",
				tt.args, got, tt.code,
			)
		}
		fmt.Fprintf(&b, "predict %s\n  %s", tt.args, got.stderr)
	}
	files.compare(t, "predict-mistakes", b.String())
	if _, err := os.Stat("p.csv"); err == nil {
		t.Error("a failed predict wrote its output")
	}
}

// TestIsNumber compares the rule of --strict with the counts of package dataset.
func TestIsNumber(t *testing.T) {
	cells := []string{
		"", " ", "1", " 1\t", "-1.5e3", ".5", "5.", "+7", "NA", "N/A", "NaN", "nan", "NAN", "null",
		"NULL", "None", "none", "?", "-",
		"inf", "-Inf", "+Infinity", "1e308", "1e309", "-1e999", "1e-999", "0x1p4", "0X1", "1_000",
		"1 000", "1.2.3", "red", "\u00a01", "١", "45 kg", "27.1%", "<5", "x5", "1,234.5",
	}
	for _, cell := range cells {
		_, stats, err := dataset.ReadFrom(
			context.Background(),
			strings.NewReader("a,b\n"+cell+",1\n"),
			"cells",
			dataset.Schema{Columns: []dataset.Column{{Name: "a"}}},
			dataset.ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		c := stats.Columns[0]
		want := c.Unparseable+c.Nonfinite == 0
		if new(dataset.Format).Reads(cell) != want {
			t.Errorf(
				"%q: %v, but the reader says %v",
				cell,
				new(dataset.Format).Reads(cell),
				want,
			)
		}
	}
}

func TestPredictInterrupted(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	writeFile(t, "new.csv", newCSV)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, args := range []string{"", "--append", "--strict"} {
		var stdout, stderr bytes.Buffer
		code := run(
			ctx,
			append(
				[]string{
					"predict", "model.json", "new.csv",
					"-o", "p.csv",
				},
				strings.Fields(args)...,
			),
			strings.NewReader(""),
			&stdout,
			&stderr,
		)
		if code != exitInterrupted || stderr.String() != "dptrain: interrupted\n" {
			t.Errorf(
				"%s: code %d, %s",
				args, code, stderr.String(),
			)
		}
		onlyFiles(t, "model.json", "new.csv")
	}
}

// TestSignalsEndPredict sends a real process the signals of Ctrl-C, Ctrl-\\, a closed terminal and kill while it waits
// for input.
func TestSignalsEndPredict(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("no signals there")
	}
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for ending, flag := range map[syscall.Signal]string{
		syscall.SIGINT:  "--append",
		syscall.SIGTERM: "--multiline-quotes",
		syscall.SIGHUP:  "--append",
		syscall.SIGQUIT: "--strict",
	} {
		if signal.Ignored(ending) {
			t.Logf("%v is ignored, as below nohup", ending)
			continue
		}
		cmd := exec.Command(
			self, "predict", "model.json",
			"-", "-o",
			"p.csv", flag,
		)
		cmd.Env = append(
			os.Environ(), asProcess+"=1",
			"GOCOVERDIR="+t.TempDir(),
		)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stderr, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// The input exceeds the capacity of a pipe: when the write returns, the process is reading.
		_, err = stdin.Write([]byte("a,b\n" + strings.Repeat("1,north\n", 1<<15)))
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(ending); err != nil {
			t.Fatal(err)
		}
		_ = cmd.Process.Signal(ending) // as timeout does; the process may have ended
		stop := time.AfterFunc(time.Minute, func() {
			cmd.Process.Kill()
		}) // in case the process hangs
		line, _ := bufio.NewReader(stderr).ReadString('\n')
		cmd.Wait()
		stop.Stop()
		code := cmd.ProcessState.ExitCode()
		if code != exitInterrupted || line != "dptrain: interrupted\n" {
			t.Errorf(
				"%v, %s: code %d, stderr %q",
				ending, flag, code, line,
			)
		}
		onlyFiles(t, "model.json")
	}
}
