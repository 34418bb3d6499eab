package terminal

import (
	"bytes"
	"fmt"
	"os"
	"strings"
)

// StdoutClosed reports whether a shell closed standard output (>&-) before it started this process.
//
// If a descriptor is closed when the process starts, the Go runtime opens the null device in its place, for reading
// and writing, so that no file gets that descriptor. Afterwards this device cannot be distinguished from one
// inherited from the parent process. Shells open the device for writing only (>/dev/null). A device open for both is
// therefore treated as a closed output if the parent is a shell that has not passed on its own device; programs that
// open it for both, such as Python and Node, are not shells. A shell that this process replaced (sh -c 'dptrain …
// >&-') is not detected.
func StdoutClosed() bool {
	return nullForBoth("/proc/self") && parentIsShell() &&
		!nullForBoth(fmt.Sprintf("/proc/%d", os.Getppid()))
}

// nullForBoth reports whether descriptor 1 of a process is the null device, open for reading and writing.
func nullForBoth(process string) bool {
	name, err := os.Readlink(process + "/fd/1")
	if err != nil || name != os.DevNull {
		return false
	}
	info, err := os.ReadFile(process + "/fdinfo/1")
	if err != nil {
		return false
	}
	for line := range bytes.Lines(info) {
		if flags, ok := bytes.CutPrefix(line, []byte("flags:")); ok {
			mode := bytes.TrimSpace(flags)
			return len(mode) > 0 && mode[len(mode)-1] == '2' // the last octal digit of O_RDWR
		}
	}
	return false
}

// parentIsShell reports whether the parent process is a shell, by its name.
func parentIsShell() bool {
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", os.Getppid()))
	if err != nil {
		return false
	}
	switch strings.TrimSpace(string(name)) {
	case "sh", "ash", "bash", "busybox", "csh", "dash", "fish", "ksh", "ksh93", "mksh", "tcsh", "zsh":
		return true
	}
	return false
}
