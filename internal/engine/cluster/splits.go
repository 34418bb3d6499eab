package cluster

import (
	"math"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
)

// A split of Parquet has at least leastRows records unless the file ends. Splits of large tables have more, so that their
// number is at most that of files plus mostSplits.
const (
	leastRows  = 1 << 18
	mostSplits = 1 << 12
)

// splitTable divides the table at path into splits. Splits of Parquet have at least the given number of records. It reads
// the names, sizes and footers of files only.
func splitTable(path string, least int64) ([]split, error) {
	paths, err := dataset.ReadOptions{}.Files(path)
	if err != nil {
		return nil, err
	}
	var files []split
	var groups [][]int64
	total := int64(0)
	for _, path := range paths {
		at, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		of, size, err := groupsOf(at)
		if err != nil {
			return nil, err
		}
		for _, n := range of {
			if n < 0 || n > math.MaxInt64-total {
				return nil, damagedError(path)
			}
			total += n
		}
		files = append(files, split{
			Path: at,
			Size: size,
			Rows: -1,
		})
		groups = append(groups, of)
	}
	least = max(least, total/mostSplits)
	var out []split
	for i, f := range files {
		if groups[i] == nil {
			out = append(out, f)
			continue
		}
		rows := int64(0)
		for g, n := range groups[i] {
			rows += n
			if f.Groups[1] = g + 1; rows >= least || g == len(groups[i])-1 {
				out = append(out, f)
				f.Groups[0] = g + 1
				rows = 0
			}
		}
	}
	return out, nil
}

// groupsOf returns the numbers of rows of the row groups of a Parquet file, or nil for another file, and the file size.
func groupsOf(path string) ([]int64, int64, error) {
	unreadable := &dataset.FileError{
		Path: path,
		Msg:  "cannot be opened",
		Hint: "check the path",
		Err:  dataset.ErrUnreadable,
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, unreadable
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil, 0, unreadable
	}
	kind, _, _ := tablefile.ParsePath(path)
	if !kind.Parquet {
		return nil, info.Size(), nil
	}
	footer, ok := parquetfile.ReadFooter(f, info.Size())
	if !ok {
		return nil, 0, damagedError(path)
	}
	return append([]int64{}, footer.Groups...), info.Size(), nil
}

func damagedError(path string) error {
	return &dataset.FileError{
		Path: path,
		Msg:  "is not a complete Parquet file",
		Hint: "copy or write it again",
		Err:  dataset.ErrCorrupt,
	}
}
