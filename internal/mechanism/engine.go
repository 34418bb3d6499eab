package mechanism

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/dataset"
)

// ErrGather is returned if a stage needs records in one place and the engine cannot bring
// them there.
var ErrGather = errors.New("the engine cannot bring all records to one place")

// An Engine holds the records of a run and adds statistics up over parts of them. It is
// trusted with exact values, as the process is. What else it can do is in its
// [Capabilities], if it is a [CapableEngine].
type Engine interface {
	// Schema returns the declared columns. A part names columns by their position here.
	Schema() dataset.Schema
	// Sum returns the values of the cells of a pass, exactly.
	Sum(ctx context.Context, p Pass) ([]int64, error)
	// Forget tells the engine that a state will not be used again.
	Forget(s State)
}

// A CapableEngine is an engine that can do more than add up.
type CapableEngine interface {
	Engine
	Capabilities() Capabilities
}

// Capabilities are operations of an engine besides adding up. A function that is nil is an
// operation that the engine does not have.
type Capabilities struct {
	// Gather brings all records of a part to one place.
	Gather func(ctx context.Context, p Part) (dataset.View, error)
	// GatherLimit is the largest number of bytes of cells that Gather is meant for; 0 for no
	// limit.
	GatherLimit int64
	// Buckets deals the records of a part to m buckets and brings those of one bucket after
	// the other to one place; see [Records.Buckets].
	Buckets func(ctx context.Context, p Part, coins Coins, m int, each Buckets) error
	// Concordance returns [kendall.S] of each of the first d columns of a part with column j of
	// the part.
	Concordance func(ctx context.Context, p Part, d, j int) ([]int64, error)
	// LimitUnits returns an engine for the records that are left if every unit keeps at most
	// the given number and records without a unit are dropped; see [dataset.View.Cap]. The
	// content of a record is that of the given columns, in this order.
	LimitUnits func(ctx context.Context, columns []int, most int, lots Lots) (Engine, error)
	// Lexicon counts the words of columns of a part, which have [dataset.Column.Found].
	Lexicon func(ctx context.Context, p Part, columns []int) (Lexicon, error)
	// Resolve returns an engine for the same records with all columns read as the given ones;
	// see [dataset.View.Resolve].
	Resolve func(ctx context.Context, all []dataset.Column) (Engine, error)
	// Mapped returns an engine for the same records whose numeric column j is declared as the
	// given column and contains the rule's value of each cell, NaN for a missing one.
	Mapped func(j int, as dataset.Column, rule func(float64) float64) Engine
}

// CapabilitiesOf returns the capabilities of an engine. An engine that is not a [CapableEngine]
// has none.
func CapabilitiesOf(e Engine) Capabilities {
	if c, ok := e.(CapableEngine); ok {
		return c.Capabilities()
	}
	return Capabilities{}
}

// FewBytes is a limit for [Capabilities.GatherLimit]: the bytes of cells that fit into memory
// beside everything else.
const FewBytes = 1 << 28
