package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/entry"
	"github.com/dptrain/dptrain/internal/fault"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/pipeline"
)

// engines are what --engine names.
var engines = []string{engineAuto, engineMemory, engineStream}

const (
	engineAuto   = "auto"
	engineMemory = "memory"
	engineStream = "stream"
)

// engineFlags say where the table is while a run goes over it. The release does not depend on it.
type engineFlags struct{ name, scratch string }

func (f *engineFlags) add(set *pflag.FlagSet) {
	set.StringVar(&f.name, "engine", engineAuto, "where the table is kept, by `NAME`: memory, stream (a scratch file), auto")
	set.StringVar(&f.scratch, "scratch", "", "the `FOLDER` of the scratch file (default: for temporary files)")
}

// stream reports whether the table goes to a scratch file. auto decides by the size of the file, the
// header and the plan. Otherwise a table that cannot be held is refused.
func (f *engineFlags) stream(j *job, p *pipeline.Pipeline, plan *pipeline.Plan) (bool, error) {
	if !slices.Contains(engines, f.name) {
		return false, usagef("--engine is one of %s", strings.Join(engines, ", "))
	}
	refused := p.CheckEngine(plan, mechanism.StreamOf(p.Schema))
	switch {
	case f.name == engineStream && refused != nil:
		return false, fault.As(fault.Recipe, &fault.Error{Message: refused.Error(), Err: refused,
			Hint: "use --engine memory, or another method; --undeclared numbers looks for no words"})
	case f.name == engineStream:
		return true, nil
	case f.name == engineAuto && refused == nil && j.table != fromStdin && entry.Large(j.table, len(j.header), p.Schema):
		return true, nil
	}
	return false, j.holdable(p, 1)
}

// streamed returns what reads the table into a scratch file and trains on that.
func (j *job) streamed(p *pipeline.Pipeline, plan *pipeline.Plan, folder string) fitter {
	return func(ctx context.Context, progress func(string)) (*pipeline.Result, *dataset.Stats, error) {
		ended := begin(progress, "read")
		from := mechanism.Source{Path: j.table, Options: j.readOptions(), Folder: folder}
		if j.table == fromStdin {
			from.Path, from.From = stdinName, j.stdin
		}
		e, stats, err := mechanism.Spill(ctx, from, p.Schema)
		if err != nil {
			return nil, nil, err
		}
		defer e.Close()
		seconds := ended()
		res, err := p.FitOn(ctx, plan, e, pipeline.Options{Progress: progress})
		if err == nil {
			res.Curator.Seconds["read"] = seconds
		}
		return res, stats, err
	}
}
