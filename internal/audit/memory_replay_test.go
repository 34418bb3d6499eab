//go:build replay

package audit

import (
	"sync"
	"testing"

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
