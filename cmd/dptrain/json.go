package main

import (
	"encoding/json"
	"io"
)

// writeJSON writes v as a document of its own, indented, with the characters <, > and &
// as they are.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
