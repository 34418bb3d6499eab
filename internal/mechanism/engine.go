package mechanism

import (
	"context"
	"errors"

	"github.com/dptrain/dptrain/dataset"
)

// ErrGather is returned if a stage needs records in one place and the engine cannot bring
// them there.
var ErrGather = errors.New("the engine cannot bring all records to one place")

// An Engine holds the records of a run and sums statistics over parts of them. Like the process
// itself it is trusted with exact values. A [CapableEngine] lists further operations in its
// [Capabilities].
type Engine interface {
	// Schema returns the declared columns. A part names columns by their position here.
	Schema() dataset.Schema
	// Sum returns the values of the cells of a pass, exactly.
	Sum(ctx context.Context, p Pass) ([]int64, error)
	// Forget frees the memory of a state that will not be used again.
	Forget(s State)
}

// A CapableEngine is an engine with operations besides sums.
type CapableEngine interface {
	Engine
	Capabilities() Capabilities
}

// Capabilities are the operations of an engine besides sums. A function is nil if the engine does
// not have the operation.
type Capabilities struct {
	// Gather brings all records of a part to one place.
	Gather func(ctx context.Context, p Part) (dataset.View, error)
	// GatherLimit is the largest number of bytes of cells that Gather is meant for; 0 means no
	// limit.
	GatherLimit int64
	// Buckets assigns the records of a part to m buckets and brings them to one place, bucket by
	// bucket; see [Records.Buckets].
	Buckets func(ctx context.Context, p Part, coins Coins, m int, each Buckets) error
	// Concordance returns [kendall.S] of each of the first d columns of a part with column j of
	// the part.
	Concordance func(ctx context.Context, p Part, d, j int) ([]int64, error)
	// LimitUnits returns an engine whose units keep at most the given number of records each and
	// which drops records without a unit; see [dataset.View.Cap]. The content of a record consists
	// of the given columns, in this order.
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

// CapabilitiesOf returns the capabilities of an engine, or the zero value if it is not a
// [CapableEngine].
func CapabilitiesOf(e Engine) Capabilities {
	if c, ok := e.(CapableEngine); ok {
		return c.Capabilities()
	}
	return Capabilities{}
}

// FewBytes is a limit for [Capabilities.GatherLimit]: bytes of cells that fit into memory together
// with everything else.
const FewBytes = 1 << 28
