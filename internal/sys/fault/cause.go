package fault

import (
	"errors"
	"io/fs"
	"os"
)

// Cause returns why an operation on a file failed, without the names of the operation and
// the file; err itself if it is no such error.
func Cause(err error) error {
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		return pe.Err
	case errors.As(err, &le):
		return le.Err
	}
	return err
}
