package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

var mostRows = flag.Int("rows", 500_000, "rows of the larger query of TestMemory")

// TestMemory checks that a run on five or ten times as many rows needs no more memory: its peak grows by less
// than half the size of the additional cells.
func TestMemory(t *testing.T) {
	const columns = 10
	program := builtDptrain(t)
	folder := t.TempDir()
	dsn := serverDSN(t)
	cells := make([]string, columns)
	for i := range cells {
		cells[i] = fmt.Sprintf(
			"(i * %d %% 1009) / 7.0::float8 AS c%d",
			i+3, i,
		)
	}
	recipe := filepath.Join(folder, "recipe.yaml")
	peak := func(rows int) int64 {
		text := fmt.Sprintf(
			"data:\n  sql: {driver: postgres, dsn: '%s', query: 'SELECT %s FROM (SELECT generate_series(1, %d) AS i) x'}\n  target: c0\n"+
				"privacy: {epsilon: 1}\nmodel: {method: joint-gram}\n",
			dsn,
			strings.Join(cells, ", "),
			rows,
		)
		err := os.WriteFile(recipe, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "fit", recipe,
			"--quiet",
			"--force",
			"--out", filepath.Join(folder, "out"),
		)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		used := cmd.ProcessState.SysUsage().(*syscall.Rusage) // of dptrain, or of dptrain-sql if that needs more
		t.Logf(
			"%d rows of %d columns: peak %d MB, processor of dptrain and dptrain-sql %v",
			rows,
			columns,
			used.Maxrss>>10,
			cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(),
		)
		return int64(used.Maxrss) << 10 //nolint:unconvert // fewer bits on 32-bit machines
	}
	few := *mostRows / 5
	if *mostRows > 5_000_000 {
		few = *mostRows / 10
	}
	least := peak(few)
	grown := peak(*mostRows) - least
	held := int64(*mostRows-few) * columns * 8
	if grown > held/2 {
		t.Errorf(
			"the peak grows by %d bytes; the cells of the rows have %d",
			grown, held,
		)
	}
}
