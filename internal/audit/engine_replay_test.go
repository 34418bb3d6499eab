//go:build replay

package audit

import (
	"context"
	"encoding/gob"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestEnginesAgree checks, for every example whose statistics are sums, that an engine of three processes gives the
// release of a table in memory under the same key, byte for byte. Each process holds some of the rows, split and
// added up in random order. An example that needs all records in one place is refused. Without -full, an example is
// left out if earlier ones have all its statistics.
func TestEnginesAgree(t *testing.T) {
	files, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example recipes: %v", err)
	}
	agreed := 0
	covered := map[budget.Statistic]bool{}
	for i, file := range largeModelsLast(files) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			r, p, _ := loadExample(t, file)
			table := numbersOnly(t, r, p) // these processes cannot count text categories
			plan := planPipeline(t, p)
			e := startShards(t, table, uint64(i))
			if len(plan.Gathers()) > 0 ||
				p.Budget.Unit != (budget.Unit{}) {
				_, err := p.FitOn(t.Context(), plan, e, pipeline.Options{})
				if !errors.Is(err, pipeline.ErrEngine) {
					t.Errorf(
						"stages %v, unit %v: %v",
						plan.Gathers(), p.Budget.Unit, err,
					)
				}
				return
			}
			if more := addStatistics(covered, plan); !more && !*full {
				return
			}
			recorder := func() *mechanism.Recorder {
				if p.Search == nil {
					return mechanism.NewRecorder(1)
				}
				return mechanism.NewRecorder(1).ForceTries(2)
			}
			want := recordRelease(t, r, p, plan, table, recorder())
			res, err := p.FitOnRecorded(
				t.Context(),
				plan,
				e,
				pipeline.Options{},
				recorder(),
			)
			if err != nil {
				t.Fatal(err)
			}
			diff := cmp.Diff(want, releaseFiles(t, r, res, table))
			if diff != "" {
				t.Errorf(
					"other bytes than from memory (-memory +shards):\n%s",
					diff,
				)
			}
			if res.Curator.Rows != table.Len() {
				t.Errorf(
					"%d rows, want %d",
					res.Curator.Rows, table.Len(),
				)
			}
			agreed++
		})
	}
	if agreed < 12 {
		t.Errorf("%d examples were compared", agreed)
	}
}

// shards is an engine that cannot gather all records: each of its processes holds some.
type shards struct {
	schema  dataset.Schema
	workers []*worker
	mu      sync.Mutex
	order   *rand.Rand
}

type worker struct {
	in  *gob.Encoder
	out *gob.Decoder
}

// shard is the first message to a process.
type shard struct {
	Schema  dataset.Schema
	Columns []dataset.ColumnData
	IDs     []uint64
}

func startShards(t *testing.T, table *dataset.Table, seed uint64) *shards {
	t.Helper()
	pipeline.RegisterStatistics()
	e := &shards{
		schema: table.Schema(),
		order:  rand.New(rand.NewPCG(1, seed)),
	}
	rows := make([][]int32, 3)
	for i := range table.Len() {
		k := min(e.order.IntN(4), 2) // of unequal sizes
		rows[k] = append(rows[k], int32(i))
	}
	for _, part := range rows {
		e.workers = append(e.workers, startWorker(t, table.Select(part).Compact()))
	}
	return e
}

func startWorker(t *testing.T, table *dataset.Table) *worker {
	t.Helper()
	command := exec.Command(os.Args[0], "-test.run=^TestEngineWorker$")
	command.Env = append(os.Environ(), "DPTRAIN_ENGINE_WORKER=1")
	command.Stderr = os.Stderr
	in, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.ExtraFiles = []*os.File{write}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_, _ = in.Close(), answers.Close()
		if err := command.Wait(); err != nil {
			t.Errorf("a worker: %v", err)
		}
	})
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	w := &worker{gob.NewEncoder(in), gob.NewDecoder(answers)}
	s := shard{Schema: table.Schema()}
	for j := range table.Schema().Columns {
		s.Columns = append(
			s.Columns,
			dataset.ColumnData{Floats: table.Float(j), Codes: table.Labels(j)},
		)
	}
	for i := range table.Len() {
		s.IDs = append(s.IDs, table.ID(i))
	}
	if err := w.in.Encode(s); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestEngineWorker is a worker process: it answers passes until its input ends.
func TestEngineWorker(t *testing.T) {
	if os.Getenv("DPTRAIN_ENGINE_WORKER") == "" {
		t.Skip("a worker of TestEnginesAgree")
	}
	pipeline.RegisterStatistics()
	in := gob.NewDecoder(os.Stdin)
	out := gob.NewEncoder(os.NewFile(3, "answers"))
	var s shard
	if err := in.Decode(&s); err != nil {
		t.Fatal(err)
	}
	table, err := dataset.NewTable(s.Schema, s.Columns, s.IDs)
	if err != nil {
		t.Fatal(err)
	}
	for {
		var p mechanism.Pass
		if err := in.Decode(&p); errors.Is(err, io.EOF) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		v, err := p.Part.Select(t.Context(), table.View())
		if err != nil {
			t.Fatal(err)
		}
		values, err := p.Sums(t.Context(), v, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := out.Encode(values); err != nil {
			t.Fatal(err)
		}
	}
}

func (e *shards) Schema() dataset.Schema {
	return e.schema
}

func (e *shards) Forget(mechanism.State) {}

// Sum queries the workers in random order and adds up their answers in another.
func (e *shards) Sum(_ context.Context, p mechanism.Pass) ([]int64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	all := make([][]int64, len(e.workers))
	for _, i := range e.order.Perm(len(e.workers)) {
		if err := e.workers[i].in.Encode(p); err != nil {
			return nil, err
		}
		err := e.workers[i].out.Decode(&all[i])
		if err != nil {
			return nil, err
		}
	}
	e.order.Shuffle(len(all), func(i, j int) {
		all[i], all[j] = all[j], all[i]
	})
	return p.Merge(slices.Clone(all)...), nil
}
