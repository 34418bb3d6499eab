package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime/debug"
	"strings"
	"syscall"
	"testing"

	"github.com/dptrain/dptrain/internal/sys/terminal"
)

// dieBy names a way in which a process that behaves as dptrain ends against its will.
const dieBy = "DPTRAIN_TEST_DIE"

// die ends the process in the way that is named, with a secret in the arguments of its
// calls.
func die(way string) {
	stderr, err := terminal.KeepStderr()
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(stderr, "kept")
	secret := make([]float64, 123457) // 0x1e241
	switch way {
	case "stack":
		debug.SetMaxStack(1 << 16)
		deeper(secret, 0)
	case "quit":
		if err := syscall.Kill(os.Getpid(), syscall.SIGQUIT); err != nil {
			panic(err)
		}
		select {}
	case "panic":
		panic(secret)
	case "ignored":
		signal.Ignore(syscall.SIGHUP)
		fmt.Fprintln(stderr, endings(nil))
	case "library":
		fmt.Fprintln(os.Stderr, len(secret))
		println(len(secret))
	}
	os.Exit(exitOK) //nolint:forbidigo // it is a process of its own
}

//go:noinline
func deeper(secret []float64, depth int) float64 {
	if depth < 0 {
		return 0
	}
	return 1 + deeper(secret[1:], depth+1)
}

// ended is how a process ended: its code, or the signal that killed it.
type ended struct {
	code   int
	signal syscall.Signal
	stderr string
}

// process runs the test binary as dptrain.
func process(t *testing.T, env []string, args ...string) ended {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(append(os.Environ(), asProcess+"=1", "GOCOVERDIR="+t.TempDir()), env...)
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	e := ended{code: cmd.ProcessState.ExitCode(), stderr: stderr.String()}
	if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.signal = status.Signal()
	}
	return e
}

// TestDiesInSilence: what the Go runtime prints of a process that it ends reaches
// nobody, whatever ends it, and the process ends by a signal, not by an exit code.
func TestDiesInSilence(t *testing.T) {
	for _, way := range []string{"stack", "quit", "panic"} {
		if got := process(t, []string{dieBy + "=" + way, "GOTRACEBACK=all"}); got != (ended{-1, syscall.SIGABRT, "kept\n"}) {
			t.Errorf("%s: %+v", way, got)
		}
	}
	if got := process(t, []string{dieBy + "=library"}); got != (ended{stderr: "kept\n"}) {
		t.Errorf("a library: %+v", got)
	}
}

// TestEndings: a signal that was ignored from the beginning stays ignored.
func TestEndings(t *testing.T) {
	if got := endings(nil); len(got) != 4 && !signal.Ignored(syscall.SIGHUP) { // as it is below nohup
		t.Errorf("%v", got)
	}
	if got := process(t, []string{dieBy + "=ignored"}); got != (ended{stderr: "kept\n[interrupt quit terminated]\n"}) {
		t.Errorf("with SIGHUP ignored: %+v", got)
	}
}

// TestPredictIntoHead: of an output that nobody reads any more, as that of `predict | head -1`,
// the process dies by SIGPIPE and says nothing.
func TestPredictIntoHead(t *testing.T) {
	chdir(t)
	write(t, "model.json", modelJSON)
	write(t, "new.csv", "a,b\n"+strings.Repeat("1,north\n", 1<<17)) // more than a pipe holds
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{"--strict", "--append", "--multiline-quotes"} {
		read, written, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := exec.CommandContext(t.Context(), self, "predict", "model.json", "new.csv", flag)
		cmd.Env = append(os.Environ(), asProcess+"=1", "GOCOVERDIR="+t.TempDir())
		cmd.Stdout, cmd.Stderr = written, &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		written.Close()
		line, _ := bufio.NewReaderSize(read, 16).ReadString('\n')
		read.Close()
		var ended *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &ended) {
			t.Fatal(err)
		}
		status, _ := cmd.ProcessState.Sys().(syscall.WaitStatus)
		if !strings.HasSuffix(line, "prediction\n") || !status.Signaled() || status.Signal() != syscall.SIGPIPE || stderr.Len() > 0 {
			t.Errorf("%s: first line %q, %v, stderr %q", flag, line, cmd.ProcessState, stderr.String())
		}
	}
	onlyFiles(t, "model.json", "new.csv")
}
