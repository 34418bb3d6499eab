//go:build replay

package costtree

import (
	"context"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// runRecorded fits with a recorder.
func runRecorded(
	t *testing.T,
	tr CostTree,
	classes int,
	rel budget.Relation,
	rows []record,
	ids []uint64,
	r *mechanism.Recorder,
) (*method.Fit, error) {
	t.Helper()
	columns, ranges := columnsOf(classes)
	p := pricedPlan(t, tr, columns, 1e3, rel) // enough for every node to have records
	return tr.Fit(
		context.Background(),
		mechanism.NewRecordedSession(p, r),
		dataOf(tableOf(t, columns, rows, ids).View(), ranges),
	)
}

// A neighbour is a table that differs in one record.
type neighbour struct {
	rows []record
	ids  []uint64
}

// neighbourTables returns tables that differ from a table at some of its positions: the record is removed, another one is
// added, or it is replaced by another one.
func neighbourTables(
	base []record,
	ids []uint64,
	extra record,
	rel budget.Relation,
) []neighbour {
	var out []neighbour
	for _, at := range []int{
		0, len(base) / 2,
		len(base) - 1,
	} {
		if rel == budget.AddRemove {
			out = append(
				out,
				neighbour{
					slices.Insert(slices.Clone(base), at, extra),
					slices.Insert(slices.Clone(ids), at, 1<<40),
				},
				neighbour{
					slices.Delete(slices.Clone(base), at, at+1),
					slices.Delete(slices.Clone(ids), at, at+1),
				},
			)
			continue
		}
		replaced := slices.Clone(base)
		replaced[at] = extra
		out = append(out, neighbour{replaced, ids})
	}
	return out
}

func sequentialIDs(n int) []uint64 {
	ids := make([]uint64, n)
	for i := range ids {
		ids[i] = uint64(i)
	}
	return ids
}

// TestReplay records a run and replays it on neighbouring tables with the released routes. The releases and the model
// must be the same, and inputs may differ by no more than declared.
func TestReplay(t *testing.T) {
	base := treeRecords(600)
	ids := sequentialIDs(len(base))
	for name, tr := range map[string]CostTree{
		"hard":    {Depth: 3, Budget: 2},
		"soft":    {Depth: 3, Soft: true},
		"default": {},
	} {
		for _, classes := range []int{0, 3} {
			for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
				closest := 0.
				first := mechanism.NewRecorder(1)
				want, err := runRecorded(t, tr, classes, rel, base, ids, first)
				if err != nil {
					t.Fatal(err)
				}
				for _, extra := range []record{
					{
						a:    math.Inf(1),
						b:    -1e308,
						c:    math.NaN(),
						k:    9,
						code: 2,
						y:    1e9,
					},
					{
						a: 1,
						b: 300,
						c: -1,
						y: 4,
					},
				} {
					for _, n := range neighbourTables(base, ids, extra, rel) {
						second := first.Replay()
						got, err := runRecorded(t, tr, classes, rel, n.rows, n.ids, second)
						if err != nil {
							t.Fatal(err)
						}
						if !reflect.DeepEqual(got, want) {
							t.Errorf(
								"%s, %d classes, %v: another model on a neighbouring table",
								name,
								classes,
								rel,
							)
						}
						faults, ratio := mechanism.Compare(first, second)
						closest = max(closest, ratio)
						for _, fault := range faults {
							t.Errorf(
								"%s, %d classes, %v: %s",
								name, classes, rel, fault,
							)
						}
					}
				}
				if closest < .4 {
					t.Errorf(
						"%s, %d classes, %v: the bounds were never approached: %v",
						name,
						classes,
						rel,
						closest,
					)
				}
			}
		}
	}
}

// TestFaultRoutedByExact plants a router that reads exact matrices. Replacing one record then sends other records to
// another node, so that the inputs of the next level differ by more than one record.
func TestFaultRoutedByExact(t *testing.T) {
	base := treeRecords(600)
	ids := sequentialIDs(len(base))
	extra := record{
		a: 1,
		b: 100,
		y: -4,
	}
	found := func(f mechanism.Fault) (out []string) {
		first := mechanism.NewRecorder(1).Plant(f)
		_, err := runRecorded(
			t, CostTree{Depth: 3}, 0,
			budget.AddRemove, base, ids, first,
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range neighbourTables(base, ids, extra, budget.AddRemove) {
			second := first.Replay()
			_, err := runRecorded(
				t,
				CostTree{Depth: 3},
				0,
				budget.AddRemove,
				n.rows,
				n.ids,
				second,
			)
			if err != nil {
				t.Fatal(err)
			}
			faults, _ := mechanism.Compare(first, second)
			out = append(out, faults...)
		}
		return out
	}
	if faults := found(0); len(faults) > 0 {
		t.Errorf("without the fault: %v", faults)
	}
	faults := found(mechanism.RoutedByExact)
	if !slices.ContainsFunc(faults, func(s string) bool {
		return strings.Contains(s, "grams#2.0: inputs differ by")
	}) {
		t.Errorf("the fault is not caught: %v", faults)
	}
}

// TestFaultNodesNotShared plants a level where every node draws for itself. The priced draws do not suffice, and the
// session refuses.
func TestFaultNodesNotShared(t *testing.T) {
	base := treeRecords(600)
	for f, want := range map[mechanism.Fault]error{
		0:                        nil,
		mechanism.NodesNotShared: mechanism.ErrSpent,
	} {
		_, err := runRecorded(
			t,
			CostTree{Depth: 3},
			0,
			budget.AddRemove,
			base,
			sequentialIDs(len(base)),
			mechanism.NewRecorder(1).Plant(f),
		)
		if !errors.Is(err, want) {
			t.Errorf(
				"fault %v: %v, want %v",
				f, err, want,
			)
		}
	}
}
