package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version names the build.
type version struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"` // empty if unknown; ends in + for a modified tree
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// thisVersion reads what the compiler wrote into the program.
func thisVersion() version {
	v := version{Version: "(devel)", Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if info.Main.Version != "" {
		v.Version = info.Main.Version
	}
	modified := false
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			modified = s.Value == "true"
		}
	}
	if modified && v.Commit != "" {
		v.Commit += "+"
	}
	return v
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
