package main

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"os"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/cluster"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// engineSpark is the engine of a Spark cluster.
const engineSpark = "spark"

// onSpark reports whether the rows come from a query on a cluster.
func (j *job) onSpark() bool {
	return j.recipe.Data.Spark != ""
}

// errOnSpark is the error of commands that would read rows of a cluster on this machine.
var errOnSpark = usagef(
	"the rows of data.spark are on a cluster: use fit --engine spark --connect sc://HOST:PORT, or write them to a file and name it with --data")

// session starts a session on the cluster. With an empty worker, the session can only list columns.
func (j *job) session(
	ctx context.Context,
	worker string,
) (*cluster.Spark, error) {
	address, err := cluster.ParseAddress(j.connect)
	if err != nil {
		return nil, err
	}
	s, err := cluster.Dial(ctx, address, worker)
	if errors.Is(err, cluster.ErrProgram) {
		return nil,
			usagef("clusters need the program %s, which is neither next to dptrain nor on the PATH; build it from the folder spark of the source code",
				cluster.Program)
	}
	return s, err
}

// sparkColumns asks the cluster for the columns of the query without reading a row. Without an address, it returns
// the columns listed in the recipe.
func (j *job) sparkColumns(ctx context.Context) ([]string, error) {
	if j.connect == "" && len(j.recipe.Data.Header) > 0 {
		return j.recipe.Data.Header, nil
	}
	if j.connect == "" {
		return nil,
			&dataset.FileError{Path: cluster.QueryName,
				Msg:  "the columns of data.spark are known only to the cluster",
				Hint: "add --connect sc://HOST:PORT to plan, or to fit with --engine spark, or list the columns in data.header",
				Err:  dataset.ErrUnreadable}
	}
	s, err := j.session(ctx, "")
	if err != nil {
		return nil, err
	}
	defer s.Close()
	names, err := s.Columns(j.recipe.Data.Spark)
	if err != nil {
		return nil, err
	}
	var line bytes.Buffer
	w := csv.NewWriter(&line)
	if err := w.Write(names); err != nil {
		return nil, err
	}
	w.Flush()
	heading, _, err := dataset.HeadingFrom(ctx, &line, cluster.QueryName, j.readOptions())
	return heading.Names, err
}

// startSession starts a session for a job and a plan that the cluster can run. It spends no budget.
func (f *engineFlags) startSession(
	ctx context.Context,
	j *job,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
) (*cluster.Spark, error) {
	if j.connect == "" {
		return nil, usagef("--engine spark needs --connect, such as sc://127.0.0.1:15002")
	}
	if _, err := cluster.ParseAddress(j.connect); err != nil {
		return nil, err
	}
	if _, piped := tablefile.Stdin(j.table); !j.onSpark() &&
		(piped || j.queries() || strings.Contains(j.table, "://")) {
		return nil,
			usagef("--engine spark needs files with the same path on all machines of the cluster, or a query in data.spark")
	}
	if err := p.CheckEngine(plan, cluster.NewPlanEngine(p.Schema)); err != nil {
		return nil,
			&fault.Error{
				Kind:    fault.Recipe,
				Err:     err,
				Message: err.Error(),
				Hint:    "use --engine stream or memory, or another method",
			}
	}
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return j.session(ctx, self)
}

// onCluster returns a fitter that trains on the cluster.
func (j *job) onCluster(
	s *cluster.Spark,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
) fitter {
	return func(
		ctx context.Context, progress func(string),
	) (*pipeline.Result, *dataset.Stats, error) {
		ended := begin(progress, "read")
		e, stats, err := j.engineOn(ctx, s, p.Schema)
		if err != nil {
			return nil, nil, err
		}
		if most := plan.MostRecords(); int64(stats.Rows) > most {
			return nil, nil, mechanism.TooMany(j.tableName(), most)
		}
		e.Passing = j.progress.beginPass
		seconds := ended()
		res, err := p.FitOn(ctx, plan, e, pipeline.Options{Progress: progress})
		if err == nil {
			res.Curator.Seconds["read"] = seconds
		}
		return res, stats, err
	}
}

// engineOn makes the cluster read the table for the first time.
func (j *job) engineOn(
	ctx context.Context,
	s *cluster.Spark,
	schema dataset.Schema,
) (*cluster.Engine, *dataset.Stats, error) {
	if j.onSpark() {
		return cluster.OpenQuery(
			ctx,
			s,
			cluster.Query{
				Text:    j.recipe.Data.Spark,
				Columns: j.header,
			},
			schema,
			j.readOptions(),
		)
	}
	return cluster.Open(ctx, s, j.table, schema, j.readOptions())
}
