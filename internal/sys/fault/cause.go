package fault

import (
	"errors"
	"io/fs"
	"os"
)

// Cause returns the reason why a file operation failed, without the operation and the file name. It returns err
// itself if err is not an error of a file operation.
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
