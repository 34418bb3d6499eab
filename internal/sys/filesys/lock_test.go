package filesys

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// TestTryLockFailsWhileLocked checks that a second open file cannot be locked until the first is closed, for files and
// folders.
func TestTryLockFailsWhileLocked(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		t.Skip("this system has no such locks")
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, file} {
		open := func() *os.File {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		first := open()
		second := open()
		if !TryLock(first) || TryLock(second) {
			t.Errorf(
				"%s: the first is kept out or the second is not",
				path,
			)
		}
		if err := first.Close(); err != nil {
			t.Fatal(err)
		}
		if !TryLock(second) {
			t.Errorf("%s: locked by a file that is closed", path)
		}
		if err := second.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
