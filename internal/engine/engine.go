// Package engine chooses where the table of a run is kept: in memory, or by one of the engines that
// it lists for recipes, the command line and the API. The release does not depend on the engine.
package engine

import (
	"context"
	"io"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// The names that are no store.
const (
	Auto   = "auto"   // by the size of the table and the plan
	Memory = "memory" // a [dataset.Table]
)

// A Store is a kind of engine that reads a table once and keeps it.
type Store struct {
	Name string // in recipes and flags
	Note string // where it keeps the table, for help texts
	// Empty returns an engine without records. A plan can be checked with it before the table is
	// read.
	Empty func(dataset.Schema) mechanism.Engine
	// Open reads a table. It returns the engine, which the caller closes, and the statistics of the
	// reader, which are private.
	Open func(context.Context, stream.Source, dataset.Schema) (Opened, *dataset.Stats, error)
}

// Opened is an engine with resources.
type Opened interface {
	mechanism.Engine
	io.Closer
}

// Stores lists the stores in the order in which [Auto] prefers them. A new store is one more entry.
func Stores() []Store {
	return []Store{
		{
			Name: "stream",
			Note: "a scratch file",
			Empty: func(s dataset.Schema) mechanism.Engine {
				return stream.Empty(s)
			},
			Open: func(
				ctx context.Context, from stream.Source, s dataset.Schema,
			) (Opened, *dataset.Stats, error) {
				e, stats, err := stream.Open(ctx, from, s)
				if err != nil {
					return nil, nil, err
				}
				return e, stats, nil
			},
		},
	}
}

// Names lists the values of the key engine of a recipe, the default first.
func Names() []string {
	names := []string{Auto, Memory}
	for _, s := range Stores() {
		names = append(names, s.Name)
	}
	return names
}
