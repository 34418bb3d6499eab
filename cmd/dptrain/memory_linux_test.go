package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/dptrain/dptrain/internal/sys/ram"
)

// roomFor is the environment variable with the number of bytes that a process that behaves as dptrain may allocate
// after its start.
const roomFor = "DPTRAIN_TEST_ROOM"

// largestFile is the environment variable with the maximum file size, in bytes, of a process that behaves as
// dptrain.
const largestFile = "DPTRAIN_TEST_LARGEST_FILE"

// limitFiles sets the limit on the size of files, as `ulimit -f` does.
func limitFiles(bytes string) {
	most, err := strconv.ParseUint(bytes, 10, 64)
	if err != nil {
		panic(err)
	}
	err = unix.Setrlimit(unix.RLIMIT_FSIZE, &unix.Rlimit{Cur: most, Max: most})
	if err != nil {
		panic(err)
	}
}

// startHooks returns functions for a process that behaves as dptrain to call at its start, by environment variable.
func startHooks() map[string]func(string) {
	return map[string]func(string){
		dieBy:       endProcess,
		roomFor:     limitRoom,
		largestFile: limitFiles,
	}
}

// limitRoom sets the limit on the address space, as `ulimit -v` does.
func limitRoom(room string) {
	more, err := strconv.ParseUint(room, 10, 64)
	if err != nil {
		panic(err)
	}
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &before); err != nil {
		panic(err)
	}
	const wide = 1 << 40
	err = unix.Setrlimit(unix.RLIMIT_AS, &unix.Rlimit{Cur: wide, Max: before.Max})
	if err != nil {
		panic(err)
	}
	l, ok := ram.Tightest()
	if !ok {
		panic("no limit")
	}
	err = unix.Setrlimit(
		unix.RLIMIT_AS,
		&unix.Rlimit{Cur: wide - l.Free + more, Max: before.Max},
	)
	if err != nil {
		panic(err)
	}
}

// TestOutOfMemory checks that there is no output when memory runs out. The trace of the Go runtime used to contain
// the number of records.
func TestOutOfMemory(t *testing.T) {
	chdirTemp(t)
	const records = 300007
	writeFile(
		t,
		"ones.csv",
		"a,b,c,d,e,f,g,h,y\n"+strings.Repeat("1,2,3,4,5,6,7,8,9\n", records),
	)
	writeFile(
		t,
		"recipe.yaml",
		"data: {path: ones.csv, target: y}\nprivacy: {epsilon: 1}\n",
	)
	for _, args := range [][]string{
		{"fit", "recipe.yaml", "--engine", "memory"},
		{"audit", "recipe.yaml", "--own-table"},
	} {
		got := runProcess(t, []string{roomFor + "=16000000"}, args...)
		if got.code >= 0 ||
			got.signal != syscall.SIGABRT ||
			got.stderr != "" {
			t.Errorf(
				"%s: code %d, signal %v, stderr of %d bytes: %.300s",
				args,
				got.code,
				got.signal,
				len(got.stderr),
				got.stderr,
			)
		}
	}
}

// TestTooLargeForTheLimits checks that a table too large for memory is refused with a remedy, before a row is read
// and before the ledger is opened.
func TestTooLargeForTheLimits(t *testing.T) {
	withLedger(t)
	err := os.Truncate("line.csv", 1<<40)
	if err != nil { // the file is sparse
		t.Skip("no sparse files here:", err)
	}
	writeFile(
		t, "recipe.yaml",
		goodRecipe+"ledger: {path: my.ledger, dataset: houses}\n",
	)
	for _, args := range [][]string{
		{"fit", "recipe.yaml", "--engine", "memory"},
		{"audit", "recipe.yaml", "--own-table"},
	} {
		got := runProcess(t, []string{roomFor + "=2000000000"}, args...)
		if got.code != exitData ||
			!strings.HasPrefix(got.stderr,
				"line.csv: is too large: its table does not fit into memory (ulimit -v allows 1.") {
			t.Errorf("%q: %+v", args, got)
		}
	}
	onlyFiles(t, "line.csv", "my.ledger", "recipe.yaml")
	got := dptrain(t, "ledger", "show", "my.ledger")
	if strings.Contains(got.stdout, "line.csv") {
		t.Errorf("the ledger: %+v", got)
	}
}

// TestScratchFull checks that a run whose scratch file cannot grow ends with the same message, for any number of
// records and any stage: while the table is read or while a model is trained.
func TestScratchFull(t *testing.T) {
	chdirTemp(t)
	const chunk = 1 << 14 // records written at a time
	for _, records := range []int{
		chunk - 1, chunk, chunk + 1,
		2*chunk + 1,
	} {
		var table strings.Builder
		table.WriteString("x,z,y\n")
		for i := range records {
			table.WriteString(strconv.Itoa(i*7919%1009) + ".5," + strconv.Itoa(i%31) + ".25," +
				strconv.Itoa(i*31%997) + ".125\n")
		}
		writeFile(t, "t.csv", table.String())
		for _, method := range []string{"auto", "joint-gram"} {
			got := runProcess(t, []string{largestFile + "=410000"}, "fit",
				"--data", "t.csv",
				"--target", "y",
				"--epsilon", "1",
				"--method", method,
				"--engine", "stream",
				"--scratch", ".",
				"--force",
			)
			const want = "dptrain: the scratch file cannot be written; free some disk space, or name another folder with --scratch\n"
			if got.code != exitUsage || got.stderr != want {
				t.Errorf(
					"%d records, %s: code %d, %q",
					records, method, got.code, got.stderr,
				)
			}
			left, err := os.ReadDir(".")
			if err != nil || len(left) != 1 {
				t.Errorf(
					"%d records, %s: %d entries are left: %v",
					records,
					method,
					len(left),
					err,
				)
			}
		}
	}
}
