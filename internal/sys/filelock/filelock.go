package filelock

import "os"

// Try takes the lock of an open file or folder. It is false if somebody else has it,
// another process or this one through another open file.
func Try(f *os.File) bool {
	_, busy := Lock(f)
	return !busy
}
