package entry

import (
	"context"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// The engines: where the table is kept during a run. The release does not depend on the engine.
const (
	EngineAuto   = "auto"
	EngineMemory = "memory"
	EngineStream = "stream" // in a scratch file
)

// Engines lists the engines.
func Engines() []string {
	return []string{EngineAuto, EngineMemory, EngineStream}
}

// Streams reports whether a run keeps its table in a scratch file. [EngineAuto] decides by the plan, the size of the
// file at path, if there is one, and the number of its fields. It returns an error for a plan that the engine cannot
// carry out.
func Streams(
	engine string, p *pipeline.Pipeline, plan *pipeline.Plan, path string, fields int,
) (bool, error) {
	if !slices.Contains(Engines(), engine) {
		return false, fault.New(fault.Usage, "the engine is one of "+strings.Join(Engines(), ", "))
	}
	refused := p.CheckEngine(plan, stream.Empty(p.Schema))
	switch {
	case engine == EngineStream && refused != nil:
		return false, &fault.Error{Kind: fault.Recipe, Err: refused, Message: refused.Error(),
			Hint: "keep the table in memory, or use another method"}
	case engine == EngineAuto:
		return refused == nil && Large(path, fields, p.Schema), nil
	}
	return engine == EngineStream, nil
}

// FitStreamed reads a table into a scratch file and trains on it. read is called after the table has been read.
func FitStreamed(
	ctx context.Context, p *pipeline.Pipeline, plan *pipeline.Plan, from stream.Source, o pipeline.Options, read func(),
) (*pipeline.Result, *dataset.Stats, error) {
	from.Most = plan.MostRecords()
	e, stats, err := stream.Open(ctx, from, p.Schema)
	if err != nil {
		return nil, nil, err
	}
	defer e.Close()
	read()
	res, err := p.FitOn(ctx, plan, e, o)
	return res, stats, err
}
