package dataset

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"

	"github.com/dptrain/dptrain/internal/sys/fault"
)

// Sentinels for errors.Is. They are always wrapped in a [*FileError].
var (
	// ErrUnreadable: the file cannot be opened or read, or changed meanwhile.
	ErrUnreadable = fault.New(fault.Data, "file cannot be read")
	// ErrCorrupt: a compressed or Parquet file is truncated or damaged.
	ErrCorrupt = fault.New(fault.Data, "file is damaged")
	// ErrFormat: the file's name has none of the known suffixes, or its content is of another format, such as a
	// line of new records in JSON Lines that is not an object.
	ErrFormat = fault.New(fault.Data, "unknown file format")
	// ErrNoHeader: the file is empty, or its first line looks like data.
	ErrNoHeader = fault.New(fault.Data, "no header")
	// ErrEmptyName: a field of the header is empty.
	ErrEmptyName = fault.New(fault.Data, "empty column name")
	// ErrDuplicateColumn: two fields of the header have the same name.
	ErrDuplicateColumn = fault.New(fault.Data, "duplicate column name")
	// ErrNoColumn: the header lacks a declared column.
	ErrNoColumn = fault.New(fault.Data, "declared column is absent")
	// ErrColumnType: a Parquet column's type cannot be read as its declared kind.
	ErrColumnType = fault.New(fault.Data, "column type not supported")
	// ErrLongLine: a line of new records is longer than a [RecordReader] reads.
	ErrLongLine = fault.New(fault.Data, "line too long")
	// ErrTooLarge: the file holds more rows than a table can.
	ErrTooLarge = fault.New(fault.Data, "too many rows")
)

// FileError describes a problem with a file or its header. It never contains a cell, nor a name from the
// header, which may be a record in disguise; names in it come from the schema.
type FileError struct {
	Path   string // as given by the caller
	Line   int    // 1 for the header; 0 when the error concerns the whole file
	Column int    // field of the header, counted from 1; 0 if the error is not about a field
	Msg    string // description of the problem
	Hint   string // the remedy; may be empty
	Err    error  // one of the sentinels above
}

// Error returns "path:line:column: message; hint", without the parts that are
// absent.
func (e *FileError) Error() string {
	s := e.Path
	if e.Line > 0 {
		s += ":" + strconv.Itoa(e.Line)
		if e.Column > 0 {
			s += ":" + strconv.Itoa(e.Column)
		}
	}
	s += ": " + e.Msg
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the sentinel.
func (e *FileError) Unwrap() error {
	return e.Err
}

// unreadableError turns an error of the operating system into a FileError. A path
// error's own text would only repeat the path.
func unreadableError(path string, err error) error {
	var known *FileError
	if errors.As(err, &known) {
		return err
	}
	err = fault.Cause(err)
	return &FileError{
		Path: path,
		Msg:  fmt.Sprintf("cannot be read: %v", err),
		Hint: unreadableHint(err),
		Err:  ErrUnreadable,
	}
}

func unreadableHint(err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "check the path"
	case errors.Is(err, fs.ErrPermission):
		return "check the permissions"
	}
	return ""
}

// changedError reports a file that was modified between two reads.
func changedError(path string) error {
	return &FileError{
		Path: path,
		Msg:  "changed while it was being read",
		Hint: "try again when no other program writes to it",
		Err:  ErrUnreadable,
	}
}

// tooLarge reports a file with more rows than a table can hold.
func tooLarge(path string) error {
	return &FileError{
		Path: path,
		Msg:  fmt.Sprintf("has more than %d rows", int64(maxRows)),
		Hint: "split it",
		Err:  ErrTooLarge,
	}
}
