package ledger

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// childFull reserves until the file may not grow any more, as on a full disk.
func childFull() {
	l := At(os.Getenv(childFile), Options{})
	info, err := os.Stat(l.path)
	if err != nil {
		fail(err)
	}
	signal.Ignore(syscall.SIGXFSZ)
	limit := syscall.Rlimit{Cur: uint64(info.Size()), Max: uint64(info.Size())}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fail(err)
	}
	for k := 0; ; k++ {
		if _, err := l.Reserve(context.Background(), childRequest(0)); err != nil {
			if errors.Is(err, ErrUnwritable) && k > 0 {
				println(k, err.Error())
				return
			}
			fail(err)
		}
	}
}

// TestDiskFull: a run that cannot be entered is refused, says why, and nothing
// that was entered is lost.
func TestDiskFull(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	out, err := child(t, "full", l.path, "").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	number, msg, _ := strings.Cut(strings.TrimSpace(string(out)), " ")
	if !strings.Contains(msg, "cannot be written") || !strings.Contains(msg, "file too large") {
		t.Errorf("%s", msg)
	}
	book, err := l.Verify(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(book.Entries) - 2; number != strconv.Itoa(got) {
		t.Errorf("%s runs were admitted, %d are in the ledger", number, got)
	}
	if _, err := l.Reserve(t.Context(), childRequest(0)); err != nil {
		t.Errorf("once there is room: %v", err)
	}
}
