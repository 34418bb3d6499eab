package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// TestPredictStreams checks that a prediction is printed before the next record is available.
func TestPredictStreams(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	in, feed := io.Pipe()
	out, printed := io.Pipe()
	ended := make(chan int)
	go func() {
		code := run(
			t.Context(),
			[]string{
				"predict", "model.json", "-",
				"--append", "--strict",
			},
			in,
			printed,
			io.Discard,
		)
		printed.Close()
		ended <- code
	}()
	next := make([]byte, 200)
	step := func(given, want string) {
		t.Helper()
		if _, err := io.WriteString(feed, given); err != nil {
			t.Fatal(err)
		}
		n, err := out.Read(next)
		if err != nil || string(next[:n]) != want {
			t.Fatalf(
				"%q gives %q, %v; want %q",
				given, next[:n], err, want,
			)
		}
	}
	step("a,b\n", "a,b,prediction\n")
	for i := range 5 {
		step(
			fmt.Sprintf("%d,north\n", i),
			fmt.Sprintf("%d,north,%d\n", i, 110+2*i),
		)
	}
	feed.Close()
	if code := <-ended; code != exitOK {
		t.Errorf("code %d", code)
	}
}

// TestPredictBreaks checks that the lines before the failing batch are printed, and that the exit code shows that
// the output is incomplete.
func TestPredictBreaks(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	const records = 40000
	lines := "a,b\n" + strings.Repeat("1,north\n", records)
	writeFile(
		t, "broken.csv.gz",
		gzipText(t, lines)[:len(gzipText(t, lines))-9],
	)
	writeFile(
		t, "cell.csv",
		lines+"red,north\n"+strings.Repeat("1,north\n", 9),
	)
	for args, want := range map[string]string{
		"predict model.json broken.csv.gz":     "broken.csv.gz: ends early: the gzip data is truncated; copy or compress it again; predictions for the first %d records were printed\n",
		"predict model.json cell.csv --strict": "cell.csv:40002:1: a cell of column \"a\" is not a finite number; correct it, or predict without --strict to replace it with the model's missing value; predictions for the first %d records were printed\n",
	} {
		got := dptrain(t, strings.Fields(args)...)
		printed := strings.Count(got.stdout, "112\n")
		if got.code != exitData ||
			got.stderr != fmt.Sprintf(want, printed) ||
			printed == 0 ||
			printed > records ||
			got.stdout != "prediction\n"+strings.Repeat("112\n", printed) {
			t.Errorf(
				"%s: code %d, %d lines, %s",
				args, got.code, printed, got.stderr,
			)
		}
		got = dptrain(t, append(
			strings.Fields(args), "-o",
			"p.csv",
		)...)
		if got.code != exitData ||
			got.stdout != "" ||
			strings.Contains(got.stderr, "printed") {
			t.Errorf(
				"%s to a file: %+v",
				args, got,
			)
		}
	}
	onlyFiles(t, "broken.csv.gz", "cell.csv", "model.json")
}

// TestPredictMemory checks that the memory of predict does not grow with the table.
func TestPredictMemory(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	line := []byte(strings.Repeat("1.25,north\n", 1000))
	most := func(records int) uint64 {
		in, feed := io.Pipe()
		var peak uint64
		go func() {
			_, _ = io.WriteString(feed, "a,b\n")
			for range records / 1000 {
				_, _ = feed.Write(line)
			}
			feed.Close()
		}()
		out := watchHeap{peak: &peak}
		code := run(
			t.Context(),
			[]string{"predict", "model.json", "-"},
			in,
			&out,
			io.Discard,
		)
		if code != exitOK || out.lines != records+1 {
			t.Fatalf(
				"code %d, %d lines",
				code, out.lines,
			)
		}
		return peak
	}
	few := most(100_000)
	many := most(2_000_000)
	t.Logf(
		"at most %d KiB live for 1e5 records, %d KiB for 2e6",
		few>>10, many>>10,
	)
	if many > few+8<<20 { // the table alone takes 12 bytes per record, 22 MiB more
		t.Errorf(
			"%d bytes for 1e5 records, %d for 2e6",
			few, many,
		)
	}
}

// watchHeap is a writer that counts lines and samples the number of live bytes.
type watchHeap struct {
	writes, lines int
	peak          *uint64
}

func (w *watchHeap) Write(p []byte) (int, error) {
	w.lines += bytes.Count(p, []byte("\n"))
	if w.writes++; w.writes%64 == 0 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		*w.peak = max(*w.peak, m.HeapAlloc)
	}
	return len(p), nil
}

// TestPredictShowsProgress checks that progress is shown on a terminal only, and not between the predictions.
func TestPredictShowsProgress(t *testing.T) {
	for _, c := range []struct{ shown, terminal, want bool }{
		{true, true, true},
		{false, true, false},
		{true, false, false},
	} {
		var stderr bytes.Buffer
		a := newApp(strings.NewReader(""), io.Discard, &stderr)
		a.terminal = c.terminal
		a.screen = &stderr
		got := a.progressDisplay(c.shown).Enabled()
		if got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestOutputFile checks that -o replaces a file with --force only and keeps its mode, and that it does not follow a
// symbolic link to a file.
func TestOutputFile(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	writeFile(t, "new.csv", newCSV)
	predict := func(args ...string) result {
		return dptrain(
			t,
			append([]string{"predict", "model.json", "new.csv", "-o"}, args...)...,
		)
	}
	writeFile(t, "there.csv", "old")
	if err := os.Chmod("there.csv", 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir("folder", 0o700); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{
		"link.csv":    "there.csv",
		"nowhere.csv": "absent.csv",
		"folder.csv":  "folder",
	} {
		if err := os.Symlink(target, name); err != nil {
			t.Skip("no links here:", err)
		}
	}
	for args, want := range map[string]string{
		"there.csv":           "there.csv already exists; choose another name, or overwrite it with --force",
		"link.csv":            "link.csv is a link; name its target instead",
		"link.csv --force":    "link.csv is a link; name its target instead",
		"nowhere.csv --force": "nowhere.csv is a link; name its target instead",
		"folder.csv --force":  "folder.csv is a link; name its target instead",
		"folder --force":      "folder is a folder; name a file",
		"no/such/file.csv":    "no/such/file.csv cannot be written: no such file or directory",
	} {
		got := predict(
			strings.Fields(args)...)
		if got != (result{exitUsage, "", "dptrain: " + want + "\n"}) {
			t.Errorf("-o %s: %+v", args, got)
		}
	}
	if readFile(t, "there.csv") != "old" {
		t.Error("a file was changed")
	}
	noted := result{stderr: "note: new.csv" + unevenNote}
	got := predict("there.csv", "--force")
	if got != noted ||
		!strings.HasPrefix(readFile(t, "there.csv"), "prediction\n112\n") {
		t.Errorf("%+v", got)
	}
	info, err := os.Lstat("there.csv")
	if err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf(
			"mode %v, %v",
			info.Mode(), err,
		)
	}
	if got := predict("fresh.csv", "--force"); got != noted {
		t.Errorf("%+v", got)
	}
	info, err = os.Lstat("fresh.csv")
	if err != nil || info.Mode().Perm()&0o133 != 0 {
		t.Errorf(
			"mode %v, %v: the umask does not count",
			info.Mode(), err,
		)
	}
}
