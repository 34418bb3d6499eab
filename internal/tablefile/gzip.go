package tablefile

import (
	"io"

	"github.com/klauspost/compress/gzip"
)

// gunzip decodes gzip.
func gunzip(r io.Reader) (io.Reader, error) {
	return gzip.NewReader(r)
}
