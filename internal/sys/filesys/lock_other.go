//go:build windows || plan9 || solaris || aix || android

package filesys

import "os"

// Lock always returns false, false: this system cannot lock files and folders.
func Lock(*os.File) (got, busy bool) {
	return false, false
}
