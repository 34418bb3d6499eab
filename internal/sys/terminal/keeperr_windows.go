package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// KeepStderr returns standard error and replaces the standard handle by NUL. The runtime asks the system for the
// handle whenever it prints, so the report of a crash goes to NUL. keeperr_unix.go explains which private facts that
// report would reveal.
func KeepStderr() (*os.File, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if err := windows.SetStdHandle(windows.STD_ERROR_HANDLE,
		windows.Handle(null.Fd())); err != nil {
		return nil, os.NewSyscallError("SetStdHandle", err)
	}
	kept := os.Stderr // holds the previous handle
	os.Stderr = null  // for libraries; it also keeps the handle open
	return kept, nil
}
