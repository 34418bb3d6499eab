package engine

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/ram"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/svm"
	"github.com/dptrain/dptrain/regression"
)

// planOf returns a pipeline for two classes with its plan.
func planOf(t *testing.T, m method.Trainer) (*pipeline.Pipeline, *pipeline.Plan) {
	t.Helper()
	p := &pipeline.Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{
				Name:   "dose",
				Ranged: true,
				Upper:  10,
			},
			{
				Name:       "ill",
				Kind:       dataset.Category,
				Categories: []string{"no", "yes"},
			},
		}},
		Task:   regression.TaskClassification,
		Target: "ill",
		Model:  m,
		Budget: budget.Target{Epsilon: 1, Delta: 1e-6},
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return p, plan
}

// TestStoreOf checks the choice of an engine by name, for a plan that sums and for one that needs all records in one
// place.
func TestStoreOf(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "absent.csv")
	for _, c := range []struct {
		model       method.Trainer
		name, store string
		fault       fault.Kind
	}{
		{adassp.JointGram{}, Memory, "", 0},
		{adassp.JointGram{}, Auto, "", 0}, // an absent file is not large
		{adassp.JointGram{}, "stream", "stream", 0},
		{adassp.JointGram{}, "disk", "", fault.Usage},
		{svm.SVM{}, Memory, "", 0},
		{svm.SVM{}, "stream", "", fault.Recipe},
	} {
		p, plan := planOf(t, c.model)
		store, err := StoreOf(c.name, p, plan, absent, 2)
		if (err != nil) != (c.fault != 0) ||
			err != nil && fault.KindOf(err) != c.fault {
			t.Errorf(
				"%s, %s: %v",
				c.model.Name(), c.name, err,
			)
		}
		if store == nil && c.store != "" ||
			store != nil && store.Name != c.store {
			t.Errorf(
				"%s, %s: %v",
				c.model.Name(), c.name, store,
			)
		}
	}
	p, plan := planOf(t, adassp.JointGram{})
	s := AnyStore(p, plan)
	if s == nil || s.Name != Stores()[0].Name {
		t.Errorf("a plan of sums: %v", s)
	}
	p, plan = planOf(t, svm.SVM{})
	s = AnyStore(p, plan)
	if s != nil {
		t.Errorf("a plan that gathers: %s", s.Name)
	}
}

// TestTooLargeFileIsRejected checks that a table is rejected based on the size of its file, and that a table that may
// fit is accepted.
func TestTooLargeFileIsRejected(t *testing.T) {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "a"},
		{Name: "b", Kind: dataset.Category},
	}}
	got := atLeast(1000*3*longCell, 3, schema)
	if got != 1000*(8+4) {
		t.Errorf(
			"1000 records of a number and a category: %d bytes",
			got,
		)
	}
	limit := ram.Limit{Name: "ulimit -v", Free: 1 << 30}
	if err := checkMemory("t.csv", 1<<30, limit); err != nil {
		t.Errorf("as much as there is: %v", err)
	}
	err := checkMemory("t.csv", 1<<30+1, limit)
	if !errors.Is(err, dataset.ErrTooLarge) ||
		!strings.Contains(err.Error(), "ulimit -v allows 1 GiB") ||
		!strings.Contains(err.Error(), "exclude columns") {
		t.Errorf("more than there is: %v", err)
	}
	err = Holdable(
		filepath.Join(t.TempDir(), "absent.csv"),
		3, schema, 1,
	)
	if err != nil {
		t.Errorf("a file that is not there: %v", err)
	}
}
