package report

import (
	"errors"
	"io/fs"
	"os"

	"github.com/dptrain/dptrain/internal/sys/filesys"
)

// stagePrefix starts the names of the temporary folders of runs.
const stagePrefix = ".dptrain-run-"

// sweep removes the remains of killed runs from an output folder, and restores a folder that one of them had moved
// aside (where folders cannot be exchanged, a replacement takes two renames). It does nothing while another run is
// putting its results in place, and on systems without locks; the next run then does it.
func sweep(dir string) {
	home, err := os.Open(dir)
	if err != nil {
		return
	}
	defer home.Close()
	if got, _ := filesys.Lock(home); !got {
		return
	}
	filesys.RemoveStale(dir, stagePrefix, func(home, dead *os.Root, name string) {
		for _, folder := range []string{CuratorDir, ReleaseDir} {
			restore(home, dead, name, folder)
			for _, at := range []string{folder, oldPrefix + folder} {
				for _, file := range contents(folder) {
					_ = dead.Remove(at + "/" + file) // does not follow links out of the folder
				}
				_ = dead.Remove(at)
			}
		}
		_ = dead.Remove(keptFile)
	})
}

// restore moves an old folder back if its place is free.
func restore(home, dead *os.Root, name, folder string) {
	if _, err := home.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if _, err := dead.Lstat(oldPrefix + folder); err == nil {
		_ = home.Rename(name+"/"+oldPrefix+folder, folder)
	}
}
