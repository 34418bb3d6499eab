//go:build replay

package boosting

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// kernelRecorded runs the trainer under a recorder.
func (x sample) kernelRecorded(
	t *testing.T,
	rel budget.Relation,
	tab *dataset.Table,
	rec *mechanism.Recorder,
) *method.Fit {
	t.Helper()
	x.tab = tab
	return x.recordedOf(t, smallKernel(), rel, memory.NewRecords(tab.View()), rec)
}

// recordedOf runs a trainer on some records under a recorder.
func (x sample) recordedOf(
	t *testing.T,
	trainer Kernel,
	rel budget.Relation,
	records mechanism.Records,
	rec *mechanism.Recorder,
) *method.Fit {
	t.Helper()
	node, err := Kernel{}.Plan(x.runFacts(rel))
	if err != nil {
		t.Fatal(err)
	}
	priced, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  40,
			Delta:    1e-6,
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := trainer.Fit(
		context.Background(),
		mechanism.NewRecordedSession(priced, rec),
		method.Data{
			Facts:   x.runFacts(rel),
			Records: records,
			Ranges:  x.ranges,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return fit
}

// crossedNeighbours returns tables that differ from that of crossedSample by one record.
func (x sample) crossedNeighbours(t *testing.T, rel budget.Relation) []*dataset.Table {
	t.Helper()
	var out []*dataset.Table
	for i, row := range [][4]float64{
		{},
		{1, -1, 0, 9},
		{math.NaN(), math.Inf(1), 3, -9},
	} {
		at := x.tab.Len() / 2
		drop := 1
		if rel == budget.AddRemove && i > 0 {
			drop = 0
		}
		insert := i > 0 || rel != budget.AddRemove
		ids := splice(
			idsOf(x.tab.Len()), at,
			drop, insert, uint64(at),
		)
		if drop == 0 {
			ids[at] = 1 << 40
		}
		data := make([]dataset.ColumnData, 4)
		for j, c := range x.columns {
			if c.Kind == dataset.Numeric {
				data[j].Floats = splice(
					x.tab.Float(j), at, drop,
					insert, row[j],
				)
			} else {
				data[j].Codes = splice(
					x.tab.Codes(j), at, drop,
					insert, int32(row[j]),
				)
			}
		}
		tab, err := dataset.NewTable(dataset.Schema{Columns: x.columns}, data, ids)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, tab)
	}
	return out
}

// replayFault runs the trainer with a fault and returns the faults that a replay on neighbours detects.
func (x sample) replayFault(
	t *testing.T,
	rel budget.Relation,
	f mechanism.Fault,
	neighbours int,
) (faults []string, closest float64) {
	t.Helper()
	_, faults, closest = x.replayModel(t, rel, f, neighbours)
	return faults, closest
}

// replayModel is like replayFault, and returns the model of the table as well.
func (x sample) replayModel(
	t *testing.T,
	rel budget.Relation,
	f mechanism.Fault,
	neighbours int,
) (model *regression.Kernel, faults []string, closest float64) {
	t.Helper()
	first := mechanism.NewRecorder(9).Plant(f)
	want := x.kernelRecorded(t, rel, x.tab, first)
	model, ok := want.Model.(*regression.Kernel)
	if !ok {
		t.Fatalf(
			"the model is %T: no stage is replayed",
			want.Model,
		)
	}
	for _, tab := range x.crossedNeighbours(t, rel)[:neighbours] {
		second := first.Replay()
		got := x.kernelRecorded(t, rel, tab, second)
		found, ratio := mechanism.Compare(first, second)
		faults = append(faults, found...)
		closest = max(closest, ratio)
		if f == 0 &&
			!bytes.Equal(encodeModel(t, got.Model), encodeModel(t, want.Model)) {
			t.Error("the model depends on the record")
		}
	}
	return model, faults, closest
}

func encodeModel(t *testing.T, m regression.Model) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := regression.EncodeModel(&out, m); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestKernelReplays replays the recorded releases on neighbours and checks that the model is the same and that no
// input moved further than declared.
func TestKernelReplays(t *testing.T) {
	x := crossedSample(t, 400)
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		faults, closest := x.replayFault(t, rel, 0, 3)
		for _, f := range faults {
			t.Errorf("%v: %s", rel, f)
		}
		if closest < .8 {
			t.Errorf(
				"%v: the bound was approached to %.3f only",
				rel, closest,
			)
		}
	}
}

// TestPairReplays does the same with enough records for a pair stage, which redistributes the remaining draws.
func TestPairReplays(t *testing.T) {
	x := crossedSample(t, 3000)
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		m, faults, closest := x.replayModel(t, rel, 0, 2)
		if len(m.Kernels) != 4 {
			t.Fatalf(
				"%v: %d stages, none of a pair",
				rel, len(m.Kernels),
			)
		}
		for _, f := range faults {
			t.Errorf("%v: %s", rel, f)
		}
		if closest < .8 {
			t.Errorf(
				"%v: the bound was approached to %.3f only",
				rel, closest,
			)
		}
	}
}

// TestKernelFaults checks that each planted fault is detected. Neighbours differ in the middle record, which is among
// those that are planted as landmarks.
func TestKernelFaults(t *testing.T) {
	x := crossedSample(t, 200)
	for name, f := range map[string]mechanism.Fault{
		"landmarks from records":     mechanism.RecordsAsLandmarks,
		"a metric from records":      mechanism.MetricOfRecords,
		"features of any length":     mechanism.LengthUnchecked,
		"the clamp of another epoch": mechanism.ClampOfAnotherEpoch,
	} {
		faults, _ := x.replayFault(t, budget.AddRemove, f, 2)
		found := false
		for _, s := range faults {
			found = found || strings.Contains(s, kernelNode+"/"+sumsLeaf)
		}
		if !found {
			t.Errorf("%s: not caught: %v", name, faults)
		}
	}
}
