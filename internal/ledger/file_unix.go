//go:build unix

package ledger

import (
	"fmt"
	"os"
	"syscall"
)

// fileID identifies the plain file at path by device and inode. It returns "" if there is no such file.
func fileID(path string) string {
	if path == "" {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() {
		return ""
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return ""
	}
	return fmt.Sprintf("%d:%d", stat.Dev, stat.Ino)
}
