package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/regression"
)

// MaxBytes is the largest report that is read.
const MaxBytes = 16 << 20

// Errors of Decode, wrapped with what was wrong and where.
var (
	// ErrFormat: the file is no report, or of a format this version cannot read.
	ErrFormat = errors.New("report: not a report of a known format")
	// ErrContent: a key is unknown, absent or given twice, or a value has the
	// wrong type.
	ErrContent = errors.New("report: the report is damaged")
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
	var head struct {
		Format *string `json:"format"`
	}
	if err := json.Unmarshal(data, &head); err != nil || head.Format == nil {
		return nil, fmt.Errorf("%w: it is not a JSON object with the key format", ErrFormat)
	}
	if !slices.Contains([]string{format1, format2, Format}, *head.Format) {
		return nil, fmt.Errorf("%w: its format is %.60q, this version reads %q, %q and %q", ErrFormat, *head.Format, format1, format2, Format)
	}
	if bad := repeatedKey(json.NewDecoder(bytes.NewReader(data))); bad != nil {
		return nil, bad
	}
	var tree any
	if err := json.Unmarshal(data, &tree); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrContent, err)
	}
	if err := shape(tree, reflect.TypeFor[Report](), "", version(*head.Format)); err != nil {
		return nil, err
	}
	out := new(Report)
	if err := json.Unmarshal(data, out); err != nil {
		return nil, fmt.Errorf("%w: %v", ErrContent, err)
	}
	if classes := out.Task == regression.TaskClassification; classes && out.Format == format1 || !classes && out.Format == format2 {
		return nil, fmt.Errorf("%w: task and format do not fit", ErrContent)
	}
	return out, nil
}

// shape compares a JSON value with the type it is for: the same keys, no null
// but for pointers. Types of scalars are left to json.Unmarshal.
func shape(v any, t reflect.Type, path, version string) error {
	damaged := func(what string) error { return fmt.Errorf("%w: %s %s", ErrContent, where(path), what) }
	if t.Kind() == reflect.Pointer {
		if v == nil {
			return nil
		}
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Interface:
		return nil
	case reflect.Slice:
		items, ok := v.([]any)
		if !ok {
			return damaged("must be a list")
		}
		for i, item := range items {
			if err := shape(item, t.Elem(), fmt.Sprintf("%s[%d]", path, i), version); err != nil {
				return err
			}
		}
		return nil
	case reflect.Struct:
		return shapeObject(v, t, path, version)
	}
	if v == nil {
		return damaged("must not be null")
	}
	return nil
}

func shapeObject(v any, t reflect.Type, path, version string) error {
	object, ok := v.(map[string]any)
	if !ok {
		return fmt.Errorf("%w: %s must be an object", ErrContent, where(path))
	}
	known := map[string]bool{}
	for i := range t.NumField() {
		key, use := keyOf(t.Field(i), version)
		if use == unknown {
			continue
		}
		known[key] = true
		member, ok := object[key]
		switch {
		case !ok && use == optional:
			continue
		case !ok:
			return fmt.Errorf("%w: %s has no key %q", ErrContent, where(path), key)
		}
		if err := shape(member, t.Field(i).Type, strings.TrimPrefix(path+"."+key, "."), version); err != nil {
			return err
		}
	}
	for key := range object {
		if !known[key] {
			return fmt.Errorf("%w: %s has an unknown key", ErrContent, where(path))
		}
	}
	return nil
}

// keyError is what repeatedKey found, with the path to it, innermost step first:
// a path is put together for an error only, since the file may nest deep.
type keyError struct {
	steps []string
	what  string
}

func (e *keyError) Error() string {
	var path strings.Builder
	for _, step := range slices.Backward(e.steps) {
		if path.Len() > 0 && step[0] != '[' {
			path.WriteByte('.')
		}
		path.WriteString(step)
	}
	return fmt.Sprintf("%v: %s %s", ErrContent, where(path.String()), e.what)
}

func (e *keyError) Unwrap() error { return ErrContent }

// repeatedKey reads one value and reports an object that has a key twice.
func repeatedKey(d *json.Decoder) *keyError {
	t, err := d.Token()
	if err != nil {
		return &keyError{what: "is not JSON"}
	}
	open, ok := t.(json.Delim)
	if !ok {
		return nil
	}
	seen := map[string]bool{}
	for i := 0; d.More(); i++ {
		key := ""
		if open == '{' {
			t, err := d.Token()
			if err != nil {
				return &keyError{what: "is not JSON"}
			}
			if key = t.(string); seen[key] { // the decoder accepts no other key
				return &keyError{what: "has a key twice"}
			}
			seen[key] = true
		}
		if bad := repeatedKey(d); bad != nil {
			step := fmt.Sprintf("[%d]", i)
			if open == '{' {
				step = shown(fmt.Sprintf("%.40s", key))
			}
			if len(bad.steps) < mostSteps {
				bad.steps = append(bad.steps, step)
			}
			return bad
		}
	}
	if _, err := d.Token(); err != nil { // the closing delimiter
		return &keyError{what: "is not JSON"}
	}
	return nil
}

// mostSteps is how much of a path a message holds.
const mostSteps = 20

// where names a place in the file.
func where(path string) string {
	if path == "" {
		return "the report"
	}
	return path
}
