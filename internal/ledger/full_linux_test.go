package ledger

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// childFull reserves until the file cannot grow any more, as on a full disk.
func childFull() {
	l := New(os.Getenv(childFile), Options{})
	info, err := os.Stat(l.path)
	if err != nil {
		exitWithError(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{
		Cur: uint64(info.Size()),
		Max: uint64(info.Size()),
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		exitWithError(err)
	}
	for k := 0; ; k++ {
		_, err := l.Reserve(context.Background(), childRequest(0))
		if err != nil {
			if errors.Is(err, ErrUnwritable) && k > 0 {
				println(k, err.Error())
				return
			}
			exitWithError(err)
		}
	}
}

// TestDiskFull checks that a run that cannot be recorded is refused with the reason, and that the ledger keeps all
// earlier entries.
func TestDiskFull(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	out, err := childCommand(t, "full", l.path, "").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	number, msg, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !strings.Contains(msg, "cannot be written") ||
		!strings.Contains(msg, "file too large") {
		t.Errorf("%s", msg)
	}
	book, err := l.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	got := len(book.Entries) - 2
	if number != strconv.Itoa(got) {
		t.Errorf(
			"%s runs were admitted, %d are in the ledger",
			number, got,
		)
	}
	if _, err := l.Reserve(t.Context(), childRequest(0)); err != nil {
		t.Errorf("once there is room: %v", err)
	}
}

// nobodyUser is a user without access to the superuser's files.
const nobodyUser = 65534

// childReadOnly reads and tries to write without the superuser's rights.
func childReadOnly() {
	if err := errors.Join(syscall.Setgid(nobodyUser), syscall.Setuid(nobodyUser)); err != nil {
		exitWithError(err)
	}
	l := New(os.Getenv(childFile), Options{})
	if _, err := l.Read(context.Background()); err != nil {
		exitWithError(err)
	}
	_, err := l.Reserve(context.Background(), childRequest(0))
	if !errors.Is(err, ErrUnwritable) ||
		!strings.Contains(err.Error(), "permission denied") {
		exitWithError(err)
	}
	_, err = New(
		filepath.Join(filepath.Dir(l.path), "new"),
		Options{},
	).Register(
		context.Background(),
		"x",
		testTotal(budget.ZCDP),
	)
	if !errors.Is(err, ErrUnwritable) ||
		!strings.Contains(err.Error(), "permission denied") {
		exitWithError(err)
	}
	println("refused")
}

// TestReadOnlyFolderForSuperuser is TestReadOnlyFolder for tests run by the superuser, who ignores file modes.
func TestReadOnlyFolderForSuperuser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("TestReadOnlyFolder does without another user")
	}
	l := newLedger(t, budget.ZCDP)
	before, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.path, 0o444); err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(l.path); len(dir) > len(os.TempDir()); dir = filepath.Dir(dir) {
		if err := os.Chmod(dir, 0o755); err != nil { // gives this user access
			t.Fatal(err)
		}
	}
	out, err := childCommand(t, "readonly", l.path, "").CombinedOutput()
	if err != nil || string(out) != "refused\n" {
		t.Errorf("%v: %s", err, out)
	}
	after, err := os.ReadFile(l.path)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("the file changed, %v", err)
	}
}

// TestModeUnderAnyMask checks that the ledger and its draft are readable only by their owner, for any umask of the
// process.
func TestModeUnderAnyMask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	l := New(filepath.Join(t.TempDir(), "my.ledger"), Options{})
	l.hook = func(step string) error {
		if step != "written" {
			return nil
		}
		drafts, err := filepath.Glob(filepath.Join(
			filepath.Dir(l.path),
			draftPrefix+"*",
		))
		if err != nil || len(drafts) != 1 {
			t.Errorf("drafts %q, %v", drafts, err)
		}
		for _, d := range drafts {
			info, err := os.Stat(d)
			if err != nil || info.Mode().Perm() != 0o700 {
				t.Errorf("the draft: %v, %v", info, err)
			}
		}
		return nil
	}
	_, err := l.Register(t.Context(), "houses", testTotal(budget.ZCDP))
	if err != nil {
		t.Fatal(err)
	}
	_, err = l.Reserve(t.Context(), newRequest(t, .1))
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(l.path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info, err)
	}
}
