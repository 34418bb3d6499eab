//go:build windows || plan9 || solaris || aix || android

package filelock

import "os"

// Try is for systems that can lock a file or folder.
func Try(*os.File) bool { return true }
