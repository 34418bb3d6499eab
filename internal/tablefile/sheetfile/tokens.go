package sheetfile

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
)

// tokens reads an XML document.
type tokens struct {
	d *xml.Decoder
	r *limited
}

// limited passes bytes to a decoder, but at most maxToken bytes per token.
type limited struct {
	r    *bufio.Reader
	used int
}

var errLongToken = errors.New("a token is too long")

// ReadByte implements io.ByteReader.
func (l *limited) ReadByte() (byte, error) {
	if l.used++; l.used > maxToken {
		return 0, errLongToken
	}
	return l.r.ReadByte()
}

// Read implements io.Reader. The decoder takes bytes one by one.
func (l *limited) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	b, err := l.ReadByte()
	p[0] = b
	return 1, err
}

func newTokens(r io.Reader) *tokens {
	l := &limited{r: bufio.NewReaderSize(r, 1<<16)}
	d := xml.NewDecoder(l)
	d.CharsetReader = func(string, io.Reader) (io.Reader, error) {
		return nil, ErrDamaged
	} // UTF-8, without a table for other encodings
	return &tokens{d, l}
}

// nextToken returns the next token.
func (t *tokens) nextToken() (xml.Token, error) {
	t.r.used = 0
	token, err := t.d.RawToken()
	if err != nil && err != io.EOF {
		err = damageError(err)
	}
	return token, err
}

// nextElement returns the next start of an element.
func (t *tokens) nextElement() (*xml.StartElement, error) {
	for {
		token, err := t.nextToken()
		if err != nil {
			return nil, err
		}
		if e, ok := token.(xml.StartElement); ok {
			return &e, nil
		}
	}
}

// damageError converts a read error of a part: syntax errors become damage, and system errors are kept.
func damageError(err error) error {
	var system *fs.PathError
	if errors.As(err, &system) {
		return system
	}
	return ErrDamaged
}
