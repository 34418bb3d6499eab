package stream

import (
	"slices"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Mapped implements [mechanism.Capabilities.Mapped]: the rule is applied to cells as they are read.
func (e *Engine) Mapped(j int, as dataset.Column, rule func(float64) float64) mechanism.Engine {
	out := e.beside()
	out.schema = e.schema.Clone()
	out.schema.Columns[j] = as
	out.rules = make([]func(float64) float64, len(out.schema.Columns))
	copy(out.rules, e.rules)
	if before := out.rules[j]; before != nil {
		out.rules[j] = func(x float64) float64 { return rule(before(x)) }
	} else {
		out.rules[j] = rule
	}
	return out
}

// beside returns an engine of the same records in the same file, with states and parts of its own.
func (e *Engine) beside() *Engine {
	return &Engine{
		schema: e.schema, file: e.file, widths: e.widths, filled: e.filled, most: e.most, chunks: slices.Clone(e.chunks), kept: e.kept, rules: e.rules,
		wordBytes: e.wordBytes, members: map[string][]scratch.Place{}, states: map[mechanism.State][]shelved{},
	}
}
