// Command dptrain trains regression models with differential privacy.
//
// One run goes through the verbs in this order:
//
//	dptrain init houses.csv --target price > recipe.yaml
//	dptrain check recipe.yaml
//	dptrain plan recipe.yaml
//	dptrain fit recipe.yaml
//	dptrain predict out/release/model.json new.csv
//
// The terminal is treated as public: nothing that depends on a record is ever
// printed, except what a mechanism released. What only the owner of the data may
// read goes to the folder curator/.
//
// The command is text and flags only. Every verb is one file of this package,
// and the process is one function, run, which tests call with buffers in place
// of the terminal. Exit codes are in exit.go.
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

// patience is how long a run that was interrupted may clean up. A signal after
// that ends the process at once. One before it is taken for the same signal:
// timeout, make and others send it to the command and to its group.
const patience = 2 * time.Second

func main() {
	stderr, err := terminal.KeepStderr() // before anything is read
	if err != nil {
		fmt.Fprintln(os.Stderr, "dptrain: standard error cannot be kept apart from that of the Go runtime:", err)
		os.Exit(exitInternal)
	}
	growFirst()
	ctx, stop := signal.NotifyContext(context.Background(), endings(os.Args[1:])...)
	context.AfterFunc(ctx, func() {
		time.Sleep(patience)
		stop()
	})
	// Signals stay caught to the very end: one that comes late must not change
	// the exit code of a run that has cleaned up.
	stdout := io.Writer(os.Stdout)
	if terminal.StdoutClosed() {
		stdout = closedOutput{}
	}
	os.Exit(run(ctx, os.Args[1:], os.Stdin, stdout, stderr))
}

// closedOutput is a standard output that was closed before the process began.
type closedOutput struct{}

func (closedOutput) Write([]byte) (int, error) { return 0, os.ErrClosed }

// growFirst keeps the garbage collector away until the heap has 32 MiB, unless GOGC says
// otherwise. What is made before a row is read, the schema of recipes above all, is less, and
// a run on a small table would spend a quarter of its time in collecting it.
func growFirst() {
	const (
		firstPercent = 800      // of the 4 MiB that the runtime begins with
		firstLimit   = 48 << 20 // until the first collection is wholly over, which may take a while
	)
	if os.Getenv("GOGC") != "" {
		return
	}
	percent, limit := debug.SetGCPercent(firstPercent), debug.SetMemoryLimit(-1)
	debug.SetMemoryLimit(min(limit, firstLimit))
	runtime.AddCleanup(new([64]byte), func(int) {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}, 0)
}

// endings returns the signals that end a run: Ctrl-C, Ctrl-\, a closed terminal, and what
// kill sends. One that was ignored when the process began stays ignored, as nohup
// wants it. SIGHUP does not end a server that reloads its model on it.
func endings(args []string) []os.Signal {
	all := []os.Signal{os.Interrupt, syscall.SIGQUIT}
	if len(args) == 0 || args[0] != "serve" || !hangupReloads() {
		all = append(all, syscall.SIGHUP)
	}
	return append(slices.DeleteFunc(all, signal.Ignored), syscall.SIGTERM)
}
