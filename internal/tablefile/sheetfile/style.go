package sheetfile

import (
	"encoding/xml"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
)

// readStyles returns, for each cell format, whether it shows a date.
func readStyles(p parts, name string) ([]bool, error) {
	t, err := p.openPart(name)
	if err != nil {
		return nil, err
	}
	custom := map[string]bool{}
	var dates []bool
	cells := false // within the formats of cells
	for {
		token, err := t.nextToken()
		if err == io.EOF {
			return dates, nil
		}
		if err != nil {
			return nil, err
		}
		switch e := token.(type) {
		case xml.StartElement:
			switch id := attributeValue(&e, "numFmtId"); {
			case e.Name.Local == "cellXfs":
				cells = true
			case e.Name.Local == "numFmt":
				custom[id] = showsDate(attributeValue(&e, "formatCode"))
			case e.Name.Local == "xf" && cells:
				date, ok := custom[id]
				n, err := strconv.Atoi(id)
				dates = append(dates, ok && date || !ok && err == nil && builtIn(n))
			}
		case xml.EndElement:
			cells = cells && e.Name.Local != "cellXfs"
		}
		if len(dates) > maxFormats || len(custom) > maxFormats {
			return nil, ErrDamaged
		}
	}
}

// builtIn reports whether a built-in format shows a date: ECMA-376, part 1, 18.8.30, including those for East
// Asia. Formats for times alone show a part of a day.
func builtIn(id int) bool {
	return id >= 14 && id <= 17 || id == 22 || id >= 27 && id <= 31 || id == 36 ||
		id >= 50 && id <= 54 || id >= 57 && id <= 58
}

// showsDate reports whether a format code has a day or a year.
func showsDate(code string) bool {
	code, _, _ = strings.Cut(code, ";")
	for i := 0; i < len(code); i++ {
		switch code[i] {
		case '"':
			if k := strings.IndexByte(code[i+1:], '"'); k >= 0 {
				i += k + 1
			}
		case '[':
			if k := strings.IndexByte(code[i+1:], ']'); k >= 0 {
				i += k + 1
			}
		case '\\', '_', '*':
			i++
		case 'd', 'D', 'y', 'Y':
			return true
		}
	}
	return false
}

// lastDay is the number of 9999-12-31 in the system of 1900.
const lastDay = 2958465

// dateOf formats a day number as a date, with the time if it has one; ok is false for an invalid number. In the system
// of 1900, day 60 is 29 February 1900, which did not exist, and earlier days shift by one.
func dateOf(number string, is1904 bool) (text string, ok bool) {
	x, err := strconv.ParseFloat(number, 64)
	if err != nil || !(x >= 0 && x < lastDay+1) {
		return "", false
	}
	millis := int64(math.Round(x * 24 * 60 * 60 * 1000))
	days := millis / (24 * 60 * 60 * 1000)
	rest := millis % (24 * 60 * 60 * 1000)
	first := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC)
	switch {
	case is1904:
		first = time.Date(1904, 1, 1, 0, 0, 0, 0, time.UTC)
	case days == 60:
		return "1900-02-29", true
	case days < 60:
		first = time.Date(1899, 12, 31, 0, 0, 0, 0, time.UTC)
	}
	at := first.AddDate(0, 0, int(days)).Add(time.Duration(rest) * time.Millisecond)
	if rest == 0 {
		return at.Format(time.DateOnly), true
	}
	return at.Format("2006-01-02 15:04:05.999"), true
}
