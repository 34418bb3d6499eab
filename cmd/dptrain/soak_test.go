package main

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// fits is the number of runs that TestSoak makes in one process. scripts/long.sh uses 500.
var fits = flag.Int("fits", 20, "runs of fit in one process")

// soakRecipes returns recipes for runs of different kinds on line.csv.
func soakRecipes() []string {
	method := func(lines string) string {
		return goodRecipe + lines
	}
	return []string{
		method(""),
		method("model: {method: joint-gram}\n"),
		method("model: {method: boosted-adassp}\nselection: {method: kendall, k: 1}\n"),
		method("ledger: {path: my.ledger, dataset: houses}\noutput: {dir: entered}\n"),
		"task: classification\n" +
			strings.Replace(
				goodRecipe,
				"target: y",
				"target: b\n  classes: ['0', '1', '2', '3', '4']",
				1,
			),
		strings.Replace(goodRecipe, "line.csv", "none.csv", 1), // a run that ends early
	}
}

// held counts the resources of a process.
type held struct {
	heap       uint64
	goroutines int
	files      int
}

// heldResources returns the resources in use after garbage collection and a short wait for goroutines to end.
func heldResources() held {
	var h held
	for range 20 {
		runtime.GC()
		h.goroutines = runtime.NumGoroutine()
		time.Sleep(time.Millisecond)
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h.heap = m.HeapAlloc
	entries, err := os.ReadDir("/proc/self/fd")
	if err == nil { // available on Linux
		h.files = len(entries)
	}
	return h
}

// TestSoak makes runs of every kind in one process. It checks that memory, goroutines and open files do not grow
// between the first runs and the last.
func TestSoak(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(300))
	recipes := soakRecipes()
	for i, r := range recipes {
		writeFile(t, fmt.Sprintf("%d.yaml", i), r)
	}
	got := dptrain(t, "ledger", "init", "my.ledger",
		"--dataset", "houses",
		"--epsilon", "1e3",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	fit := func(i int) {
		k := i % len(recipes)
		want := exitOK
		if k == len(recipes)-1 {
			want = exitData
		}
		got := dptrain(
			t, "fit",
			fmt.Sprintf("%d.yaml", k),
			"--force",
		)
		if got.code != want {
			t.Fatalf("run %d: %+v", i, got)
		}
	}
	for i := range recipes {
		fit(i)
	}
	before := heldResources()
	for i := range *fits {
		fit(i)
	}
	after := heldResources()
	t.Logf(
		"after %d runs: heap %d KiB, goroutines %d, files %d; %d runs later: heap %d KiB, goroutines %d, files %d",
		len(recipes),
		before.heap>>10,
		before.goroutines,
		before.files,
		*fits,
		after.heap>>10,
		after.goroutines,
		after.files,
	)
	if after.goroutines > before.goroutines || after.files > before.files {
		t.Error("goroutines or files are left")
	}
	if after.heap > before.heap+before.heap/5+1<<20 {
		t.Error("the heap has grown")
	}
}
