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

// dieBy is the environment variable with the cause of death of a process that behaves as dptrain.
const dieBy = "DPTRAIN_TEST_DIE"

// endProcess ends the process in the named way, with a secret in the arguments on its stack.
func endProcess(way string) {
	stderr, err := terminal.KeepStderr()
	if err != nil {
		panic(err)
	}
	fmt.Fprintln(stderr, "kept")
	secret := make([]float64, 123457) // the length is 0x1e241
	switch way {
	case "stack":
		debug.SetMaxStack(1 << 16)
		recurseDeeper(secret, 0)
	case "quit":
		err := syscall.Kill(os.Getpid(), syscall.SIGQUIT)
		if err != nil {
			panic(err)
		}
		select {}
	case "panic":
		panic(secret)
	case "ignored":
		signal.Ignore(syscall.SIGHUP)
		fmt.Fprintln(stderr, endSignals(nil))
	case "library":
		fmt.Fprintln(os.Stderr, len(secret))
		println(len(secret))
	}
	os.Exit(exitOK) //nolint:forbidigo // it is a process of its own
}

//go:noinline
func recurseDeeper(secret []float64, depth int) float64 {
	if depth < 0 {
		return 0
	}
	return 1 + recurseDeeper(secret[1:], depth+1)
}

// ended describes the end of a process: its exit code, or the signal that killed it.
type ended struct {
	code   int
	signal syscall.Signal
	stderr string
}

// runProcess runs the test binary as dptrain.
func runProcess(t *testing.T, env []string, args ...string) ended {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(
		append(
			os.Environ(), asProcess+"=1",
			"GOCOVERDIR="+t.TempDir(),
		),
		env...,
	)
	cmd.Stderr = &stderr
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	e := ended{code: cmd.ProcessState.ExitCode(), stderr: stderr.String()}
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		e.signal = status.Signal()
	}
	return e
}

// TestRuntimeMessagesAreDiscarded checks that the messages of the Go runtime about a dying process are discarded,
// whatever the cause, and that the process ends with a signal rather than an exit code.
func TestRuntimeMessagesAreDiscarded(t *testing.T) {
	for _, way := range []string{"stack", "quit", "panic"} {
		got := runProcess(
			t,
			[]string{dieBy + "=" + way, "GOTRACEBACK=all"},
		)
		if got != (ended{-1, syscall.SIGABRT,
			"kept\n"}) {
			t.Errorf("%s: %+v", way, got)
		}
	}
	got := runProcess(t, []string{dieBy + "=library"})
	if got != (ended{stderr: "kept\n"}) {
		t.Errorf("a library: %+v", got)
	}
}

// TestIgnoredSignalsStayIgnored checks that a signal that is ignored at the start of the process stays ignored.
func TestIgnoredSignalsStayIgnored(t *testing.T) {
	if got := endSignals(nil); len(got) != 4 && !signal.Ignored(syscall.SIGHUP) { // under nohup it is ignored
		t.Errorf("%v", got)
	}
	got := runProcess(t, []string{dieBy +
		"=ignored"})
	if got != (ended{stderr: "kept\n[interrupt quit terminated]\n"}) {
		t.Errorf("with SIGHUP ignored: %+v", got)
	}
}

// TestPredictIntoHead checks that the process dies silently of SIGPIPE if its output is no longer read, as in
// `predict | head -1`.
func TestPredictIntoHead(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", modelJSON)
	writeFile(t, "new.csv", "a,b\n"+strings.Repeat("1,north\n", 1<<17)) // more than the capacity of a pipe
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, flag := range []string{
		"--strict", "--append",
		"--multiline-quotes",
	} {
		read, written, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		var stderr bytes.Buffer
		cmd := exec.CommandContext(
			t.Context(),
			self,
			"predict",
			"model.json",
			"new.csv",
			flag,
		)
		cmd.Env = append(
			os.Environ(), asProcess+"=1",
			"GOCOVERDIR="+t.TempDir(),
		)
		cmd.Stdout = written
		cmd.Stderr = &stderr
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
		if !strings.HasSuffix(line, "prediction\n") ||
			!status.Signaled() ||
			status.Signal() != syscall.SIGPIPE ||
			stderr.Len() > 0 {
			t.Errorf(
				"%s: first line %q, %v, stderr %q",
				flag,
				line,
				cmd.ProcessState,
				stderr.String(),
			)
		}
	}
	onlyFiles(t, "model.json", "new.csv")
}
