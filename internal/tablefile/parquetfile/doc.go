// Package parquetfile reads the bytes of Parquet files: the positions of the pages of a column, and the values
// in them. It is independent of tables.
//
// The content of a file is private and may be hostile; a single cell may be as large as memory. So a footer is
// scanned and not built, a page of more than [WholePage] bytes is read as a stream, only the start of a text is
// read, and no size is trusted before the bytes have been read. A page that contradicts its header is damaged.
//
// The package reads pages of versions 1 and 2 of columns with one value per row, in every encoding of the
// format except the deprecated one for levels, with every codec except LZO and the first LZ4, whose block
// format was never specified.
package parquetfile

import (
	"errors"

	"github.com/parquet-go/parquet-go/format"
)

// Errors about the content of a file.
var (
	// ErrDamaged is returned if the content of a file contradicts its footer or page headers.
	ErrDamaged = errors.New("damaged")
	// ErrDictionary is returned if a dictionary has more values than [MaxDictionary].
	ErrDictionary = errors.New("dictionary too large")
)

// plainDictionary is the encoding that old writers declare for dictionaries and their indexes.
const plainDictionary format.Encoding = 2
