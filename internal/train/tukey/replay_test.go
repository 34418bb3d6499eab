//go:build replay

package tukey

import (
	"context"
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// TestReplay records a run and replays it on neighbouring tables. There must be one release that moves by at most one
// point, and the same outcome.
func TestReplay(t *testing.T) {
	columns, ranges := mixedColumns()
	for _, trainer := range []Tukey{{}, {CheckShare: .6}} {
		checkReplay(t, trainer, columns, ranges)
	}
}

func checkReplay(
	t *testing.T,
	trainer Tukey,
	columns []dataset.Column,
	ranges []scaling.Range,
) {
	facts := method.Facts{
		Columns: columns,
		Epsilon: 3,
		Delta:   1e-5,
	}
	base := mixedRecords(trainer.Records(facts), .5)
	extra := record{
		id: 1 << 40,
		a:  1e308,
		b:  -1,
		y:  1e308,
		k:  2,
	}
	for _, rel := range bothRelations() {
		p := pricedPlan(t, facts, rel)
		run := func(records []record, r *mechanism.Recorder) any {
			fit, err := trainer.Fit(
				context.Background(),
				mechanism.NewRecordedSession(p, r),
				dataOf(facts, mixedTable(t, records).View(), len(base), ranges),
			)
			switch {
			case errors.Is(err, ErrAbstained):
				return nil
			case err != nil:
				t.Fatal(err)
			}
			return *fit.Linear()
		}
		closest := 0.
		for seed := range byte(3) {
			first := mechanism.NewRecorder(seed)
			want := run(base, first)
			for _, at := range []int{
				0, len(base) / 2,
				len(base) - 1,
			} {
				replaced := slices.Clone(base)
				replaced[at] = extra
				replaced[at].id = base[at].id
				for _, records := range [][]record{
					slices.Insert(slices.Clone(base), at, extra),
					slices.Delete(slices.Clone(base), at, at+1),
					replaced,
				} {
					second := first.Replay()
					got := run(records, second)
					if !reflect.DeepEqual(got, want) {
						t.Errorf("%v: another outcome on a neighbouring table", rel)
					}
					faults, ratio := mechanism.Compare(first, second)
					closest = max(closest, ratio)
					for _, fault := range faults {
						t.Errorf("%v: %s", rel, fault)
					}
				}
			}
		}
		if closest != 1 {
			t.Errorf(
				"%v: the bound was never reached: %v",
				rel, closest,
			)
		}
	}
}
