package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// planOf returns the plan of an example.
func planOf(t *testing.T, example string) *pipeline.Plan {
	t.Helper()
	flags := recipeFlags{stdin: os.Stdin}
	j, err := flags.load([]string{filepath.Join(
		"..", "..", "examples",
		example+".yaml",
	)})
	if err != nil {
		t.Fatal(err)
	}
	_, plan, err := j.prepare(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestProgressLine checks that the line appears after two seconds, restarts its count of passes in every stage,
// estimates the remaining time once a stage is complete, and is erased at the end. A plan with tries, whose number
// is secret, shows no passes. No line is drawn without a terminal, with --quiet or with --progress.
func TestProgressLine(t *testing.T) {
	const stage1 = "\r\x1b[Kdptrain: 1 of 9: read, pass 1 · 2 s elapsed"
	const stage2 = "\r\x1b[Kdptrain: 7 of 9: model, pass 2 · 22 s elapsed, about 18 s left"
	for _, tt := range []struct {
		example  string
		terminal bool
		how      fitHow
		want     string
	}{
		{"basic", true, fitHow{}, stage1 + stage2 + "\r\x1b[K"},
		{"basic", true, fitHow{quiet: true}, ""},
		{"basic", true, fitHow{progress: true}, ""},
		{"basic", false, fitHow{}, ""},
		{
			"search",
			true,
			fitHow{},
			"\r\x1b[Kdptrain: 1 of 7: read · 2 s elapsed\r\x1b[Kdptrain: 1 of 7: read · 22 s elapsed\r\x1b[K",
		},
	} {
		var screen bytes.Buffer
		a := app{terminal: tt.terminal, screen: &screen}
		m := a.progressLine(planOf(t, tt.example), tt.how)
		now := m.start
		m.now = func() time.Time {
			return now
		}
		m.stage("read")
		m.beginPass()
		now = now.Add(1900 * time.Millisecond)
		m.draw() // too early
		now = now.Add(100 * time.Millisecond)
		m.draw()
		now = now.Add(18 * time.Second)
		m.stage("model")
		m.beginPass()
		m.beginPass()
		now = now.Add(2 * time.Second)
		m.draw()
		m.clear()
		m.draw()
		got := screen.String()
		if got != tt.want {
			t.Errorf(
				"%s, %+v: %q, want %q",
				tt.example, tt.how, got, tt.want,
			)
		}
	}
}
