package engine

import (
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/ram"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// Large reports whether a table in a file, or in all files that match a pattern, may take more than half of the memory
// available to the process. It is an estimate based only on the size of the files and public facts, and assumes short
// cells.
func Large(path string, fields int, schema dataset.Schema) bool {
	limit := ram.Available()
	return limit > 0 && uint64(likely(path, sizeOf(path), fields, schema)) > limit/2
}

// The bytes of a short cell of a file, and the bytes that a method keeps for a record in addition to its cells.
const (
	textCell   = 8
	packedCell = 3
	keptBytes  = 64
)

// likely estimates the bytes that a table takes in memory from the size of its files.
func likely(path string, size int64, fields int, schema dataset.Schema) int64 {
	cell := int64(textCell)
	if kind, _, _ := tablefile.ParsePath(path); kind.Offsets() || kind.Decode != nil {
		cell = packedCell
	}
	return size / (cell * int64(max(1, fields))) * (rowBytes(schema) + keptBytes)
}

// sizeOf returns the total size of the files that match a path, 0 if there are no such files.
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
