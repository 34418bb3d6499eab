package main

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/query"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// engines lists the values of --engine.
func engines() []string {
	return append(engine.Names(), engineSpark)
}

// engineFlags are the flags that choose where the table is kept during a run.
type engineFlags struct {
	set     *pflag.FlagSet
	name    string
	scratch string
	connect string
}

func (f *engineFlags) add(set *pflag.FlagSet) {
	f.set = set
	var stores strings.Builder
	for _, s := range engine.Stores() {
		stores.WriteString(s.Name + " (" + s.Note + "), ")
	}
	set.StringVar(&f.name, "engine", engine.Auto, "keep the table in `ENGINE`: "+
		engine.Memory+", "+stores.String()+engineSpark+" (a cluster), "+engine.Auto)
	set.StringVar(&f.scratch, "scratch", "",
		"write the scratch file to `FOLDER` (default the folder for temporary files)")
	set.StringVar(&f.connect, "connect", "",
		"for --engine spark: `ADDRESS` of the cluster, sc://HOST:PORT")
}

// fitter returns the function that reads the rows and trains, and a function that releases its resources. It returns
// an error for a plan or a table that the engine does not support. The flag overrides the engine of the recipe.
func (f *engineFlags) fitter(
	ctx context.Context,
	j *job,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
) (fit fitter, end func(), err error) {
	if !f.set.Changed("engine") && j.recipe.Engine != "" {
		f.name = j.recipe.Engine
	}
	if !slices.Contains(engines(), f.name) {
		return nil, nil, usagef("--engine must be one of %s", strings.Join(engines(), ", "))
	}
	if f.connect != "" && f.name != engineSpark {
		return nil, nil, usagef("--connect needs --engine spark")
	}
	if j.onSpark() && f.name != engineSpark {
		return nil, nil, errOnSpark
	}
	if f.name == engineSpark {
		s, err := f.startSession(ctx, j, p, plan)
		if err != nil {
			return nil, nil, err
		}
		return j.onCluster(s, p, plan), func() {
			_ = s.Close()
		}, nil
	}
	store, err := f.storeOf(j, p, plan)
	if err != nil {
		return nil, nil, err
	}
	if store != nil {
		return j.stored(store, p, plan, f.scratch), func() {}, nil
	}
	return j.inMemory(p, plan), func() {}, nil
}

// storeOf returns the store that keeps the table, or nil for memory; see [engine.StoreOf]. It returns an error if the
// table goes to memory and does not fit.
func (f *engineFlags) storeOf(
	j *job,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
) (*engine.Store, error) {
	path := j.table
	if _, piped := tablefile.Stdin(path); piped {
		path = ""
	}
	if j.queries() && f.name == engine.Auto { // the number of rows is unknown
		if store := engine.AnyStore(p, plan); store != nil {
			return store, nil
		}
	}
	store, err := engine.StoreOf(f.name, p, plan, path, len(j.header))
	if err != nil || store != nil {
		return store, err
	}
	return nil, j.checkMemory(p, 1)
}

// stored returns a fitter that reads the table into a store and trains on that.
func (j *job) stored(
	store *engine.Store,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	folder string,
) fitter {
	return func(
		ctx context.Context, progress func(string),
	) (*pipeline.Result, *dataset.Stats, error) {
		ended := begin(progress, "read")
		seconds := 0.
		from := stream.Source{
			Path:    j.table,
			Options: j.readOptions(),
			Folder:  folder,
		}
		if stdin, piped := tablefile.Stdin(j.table); piped {
			from.Path = stdin
			from.From = j.stdin
		}
		if j.queries() {
			rows, err := j.rows(ctx)
			if err != nil {
				return nil, nil, err
			}
			defer rows.Close()
			from.Path = query.Name
			from.From = rows
		}
		res, stats, err := engine.FitStored(ctx, store, p, plan, from,
			pipeline.Options{Progress: progress}, func() {
				seconds = ended()
			})
		if err == nil {
			res.Curator.Seconds["read"] = seconds
		}
		return res, stats, err
	}
}
