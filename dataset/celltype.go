package dataset

import (
	"context"

	"github.com/parquet-go/parquet-go/format"

	"github.com/dptrain/dptrain/internal/arrowfile"
	"github.com/dptrain/dptrain/internal/parquetfile"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// A CellType is what the schema of a file states about the cells of a column. It is public, as the header is.
type CellType uint8

// The cell types. A file of text states none, and neither do dates and types that are not read.
const (
	Unstated CellType = iota
	NumberCells
	TextCells
	BooleanCells
)

// String names what the cells are.
func (t CellType) String() string {
	return [...]string{"of any type", "numbers", "text", "true or false"}[t]
}

// CellTypes returns what the schema of a Parquet or Arrow file states about its columns, by name. Of files that are one table, a
// column has a type if all of them state the same. It looks at no data row, and fails like [Header].
func CellTypes(path string) (map[string]CellType, error) {
	paths, err := filesOf(path)
	if err != nil {
		return nil, err
	}
	var all map[string]CellType
	for _, path := range paths {
		one, err := cellTypes(path)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = one
		}
		for name, t := range all {
			if one[name] != t {
				delete(all, name)
			}
		}
	}
	return all, nil
}

// cellTypes is CellTypes for one file.
func cellTypes(path string) (map[string]CellType, error) {
	fm, err := formatOf(path)
	if err != nil {
		return nil, err
	}
	if !fm.parquet && fm.packed != tablefile.Arrow {
		return map[string]CellType{}, nil
	}
	f, size, _, err := open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	types := map[string]CellType{}
	if fm.parquet {
		_, fields, err := openParquet(path, f, size)
		if err != nil {
			return nil, err
		}
		for k := range fields {
			types[fields[k].Name] = parquetCells(&fields[k])
		}
		return types, nil
	}
	file, err := arrowfile.Open(f, size)
	if err != nil {
		return nil, (&reader{path: path}).packedError(context.Background(), err)
	}
	for _, x := range file.Fields {
		switch {
		case x.Text():
			types[x.Name] = TextCells
		case x.Boolean():
			types[x.Name] = BooleanCells
		case x.Numeric():
			types[x.Name] = NumberCells
		}
	}
	return types, nil
}

// parquetCells returns the cell type of a field of Parquet.
func parquetCells(field *parquetfile.Field) CellType {
	if field.Leaf < 0 {
		return Unstated
	}
	switch field.Logical.(type) {
	case *format.StringType, *format.EnumType, *format.JsonType:
		return TextCells
	case *format.DecimalType, *format.IntType:
		return NumberCells
	case nil:
	default: // dates and types of no value among them
		return Unstated
	}
	switch field.Type.Kind {
	case format.Boolean:
		return BooleanCells
	case format.Int32, format.Int64, format.Float, format.Double:
		return NumberCells
	}
	return Unstated // bytes may be text, numbers of Parquet's first days or anything else
}
