package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/sys/terminal"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// run executes args and converts errors and panics into a message and an exit code.
func (a *app) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			a.crash(p)
			code = exitInternal
		}
	}()
	raw := &output{w: a.stdout}
	painted := a.painter(raw)
	out := terminal.NewEscapingWriter(painted)
	wrapped := a.wrapper()
	messages := terminal.NewEscapingWriter(wrapped)
	a.data = raw
	a.stdout = out
	a.screen = a.stderr
	a.stderr = messages
	defer func() { _ = errors.Join(messages.Flush(), wrapped.Flush()) }()
	root := rootCommand(a)
	given := make([]string, len(args))
	for i, arg := range args {
		given[i] = tablefile.Argument(arg)
	}
	if completing(given) {
		completions(root) // it reads the flags twice
	} else {
		strictFlags(root)
	}
	root.SetArgs(given)
	err := root.ExecuteContext(ctx)
	_ = out.Flush() // raw keeps the error
	if p, ok := painted.(*terminal.Painter); ok {
		_ = p.Flush() // raw keeps the error
	}
	if err == nil {
		err = raw.err
	}
	if err == nil {
		return exitOK
	}
	var silent *quietError
	if !errors.As(err, &silent) {
		fmt.Fprintln(a.stderr, message(err))
	}
	return exitCode(err)
}

// painter returns the writer for text on standard output. It colours labels if the output is a terminal with
// colours.
func (a *app) painter(raw *output) io.Writer {
	if isTerminal(raw) && terminal.WantsColours() {
		return terminal.NewPainter(raw)
	}
	return raw
}

// wrapper returns the writer for messages on standard error. It breaks lines that are wider than the terminal.
func (a *app) wrapper() *terminal.Wrapper {
	width := func() int { return 0 }
	if f, ok := a.stderr.(*os.File); ok && a.terminal {
		width = func() int { return terminal.Width(f) }
	}
	return terminal.NewWrapper(a.stderr, width)
}

// output is standard output. It keeps its first error, so that commands need not check each write: a full disk is a
// usage error, whichever command printed.
type output struct {
	w   io.Writer
	err error
}

func (o *output) Write(p []byte) (int, error) {
	if o.err == nil {
		n, err := o.w.Write(p)
		if err == nil {
			return n, nil
		}
		o.err = usagef("standard output cannot be written: %w", fault.Cause(err))
	}
	return 0, o.err
}

// quietError is an error whose message has already been printed.
type quietError struct{ error }

func (e *quietError) Unwrap() error {
	return e.error
}

// crash reports a panic of this goroutine or one carried over from another. The value of the panic and the arguments
// on the stack may contain private data, so it prints only source positions, and only on request.
func (a *app) crash(p any) {
	fmt.Fprintln(a.stderr, "dptrain: internal error; this is a bug in dptrain, please report it")
	if !a.debug {
		fmt.Fprintln(a.stderr, "dptrain: set DPTRAIN_DEBUG=1 to see where it happened")
		return
	}
	callers := make([]uintptr, 64)
	callers = callers[:runtime.Callers(2, callers)]
	if carried, ok := p.(*parallel.Panic); ok { // from another goroutine
		p = carried.Value
		callers = carried.Callers
	}
	fmt.Fprintf(a.stderr, "panic of type %T at\n", p)
	frames := runtime.CallersFrames(callers)
	for {
		frame, more := frames.Next()
		file := frame.File[strings.LastIndexByte(frame.File, '/')+1:]
		fmt.Fprintf(a.stderr, "  %s %s:%d\n", frame.Function, file, frame.Line)
		if !more {
			return
		}
	}
}
