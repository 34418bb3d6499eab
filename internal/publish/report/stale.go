package report

import (
	"errors"
	"io/fs"
	"os"

	"github.com/dptrain/dptrain/internal/sys/filelock"
	"github.com/dptrain/dptrain/internal/sys/tempdir"
)

// stagePrefix begins the names of the temporary folders of runs.
const stagePrefix = ".dptrain-run-"

// sweep clears away what runs that were killed left in an output folder, and puts a
// folder back in its place that one of them had moved aside (where folders cannot change
// places, that takes two renames). It does nothing while another run is putting its
// results in place, and where there are no locks: then the next run does it.
func sweep(dir string) {
	home, err := os.Open(dir)
	if err != nil {
		return
	}
	defer home.Close()
	if got, _ := filelock.Lock(home); !got {
		return
	}
	tempdir.RemoveStale(dir, stagePrefix, func(home, dead *os.Root, name string) {
		for _, folder := range []string{CuratorDir, ReleaseDir} {
			restore(home, dead, name, folder)
			for _, at := range []string{folder, oldPrefix + folder} {
				for _, file := range contents(folder) {
					_ = dead.Remove(at + "/" + file) // follows no link out of the folder
				}
				_ = dead.Remove(at)
			}
		}
		_ = dead.Remove(keptFile)
	})
}

// restore moves an old folder back if no other is in its place.
func restore(home, dead *os.Root, name, folder string) {
	if _, err := home.Lstat(folder); !errors.Is(err, fs.ErrNotExist) {
		return
	}
	if _, err := dead.Lstat(oldPrefix + folder); err == nil {
		_ = home.Rename(name+"/"+oldPrefix+folder, folder)
	}
}
