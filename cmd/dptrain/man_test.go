package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// TestMan checks that every command has a manual page with all its flags, and that no line of a page is read as a
// request by accident.
func TestMan(t *testing.T) {
	requests := map[string]bool{
		".TH": true,
		".SH": true,
		".TP": true,
		".B":  true,
		".nf": true,
		".fi": true,
	}
	var visit func(cmd *cobra.Command)
	n := 0
	visit = func(cmd *cobra.Command) {
		for _, c := range cmd.Commands() {
			visit(c)
		}
		if !cmd.Runnable() ||
			cmd.Name() == "completion" ||
			strings.HasPrefix(cmd.CommandPath(), "dptrain completion") {
			return
		}
		n++
		got := dptrain(
			t,
			append([]string{"man"}, strings.Fields(cmd.CommandPath())[1:]...)...,
		)
		if got.code != exitOK {
			t.Fatalf(
				"%s: %+v",
				cmd.CommandPath(), got,
			)
		}
		cmd.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !strings.Contains(got.stdout, roff("--"+f.Name)) {
				t.Errorf(
					"%s: no --%s",
					cmd.CommandPath(), f.Name,
				)
			}
		})
		for line := range strings.Lines(got.stdout) {
			word, _, _ := strings.Cut(strings.TrimSpace(line), " ")
			if (strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'")) &&
				!requests[word] {
				t.Errorf(
					"%s: %s",
					cmd.CommandPath(), line,
				)
			}
		}
	}
	visit(rootCommand(newApp(
		strings.NewReader(""), t.Output(),
		t.Output(),
	)))
	if n < 15 {
		t.Errorf("%d pages", n)
	}
	got := dptrain(t, "man", "fitt")
	if got.code != exitUsage ||
		!strings.Contains(got.stderr, `did you mean "fit"`) {
		t.Errorf("%+v", got)
	}
}
