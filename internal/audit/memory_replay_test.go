//go:build replay

package audit

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// A memoryRun is an example with its table in memory. It is shared by the tests that compare an engine or a hash with
// the release from memory: each runs it under the key of [memoryRun.recorder], and must not change it.
type memoryRun struct {
	r     *recipe.Recipe
	p     *pipeline.Pipeline
	table *dataset.Table
	plan  *pipeline.Plan

	release map[string]string // the files of release/; nil before the first call of fromMemory
}

var memoryRuns = struct {
	sync.Mutex
	byFile map[string]*memoryRun
}{byFile: map[string]*memoryRun{}}

// memoryRunOf returns the run of a recipe's file.
func memoryRunOf(t *testing.T, file string) *memoryRun {
	t.Helper()
	memoryRuns.Lock()
	defer memoryRuns.Unlock()
	m := memoryRuns.byFile[file]
	if m == nil {
		m = &memoryRun{}
		m.r, m.p, m.table = loadExample(t, file)
		m.plan = planPipeline(t, m.p)
		memoryRuns.byFile[file] = m
	}
	return m
}

// newRecorder returns a recorder under the key that all these tests use. A search is forced to try two candidates.
func (m *memoryRun) newRecorder() *mechanism.Recorder {
	if m.p.Search == nil {
		return mechanism.NewRecorder(1)
	}
	return mechanism.NewRecorder(1).ForceTries(2)
}

// fromMemory returns the files of release/ of the run.
func (m *memoryRun) fromMemory(t *testing.T) map[string]string {
	t.Helper()
	memoryRuns.Lock()
	defer memoryRuns.Unlock()
	if m.release == nil {
		m.release = recordRelease(
			t, m.r, m.p,
			m.plan.Again(), m.table,
			m.newRecorder(),
		)
	}
	return m.release
}

// compareOn trains the run on an engine, and compares what it releases with the files of the run from memory, byte by
// byte. It checks that all rows were read and counted.
func (m *memoryRun) compareOn(t *testing.T, e mechanism.Engine, read *dataset.Stats, name string) {
	t.Helper()
	res, err := m.p.FitOnRecorded(
		t.Context(),
		m.plan.Again(),
		e,
		pipeline.Options{},
		m.newRecorder(),
	)
	if err != nil {
		t.Fatal(err)
	}
	diff := cmp.Diff(m.fromMemory(t), releaseFiles(t, m.r, res, m.table))
	if diff != "" {
		t.Errorf(
			"%s: other bytes than from memory (-memory +engine):\n%s",
			name, diff,
		)
	}
	if read.Rows != m.table.Len() || res.Curator.Rows != m.table.Len() {
		t.Errorf(
			"%s: %d and %d rows, want %d",
			name, read.Rows, res.Curator.Rows, m.table.Len(),
		)
	}
}
