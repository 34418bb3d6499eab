package regression

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
)

// The values of the key "format". Version 1 has no intervals, probabilities and terms of missing cells. Version 3 says how
// the cells of the table were written. It is written for a model that has something to say about that, and version 2 for
// others.
const (
	modelFormat1 = "dptrain.model/1"
	modelFormat2 = "dptrain.model/2"
	modelFormat3 = "dptrain.model/3"
)

// formatOf returns the version in which a model is written.
func formatOf(m Model) string {
	if hasReading(m) {
		return modelFormat3
	}
	return modelFormat2
}

// MaxModelBytes is the largest model file that is written or read.
const MaxModelBytes = 16 << 20

var (
	// ErrModelFormat is wrapped by the [DecodeError] of a file that is not of a
	// format or kind this version reads, for example because a later version
	// wrote it.
	ErrModelFormat = errors.New("unsupported model format")
	// ErrModelKind is returned for a [Model] that has no file layout.
	ErrModelKind = errors.New("models of this kind cannot be written to a model file")
	// ErrModelSize is returned for a model file above [MaxModelBytes].
	ErrModelSize = fmt.Errorf("a model file has at most %d bytes", MaxModelBytes)
)

// DecodeError reports where and why a model file is refused.
type DecodeError struct {
	Line, Column int    // 1-based; Column counts bytes
	Path         string // such as "terms[3].coefficient"; empty for the document
	Problem      string

	err error
}

func (e *DecodeError) Error() string {
	where := fmt.Sprintf("model file %d:%d: ", e.Line, e.Column)
	if e.Path != "" {
		where += e.Path + ": "
	}
	return where + e.Problem
}

// Unwrap returns [ErrModelFormat], a [*ModelError] or nil.
func (e *DecodeError) Unwrap() error { return e.err }

// EncodeModel writes m as a model file. Equal models give equal bytes. A model
// that contradicts itself or holds a number that is not finite gives a
// [*ModelError], one of unknown kind [ErrModelKind], one above the size limit
// [ErrModelSize]; nothing is written then. Other errors are those of w.
func EncodeModel(w io.Writer, m Model) error {
	k := kindOf(kinds(), m)
	if k == nil {
		return ErrModelKind
	}
	if err := m.Validate(); err != nil {
		return err
	}
	file, err := k.file(m)
	if err != nil {
		return err
	}
	data, err := strictjson.Encode(file, versionOf(formatOf(m)))
	if err != nil {
		return err
	}
	if len(data) > MaxModelBytes {
		return ErrModelSize
	}
	_, err = w.Write(data)
	return err
}

// DecodeModel reads a model file. It reads r to its end. A refused file gives a
// [*DecodeError], a file that is too long [ErrModelSize]; other errors are
// those of r.
func DecodeModel(r io.Reader) (Model, error) {
	data, err := io.ReadAll(io.LimitReader(r, MaxModelBytes+1))
	if err != nil {
		return nil, err
	}
	if len(data) > MaxModelBytes {
		return nil, ErrModelSize
	}
	doc, err := strictjson.Parse(data)
	if err != nil {
		return nil, refused(doc, err)
	}
	m, err := decodeModel(doc)
	if err != nil {
		return nil, refused(doc, err)
	}
	return m, nil
}

// decodeModel reads format and kind first, wherever they stand, so that a file of a later
// version is refused as such and not for its first unknown key.
func decodeModel(doc strictjson.Value) (Model, error) {
	format, err := oneOf(doc, "format", modelFormat1, modelFormat2, modelFormat3)
	if err != nil {
		return nil, err
	}
	name, err := oneOf(doc, "kind", names(kinds())...)
	if err != nil {
		return nil, err
	}
	m, err := named(kinds(), name).decode(doc, versionOf(format))
	if err != nil {
		return nil, err
	}
	return m, m.Validate()
}

// versionOf returns the number at the end of a format's name.
func versionOf(format string) string {
	_, version, _ := strings.Cut(format, "/")
	return version
}

// oneOf returns the text of a member that says what an object is: one of those that this
// version reads.
func oneOf(object strictjson.Value, key string, known ...string) (string, error) {
	text, err := object.Text(key)
	if err != nil || slices.Contains(known, text) {
		return text, err
	}
	reads := make([]string, len(known))
	for i, name := range known {
		reads[i] = strictjson.Quote(name)
	}
	problem := fmt.Sprintf("is %s, this version reads %s", strictjson.Quote(text), strings.Join(reads, " or "))
	return "", &unknownError{ModelError{key, problem}}
}

// unknownError is the error about a format or kind of another version.
type unknownError struct{ ModelError }

// within puts the path of a part of the file before that of an error about the part.
func within(path string, err error) error {
	var form *strictjson.Error
	var later *unknownError
	var content *ModelError
	switch {
	case errors.As(err, &form):
		return form.Within(path)
	case errors.As(err, &later):
		return &unknownError{ModelError{join(path, later.Path), later.Problem}}
	case errors.As(err, &content):
		return &ModelError{join(path, content.Path), content.Problem}
	}
	return err
}

func join(path, inner string) string { return strings.TrimSuffix(path+"."+inner, ".") }

// refused returns the [*DecodeError] of an error about a file: one of its form, which knows
// its place, or one about what it says.
func refused(doc strictjson.Value, err error) error {
	var form *strictjson.Error
	var later *unknownError
	var content *ModelError
	switch {
	case errors.As(err, &form):
		err = nil
	case errors.As(err, &later):
		form, err = doc.Problem(later.Path, later.Problem), ErrModelFormat
	case errors.As(err, &content):
		form, err = doc.Problem(content.Path, content.Problem), content
	default:
		return err
	}
	return &DecodeError{form.Line, form.Column, form.Path, form.Problem, err}
}
