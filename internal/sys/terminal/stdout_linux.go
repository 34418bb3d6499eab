package terminal

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
)

// StdoutClosed reports whether a shell closed standard output (>&-) before it started this process.
//
// The Go runtime opens the null device, for reading and writing, in the place of a descriptor that is closed when the process
// starts, so that no file gets the descriptor. Afterwards nothing tells that device from one that the parent process passed on.
// Shells open the device for writing alone (>/dev/null). So a device that is open for both is taken for a closed output if the
// parent is a shell and has not passed on its own; the programs that open it for both, as Python and Node do, are not. A shell
// that was replaced by this process (sh -c 'dptrain … >&-') is not seen.
func StdoutClosed() bool {
	return nullForBoth("/proc/self") && parentIsShell() && !nullForBoth(fmt.Sprintf("/proc/%d", os.Getppid()))
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
	shells := []string{"sh", "bash", "dash", "zsh", "ksh", "ksh93", "mksh", "fish", "ash", "busybox", "tcsh", "csh"}
	return err == nil && slices.Contains(shells, strings.TrimSpace(string(name)))
}
