package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestPassMeter: passes are counted anew in every stage, and the line is gone before the next one. A plan with tries, whose
// number is secret, shows none. Without a terminal, or with --quiet, nothing is shown.
func TestPassMeter(t *testing.T) {
	const two = "\r\x1b[Kdptrain: pass 1\r\x1b[Kdptrain: pass 2\r\x1b[K"
	for _, tt := range []struct {
		example  string
		terminal bool
		quiet    bool
		want     string
	}{
		{"basic", true, false, two + "\r\x1b[Kdptrain: pass 1\r\x1b[K"},
		{"basic", true, true, ""},
		{"basic", false, false, ""},
		{"search", true, false, ""},
		{"dpfsdr-sizes", true, false, ""},
		{"search-dpfsdr", true, false, ""},
	} {
		file := filepath.Join("..", "..", "examples", tt.example+".yaml")
		flags := recipeFlags{set: noFlags(), stdin: os.Stdin}
		j, err := flags.load([]string{file})
		if err != nil {
			t.Fatal(err)
		}
		_, plan, err := j.prepare(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var screen bytes.Buffer
		a := app{terminal: tt.terminal, screen: &screen}
		m := a.passMeter(plan, fitHow{quiet: tt.quiet, progress: true})
		for _, step := range strings.Fields("stage pass pass stage stage pass stage") {
			if step == "stage" {
				m.begin()
			} else {
				m.pass()
			}
		}
		if got := screen.String(); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.example, got, tt.want)
		}
	}
}
