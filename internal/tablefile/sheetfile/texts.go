package sheetfile

import (
	"bytes"
	"encoding/xml"
	"io"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// texts is the list of texts that cells refer to by number. It is read only as far as requested.
type texts struct {
	t     *tokens
	most  int64 // maximum memory in bytes
	bytes []byte
	ends  []int
}

func newTexts(p parts, name string) (*texts, error) {
	t, err := p.openPart(name)
	return &texts{
		t:    t,
		most: freeText + textPerByte*p.size,
	}, err
}

// textAt returns a text, valid until the next call.
func (x *texts) textAt(k int) ([]byte, error) {
	for k >= len(x.ends) {
		if err := x.readTexts(); err != nil {
			return nil, err
		}
	}
	start := 0
	if k > 0 {
		start = x.ends[k-1]
	}
	return x.bytes[start:x.ends[k]], nil
}

// readTexts reads the next text.
func (x *texts) readTexts() error {
	for {
		e, err := x.t.nextElement()
		switch {
		case err == io.EOF:
			return ErrDamaged // a cell refers to a text beyond the last one
		case err != nil:
			return err
		case e.Name.Local != "si":
			continue
		}
		if x.bytes, err = x.t.appendText(x.bytes, "si"); err != nil {
			return err
		}
		if x.ends = append(x.ends, len(x.bytes)); int64(len(x.bytes)+8*len(x.ends)) > x.most {
			return ErrTooLarge
		}
		return nil
	}
}

// appendText appends the text within an element up to its end: its runs with their escapes decoded, without the
// pronunciation guides. At most maxText bytes are kept.
func (t *tokens) appendText(out []byte, element string) ([]byte, error) {
	begin := len(out)
	run := begin // start of the current run
	within := false
	aside := 0
	for {
		token, err := t.nextToken()
		if err != nil {
			if err == io.EOF {
				err = ErrDamaged
			}
			return nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "rPh" {
				aside++
			}
			within = e.Name.Local == "t" && aside == 0
			run = len(out)
		case xml.EndElement:
			if within {
				out = decodeEscapes(out, run)
				within = false
			}
			switch e.Name.Local {
			case element:
				return out, nil
			case "rPh":
				aside--
			}
		case xml.CharData:
			if within {
				out = append(out, e[:min(len(e), maxText-(len(out)-begin))]...)
			}
		}
	}
}

// escapeLength is the number of bytes of an escape _xHHHH_.
const escapeLength = 7

// decodeEscapes decodes the escapes of a text, which starts at index from, by the rule of ST_Xstring (ECMA-376, part 1,
// 22.9.2.19): _xHHHH_ with four hexadecimal digits is the UTF-16 code unit with that number, so _x005F_ is an
// underscore that may come before what looks like an escape. Escapes do not overlap and are decoded once. A surrogate
// without its partner becomes U+FFFD.
func decodeEscapes(text []byte, from int) []byte {
	if !bytes.Contains(text[from:], []byte("_x")) {
		return text
	}
	rest := text[from:]
	out := text[:from] // never longer than the bytes that were decoded
	for len(rest) > 0 {
		unit, ok := escapedUnit(rest)
		if !ok {
			out = append(out, rest[0])
			rest = rest[1:]
			continue
		}
		rest = rest[escapeLength:]
		if low, ok := escapedUnit(rest); ok && utf16.DecodeRune(unit, low) != utf8.RuneError {
			unit = utf16.DecodeRune(unit, low)
			rest = rest[escapeLength:]
		}
		out = utf8.AppendRune(out, unit)
	}
	return out
}

// escapedUnit returns the code unit of the escape at the beginning of text; ok is false if there is no escape.
func escapedUnit(text []byte) (unit rune, ok bool) {
	if len(text) < escapeLength || text[0] != '_' || text[1] != 'x' || text[escapeLength-1] != '_' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(text[2:escapeLength-1]), 16, 16)
	return rune(n), err == nil
}
