package sheetfile

import (
	"encoding/xml"
	"io"
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

// appendText appends the text within an element up to its end: its runs, without the pronunciation guides. At most maxText
// bytes are kept.
func (t *tokens) appendText(out []byte, element string) ([]byte, error) {
	begin := len(out)
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
		case xml.EndElement:
			switch e.Name.Local {
			case element:
				return out, nil
			case "rPh":
				aside--
			}
			within = false
		case xml.CharData:
			if within {
				out = append(out, e[:min(len(e), maxText-(len(out)-begin))]...)
			}
		}
	}
}
