package main

import (
	"fmt"
	"os"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/memlimit"
)

// longCell is how many bytes of a file a cell takes at most, on average, in a table
// that is refused: numbers and categories take fewer.
const longCell = 32

// holdable refuses a table that cannot be held under the limits of the process,
// before anything is spent on it: copies is how many tables are held at once. It goes
// by the size of the file alone. A table that passes may still be too large: then the
// system ends the process.
func (j *job) holdable(schema dataset.Schema, copies int) error {
	limit, limited := memlimit.Tightest()
	info, err := os.Stat(j.table)
	if !limited || err != nil || !info.Mode().IsRegular() {
		return nil
	}
	if need := atLeast(info.Size(), len(j.header), schema) * int64(copies); need > 0 && uint64(need) > limit.Free {
		return &dataset.FileError{Path: j.table, Err: dataset.ErrTooLarge,
			Msg:  fmt.Sprintf("is too large a file: its table does not fit into memory, of which %s leaves %.2g GiB", limit.Name, float64(limit.Free)/(1<<30)),
			Hint: "raise the limit, or exclude columns (data.exclude)"}
	}
	return nil
}

// atLeast returns how many bytes a table takes in memory, if the cells of its file
// have longCell bytes on average.
func atLeast(size int64, fields int, schema dataset.Schema) int64 {
	row := int64(0)
	for _, c := range schema.Columns {
		if row += 8; c.Kind == dataset.Category {
			row -= 4
		}
	}
	return size / int64(longCell*max(1, fields)) * row
}
