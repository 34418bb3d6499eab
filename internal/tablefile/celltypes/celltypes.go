// Package celltypes reads the types of columns from the schema of a file. A schema is public, as a header is.
package celltypes

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/parquet-go/parquet-go/format"

	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/arrowfile"
	"github.com/dptrain/dptrain/internal/tablefile/parquetfile"
)

// A Type is the type of a column's cells in a schema.
type Type uint8

// The types. Columns of text files, times of day and unsupported types have no type.
const (
	Unstated Type = iota
	Numbers
	Text
	Booleans
	Dates
)

// String returns the name of the cells' type.
func (t Type) String() string {
	return [...]string{"cells of any type", "numbers", "text", "true or false", "dates"}[t]
}

// Read returns the column types in the schema of a Parquet or Arrow file, by name. If a path denotes several
// files, a column has a type if all files agree. An unreadable file has no types: reading it later returns the
// error. No data row is read.
func Read(path string) map[string]Type {
	paths := []string{path}
	if strings.ContainsAny(path, "*?[") {
		if _, err := os.Stat(path); err != nil {
			paths, _ = filepath.Glob(path)
		}
	}
	var all map[string]Type
	for i, path := range paths {
		one := ofFile(path)
		if i == 0 {
			all = one
		}
		for name, t := range all {
			if one[name] != t {
				delete(all, name)
			}
		}
	}
	return all
}

// ReadHeld is [Read] for a table in memory. Its name has the suffix of a path.
func ReadHeld(name string, held *bytes.Reader) map[string]Type {
	return ofTable(name, held, held.Size())
}

// ofTable is Read for an open table.
func ofTable(name string, f io.ReaderAt, size int64) map[string]Type {
	switch kind, _, _ := tablefile.ParsePath(name); {
	case kind.Parquet:
		return ofParquet(f, size)
	case kind.Packed == tablefile.Arrow:
		return ofArrow(f, size)
	}
	return nil
}

// ofFile is Read for one file.
func ofFile(path string) map[string]Type {
	kind, _, _ := tablefile.ParsePath(path)
	if !kind.Parquet && kind.Packed != tablefile.Arrow {
		return nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return ofTable(path, f, info.Size())
}

func ofArrow(f io.ReaderAt, size int64) map[string]Type {
	file, err := arrowfile.Open(f, size)
	if err != nil {
		return nil
	}
	types := map[string]Type{}
	for _, x := range file.Fields {
		switch {
		case x.Text():
			types[x.Name] = Text
		case x.Boolean():
			types[x.Name] = Booleans
		case x.Date():
			types[x.Name] = Dates
		case x.Numeric():
			types[x.Name] = Numbers
		}
	}
	return types
}

// ofParquet returns nil for a damaged file, on which the library may panic.
func ofParquet(f io.ReaderAt, size int64) (types map[string]Type) {
	defer func() {
		if recover() != nil {
			types = nil
		}
	}()
	footer, ok := parquetfile.ReadFooter(f, size)
	if !ok {
		return nil
	}
	fields, ok := footer.Fields()
	if !ok {
		return nil
	}
	types = map[string]Type{}
	for k := range fields {
		types[fields[k].Name] = ofField(&fields[k])
	}
	return types
}

// ofField returns the type of a field of Parquet.
func ofField(field *parquetfile.Field) Type {
	if field.Leaf < 0 {
		return Unstated
	}
	switch field.Logical.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return Text
	case *format.DecimalType, *format.IntType:
		return Numbers
	case *format.DateType, *format.TimestampType:
		return Dates
	case nil:
	default: // times of day, and types without a value
		return Unstated
	}
	switch field.Type.Kind {
	case format.Boolean:
		return Booleans
	case format.Int32, format.Int64, format.Float, format.Double:
		return Numbers
	case format.Int96:
		return Dates
	}
	return Unstated // bytes without a logical type may have any content
}
