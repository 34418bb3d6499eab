package stream

import (
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Mapped implements [mechanism.Capabilities.Mapped]. It applies the rule to cells when they are read.
func (e *Engine) Mapped(
	j int,
	as dataset.Column,
	rule func(float64) float64,
) mechanism.Engine {
	out := e.shareFile()
	out.schema = e.schema.Clone()
	out.schema.Columns[j] = as
	out.rules = make([]func(float64) float64, len(out.schema.Columns))
	copy(out.rules, e.rules)
	if before := out.rules[j]; before != nil {
		out.rules[j] = func(x float64) float64 {
			return rule(before(x))
		}
	} else {
		out.rules[j] = rule
	}
	return out
}

// shareFile returns an engine for the same records in the same file, with its own states and parts.
func (e *Engine) shareFile() *Engine {
	return &Engine{
		schema:    e.schema,
		file:      e.file,
		columns:   e.columns,
		chunkRows: e.chunkRows,
		chunks:    slices.Clone(e.chunks),
		unitMarks: e.unitMarks,
		rules:     e.rules,
		wordBytes: e.wordBytes,
		partMarks: map[string][]scratch.Place{},
		states:    map[mechanism.State][]storedState{},
	}
}
