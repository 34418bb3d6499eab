// Package memlimit says how much memory the system lets this process take.
package memlimit

// A Limit is one of the limits that the system sets.
type Limit struct {
	Name string // such as "ulimit -v"
	Free uint64 // bytes that the process may take beyond those it has
}

// Tightest returns the limit that leaves the least. ok is false where there is
// none, or none that this system tells.
func Tightest() (l Limit, ok bool) { return tightest(limits()) }

// Available returns how many bytes of memory this process can have: what the tightest limit leaves, or all that the machine
// has; 0 if the system does not tell.
func Available() uint64 {
	most := Physical()
	if l, ok := Tightest(); ok && (most == 0 || l.Free < most) {
		most = l.Free
	}
	return most
}

func tightest(all []Limit) (least Limit, ok bool) {
	for i, l := range all {
		if i == 0 || l.Free < least.Free {
			least = l
		}
	}
	return least, len(all) > 0
}
