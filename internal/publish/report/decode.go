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

// MaxBytes is the maximum size of a report that can be read.
const MaxBytes = 16 << 20

// Errors of Decode, wrapped with the problem and its place.
var (
	// ErrFormat is returned for a file that is not a report, or is of a format that this version cannot read.
	ErrFormat = errors.New("unknown report format")
	// ErrContent is returned if a key is unknown, absent or given twice, or if a value has the wrong type.
	ErrContent = errors.New("the report is damaged")
)

// Decode reads the report of a run that trained a model. It is strict: every key of the format must be there
// once, and no other. Errors wrap [ErrFormat] or [ErrContent].
func Decode(r io.Reader) (*Report, error) {
	return decodeFrom(r, &trainingKind)
}

// DecodeFile reads a report as [Decode] does. Its task follows from the name of its file, one of [FileNames].
func DecodeFile(r io.Reader, name string) (*Report, error) {
	return decodeFrom(r, kindOfFile(name))
}

func decodeFrom(r io.Reader, want *kind) (*Report, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	return decode(data, want)
}

// decode reads a report of the given kind; of any kind for nil.
func decode(data []byte, want *kind) (*Report, error) {
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
	if want == nil {
		want = kindOfFormat(format)
	}
	if !slices.Contains(want.formats, format) {
		return nil,
			fmt.Errorf("%w: the file has format %.60q, but this version reads %s", ErrFormat, format,
				want.knownFormats())
	}
	out := &Report{Format: format}
	want.addSection(out)
	if err := doc.Decode(out, out.keysVersion()); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrContent, err)
	}
	if name := want.strayFile(out.Files); name != "" {
		return nil, fmt.Errorf("%w: files: unknown key %q", ErrContent, name)
	}
	if err := out.section().validate(out); err != nil {
		return nil, err
	}
	return out, nil
}

// target returns the target of the model.
func (t *Training) target() string {
	return t.Target
}

// validate refuses a task that the format does not have.
func (t *Training) validate(r *Report) error {
	if classes := t.Task == regression.TaskClassification; classes && r.Format == format1 ||
		!classes && r.Format == format2 {
		return fmt.Errorf("%w: its task and its format contradict each other", ErrContent)
	}
	return nil
}

// version returns the number at the end of a format's name.
func version(format string) string {
	_, number, _ := strings.Cut(format, "/")
	return number
}
