// Command dptrain trains regression models with differential privacy.
//
// A typical run uses the commands in this order:
//
//	dptrain init houses.csv --target price > recipe.yaml
//	dptrain check recipe.yaml
//	dptrain plan recipe.yaml
//	dptrain fit recipe.yaml
//	dptrain predict out/release/model.json new.csv
//
// The terminal is treated as public: the output never depends on a record, except
// through the release of a mechanism. Private results, which only the data owner
// may read, go to the folder curator/.
//
// The interface consists of text and flags only. Each command has its own file in
// this package. The whole process is the function run, which tests call with
// buffers instead of the terminal. The exit codes are in exit.go.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"slices"
	"syscall"
	"time"

	"github.com/dptrain/dptrain/internal/sys/terminal"
)

// patience is how long an interrupted run may take to clean up. A second signal after that time ends the process
// immediately. An earlier one counts as a repetition of the first, since programs such as timeout and make send a
// signal both to the command and to its process group.
const patience = 2 * time.Second

func main() {
	stderr, err := terminal.KeepStderr() // before anything is read
	if err != nil {
		fmt.Fprintln(os.Stderr,
			"dptrain: standard error cannot be separated from that of the Go runtime:", err)
		os.Exit(exitInternal)
	}
	growFirst()
	ctx, stop := signal.NotifyContext(context.Background(), endSignals(os.Args[1:])...)
	context.AfterFunc(ctx, func() {
		time.Sleep(patience)
		stop()
	})
	// Signals stay caught until the process exits, so that a late one does not change the exit code of a run that
	// has cleaned up.
	stdout := io.Writer(os.Stdout)
	if terminal.StdoutClosed() {
		stdout = closedOutput{}
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdin, stdout, stderr))
}

// closedOutput is a standard output that was closed before the process started.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) {
	return 0, os.ErrClosed
}

// growFirst delays the first garbage collection until the heap has 32 MiB, unless GOGC is set. The data allocated
// before the first row is read, mostly the schema of recipes, is smaller than that, and a run on a small table would
// spend a quarter of its time on collecting it.
func growFirst() {
	const (
		firstPercent = 800      // of the initial 4 MiB of the runtime
		firstLimit   = 48 << 20 // until the first collection is complete, which may take a while
	)
	if os.Getenv("GOGC") != "" {
		return
	}
	percent := debug.SetGCPercent(firstPercent)
	limit := debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, firstLimit))
	runtime.AddCleanup(new([64]byte), func(int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}, 0)
}

// endSignals returns the signals that end a run: Ctrl-C, Ctrl-\, a closed terminal, and the signal of kill. A signal
// that was ignored at the start of the process stays ignored, as nohup requires. SIGHUP does not end a server that
// reloads its model on that signal.
func endSignals(args []string) []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGQUIT}
	if len(args) == 0 || args[0] != "serve" || !hangupReloads() {
		all = append(all, syscall.SIGHUP)
	}
	return append(slices.DeleteFunc(all, signal.Ignored), syscall.SIGTERM)
}
