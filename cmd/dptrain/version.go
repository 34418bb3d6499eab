package main

import (
	"encoding/json"
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// version describes the build.
type version struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // empty if unknown; ends in + for a modified tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisVersion returns the description of this build.
func thisVersion() version {
	t := report.ThisTool()
	return version{t.Version, t.Commit, t.Go, runtime.GOOS + "/" + runtime.GOARCH}
}

// printVersion prints the line of `dptrain version` and `dptrain --version`.
func printVersion(w io.Writer) error {
	v := thisVersion()
	line := "dptrain " + v.Version
	if v.Commit != "" {
		line += " " + v.Commit
	}
	_, err := fmt.Fprintf(w, "%s (%s, %s)\n", line, v.Go, v.Platform)
	return err
}

func versionCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactly(0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(thisVersion())
			}
			return printVersion(a.stdout)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
