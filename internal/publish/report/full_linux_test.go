package report

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// childFull writes run 2 with a limit on the size of files, as on a full disk, and raises the limit until it
// succeeds.
func childFull(folder string) {
	signal.Ignore(syscall.SIGXFSZ)
	for size := uint64(0); ; size += 128 {
		limit := syscall.Rlimit{Cur: size, Max: 1 << 30}
		if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
			exitWithError(err)
		}
		err := Write(context.Background(), folder, numberedFiles(2), true)
		var de *DirError
		switch {
		case err == nil:
			fmt.Println("written at", size)
			return
		case !errors.As(err, &de) ||
			!errors.Is(err, ErrUnwritable) ||
			!strings.Contains(err.Error(), "file too large"):
			exitWithError(err)
		}
		release, err := os.ReadFile(filepath.Join(folder, ReleaseDir, "recipe.yaml"))
		if err != nil || string(release) != "target: 1\n" {
			exitWithError(fmt.Errorf("at %d bytes: %v, %q", size, err, release))
		}
		left, _ := filepath.Glob(filepath.Join(folder, ".dptrain-*"))
		if len(left) > 0 {
			exitWithError(fmt.Errorf("at %d bytes: left %q", size, left))
		}
	}
}

// TestDiskFull checks that a run that cannot be written fails with an error and leaves the earlier one in place.
func TestDiskFull(t *testing.T) {
	folder := t.TempDir()
	if err := Write(t.Context(), folder, numberedFiles(1), false); err != nil {
		t.Fatal(err)
	}
	out, err := childCommand(t, "full", folder, "").CombinedOutput()
	if err != nil ||
		!strings.HasPrefix(string(out), "written at") ||
		strings.HasPrefix(string(out), "written at 0") {
		t.Fatalf("%v: %s", err, out)
	}
	k := runOf(t, filepath.Join(folder, ReleaseDir))
	if k != 2 {
		t.Errorf("run %d", k)
	}
}

// nobodyUser is a user without access to the superuser's files.
const nobodyUser = 65534

// childReadOnly tries to write without the superuser's rights.
func childReadOnly(folder string) {
	if os.Geteuid() == 0 {
		err := errors.Join(syscall.Setgid(nobodyUser), syscall.Setuid(nobodyUser))
		if err != nil {
			exitWithError(err)
		}
	}
	for _, out := range []string{folder, filepath.Join(folder, "new")} {
		err := Write(context.Background(), out, numberedFiles(2), true)
		if !errors.Is(err, ErrUnwritable) ||
			!strings.Contains(err.Error(), "permission denied") {
			exitWithError(fmt.Errorf("%s: %w", out, err))
		}
	}
	fmt.Println("refused")
}

// TestReadOnlyFolder checks that a folder without write permission is rejected at once, and its content is unchanged.
func TestReadOnlyFolder(t *testing.T) {
	folder := t.TempDir()
	if err := Write(t.Context(), folder, numberedFiles(1), false); err != nil {
		t.Fatal(err)
	}
	for dir := folder; len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // gives this user access
			t.Fatal(err)
		}
	}
	if err := os.Chmod(folder, 0o555); err != nil {
		t.Fatal(err)
	}
	before := listTree(t, folder)
	out, err := childCommand(t, "readonly", folder, "").CombinedOutput()
	if err != nil || string(out) != "refused\n" {
		t.Errorf("%v: %s", err, out)
	}
	if err := os.Chmod(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(before, listTree(t, folder))
	if diff != "" {
		t.Error(diff)
	}
}

// TestModesUnderAnyMask checks that the curator's notes, and all files that are not yet in place, are readable only
// by their owner, for any umask of the process.
func TestModesUnderAnyMask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	folder := t.TempDir()
	f, err := Prepare(folder, false)
	if err != nil {
		t.Fatal(err)
	}
	f.step = func(name string) error {
		info, err := os.Stat(f.stage)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf(
				"before %q: %v, %v",
				name, info, err,
			)
		}
		return nil
	}
	if err := f.Commit(t.Context(), numberedFiles(1)); err != nil {
		t.Fatal(err)
	}
	got := treeModes(listTree(t, folder))
	if got["curator"] != "drwx------" ||
		got["curator/run.json"] != "-rw-------" {
		t.Errorf("%v", got)
	}
}
