//go:build !replay

package causal

import (
	"context"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// Hooks at which test builds plant known faults (fault_on.go). In a shipped binary they do not change the
// computation.

func rangesFor(
	_ context.Context,
	_ *mechanism.Session,
	_ mechanism.Records,
	ranges []scaling.Range,
) ([]scaling.Range, error) {
	return ranges, nil
}

func statisticFor(
	_ context.Context,
	_ *mechanism.Session,
	_ mechanism.Records,
	x cellStatistic,
) (mechanism.Statistic, error) {
	return x, nil
}

func redrawFrom(
	context.Context,
	*mechanism.Session,
	mechanism.Records,
	[]scaling.Range,
	[2]int,
	*direction.Pair,
) error {
	return nil
}
