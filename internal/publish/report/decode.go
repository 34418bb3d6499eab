package report

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
	"github.com/dptrain/dptrain/regression"
)

// MaxBytes is the largest report that is read.
const MaxBytes = 16 << 20

// Errors of Decode, wrapped with what was wrong and where.
var (
	// ErrFormat: the file is no report, or of a format this version cannot read.
	ErrFormat = errors.New("not a report of a known format")
	// ErrContent: a key is unknown, absent or given twice, or a value has the
	// wrong type.
	ErrContent = errors.New("the report is damaged")
)

// Decode reads a report. It is strict: every key of the format must be there
// once, and no other.
func Decode(r io.Reader) (*Report, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxBytes {
		return nil, fmt.Errorf("%w: it is larger than %d bytes", ErrFormat, MaxBytes)
	}
	doc, err := strictjson.Parse(data)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	format, err := doc.Text("format")
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if !slices.Contains(formats(), format) {
		return nil, fmt.Errorf("%w: its format is %.60q, this version reads %q to %q", ErrFormat, format, format1, Format)
	}
	out := new(Report)
	if err := doc.Decode(out, version(format)); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrContent, err)
	}
	if classes := out.Task == regression.TaskClassification; classes && out.Format == format1 || !classes && out.Format == format2 {
		return nil, fmt.Errorf("%w: task and format do not fit", ErrContent)
	}
	return out, nil
}

// version returns the number at the end of a format's name.
func version(format string) string {
	_, number, _ := strings.Cut(format, "/")
	return number
}
