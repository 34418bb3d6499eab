package parallel

import (
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
)

// panicFunctions names the functions of a panic.
func panicFunctions(p *Panic) string {
	var names []string
	frames := runtime.CallersFrames(p.Callers)
	for {
		f, more := frames.Next()
		names = append(names, f.Function)
		if !more {
			return strings.Join(names, " ")
		}
	}
}

func culprit(i int, x []int) int {
	return x[i]
}

func TestCatch(t *testing.T) {
	if p := Catch(func() {}); p != nil {
		t.Errorf(
			"Catch returned a panic of a function that returned: %v",
			p.Value,
		)
	}
	var none *Panic
	none.Rethrow()
	p := Catch(func() {
		culprit(3, nil)
	})
	if p == nil || !strings.Contains(panicFunctions(p), "parallel.culprit") {
		t.Fatalf("caught %+v", p)
	}
	again := Catch(p.Rethrow)
	if again != p {
		t.Errorf("carried twice: %+v", again)
	}
}

// TestGroup checks that the other goroutines end before the panic is forwarded, once.
func TestGroup(t *testing.T) {
	var done atomic.Int32
	stopped := make(chan struct{})
	g := Group{Panicked: func() {
		close(stopped)
	}}
	for range 3 {
		g.Go(func() {
			<-stopped
			done.Add(1)
		})
	}
	g.Go(func() {
		panic("cell 4711")
	})
	p := Catch(g.Wait)
	if p == nil ||
		p.Value != "cell 4711" ||
		done.Load() != 3 {
		t.Errorf(
			"%+v, %d done",
			p, done.Load(),
		)
	}
	var quiet Group
	quiet.Go(func() {})
	quiet.Wait()
}
