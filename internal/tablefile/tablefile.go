// Package tablefile maps the names of table files to formats, by their suffixes.
package tablefile

import (
	"io"
	"strings"
)

// A Kind is a table format, inferred from the file suffix.
type Kind struct {
	Comma byte // between cells: ',' or '\t'; 0 for Parquet
	// Coding names the encoding of the file in one word; it is empty if the bytes of the file are already
	// records of cells.
	Coding string
	// Decode converts the content of a reader to records of cells, the header first. It is nil without a Coding.
	Decode  func(io.Reader) (io.Reader, error)
	Parquet bool
	JSON    bool // JSON Lines: every line is a record, and there is no header line
	Packed  Packed
}

// Packed is a format that is read at offsets and converted to lines of comma-separated cells.
type Packed int

// The formats of [Packed].
const (
	NotPacked Packed = iota
	Sheet            // a workbook of Excel
	Arrow            // a file or stream of Arrow, or Feather
)

// Offsets reports whether a file is read at offsets, and so cannot come from standard input.
func (k Kind) Offsets() bool {
	return k.Parquet || k.Packed != NotPacked
}

// kinds lists a suffix of two parts before the shorter one that it ends in. To add a format, add an entry here
// and a file with its Decode.
var kinds = [...]struct {
	suffix string
	kind   Kind
}{
	{".csv.gz", Kind{
		Comma:  ',',
		Coding: "gzip",
		Decode: gunzip,
	}},
	{".tsv.gz", Kind{
		Comma:  '\t',
		Coding: "gzip",
		Decode: gunzip,
	}},
	{".csv", Kind{Comma: ','}},
	{".tsv", Kind{Comma: '\t'}},
	{".jsonl.gz", Kind{
		Comma:  ',',
		JSON:   true,
		Coding: "gzip",
		Decode: gunzip,
	}},
	{".ndjson.gz", Kind{
		Comma:  ',',
		JSON:   true,
		Coding: "gzip",
		Decode: gunzip,
	}},
	{".jsonl", Kind{Comma: ',', JSON: true}},
	{".ndjson", Kind{Comma: ',', JSON: true}},
	{".parquet", Kind{Parquet: true}},
	{".xlsx", Kind{Comma: ',', Packed: Sheet}},
	{".xlsm", Kind{Comma: ',', Packed: Sheet}},
	{".feather", Kind{Comma: ',', Packed: Arrow}},
	{".arrow", Kind{Comma: ',', Packed: Arrow}},
	{".arrows", Kind{Comma: ',', Packed: Arrow}},
	{".ipc", Kind{Comma: ',', Packed: Arrow}},
}

// Stdin reports whether a path means standard input: "-", for CSV, or "-" with the suffix of a format, such as
// "-.jsonl". name is the name for messages, with the suffix of the path.
func Stdin(path string) (name string, ok bool) {
	suffix, ok := strings.CutPrefix(strings.TrimPrefix(path, argumentPrefix), "-")
	if !ok || suffix == "" {
		return "stdin", ok
	}
	for _, k := range kinds {
		if strings.EqualFold(suffix, k.suffix) {
			return "stdin" + suffix, true
		}
	}
	return "", false
}

// argumentPrefix precedes a path of standard input in a separate argument.
const argumentPrefix = "stdin:"

// Argument returns an argument of a command line in a form that does not look like flags, if it is a path of standard input.
func Argument(arg string) string {
	if _, piped := Stdin(arg); piped && arg != "-" {
		return argumentPrefix + arg
	}
	return arg
}

// Names are the suffixes, for messages.
const Names = ".csv, .tsv, .jsonl (with or without .gz), .parquet, .xlsx, .arrow or .feather"

// Suffixes lists the suffixes of tables, in lower case.
func Suffixes() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.suffix
	}
	return out
}

// ParsePath returns the kind of the table at a path and the part of the path before the suffix. Case is ignored. ok is
// false for a name without a suffix of a table.
func ParsePath(path string) (kind Kind, stem string, ok bool) {
	for _, k := range kinds {
		if at := len(path) - len(k.suffix); at >= 0 && strings.EqualFold(path[at:], k.suffix) {
			return k.kind, path[:at], true
		}
	}
	return Kind{}, path, false
}

// Holds reports whether the name is that of a data file, in a supported format or another compressed form: its
// text must not appear in a message.
func Holds(path string) bool {
	if at := len(path) - len(".gz"); at >= 0 && strings.EqualFold(path[at:], ".gz") {
		path = path[:at]
	}
	_, _, ok := ParsePath(path)
	return ok
}
