package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/internal/sys/terminal"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// run carries out args and turns errors and panics into a message and a code.
func (a *app) run(ctx context.Context, args []string) (code int) {
	defer func() {
		if p := recover(); p != nil {
			a.crash(p)
			code = exitInternal
		}
	}()
	raw := &output{w: a.stdout}
	painted := a.painter(raw)
	out, messages := terminal.NewEscapingWriter(painted), terminal.NewEscapingWriter(a.stderr)
	a.data, a.stdout, a.screen, a.stderr = raw, out, a.stderr, messages
	defer func() { _ = messages.Flush() }()
	root := rootCommand(a)
	given := make([]string, len(args))
	for i, arg := range args {
		given[i] = tablefile.Argument(arg)
	}
	if completing(given) {
		completions(root) // which reads the flags twice
	} else {
		strictFlags(root)
	}
	root.SetArgs(given)
	err := root.ExecuteContext(ctx)
	_ = out.Flush() // raw keeps the error
	if p, ok := painted.(*terminal.Painter); ok {
		_ = p.Flush() // as above
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

// painter returns what text for standard output goes through: on a terminal that wants colours one that colours labels.
func (a *app) painter(raw *output) io.Writer {
	if isTerminal(raw) && terminal.WantsColours() {
		return terminal.NewPainter(raw)
	}
	return raw
}

// output is standard output. It keeps its first failure, so that no verb need look
// for it after each line: a full disk is a mistake of use, whoever printed.
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

// quietError is an error whose message has been printed.
type quietError struct{ error }

func (e *quietError) Unwrap() error { return e.error }

// crash reports a panic, of this goroutine or carried from another one. Its value and the arguments on the stack may hold
// private data, so only the places are ever named, and these only on request.
func (a *app) crash(p any) {
	fmt.Fprintln(a.stderr, "dptrain: internal error; this is a fault of dptrain, please report it")
	if !a.debug {
		fmt.Fprintln(a.stderr, "dptrain: set DPTRAIN_DEBUG=1 to see where it happened")
		return
	}
	callers := make([]uintptr, 64)
	callers = callers[:runtime.Callers(2, callers)]
	if carried, ok := p.(*parallel.Panic); ok { // of another goroutine
		p, callers = carried.Value, carried.Callers
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
