package main

import (
	"bytes"
	"errors"
	"maps"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"
)

// opened returns the names in the working directory that do opens, to read or to
// write.
func opened(t *testing.T, do func()) []string {
	t.Helper()
	fd, err := unix.InotifyInit1(unix.IN_NONBLOCK)
	if err != nil {
		t.Skip("no inotify here:", err)
	}
	defer unix.Close(fd)
	if _, err := unix.InotifyAddWatch(fd, ".", unix.IN_OPEN|unix.IN_CREATE|unix.IN_MODIFY); err != nil {
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

// TestReadsWhatIsNamedOnly gives recipes and models that are full of the names of
// other files: check, plan and fit read the recipe and its table, predict the model and its
// table, and nothing else in the folder is opened.
func TestReadsWhatIsNamedOnly(t *testing.T) {
	chdir(t)
	decoys := []string{"secret.csv", "secret.yaml", "secret.json", "dptrain.ledger", "recipe.schema.json"}
	for _, name := range decoys {
		write(t, name, "a,b,y\n1,2,3\n")
	}
	write(t, "line.csv", strings.Replace(lineCSV(50), "a,b,y", "a,secret.csv,y", 1))
	write(t, "recipe.yaml", `# yaml-language-server: $schema=recipe.schema.json
data:
  path: line.csv
  target: y
  columns:
    a: {categories: [secret.csv, ./secret.yaml, 'file://secret.json', '@secret.csv', '$(cat secret.csv)']}
    secret.csv: {lower: 0, upper: 5}
privacy: {epsilon: 1}
`)
	if got := dptrain(t, "ledger", "init", "my.ledger", "--dataset", "houses", "--epsilon", "3"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	for _, tt := range []struct {
		args string
		want []string
	}{
		{"check recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{"plan recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{"fit recipe.yaml", []string{"line.csv", "recipe.yaml"}},
		{"fit recipe.yaml --out second --ledger my.ledger --dataset houses", []string{"line.csv", "my.ledger", "recipe.yaml"}},
		{"report out", nil},
		{"predict out/release/model.json line.csv", []string{"line.csv"}},
		{"report out --registry", nil},
	} {
		got := opened(t, func() {
			if got := dptrain(t, strings.Fields(tt.args)...); got.code != exitOK {
				t.Fatalf("%s: %+v", tt.args, got)
			}
		})
		got = slices.DeleteFunc(got, func(name string) bool { return name == "out" || name == "second" })
		if diff := cmp.Diff(append([]string{}, tt.want...), append([]string{}, got...)); diff != "" {
			t.Errorf("%s opened (-want +got):\n%s", tt.args, diff)
		}
	}
	if !strings.Contains(read(t, "out/release/model.json"), "secret.yaml") {
		t.Error("the model does not name the other files")
	}
}

// alone carries a test out in a process of its own, which full needs: its limit is
// one of the whole process, and go test keeps a log of the files that tests open,
// which it writes when its buffer is full. It reports whether this is that process.
func alone(t *testing.T) bool {
	t.Helper()
	const marker = "DPTRAIN_TEST_ALONE"
	if os.Getenv(marker) == t.Name() {
		return true
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), marker+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// full lets no file of this process grow beyond some bytes, as on a full disk, until
// it is called off.
func full(t *testing.T, size uint64) (off func()) {
	t.Helper()
	var old unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	signal.Ignore(unix.SIGXFSZ)
	if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: size, Max: old.Max}); err != nil {
		t.Fatal(err)
	}
	return func() {
		signal.Reset(unix.SIGXFSZ)
		if err := unix.Setrlimit(unix.RLIMIT_FSIZE, &old); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDiskFullAfterTheLedger: a run whose results do not fit on the disk stays spent,
// says why, leaves nothing behind, and goes through once there is room.
func TestDiskFullAfterTheLedger(t *testing.T) {
	if !alone(t) {
		return
	}
	withLedger(t)
	args := ledgerArgs("fit", ".4")
	var stdout, stderr strings.Builder
	a := newApp(strings.NewReader(""), &stdout, &stderr)
	off := func() {}
	a.onStage = func(stage string) {
		if stage == "write" {
			off = full(t, 100)
		}
	}
	code := a.run(t.Context(), args)
	off()
	if code != exitUsage || stdout.String() != "" || !strings.Contains(stderr.String(), "out/release/report.json: cannot be written: file too large") {
		t.Errorf("%d, %s%s", code, stdout.String(), stderr.String())
	}
	onlyFiles(t, "line.csv", "my.ledger")
	if got := dptrain(t, "ledger", "show", "my.ledger"); strings.Count(got.stdout, "committed\n") != 1 {
		t.Errorf("%+v", got)
	}
	if got := dptrain(t, args...); got.code != exitOK {
		t.Errorf("once there is room: %+v", got)
	}
	write(t, "old.csv", "old")
	off = full(t, 100)
	got := dptrain(t, "predict", "out/release/model.json", "line.csv", "-o", "old.csv")
	off()
	if got.code != exitUsage || !strings.Contains(got.stderr, "old.csv cannot be written: file too large") || read(t, "old.csv") != "old" {
		t.Errorf("%+v", got)
	}
	onlyFiles(t, "line.csv", "my.ledger", "old.csv", "out")
}
