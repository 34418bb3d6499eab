package report

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func textWriter(s string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, s)
		return err
	}
}

func writeAudit(t *testing.T, dir, content string, force bool) error {
	t.Helper()
	c, err := PrepareAudit(dir, force)
	if err != nil {
		return err
	}
	defer c.Close()
	return c.Commit(t.Context(), textWriter(content))
}

// TestCuratorFile checks that the file is readable only by its owner, exists on its own or next to the notes of a
// run, is not replaced without force, and disappears when a run replaces the folder.
func TestCuratorFile(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "out")
	if err := writeAudit(t, dir, "first", false); err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"curator":            "drwx------",
		"curator/audit.json": "-rw-------",
	}
	diff := cmp.Diff(want, treeModes(listTree(t, dir)))
	if diff != "" {
		t.Error(diff)
	}
	err := writeAudit(t, dir, "second", false)
	if !errors.Is(err, ErrExists) ||
		!strings.Contains(err.Error(), "--force") {
		t.Errorf("%v", err)
	}
	if err := os.Chmod(filepath.Join(dir, "curator"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := writeAudit(t, dir, "third", true); err != nil {
		t.Fatal(err)
	}
	got := listTree(t, dir)
	if got["curator/audit.json"] != "-rw------- third" ||
		got["curator"] != "drwx------ " && got["curator"] != "drwx------" {
		t.Errorf("%q", got)
	}
	if _, err := Prepare(dir, false); !errors.Is(err, ErrExists) {
		t.Errorf("%v", err)
	}
	if err := Write(t.Context(), dir, lineFiles(t), true); err != nil {
		t.Fatal(err)
	}
	got = listTree(t, dir)
	if got["curator/audit.json"] != "" ||
		got["curator/run.json"] == "" {
		t.Errorf("%q", treeModes(got))
	}
	if err := writeAudit(t, dir, "fourth", false); err != nil {
		t.Fatal(err)
	}
	got = listTree(t, dir)
	if got["curator/audit.json"] != "-rw------- fourth" ||
		got["curator/run.json"] == "" ||
		len(got) != 8 {
		t.Errorf("%q", treeModes(got))
	}
}

// TestCuratorFileRefused checks that links and other kinds of files in its place are rejected.
func TestCuratorFileRefused(t *testing.T) {
	elsewhere := t.TempDir()
	for name, c := range map[string]struct {
		lay  func(dir string) error
		want error
	}{
		"curator is a link": {
			func(dir string) error {
				return os.Symlink(elsewhere, filepath.Join(dir, CuratorDir))
			},
			ErrForeign,
		},
		"curator is a file": {
			func(dir string) error {
				return os.WriteFile(filepath.Join(dir, CuratorDir), nil, 0o600)
			},
			ErrForeign,
		},
		"the file is a folder": {
			func(dir string) error {
				return os.MkdirAll(filepath.Join(dir, CuratorDir, AuditFile), 0o700)
			},
			ErrForeign,
		},
	} {
		dir := t.TempDir()
		if err := c.lay(dir); err != nil {
			t.Fatal(err)
		}
		before := listTree(t, dir)
		err := writeAudit(t, dir, "x", true)
		if !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
		diff := cmp.Diff(before, listTree(t, dir))
		if diff != "" {
			t.Errorf(
				"%s: the folder changed:\n%s",
				name, diff,
			)
		}
	}
	// A link in place of the file is replaced, and its target is unchanged.
	dir := t.TempDir()
	victim := filepath.Join(elsewhere, "victim")
	err := errors.Join(
		os.WriteFile(victim, []byte("mine"), 0o600),
		os.Mkdir(filepath.Join(dir, CuratorDir), 0o700),
		os.Symlink(victim, filepath.Join(dir, CuratorDir, AuditFile)),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := writeAudit(t, dir, "x", true); err != nil {
		t.Fatal(err)
	}
	if data, err := os.ReadFile(victim); err != nil || string(data) != "mine" {
		t.Errorf("%q, %v", data, err)
	}
	got := listTree(t, dir)["curator/audit.json"]
	if got != "-rw------- x" {
		t.Errorf("%q", got)
	}
}

// TestCuratorFileInterrupted interrupts a commit at every step, by the context and by a failure, and checks that the
// earlier state is restored.
func TestCuratorFileInterrupted(t *testing.T) {
	names := []string{"curator", "curator/audit.json", "sync", "rename",
		"rename to curator/audit.json"}
	failure := errors.New("disk full")
	for _, old := range []bool{false, true} {
		for _, name := range names {
			for _, cancelled := range []bool{true, false} {
				if cancelled && strings.HasPrefix(name, "rename to") {
					continue // the move itself is not interrupted
				}
				dir := filepath.Join(t.TempDir(), "out")
				if old {
					if err := writeAudit(t, dir, "old", false); err != nil {
						t.Fatal(err)
					}
				}
				before := listTree(t, filepath.Dir(dir))
				c, err := PrepareAudit(dir, true)
				if err != nil {
					t.Fatal(err)
				}
				ctx, cancel := context.WithCancel(t.Context())
				want := failure
				c.folder.step = func(step string) error {
					switch {
					case step != name:
						return nil
					case cancelled:
						want = context.Canceled
						cancel()
						return nil
					}
					return failure
				}
				if err := c.Commit(ctx, textWriter("new")); !errors.Is(err, want) {
					t.Errorf(
						"step %q: error %v, want %v",
						name, err, want,
					)
				}
				c.Close()
				cancel()
				diff := cmp.Diff(before, listTree(t, filepath.Dir(dir)))
				if diff != "" {
					t.Errorf(
						"step %q: the folder changed:\n%s",
						name, diff,
					)
				}
			}
		}
	}
}
