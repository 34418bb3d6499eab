// Package parquetfile reads the bytes of Parquet files: where the pages of a column are, and the
// values in them. It knows no table.
//
// What a file holds is private and may be hostile; a single cell may be as large as memory. So a
// footer is scanned and not built, a page of more than [WholePage] bytes is read as a stream, of a
// text the beginning is read, and no size is believed before the bytes are there. A page that does
// not hold what its header says is damaged.
//
// Read are pages of versions 1 and 2 of columns that hold one value a row, in every encoding of the
// format but the one that was deprecated for levels, with every codec but LZO and the first LZ4,
// whose blocks have no written format.
package parquetfile

import (
	"errors"

	"github.com/parquet-go/parquet-go/format"
)

// What is wrong with a file.
var (
	// ErrDamaged is returned where a file does not hold what its footer and page headers say.
	ErrDamaged = errors.New("damaged")
	// ErrDictionary is returned where a dictionary has more values than [MaxDictionary].
	ErrDictionary = errors.New("dictionary too large")
)

// plainDictionary is what old writers call the encodings of a dictionary and of places in it.
const plainDictionary format.Encoding = 2
