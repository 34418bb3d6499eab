package main

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// openedFiles returns the names in the working directory that do opens for reading or writing.
func openedFiles(t *testing.T, do func()) []string {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		t.Skip("no inotify here:", err)
	}
	defer unix.Close(fd)
	_, err = unix.InotifyAddWatch(
		fd,
		".",
		unix.IN_OPEN|unix.IN_CREATE|unix.IN_MODIFY,
	)
	if err != nil {
		t.Skip("no inotify here:", err)
	}
	do()
	seen := map[string]bool{}
	buf := make([]byte, 1<<16)
	for {
		n, err := unix.Read(fd, buf)
		if errors.Is(err, unix.EAGAIN) || n == 0 {
			return slices.Sorted(maps.Keys(seen))
		}
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < n; {
			event := (*unix.InotifyEvent)(unsafe.Pointer(&buf[at]))
			name := buf[at+unix.SizeofInotifyEvent : at+unix.SizeofInotifyEvent+int(event.Len)]
			if name = bytes.TrimRight(name, "\x00"); len(name) > 0 {
				seen[string(name)] = true
			}
			at += unix.SizeofInotifyEvent + int(event.Len)
		}
	}
}

// TestReadsWhatIsNamedOnly uses recipes and models that contain the names of many other files. It checks that check,
// plan and fit open only the recipe and its table, and that predict opens only the model and its table.
func TestReadsWhatIsNamedOnly(t *testing.T) {
	chdirTemp(t)
	decoys := []string{"secret.csv", "secret.yaml", "secret.json", "dptrain.ledger",
		"recipe.schema.json"}
	for _, name := range decoys {
		writeFile(t, name, "a,b,y\n1,2,3\n")
	}
	writeFile(
		t, "line.csv",
		strings.Replace(
			lineCSV(50), "a,b,y",
			"a,secret.csv,y", 1,
		),
	)
	writeFile(t, "recipe.yaml", `# yaml-language-server: $schema=recipe.schema.json
data:
  path: line.csv
  target: y
  columns:
    a: {categories: [secret.csv, ./secret.yaml, 'file://secret.json', '@secret.csv', '$(cat secret.csv)']}
    secret.csv: {lower: 0, upper: 5}
    y: {lower: 0, upper: 100}
privacy: {epsilon: 1}
`)
	got := dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "houses",
		"--epsilon", "3",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"check recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{"plan recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{"fit recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{
			"fit recipe.yaml --out second --ledger my.ledger --dataset houses",
			[]string{"line.csv", "my.ledger", "recipe.yaml"},
		},
		{"report out", nil},
		{
			"predict out/release/model.json line.csv",
			[]string{"line.csv"},
		},
		{"report out --registry", nil},
	} {
		got := openedFiles(t, func() {
			got := dptrain(t, strings.Fields(tt.args)...)
			if got.code != exitOK {
				t.Fatalf("%s: %+v", tt.args, got)
			}
		})
		got = slices.DeleteFunc(got, func(name string) bool {
			return name == "out" || name == "second"
		})
		diff := cmp.Diff(
			append([]string{}, tt.want...),
			append([]string{}, got...),
		)
		if diff != "" {
			t.Errorf(
				"%s opened (-want +got):\n%s",
				tt.args, diff,
			)
		}
	}
	if !strings.Contains(readFile(t, "out/release/model.json"), "secret.yaml") {
		t.Error("the model does not name the other files")
	}
}

// fullFrom simulates a full disk. It runs a command in a process whose files cannot grow beyond 100 bytes, or beyond
// the number after a colon in stage, from the given stage on. This needs a separate process because the limit also
// applies to the log that "go test" writes.
func fullFrom(stage string, args []string) int {
	var old unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_FSIZE, &old) != nil {
		return exitInternal
	}
	defer func() {
		_ = unix.Setrlimit(unix.RLIMIT_FSIZE, &old)
	}()
	stage, room, _ := strings.Cut(stage, ":")
	limit, err := strconv.ParseUint(room, 10, 64)
	if err != nil {
		limit = 100
	}
	a := newApp(os.Stdin, os.Stdout, os.Stderr)
	a.onStage = func(begun string) {
		if begun == stage {
			signal.Ignore(unix.SIGXFSZ)
			if unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{
				Cur: limit,
				Max: old.Max,
			}) != nil {
				panic("no limit can be set")
			}
		}
	}
	a.onStage("start")
	return a.run(context.Background(), args)
}

// runOnFullDisk runs a command with fullFrom in a separate process.
func runOnFullDisk(t *testing.T, stage string, args ...string) result {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr strings.Builder
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(
		os.Environ(),
		asProcess+"=1",
		fullAt+"="+stage,
		"GOCOVERDIR="+t.TempDir(),
	)
	cmd.Stdout = &stdout
	cmd.Stderr = &stderr
	var ended *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// TestDiskFullAfterTheLedger checks that a run whose results do not fit on the disk keeps its budget spent, reports
// the reason and leaves no files, and that it can be repeated once there is space.
func TestDiskFullAfterTheLedger(t *testing.T) {
	withLedger(t)
	args := ledgerArgs("fit", ".4")
	got := runOnFullDisk(t, "write", args...)
	if got.code != exitUsage ||
		got.stdout != "" ||
		!strings.Contains(
			got.stderr,
			"out/release/model.json: cannot be written: file too large",
		) {
		t.Errorf("%+v", got)
	}
	onlyFiles(t, "line.csv", "my.ledger")
	got = dptrain(t, "ledger", "show", "my.ledger")
	if strings.Count(got.stdout, "reserved\n") != 1 {
		t.Errorf("%+v", got)
	}
	if got := dptrain(t, args...); got.code != exitOK {
		t.Errorf("once there is room: %+v", got)
	}
	writeFile(t, "old.csv", "old")
	got = runOnFullDisk(t, "start", "predict", "out/release/model.json", "line.csv", "-o", "old.csv",
		"--force")
	if got.code != exitUsage ||
		!strings.Contains(got.stderr, "old.csv cannot be written: file too large") ||
		readFile(t, "old.csv") != "old" {
		t.Errorf("%+v", got)
	}
	onlyFiles(t, "line.csv", "my.ledger", "old.csv", "out")
}

// TestLedgerFullAfterTheRun checks that a run whose completion cannot be entered in the ledger keeps its results,
// and that they can be published later.
func TestLedgerFullAfterTheRun(t *testing.T) {
	withLedger(t)
	got := runOnFullDisk(t, "write:49152", ledgerArgs("fit", ".4")...)
	if got.code != exitLedger ||
		got.stdout != "" ||
		!strings.Contains(got.stderr,
			"results are kept in out/pending: record and publish them with `dptrain ledger commit out`") {
		t.Errorf("%+v", got)
	}
	checkPublished(t, "out", false)
	if got := dptrain(t, "ledger", "commit", "out"); got.code != exitOK {
		t.Errorf("%+v", got)
	}
	checkPublished(t, "out", true)
}
