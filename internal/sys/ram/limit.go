// Package ram measures how much memory the system lets this process use, and allocates memory for tables: columns of
// numbers that are reused, and bytes in large pages.
package ram

// A Limit is a memory limit that the system sets.
type Limit struct {
	Name string // such as "ulimit -v"
	Free uint64 // bytes that the process may take beyond those it has
}

// Tightest returns the limit with the fewest free bytes. ok is false if the system has or reports no limit.
func Tightest() (l Limit, ok bool) {
	return tightest(limits())
}

// Available returns the bytes of memory that this process can use: the free bytes of the tightest limit, at most the
// physical memory. It returns 0 if the system reports neither.
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
