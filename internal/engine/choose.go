package engine

import (
	"context"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// StoreOf returns the store that keeps the table of a run, or nil for a table in memory. [Auto] decides by
// the plan, the size of the file at path, if there is one, and the number of its fields. It returns an error for an
// unknown name, and for a plan that the engine does not support.
func StoreOf(
	name string,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	path string,
	fields int,
) (*Store, error) {
	switch {
	case name == Auto && Large(path, fields, p.Schema):
		return AnyStore(p, plan), nil
	case name == Auto || name == Memory:
		return nil, nil
	}
	stores := Stores()
	i := slices.IndexFunc(stores, func(s Store) bool {
		return s.Name == name
	})
	if i < 0 {
		return nil, fault.New(fault.Usage,
			"the engine must be one of "+strings.Join(Names(), ", "))
	}
	if err := p.CheckEngine(plan, stores[i].Empty(p.Schema)); err != nil {
		return nil, &fault.Error{
			Kind:    fault.Recipe,
			Err:     err,
			Message: err.Error(),
			Hint:    "keep the table in memory, or use another method",
		}
	}
	return &stores[i], nil
}

// AnyStore returns the first store that can carry out a plan, or nil.
func AnyStore(p *pipeline.Pipeline, plan *pipeline.Plan) *Store {
	for _, s := range Stores() {
		if p.CheckEngine(plan, s.Empty(p.Schema)) == nil {
			return &s
		}
	}
	return nil
}

// FitStored reads a table into a store and trains on it. read is called after the table has been read.
func FitStored(
	ctx context.Context,
	s *Store,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
	from stream.Source,
	o pipeline.Options,
	read func(),
) (*pipeline.Result, *dataset.Stats, error) {
	from.Most = plan.MostRecords()
	e, stats, err := s.Open(ctx, from, p.Schema)
	if err != nil {
		return nil, nil, err
	}
	defer e.Close()
	read()
	res, err := p.FitOn(ctx, plan, e, o)
	return res, stats, err
}
