//go:build replay

package baseline

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/testkit"
)

// eachNeighbour calls each with tables that differ in the private columns of one record.
func eachNeighbour(
	t *testing.T,
	tab *dataset.Table,
	each func(name string, n *dataset.Table),
) {
	t.Helper()
	for at := 0; at < tab.Len(); at += testkit.Size(3, 2) {
		for _, v := range []float64{-3, 1e9, math.NaN()} {
			for code := range int32(2) {
				d := cloneColumns(tab)
				d[1].Floats[at] = v
				d[2].Codes[at] = code
				each(
					fmt.Sprintf("record %d is %v, %d", at, v, code),
					newTable(t, d),
				)
			}
		}
	}
}

// checkReplay runs a method on a table, and then on all neighbours with the releases of the first run. It repeats this
// under several keys, since the effect of a record depends on how coins assign the others.
func checkReplay(
	t *testing.T,
	x planner,
	tab *dataset.Table,
	run func(*mechanism.Session, *dataset.Table) any,
) (closest float64) {
	t.Helper()
	priced := pricePlan(t, x, 5, budget.SubstitutePrivateColumns)
	for key := range byte(3) {
		first := mechanism.NewRecorder(4 + key)
		want := run(mechanism.NewRecordedSession(priced, first), tab)
		eachNeighbour(t, tab, func(name string, n *dataset.Table) {
			second := first.Replay()
			got := run(mechanism.NewRecordedSession(priced, second), n)
			faults, ratio := mechanism.Compare(first, second)
			closest = max(closest, ratio)
			for _, f := range faults {
				t.Errorf(
					"key %d, %s: %s",
					4+key, name, f,
				)
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf(
					"key %d, %s: the result depends on the record",
					4+key, name,
				)
			}
		})
	}
	return closest
}

// TestPATEReplays checks replays with few and with many buckets. If there are many, each teacher has few records, and
// one record can change all answers of its teacher.
func TestPATEReplays(t *testing.T) {
	tab := sampleTable(t, 16)
	queries := sampleTable(t, 6)
	numbers := []int{2, 12}
	if testkit.Full() {
		numbers = append(numbers, 7)
	}
	for _, buckets := range numbers {
		pate := PATE{
			Columns: sampleColumns(),
			Buckets: buckets,
			Queries: 6,
		}
		closest := checkReplay(t, pate, tab, func(s *mechanism.Session, tab *dataset.Table) any {
			got, err := pate.Run(
				context.Background(), s, tab.View(),
				queries.View(),
			)
			if err != nil {
				t.Fatal(err)
			}
			return got
		})
		t.Logf(
			"%d buckets: %.3f of the bound",
			buckets, closest,
		)
		if closest < .8 {
			t.Errorf(
				"%d buckets: the bound was approached to %.3f only",
				buckets, closest,
			)
		}
	}
}

// TestPeopleReplays checks that the model is a function of public columns and of released values.
func TestPeopleReplays(t *testing.T) {
	tab := sampleTable(t, 16)
	people := People{Columns: sampleColumns(), Rounds: 12}
	closest := checkReplay(t, people, tab, func(s *mechanism.Session, tab *dataset.Table) any {
		m, err := people.Run(
			context.Background(), s, tab.View(),
			sampleRanges(),
		)
		if err != nil {
			t.Fatal(err)
		}
		return m.members
	})
	t.Logf("%.3f of the bound", closest)
	if closest < .9 || math.IsNaN(closest) {
		t.Errorf("the bound was approached to %.3f only", closest)
	}
}
