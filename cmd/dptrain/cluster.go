package main

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/cluster"
	"github.com/dptrain/dptrain/internal/fault"
	"github.com/dptrain/dptrain/internal/pipeline"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// engineSpark is the engine of a Spark cluster.
const engineSpark = "spark"

// dial starts a session of the cluster, for a job and a plan that it can carry out. Nothing is paid for yet.
func (f *engineFlags) dial(ctx context.Context, j *job, p *pipeline.Pipeline, plan *pipeline.Plan) (*cluster.Spark, error) {
	if f.connect == "" {
		return nil, usagef("--engine spark needs --connect, such as sc://127.0.0.1:15002")
	}
	address, err := cluster.ParseAddress(f.connect)
	if err != nil {
		return nil, err
	}
	if _, piped := tablefile.Stdin(j.table); piped || j.queries() || strings.Contains(j.table, "://") {
		return nil, usagef("--engine spark reads tables that are files with the same path on all machines of the cluster")
	}
	if err := p.CheckEngine(plan, cluster.Of(p.Schema)); err != nil {
		return nil, &fault.Error{Kind: fault.Recipe, Err: err, Message: err.Error(), Hint: "use --engine stream or memory, or another method"}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	s, err := cluster.Dial(ctx, address, self)
	if errors.Is(err, cluster.ErrProgram) {
		return nil, usagef("dptrain itself knows no cluster; %s does, and is neither beside dptrain nor on the PATH; build it from the folder spark of the sources", cluster.Program)
	}
	return s, err
}

// onCluster returns what trains on the table where the cluster reads it.
func (j *job) onCluster(s *cluster.Spark, p *pipeline.Pipeline, plan *pipeline.Plan) fitter {
	return func(ctx context.Context, progress func(string)) (*pipeline.Result, *dataset.Stats, error) {
		ended := begin(progress, "read")
		e, stats, err := cluster.Open(ctx, s, j.table, p.Schema, j.readOptions())
		if err != nil {
			return nil, nil, err
		}
		seconds := ended()
		res, err := p.FitOn(ctx, plan, e, pipeline.Options{Progress: progress})
		if err == nil {
			res.Curator.Seconds["read"] = seconds
		}
		return res, stats, err
	}
}
