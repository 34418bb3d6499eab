package ram

import (
	"bytes"
	"os"
	"path"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// limits returns the limits of the process and of its control group. The group's current use is not subtracted, since
// the system can reclaim caches.
func limits() []Limit {
	mapped, data := usage()
	var all []Limit
	for _, l := range []struct {
		which int
		name  string
		used  uint64
	}{{unix.RLIMIT_AS, "ulimit -v", mapped}, {unix.RLIMIT_DATA, "ulimit -d", data}} {
		var r unix.Rlimit
		if unix.Getrlimit(l.which, &r) == nil && r.Cur != unix.RLIM_INFINITY {
			all = append(all, Limit{l.name, r.Cur - min(r.Cur, l.used)})
		}
	}
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return all
	}
	return append(all, groupLimits("/sys/fs/cgroup", string(groups))...)
}

// usage returns the sizes in bytes of the address space and of the data segment of the process, or zeros if the system
// does not report them.
func usage() (mapped, data uint64) {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0
	}
	fields := bytes.Fields(text)
	page := uint64(os.Getpagesize())
	at := func(k int) uint64 {
		if k >= len(fields) {
			return 0
		}
		n, err := strconv.ParseUint(string(fields[k]), 10, 64)
		if err != nil {
			return 0
		}
		return n * page
	}
	return at(0), at(5)
}

// groupLimits returns the memory limits of the control groups named in text, the content of a file /proc/PID/cgroup,
// and of their ancestors. root is the mount point of the groups.
func groupLimits(root, text string) []Limit {
	var all []Limit
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) < 3 {
			continue
		}
		base, file := root, "memory.max" // version 2
		switch {
		case parts[0] == "0" && parts[1] == "":
		case strings.Contains(","+parts[1]+",", ",memory,"): // version 1
			base = path.Join(root, "memory")
			file = "memory.limit_in_bytes"
		default:
			continue
		}
		for group := path.Clean("/" + parts[2]); ; group = path.Dir(group) {
			if most, ok := readNumber(path.Join(base, group, file)); ok {
				all = append(all, Limit{"the limit of the control group", most})
			}
			if group == "/" {
				break
			}
		}
	}
	return all
}

// readNumber reads a file that contains one number. It reports false if there is no limit; version 1 of control groups
// represents that by a number close to 2^63.
func readNumber(name string) (uint64, bool) {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0, false
	}
	n, err := strconv.ParseUint(strings.TrimSpace(string(text)), 10, 64)
	return n, err == nil && n < 1<<62
}
