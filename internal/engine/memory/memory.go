// Package memory is the engine of a table in memory.
package memory

import (
	"context"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// Engine is the engine of a table in memory. It keeps the states of [mechanism.Stateful] statistics
// until they are forgotten.
type Engine struct {
	all dataset.View

	mu     sync.Mutex
	parts  map[string]dataset.View // with all columns, by the keys of their cuts
	last   recodedView             // the last part with recoded columns
	states map[mechanism.State]*blockStates
}

// recodedView is a view with all columns, some recoded.
type recodedView struct {
	key  string
	rows dataset.View
}

// blockStates contains the states of the blocks of a view, with the number of steps of each.
type blockStates struct {
	blocks []mechanism.Kept
	steps  []int
}

// New returns an engine for the records of a view.
func New(v dataset.View) *Engine {
	return &Engine{
		all:    v,
		parts:  map[string]dataset.View{},
		states: map[mechanism.State]*blockStates{},
	}
}

// Schema implements [mechanism.Engine].
func (e *Engine) Schema() dataset.Schema {
	return e.all.Schema()
}

// Capabilities implements [mechanism.CapableEngine].
func (e *Engine) Capabilities() mechanism.Capabilities {
	return mechanism.Capabilities{
		Gather:  e.Gather,
		Buckets: e.dealBuckets,
		Lexicon: e.countWords,
		Resolve: e.resolveWords,
	}
}

// Gather returns the records of a part. It copies no cell.
func (e *Engine) Gather(
	ctx context.Context,
	p mechanism.Part,
) (dataset.View, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	rows := e.all
	key := ""
	for _, c := range p.Cuts {
		cut := key + c.Key()
		if _, ok := e.parts[cut]; !ok {
			kept, others, err := c.Deal(ctx, rows)
			if err != nil {
				return kept, err
			}
			e.parts[cut] = kept
			if c.Coin != nil {
				e.parts[key+c.Opposite().Key()] = others
			}
		}
		rows = e.parts[cut]
		key = cut
	}
	if len(p.Recoded) > 0 {
		rows = e.recodeView(key, rows, p.Recoded)
	}
	return rows.Columns(p.Columns), nil
}

// recodeView returns a view with columns recoded. It keeps the last one, because many passes over the same view follow
// one another.
func (e *Engine) recodeView(
	key string,
	v dataset.View,
	how []mechanism.Recoding,
) dataset.View {
	for _, c := range how {
		key += fmt.Sprintf("recode %d %v %v;", c.Column, c.As, c.Values)
	}
	if e.last.key != key {
		for _, c := range how {
			v = v.Recode(c.Column, c.As, c.Values)
		}
		e.last = recodedView{key, v}
	}
	return e.last.rows
}

// Sum implements [mechanism.Engine].
func (e *Engine) Sum(ctx context.Context, p mechanism.Pass) ([]int64, error) {
	v, err := e.Gather(ctx, p.Part)
	if err != nil {
		return nil, err
	}
	x, ok := p.Statistic.(mechanism.Stateful)
	if !ok {
		return p.Sums(ctx, v, nil)
	}
	state := x.State()
	kept := e.blockStates(state, p.Blocks(v))
	return p.Sums(ctx, v, func(i int, b dataset.Block) mechanism.Kept {
		if kept.blocks[i] == nil {
			kept.blocks[i] = state.Begin(b)
		}
		mechanism.Advance(state, kept.blocks[i], kept.steps[i], b)
		kept.steps[i] = state.Steps()
		return kept.blocks[i]
	})
}

// blockStates returns the states of the given number of blocks.
func (e *Engine) blockStates(s mechanism.State, blocks int) *blockStates {
	e.mu.Lock()
	defer e.mu.Unlock()
	k, ok := e.states[s]
	if !ok {
		k = &blockStates{make([]mechanism.Kept, blocks), make([]int, blocks)}
		e.states[s] = k
	}
	return k
}

// Forget implements [mechanism.Engine].
func (e *Engine) Forget(s mechanism.State) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.states, s)
}

// NewRecords returns all records of a view, on a new engine.
func NewRecords(v dataset.View) mechanism.Records {
	columns := make([]int, len(v.Schema().Columns))
	for j := range columns {
		columns[j] = j
	}
	return mechanism.RecordsOf(New(v), columns)
}

// countWords implements [mechanism.Capabilities.Lexicon].
func (e *Engine) countWords(
	ctx context.Context,
	p mechanism.Part,
	columns []int,
) (mechanism.Lexicon, error) {
	v, err := e.Gather(ctx, p)
	return mechanism.CountWords(v, columns), err
}

// resolveWords implements [mechanism.Capabilities.Resolve].
func (e *Engine) resolveWords(
	_ context.Context,
	all []dataset.Column,
) (mechanism.Engine, error) {
	return New(e.all.Resolve(all)), nil
}

// dealBuckets implements [mechanism.Capabilities.Buckets].
func (e *Engine) dealBuckets(
	ctx context.Context,
	p mechanism.Part,
	coins mechanism.Coins,
	n int,
	each mechanism.Buckets,
) error {
	v, err := e.Gather(ctx, p)
	if err != nil {
		return err
	}
	parts, err := coins.Split(ctx, v, n, 0, n)
	if err != nil {
		return err
	}
	return each(0, parts)
}
