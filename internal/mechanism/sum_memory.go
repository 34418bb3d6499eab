package mechanism

import (
	"context"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/dataset"
)

// Memory is the engine of a table in memory. It keeps the states of [Stateful] statistics
// until they are forgotten.
type Memory struct {
	all dataset.View

	mu     sync.Mutex
	parts  map[string]dataset.View // of all columns, by their cuts
	last   recoded                 // the last part with recoded columns
	states map[State]*keptBlocks
}

// recoded is a view of all columns, some of them recoded.
type recoded struct {
	key  string
	rows dataset.View
}

// keptBlocks is what is kept of the blocks of a view, with the steps each has taken.
type keptBlocks struct {
	blocks []Kept
	done   []int
}

// InMemory returns an engine for the records of a view.
func InMemory(v dataset.View) *Memory {
	return &Memory{all: v, parts: map[string]dataset.View{}, states: map[State]*keptBlocks{}}
}

// Schema implements [Engine].
func (m *Memory) Schema() dataset.Schema { return m.all.Schema() }

// Capabilities implements [CapableEngine].
func (m *Memory) Capabilities() Capabilities {
	return Capabilities{Gather: m.Gather, Buckets: m.buckets, Lexicon: m.lexicon, Resolve: m.resolve}
}

// Gather returns the records of a part. It copies no cell.
func (m *Memory) Gather(ctx context.Context, p Part) (dataset.View, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	rows, key := m.all, ""
	for _, c := range p.Cuts {
		cut := key + c.Key()
		if _, ok := m.parts[cut]; !ok {
			kept, others, err := c.Deal(ctx, rows)
			if err != nil {
				return kept, err
			}
			m.parts[cut] = kept
			if c.Coin != nil {
				m.parts[key+c.Opposite().Key()] = others
			}
		}
		rows, key = m.parts[cut], cut
	}
	if len(p.Recoded) > 0 {
		rows = m.recode(key, rows, p.Recoded)
	}
	return rows.Columns(p.Columns), nil
}

// recode returns a view with columns recoded: many passes over it follow one another.
func (m *Memory) recode(key string, v dataset.View, how []Recoding) dataset.View {
	for _, c := range how {
		key += fmt.Sprintf("recode %d %v %v;", c.Column, c.As, c.Values)
	}
	if m.last.key != key {
		for _, c := range how {
			v = v.Recode(c.Column, c.As, c.Values)
		}
		m.last = recoded{key, v}
	}
	return m.last.rows
}

// Key returns a text that identifies the cut. It contains the key of the coins, which is secret.
func (c Cut) Key() string {
	if c.None {
		return "none;"
	}
	if c.Coin == nil {
		return fmt.Sprintf("known %d;", c.Known)
	}
	return fmt.Sprintf("%x %v %v;", c.Coin.key, c.Share, c.Heads)
}

// Sum implements [Engine].
func (m *Memory) Sum(ctx context.Context, p Pass) ([]int64, error) {
	v, err := m.Gather(ctx, p.Part)
	if err != nil {
		return nil, err
	}
	x, ok := p.Statistic.(Stateful)
	if !ok {
		return p.Over(ctx, v, nil)
	}
	state := x.State()
	kept := m.keep(state, (v.Len()+p.BlockRows()-1)/p.BlockRows())
	return p.Over(ctx, v, func(i int, b dataset.Block) Kept {
		if kept.blocks[i] == nil {
			kept.blocks[i] = state.Begin(b)
		}
		Advance(state, kept.blocks[i], kept.done[i], b)
		kept.done[i] = state.Steps()
		return kept.blocks[i]
	})
}

// keep returns what is kept for a state over so many blocks.
func (m *Memory) keep(s State, blocks int) *keptBlocks {
	m.mu.Lock()
	defer m.mu.Unlock()
	k, ok := m.states[s]
	if !ok {
		k = &keptBlocks{make([]Kept, blocks), make([]int, blocks)}
		m.states[s] = k
	}
	return k
}

// Forget implements [Engine].
func (m *Memory) Forget(s State) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.states, s)
}

// Over returns the records of a view, in memory.
func Over(v dataset.View) Records {
	columns := make([]int, len(v.Schema().Columns))
	for j := range columns {
		columns[j] = j
	}
	return RecordsOf(InMemory(v), columns)
}

// lexicon implements [Capabilities.Lexicon].
func (m *Memory) lexicon(ctx context.Context, p Part, columns []int) (Lexicon, error) {
	v, err := m.Gather(ctx, p)
	return lexiconOf(v, columns), err
}

// resolve implements [Capabilities.Resolve].
func (m *Memory) resolve(_ context.Context, all []dataset.Column) (Engine, error) {
	return InMemory(m.all.Resolve(all)), nil
}
