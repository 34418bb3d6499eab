package pipeline

import (
	"fmt"
	"testing"

	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/method"
)

// TestMethodsDescribeTheirTrainers checks that the list of trainers agrees with the trainers, and that every key has
// a text, and words or bounds as its kind requires.
func TestMethodsDescribeTheirTrainers(t *testing.T) {
	for _, m := range Trainers() {
		x := m.New(nil)
		got, err := methodOf(x)
		if err != nil ||
			x.Name() != m.Name ||
			got.Name != m.Name {
			t.Errorf(
				"%s makes %q, of method %q: %v",
				m.Name, x.Name(),
				got.Name, err,
			)
		}
		if mayAbstain(x) != m.Abstains {
			t.Errorf(
				"%s: Abstains is %v",
				m.Name, m.Abstains,
			)
		}
		if m.Summary == "" || len(m.Relations) == 0 {
			t.Errorf("%s says too little", m.Name)
		}
		for _, k := range m.Keys {
			if k.Text == "" ||
				k.Absent == "" && len(k.Words) == 0 ||
				(k.Kind == method.Word) != (len(k.Words) > 0) ||
				k.Kind == method.Whole && (k.Min < 1 || k.Max < k.Min) {
				t.Errorf("%s: %+v", m.Name, k)
			}
		}
	}
	_, err := methodOf(struct{ method.Trainer }{adassp.JointGram{}})
	if err == nil {
		t.Error("a trainer from elsewhere is taken for one of the list")
	}
}

// TestTriesOfSizesAreThoseOfSearches checks that the key of selectors that bounds the mean number of tries has the
// bounds and the default of a search.
func TestTriesOfSizesAreThoseOfSearches(t *testing.T) {
	for _, k := range SelectorKeys() {
		if k.Name == "runs" &&
			(k.Max != MaxRuns ||
				k.Holds(1) ||
				!k.Holds(1.5) ||
				k.Absent != fmt.Sprintf("`%d`", DefaultSizeRuns)) {
			t.Errorf("%+v", k)
		}
	}
}
