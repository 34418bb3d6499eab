//go:build unix

package terminal

import (
	"os"
	"os/signal"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

// KeepStderr returns standard error on a new descriptor and replaces descriptor 2 by the reading end of a pipe, which
// cannot be written to.
//
// When memory runs out, on a fatal error and on most signals, the Go runtime prints the arguments of every call to
// descriptor 2, and this cannot be disabled. One of these arguments is the length of a column, which is the exact
// number of records. Libraries that print directly use descriptor 2 or os.Stderr, which also keeps descriptor 2.
//
// Such a process then ends by SIGABRT, so its exit code is not one of the command's (the runtime's own is 2). It
// leaves no core file, which would contain the records.
func KeepStderr() (*os.File, error) {
	fd, err := unix.FcntlInt(2, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, os.NewSyscallError("fcntl", err)
	}
	var pipe [2]int
	if err := unix.Pipe(pipe[:]); err != nil {
		return nil, os.NewSyscallError("pipe", err)
	}
	if err := unix.Dup2(pipe[0], 2); err != nil {
		return nil, os.NewSyscallError("dup2", err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{}); err != nil {
		return nil, os.NewSyscallError("setrlimit", err)
	}
	unix.Close(pipe[0])
	unix.Close(pipe[1])
	debug.SetTraceback("crash")
	signal.Ignore(unix.SIGABRT) // abort of the C library then ends the process at once, without the runtime's handler
	return os.NewFile(uintptr(fd), "stderr"), nil
}
