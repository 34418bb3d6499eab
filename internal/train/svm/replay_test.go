//go:build replay

package svm

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

// TestReplay records a run and replays it on neighbouring tables. The releases and the model must be the same, and
// inputs may differ by no more than declared.
func TestReplay(t *testing.T) {
	for _, classes := range []int{2, 3} {
		columns, ranges := columnsOf(classes)
		base := planeRecords(40, classes)
		ids := make([]uint64, len(base))
		for i := range ids {
			ids[i] = uint64(i)
		}
		extra := record{
			a:    math.Inf(1),
			b:    -1e308,
			k:    9,
			code: 0,
		}
		for name, tr := range allTrainers() {
			closest := 0.
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
				p := pricedPlan(t, tr, columns, 1, rel)
				run := func(rows []record, ids []uint64, r *mechanism.Recorder) *method.Fit {
					fit, err := tr.Fit(
						context.Background(),
						mechanism.NewRecordedSession(p, r),
						dataOf(tableOf(t, columns, rows, ids).View(), 40, ranges),
					)
					if err != nil {
						t.Fatal(err)
					}
					return fit
				}
				first := mechanism.NewRecorder(1)
				want := run(base, ids, first)
				for _, at := range []int{
					0, len(base) / 2,
					len(base) - 1,
				} {
					type table struct {
						rows []record
						ids  []uint64
					}
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
						got := run(x.rows, x.ids, second)
						if !reflect.DeepEqual(got, want) {
							t.Errorf(
								"%s, %v: another model on a neighbouring table",
								name,
								rel,
							)
						}
						faults, ratio := mechanism.Compare(first, second)
						closest = max(closest, ratio)
						for _, fault := range faults {
							t.Errorf(
								"%s, %v: %s",
								name, rel, fault,
							)
						}
					}
				}
			}
			if closest < .2 {
				t.Errorf(
					"%s, %d classes: the bounds were never approached: %v",
					name,
					classes,
					closest,
				)
			}
		}
	}
}
