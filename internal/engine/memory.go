package engine

import (
	"fmt"
	"os"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/ram"
)

// longCell is the maximum average number of bytes of a cell in a file that is rejected: numbers and categories take
// fewer.
const longCell = 32

// Holdable rejects a table in a file that exceeds the memory limits of the process, before any budget is spent on it.
// fields is the number of columns of the file, schema declares the columns that are read, and copies is the number of
// tables held at once. The check uses only the size of the file. A table that passes may still be too large: then the
// system ends the process. The error wraps [dataset.ErrTooLarge].
func Holdable(
	path string,
	fields int,
	schema dataset.Schema,
	copies int,
) error {
	limit, limited := ram.Tightest()
	info, err := os.Stat(path)
	if !limited || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return checkMemory(path, atLeast(info.Size(), fields, schema)*int64(copies), limit)
}

// checkMemory rejects a table that needs more memory than a limit leaves.
func checkMemory(path string, need int64, limit ram.Limit) error {
	if need <= 0 || uint64(need) <= limit.Free {
		return nil
	}
	return &dataset.FileError{
		Path: path,
		Err:  dataset.ErrTooLarge,
		Msg: fmt.Sprintf(
			"is too large: its table does not fit into memory (%s allows %.2g GiB)",
			limit.Name, float64(limit.Free)/(1<<30)),
		Hint: "raise the limit, exclude columns (data.exclude), or use --engine stream",
	}
}

// atLeast returns the bytes that a table takes in memory, if the cells of its file have longCell bytes on average.
func atLeast(size int64, fields int, schema dataset.Schema) int64 {
	return size / int64(longCell*max(1, fields)) * rowBytes(schema)
}

// rowBytes returns the bytes that a record takes in memory.
func rowBytes(schema dataset.Schema) int64 {
	row := int64(0)
	for _, c := range schema.Columns {
		if row += 8; c.Kind == dataset.Category {
			row -= 4
		}
	}
	return row
}
