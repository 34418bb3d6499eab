package regression

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/sys/strictjson"
)

// Values of the key "format". Version 1 has no intervals, probabilities or missing-cell terms. Version 3 adds
// how cells of the training table were written; it is used only for models that need it, and version 2 for all
// others.
const (
	modelFormat1 = "dptrain.model/1"
	modelFormat2 = "dptrain.model/2"
	modelFormat3 = "dptrain.model/3"
)

// formatOf returns the format version in which a model is written.
func formatOf(m Model) string {
	if hasReading(m) {
		return modelFormat3
	}
	return modelFormat2
}

// MaxModelBytes is the largest model file that is written or read.
const MaxModelBytes = 16 << 20

var (
	// ErrModelFormat is wrapped by the [DecodeError] for a file of an unknown format or kind, for example one
	// written by a later version.
	ErrModelFormat = errors.New("unsupported model format")
	// ErrModelKind is returned for a [Model] that has no file layout.
	ErrModelKind = errors.New("models of this kind cannot be written to a model file")
	// ErrModelSize is returned for a model file above [MaxModelBytes].
	ErrModelSize = fmt.Errorf("a model file has at most %d bytes", MaxModelBytes)
)

// DecodeError reports where and why a model file is rejected.
type DecodeError struct {
	Line, Column int    // 1-based; Column counts bytes
	Path         string // such as "terms[3].coefficient"; empty for the whole document
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
func (e *DecodeError) Unwrap() error {
	return e.err
}

// EncodeModel writes m as a model file. Equal models give equal bytes. It returns a [*ModelError] for an
// invalid model or a number that is not finite, [ErrModelKind] for an unknown kind and [ErrModelSize] above the
// size limit; in these cases it writes no bytes. Other errors come from w.
func EncodeModel(w io.Writer, m Model) error {
	k := kindOf(modelKinds(), m)
	if k == nil {
		return ErrModelKind
	}
	if err := m.Validate(); err != nil {
		return err
	}
	file, err := k.encode(m)
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

// DecodeModel reads a model file, until r ends. It returns a [*DecodeError] for an invalid file and
// [ErrModelSize] for a file above the size limit; other errors come from r.
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
		return nil, newDecodeError(doc, err)
	}
	m, err := decodeModel(doc)
	if err != nil {
		return nil, newDecodeError(doc, err)
	}
	return m, nil
}

// decodeModel reads format and kind first, regardless of their position, so that a file of a later version is
// rejected for its version and not for its first unknown key.
func decodeModel(doc strictjson.Value) (Model, error) {
	format, err := knownMember(doc, "format", modelFormat1, modelFormat2, modelFormat3)
	if err != nil {
		return nil, err
	}
	name, err := knownMember(doc, "kind", kindNames(modelKinds())...)
	if err != nil {
		return nil, err
	}
	m, err := kindByName(modelKinds(), name).decode(doc, versionOf(format))
	if err != nil {
		return nil, err
	}
	return m, m.Validate()
}

// versionOf returns the number at the end of a format name.
func versionOf(format string) string {
	_, version, _ := strings.Cut(format, "/")
	return version
}

// knownMember returns the text of a member that identifies the format or kind of an object. It must be in
// known.
func knownMember(
	object strictjson.Value,
	key string,
	known ...string,
) (string, error) {
	text, err := object.Text(key)
	if err != nil || slices.Contains(known, text) {
		return text, err
	}
	reads := make([]string, len(known))
	for i, name := range known {
		reads[i] = strictjson.Quote(name)
	}
	problem := fmt.Sprintf("is %s, but this version reads %s", strictjson.Quote(text),
		strings.Join(reads, " or "))
	return "", &unknownError{ModelError{key, problem}}
}

// unknownError reports an unknown format or kind.
type unknownError struct{ ModelError }

// prefixPath prepends the path of a part of the file to the path of an error within the part.
func prefixPath(path string, err error) error {
	var form *strictjson.Error
	var later *unknownError
	var content *ModelError
	switch {
	case errors.As(err, &form):
		return form.InValue(path)
	case errors.As(err, &later):
		return &unknownError{ModelError{joinPath(path, later.Path), later.Problem}}
	case errors.As(err, &content):
		return &ModelError{joinPath(path, content.Path), content.Problem}
	}
	return err
}

func joinPath(path, inner string) string {
	return strings.TrimSuffix(path+"."+inner, ".")
}

// newDecodeError converts an error about a file to a [*DecodeError]. Syntax errors carry their position; for
// errors about content the position is looked up by path.
func newDecodeError(doc strictjson.Value, err error) error {
	var form *strictjson.Error
	var later *unknownError
	var content *ModelError
	switch {
	case errors.As(err, &form):
		err = nil
	case errors.As(err, &later):
		form = doc.Problem(later.Path, later.Problem)
		err = ErrModelFormat
	case errors.As(err, &content):
		form = doc.Problem(content.Path, content.Problem)
		err = content
	default:
		return err
	}
	return &DecodeError{form.Line, form.Column, form.Path, form.Problem, err}
}
