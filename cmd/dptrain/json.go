package main

import (
	"encoding/json"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// jsonFlag declares --json on a command. what describes the JSON output in the help text.
func jsonFlag(cmd *cobra.Command, asJSON *bool, what string) {
	cmd.Flags().BoolVar(asJSON, "json", false, "print "+what)
}

// oneObject describes the --json output of most commands.
const oneObject = "one JSON object"

// printReleased prints a file of the release that was just published.
func (a *app) printReleased(out, name string) error {
	text, err := os.ReadFile(filepath.Join(out, report.ReleaseDir, name))
	if err != nil {
		return unreadable(filepath.Join(out, report.ReleaseDir, name), "report", err)
	}
	_, err = a.stdout.Write(text)
	return err
}

// writeJSON writes v as an indented JSON document, without escaping <, > and &.
func writeJSON(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}
