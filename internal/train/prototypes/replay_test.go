//go:build replay

package prototypes

import (
	"context"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// replayFault records a run with a fault and replays it on neighbouring tables. It returns the violations, whether the
// model changed, and how close the inputs came to the declared sensitivity.
func replayFault(
	t *testing.T,
	classes int,
	epsilon float64,
	rel budget.Relation,
	fault mechanism.Fault,
) (found []string, other bool, closest float64) {
	t.Helper()
	columns, ranges := columnsOf(classes)
	base := circleRecords(60, classes)
	for i := 20; i < len(base); i++ { // the third class has few records
		base[i].code = min(base[i].code, 1)
	}
	ids := make([]uint64, len(base))
	for i := range ids {
		ids[i] = uint64(i)
	}
	p := pricedPlan(t, columns, epsilon, rel)
	run := func(rows []record, ids []uint64, r *mechanism.Recorder) *method.Fit {
		fit, err := Prototypes{}.Fit(
			context.Background(),
			mechanism.NewRecordedSession(p, r),
			dataOf(tableOf(t, columns, rows, ids).View(), ranges),
		)
		if err != nil {
			t.Fatal(err)
		}
		return fit
	}
	first := mechanism.NewRecorder(1).Plant(fault)
	want := run(base, ids, first)
	type table struct {
		rows []record
		ids  []uint64
	}
	for _, at := range []int{
		0, len(base) / 2,
		len(base) - 1,
	} {
		for _, extra := range []record{
			{
				a:    math.Inf(1),
				b:    -1e308,
				k:    9,
				code: 0,
			},
			{
				a:    -2,
				b:    300,
				k:    0,
				code: 1,
			},
		} {
			replaced := slices.Clone(base)
			replaced[at] = extra
			tables := []table{{replaced, ids}}
			if rel == budget.AddRemove {
				tables = []table{
					{
						slices.Insert(slices.Clone(base), at, extra),
						slices.Insert(slices.Clone(ids), at, 1<<40),
					},
					{
						slices.Delete(slices.Clone(base), at, at+1),
						slices.Delete(slices.Clone(ids), at, at+1),
					},
				}
			}
			for _, x := range tables {
				second := first.Replay()
				other = !reflect.DeepEqual(run(x.rows, x.ids, second), want) || other
				faults, ratio := mechanism.Compare(first, second)
				found = append(found, faults...)
				closest = max(closest, ratio)
			}
		}
	}
	return found, other, closest
}

// TestReplay checks with one prototype per class and with several that a replay on neighbouring tables makes the same
// releases, moves no input further than declared, and yields the same model.
func TestReplay(t *testing.T) {
	for _, classes := range []int{2, 3} {
		for _, epsilon := range []float64{1, 100} {
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
				found, other, closest := replayFault(t, classes, epsilon, rel, 0)
				for _, fault := range found {
					t.Errorf(
						"%d classes, %v: %s",
						classes, rel, fault,
					)
				}
				if other || closest < .5 {
					t.Errorf(
						"%d classes, %v: another model: %v; inputs came within %.2f of the bounds",
						classes,
						rel,
						other,
						closest,
					)
				}
			}
		}
	}
}

// TestPlantedFaultsAreDetected checks that each planted fault of this method is detected. The fault of the cells shows
// only if the exact number of a cell is close to the limit, so the test tries several budgets.
func TestPlantedFaultsAreDetected(t *testing.T) {
	for name, fault := range map[string]mechanism.Fault{
		"weights clipped alone": mechanism.WeightsAlone,
		"exact width":           mechanism.ExactWidth,
		"exact cells":           mechanism.ExactCells,
	} {
		seen := false
		for epsilon := 100.; !seen && epsilon < 300; epsilon *= 1.1 {
			found, other, _ := replayFault(t, 3, epsilon, budget.AddRemove, fault)
			seen = len(found) > 0 || other
			clean, same, _ := replayFault(t, 3, epsilon, budget.AddRemove, 0)
			if len(clean) > 0 || same {
				t.Errorf(
					"epsilon %v without the fault: %v",
					epsilon, clean,
				)
			}
		}
		if !seen {
			t.Errorf("%s: not found", name)
		}
	}
}
