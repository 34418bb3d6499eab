//go:build linux

package dataset

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/testkit"
)

// peakVariable names the file that a child of TestPeakMemory reads.
const peakVariable = "DPTRAIN_TEST_PEAK"

// peakMemory starts a process that reads a file, as a table or as a stream with all of its text, and returns
// its peak memory in bytes as measured by the operating system.
func peakMemory(t *testing.T, path string, multiline, stream bool) int64 {
	t.Helper()
	cmd := exec.Command(
		os.Args[0], "-test.run",
		"^TestPeakChild$", "-test.count",
		"1",
	)
	cmd.Env = append(
		os.Environ(),
		fmt.Sprintf("%s=%v %v %s", peakVariable, multiline, stream, path),
		"GOMAXPROCS=4",
	)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf(
			"%s: %v\n%s",
			filepath.Base(path), err, out,
		)
	}
	_, peak, _ := strings.Cut(string(out), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(peak, &kib); err != nil {
		t.Fatalf("no peak in %q", out)
	}
	return kib << 10
}

// TestPeakChild is the child of TestPeakMemory.
func TestPeakChild(t *testing.T) {
	how := strings.SplitN(os.Getenv(peakVariable), " ", 3)
	if len(how) < 3 {
		t.Skip("run by TestPeakMemory")
	}
	schema := Schema{Columns: []Column{
		{Name: "a"},
		{
			Name:       "c",
			Kind:       Category,
			Categories: []string{"x"},
		},
	}}
	path := how[2]
	opts := ReadOptions{Format: Format{MultilineQuotes: how[0] == "true"}}
	var err error
	switch {
	case how[1] != "true":
		_, _, err = Read(t.Context(), path, schema, opts)
	case strings.HasSuffix(path, ".parquet"):
		err = streamCells(t.Context(), path, schema, opts, func(b *Batch) (int, error) {
			return b.Table.Len(), nil
		})
	default:
		err = streamCells(t.Context(), path, schema, opts, func(b *Batch) (n int, err error) {
			err = b.Text(func(_ int, fields []string) error {
				n += len(fields)
				return nil
			})
			return n, err
		})
	}
	if err != nil {
		t.Fatal(err)
	}
	status, err := os.ReadFile("/proc/self/status") // getrusage counts the parent too
	if err != nil {
		t.Fatal(err)
	}
	fmt.Println(string(status))
}

// streamCells reads a file as a stream and discards the results of work.
func streamCells(
	ctx context.Context,
	path string,
	schema Schema,
	opts ReadOptions,
	work func(*Batch) (int, error),
) error {
	return Stream(ctx, path, schema, opts, Consumer[int]{
		Begin: func(Head) error {
			return nil
		},
		Work: work,
		Emit: func(int) error {
			return nil
		},
	})
}

var peakFull = flag.Bool(
	"full",
	testkit.Full(),
	"read every long line as a table and as a stream, with quotes across lines and without",
)

// TestPeakMemory reads tables of few records with extreme lines in at most 256 MiB, as a table or as a stream.
// (A reader that builds every field, like encoding/csv, takes 1.4 GiB per worker for the first.) Without the
// flag full each line is read once: as a table or as a stream, under either rule for quotes, in turn.
func TestPeakMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads lines of 16 MiB")
	}
	commas := strings.Repeat(",", longestLine-10)
	for i, extreme := range []struct{ name, line string }{
		{"commas after a quote", `""` + commas},
		{"quoted empty cells", strings.Repeat(`"",`, longestLine/3)},
		{
			"a quote left open",
			`"` + strings.Repeat(`",`, longestLine/2),
		},
		{
			"doubled quotes",
			`"` + strings.Repeat(`""`, longestLine/2-10) + `"`,
		},
		{"commas without a quote", commas},
		{"one cell", strings.Repeat("q", 2*longestLine)},
	} {
		name := extreme.name
		data := gzipBytes([]byte("a,b,c\n" + strings.Repeat(
			"1,2,x\n"+extreme.line+"\n",
			testkit.Size(2, 4),
		)))
		for _, multiline := range []bool{false, true} {
			path := filepath.Join(t.TempDir(), "t.csv.gz")
			writeFile(t, path, data)
			for _, stream := range []bool{false, true} {
				inTurn := stream == (i%2 == 0) && multiline == (i/2%2 == 0)
				if !inTurn && !*peakFull {
					continue
				}
				used := peakMemory(t, path, multiline, stream)
				t.Logf(
					"%s, multiline %v, stream %v: %d MiB",
					name,
					multiline,
					stream,
					used>>20,
				)
				if used > 256<<20 {
					t.Errorf(
						"%s, multiline %v, stream %v: %d MiB",
						name,
						multiline,
						stream,
						used>>20,
					)
				}
			}
		}
	}
}

// TestPeakMemoryOfHeaders checks that a header of a hundred thousand columns is cheap and that one of a million
// is rejected.
func TestPeakMemoryOfHeaders(t *testing.T) {
	var b bytes.Buffer
	b.WriteString("a,c")
	for i := range maxColumns - 2 {
		fmt.Fprintf(&b, ",column%d", i)
	}
	b.WriteString("\n1,x\n")
	path := filepath.Join(t.TempDir(), "t.csv")
	writeFile(t, path, b.Bytes())
	used := peakMemory(t, path, false, false)
	if used > 256<<20 {
		t.Errorf(
			"%d columns: %d MiB",
			maxColumns, used>>20,
		)
	}
}
