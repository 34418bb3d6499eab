package ram

import "unsafe"

// pageSize is the size of a large page in bytes.
const pageSize = 2 << 20

// MakeBytes returns n zero bytes, for memory that is used as a whole. Where the system supports it, the memory gets pages
// of 2 MiB: fewer pages to map, and fewer misses of the address cache.
func MakeBytes(n int) []byte {
	b := make([]byte, n)
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(b))) % pageSize)
	if from, to := (pageSize-at)%pageSize, n-(at+n)%pageSize; from < to {
		advise(b[from:to])
	}
	return b
}
