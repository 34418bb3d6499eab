package ram

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGroupLimits(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"a/b/memory.max":                   "max\n",
		"a/memory.max":                     "3000\n",
		"memory.max":                       "5000\n",
		"memory/job/memory.limit_in_bytes": "2000\n",
		"memory/memory.limit_in_bytes":     "9223372036854771712\n",
		"c/memory.max":                     "many\n",
	} {
		err := os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700)
		if err != nil {
			t.Fatal(err)
		}
		err = os.WriteFile(filepath.Join(root, name), []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		text string
		want uint64 // 0: no limit
	}{
		{"0::/a/b\n", 3000},
		{"0::/\n", 5000},
		{"0::/a/b\n4:cpu,memory:/job\n", 2000},
		{"4:memory:/\n", 0},
		{"5:cpu:/a\n", 0},
		{"0::/c\n", 5000},
		{"0::/../..\n", 5000}, // outside the namespace
		{"", 0},
		{"damaged\n::\n", 0},
	} {
		got, ok := tightest(groupLimits(root, tt.text))
		if got.Free != tt.want || ok != (tt.want > 0) {
			t.Errorf(
				"%q: %+v, %v; want %d",
				tt.text, got, ok, tt.want,
			)
		}
	}
}

// TestTightest checks that the limit of the process is used, minus the memory that it has.
func TestTightest(t *testing.T) {
	var before unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &before); err != nil {
		t.Fatal(err)
	}
	const limit = 1 << 45
	if before.Cur < limit {
		t.Skip("the limit of this process is lower")
	}
	err := unix.Setrlimit(
		unix.RLIMIT_AS,
		&unix.Rlimit{Cur: limit, Max: before.Max},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = unix.Setrlimit(unix.RLIMIT_AS, &before)
	}()
	for _, l := range limits() {
		if l.Name == "ulimit -v" {
			if l.Free >= limit || l.Free < limit-1<<42 {
				t.Errorf(
					"%d of %d bytes are free",
					l.Free, uint64(limit),
				)
			}
			return
		}
	}
	t.Error("the limit is not seen")
}
