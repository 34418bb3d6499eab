package filesys

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

const prefix = ".test-run-"

// dirNames lists the content of a folder.
func dirNames(t *testing.T, dir string) (out []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// createFile creates a file and its parent folders.
func createFile(t *testing.T, path string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func makeDir(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(path, mode); err != nil {
		t.Fatal(err)
	}
}

// clearOne removes the file named ours.
func clearOne(_, dead *os.Root, _ string) {
	_ = dead.Remove("ours")
}

// TestSweepRemovesFoldersOfDeadProcesses checks that only the folders of dead processes are removed from the folder of
// the results, and only their files named ours.
func TestSweepRemovesFoldersOfDeadProcesses(t *testing.T) {
	home := t.TempDir()
	outside := t.TempDir()
	at := func(name string) string {
		return filepath.Join(home, name)
	}
	live, err := MakeTempDir(home, prefix)
	if err != nil {
		t.Fatal(err)
	}
	createFile(t, filepath.Join(live.Path, "ours"))
	makeDir(t, at(prefix+"1"), 0o700)
	createFile(t, at(prefix+"22/ours"))
	createFile(t, at(prefix+"3/ours"))
	createFile(t, at(prefix+"3/theirs"))
	makeDir(t, at(prefix+"4"), 0o755)
	makeDir(t, at(prefix+"five"), 0o700)
	makeDir(t, at(prefix), 0o700)
	makeDir(t, at(".test-run"), 0o700)
	createFile(t, at(prefix+"6"))
	createFile(t, filepath.Join(outside, "ours"))
	if err := os.Symlink(outside, at(prefix+"7")); err != nil {
		t.Fatal(err)
	}
	makeDir(t, at(prefix+"8"), 0o700)
	err = os.Symlink(
		filepath.Join(outside, "ours"),
		at(prefix+"8/ours"),
	)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := os.Open(home); err == nil {
		got, _ := Lock(f)
		f.Close()
		if !got {
			t.Skip("no locks here")
		}
	}
	RemoveStale(home, prefix, clearOne)
	want := []string{".test-run", prefix, prefix + "3", prefix + "4", prefix + "6", prefix + "7",
		prefix + "five", filepath.Base(live.Path)}
	slices.Sort(want)
	got := dirNames(t, home)
	if !slices.Equal(got, want) {
		t.Errorf("left %q, want %q", got, want)
	}
	got = dirNames(t, at(prefix+"3"))
	if !slices.Equal(got, []string{"theirs"}) {
		t.Errorf(
			"in a folder with a file of somebody else: %q",
			got,
		)
	}
	if len(dirNames(t, outside)) != 1 ||
		len(dirNames(t, live.Path)) != 1 {
		t.Error("a file outside, or of a live process, was removed")
	}
	err = live.Close()
	if err != nil ||
		slices.Contains(dirNames(t, home), filepath.Base(live.Path)) {
		t.Errorf("closed: %v", err)
	}
	RemoveStale(filepath.Join(home, "nowhere"), prefix, clearOne)
}

// TestMakeWhileSwept checks that a folder created while other processes sweep exists when MakeTempDir returns, and is
// kept.
func TestMakeWhileSwept(t *testing.T) {
	home := t.TempDir()
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			default:
				RemoveStale(home, prefix, func(_, _ *os.Root, _ string) {})
			}
		}
	}()
	for range 300 {
		d, err := MakeTempDir(home, prefix)
		if err != nil {
			t.Error(err)
			break
		}
		if _, err := os.Stat(d.Path); err != nil {
			t.Error(err)
		}
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	}
	close(done)
	<-ended
}
