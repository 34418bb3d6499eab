package entry

import (
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/memlimit"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// Large reports whether a table in a file, or in all files of a pattern, may take more than half of
// the memory that the process can have. It goes by the size of the files and by public facts alone, and is a
// guess: cells are taken to have bytes as few as is usual.
func Large(path string, fields int, schema dataset.Schema) bool {
	limit := memlimit.Available()
	return limit > 0 && uint64(likely(path, sizeOf(path), fields, schema)) > limit/2
}

// Bytes of a cell of a file, if they are few, and of what a method keeps of a record beside its cells.
const (
	textCell   = 8
	packedCell = 3
	keptBytes  = 64
)

// likely returns how many bytes a table takes in memory that comes from files of so many bytes.
func likely(path string, size int64, fields int, schema dataset.Schema) int64 {
	cell := int64(textCell)
	if kind, _, _ := tablefile.Of(path); kind.Offsets() || kind.Decode != nil {
		cell = packedCell
	}
	return size / (cell * int64(max(1, fields))) * (rowBytes(schema) + keptBytes)
}

// sizeOf returns the bytes of the files that a path stands for, 0 if they are no files.
func sizeOf(path string) int64 {
	paths := []string{path}
	if _, err := os.Stat(path); err != nil {
		if found, err := filepath.Glob(path); err == nil {
			paths = found
		}
	}
	size := int64(0)
	for _, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			size += info.Size()
		}
	}
	return size
}
