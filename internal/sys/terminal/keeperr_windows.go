package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// KeepStderr returns standard error and puts NUL in its place, to which the Go
// runtime then prints what it says of a process that it ends: it asks the system for
// the handle each time. See keeperr_unix.go for what that would tell.
func KeepStderr() (*os.File, error) {
	null, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		return nil, err
	}
	if err := windows.SetStdHandle(windows.STD_ERROR_HANDLE, windows.Handle(null.Fd())); err != nil {
		return nil, os.NewSyscallError("SetStdHandle", err)
	}
	kept := os.Stderr // holds the handle of before
	os.Stderr = null  // for libraries; it also keeps the handle open
	return kept, nil
}
