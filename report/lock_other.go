//go:build windows || plan9 || solaris || aix || android

package report

import "os"

// tryLock is for systems that can lock a folder.
func tryLock(*os.File) bool { return true }
