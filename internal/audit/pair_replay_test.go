//go:build replay

package audit

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/internal/engine/stream"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// pairKey is a key under which the strongest interaction is one of two numbers.
const pairKey = 2

// TestPairOnEngines checks that engines give the bytes from memory with a budget for the stage of a pair as well,
// which no example has: an engine with a scratch file, and with -full also one of several processes.
func TestPairOnEngines(t *testing.T) {
	r, p, _ := loadExample(
		t,
		"../../examples/boosted-kernel.yaml",
	)
	p.Budget.Epsilon = 150
	table := numbersOnly(t, r, p) // these engines cannot count text categories
	plan := planPipeline(t, p)
	want := recordRelease(t, r, p, plan, table, mechanism.NewRecorder(pairKey))
	spilled, _, err := stream.Open(
		t.Context(),
		stream.Source{
			Path:   cutFile(t, r.DataFile(), 3),
			Folder: t.TempDir(),
			Chunk:  257,
		},
		p.Schema,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer spilled.Close()
	engines := map[string]mechanism.Engine{"stream": spilled}
	if *full {
		engines["shards"] = startShards(t, table, 1)
	}
	for name, e := range engines {
		res, err := p.FitOnRecorded(
			t.Context(),
			plan,
			e,
			pipeline.Options{},
			mechanism.NewRecorder(pairKey),
		)
		if err != nil {
			t.Fatal(err)
		}
		n := len(res.Model.(*regression.Kernel).Kernels)
		if n != 4 {
			t.Errorf(
				"%s: %d stages, none of a pair",
				name, n,
			)
		}
		diff := cmp.Diff(want, releaseFiles(t, r, res, table))
		if diff != "" {
			t.Errorf(
				"%s: other bytes than from memory (-memory +engine):\n%s",
				name, diff,
			)
		}
	}
}
