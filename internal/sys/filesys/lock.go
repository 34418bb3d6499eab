package filesys

import "os"

// TryLock locks an open file or folder. It returns false if another process, or this one through another open file,
// holds the lock.
func TryLock(f *os.File) bool {
	_, busy := Lock(f)
	return !busy
}
