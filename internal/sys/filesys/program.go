package filesys

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// FindProgram returns the path of the named program: in the folder of this executable, or else on the PATH. ok is
// false if it is in neither.
func FindProgram(name string) (path string, ok bool) {
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path, true
		}
	}
	path, err := exec.LookPath(name)
	return path, err == nil
}
