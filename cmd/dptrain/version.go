package main

import (
	"encoding/json"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// version names the build.
type version struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // empty if unknown; ends in + for a modified tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisVersion returns what the compiler wrote into the program.
func thisVersion() version {
	t := report.ThisTool()
	return version{t.Version, t.Commit, t.Go, runtime.GOOS + "/" + runtime.GOARCH}
}

func versionCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  exactly(0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			v := thisVersion()
			if asJSON {
				return json.NewEncoder(a.stdout).Encode(v)
			}
			line := "dptrain " + v.Version
			if v.Commit != "" {
				line += " " + v.Commit
			}
			_, err := fmt.Fprintf(a.stdout, "%s (%s, %s)\n", line, v.Go, v.Platform)
			return err
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}
