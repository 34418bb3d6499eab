//go:build duckdb && cgo && (amd64 || arm64)

package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDuckMemory checks that five times as many rows of a DuckDB file need no more memory than the limit of
// DuckDB, although the additional cells would take more.
func TestDuckMemory(t *testing.T) {
	const columns = 10
	cells := make([]string, columns)
	head := make([]string, columns)
	for j := range cells {
		cells[j] = fmt.Sprintf(
			"(hash(i * %d) %% 1000003)::BIGINT AS c%d",
			j+3, j,
		)
		head[j] = fmt.Sprintf(`"c%d"`, j)
	}
	program := filepath.Join(filepath.Dir(builtDptrain(t)), "dptrain-sql")
	peak := func(rows int) int64 {
		file := duckFile(
			t,
			fmt.Sprintf(
				"CREATE TABLE many AS SELECT %s FROM range(%d) r(i)",
				strings.Join(cells, ", "),
				rows,
			),
		)
		cmd := exec.CommandContext(t.Context(), program)
		stdin, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(
			stdin,
			`{"format":"dptrain.sql/1","want":"rows","driver":"duckdb","dsn":%q,"query":"SELECT * FROM many","columns":[%s],"memory":%d}`+
				"\n",
			file,
			strings.Join(head, ","),
			leastMemory,
		)
		n := 0
		most := int64(0)
		part := make([]byte, 1<<20)
		for {
			size, err := io.ReadFull(stdout, part)
			n += bytes.Count(part[:size], []byte("\n"))
			if err != nil {
				break
			}
			most = max(most, residentBytes(t, cmd.Process.Pid)) // the peak that the system reports at the end may be that of this process
		}
		if err := cmd.Wait(); err != nil || n != rows+1 {
			t.Fatal(err, n)
		}
		t.Logf(
			"%d rows of %d columns: peak %d MB, processor %v",
			rows,
			columns,
			most>>20,
			cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime(),
		)
		return most
	}
	many := max(*mostRows, 2_500_000)
	few := many / 5
	least := peak(few)
	if grown, held := peak(many)-least, int64(many-few)*columns*8; grown > leastMemory ||
		held < 2*leastMemory {
		t.Errorf(
			"the peak grows by %d bytes; the additional cells have %d",
			grown, held,
		)
	}
}

// residentBytes returns the bytes of memory of a process.
func residentBytes(t *testing.T, pid int) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	var size, pages int64
	_, failed := fmt.Sscan(string(text), &size, &pages)
	if err != nil || failed != nil {
		return 0 // it has ended
	}
	return pages * int64(os.Getpagesize())
}
