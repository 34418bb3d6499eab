package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// jsonFlag declares --json on a verb; what is what it prints instead of text.
func jsonFlag(cmd *cobra.Command, asJSON *bool, what string) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print "+what)
}

// oneObject is what most verbs print with --json.
const oneObject = "one JSON object"

// printReleased prints a file of the release of a run that has just been published.
func (a *app) printReleased(out, name string) error {
	text, err := os.ReadFile(filepath.Join(out, report.ReleaseDir, name))
	if err != nil {
		return unreadable(filepath.Join(out, report.ReleaseDir, name), "report", err)
	}
	_, err = a.stdout.Write(text)
	return err
}

// writeJSON writes v as a document of its own, indented, with the characters <, > and &
// as they are.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
