// Package parallel forwards a panic of a goroutine to the goroutine that waits for it.
//
// The command reports a panic without its value, which may contain private data. It can do so only for its own
// goroutine: an unrecovered panic in another one ends the process, and the runtime prints the value and the arguments
// of the calls. So every goroutine that touches records must be started by a [Group] or call [Catch].
package parallel

import (
	"runtime"
	"sync"
)

// A Panic is a recovered panic. Value may contain private data and must not be printed.
type Panic struct {
	Value   any
	Callers []uintptr // where it happened, as runtime.Callers returns them
}

// Catch calls f and returns its panic, or nil if f returned. A forwarded *Panic is returned unchanged.
func Catch(f func()) (caught *Panic) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case *Panic:
			caught = p
		default:
			callers := make([]uintptr, 64)
			caught = &Panic{p, callers[:runtime.Callers(3, callers)]}
		}
	}()
	f()
	return nil
}

// Rethrow panics with p unless p is nil.
func (p *Panic) Rethrow() {
	if p != nil {
		panic(p)
	}
}

// A Group is a [sync.WaitGroup] whose goroutines may panic. The zero value is ready.
type Group struct {
	// Panicked, if set, is called when a goroutine has panicked, before Wait returns. It should stop goroutines that
	// would otherwise wait for the failed one.
	Panicked func()

	wg    sync.WaitGroup //nolint:forbidigo // what the others are to use
	mu    sync.Mutex
	first *Panic
}

// Go calls f in a goroutine.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		p := Catch(f)
		if p == nil {
			return
		}
		g.mu.Lock()
		if g.first == nil {
			g.first = p
		}
		g.mu.Unlock()
		if g.Panicked != nil {
			g.Panicked()
		}
	})
}

// Wait waits for all goroutines and panics with their first [*Panic].
func (g *Group) Wait() {
	g.wg.Wait()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.first.Rethrow()
}
