package pipeline

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// TestStageKinds checks that stages have names of their own and shares that a recipe can set, and that a run without
// their columns has no such stage.
func TestStageKinds(t *testing.T) {
	var shares Shares
	nodes := map[string]bool{}
	for _, k := range stageKinds() {
		if k.Node == "" || nodes[k.Node] {
			t.Errorf("the name %q is empty or repeated", k.Node)
		}
		nodes[k.Node] = true
		settable := slices.ContainsFunc(shares.Named(), func(s NamedShare) bool {
			return s.Name == k.Share
		})
		if k.Share != "" &&
			(!settable || k.Absent == "" || ShareName(k.Node) != k.Share) {
			t.Errorf(
				"%s: the share %q cannot be set, or no reason is given against it",
				k.Node,
				k.Share,
			)
		}
		if len(k.Statistics) == 0 {
			t.Errorf("%s: no statistic", k.Node)
		}
	}
	plain := pricePipeline(housesTable(t, 10))
	list := plain.stages()
	if len(list) > 0 {
		t.Errorf("a plain run has the stages %T", list)
	}
	plain.Transform = rescale.Log
	plain.Schema.Columns[0].Found = true
	list = plain.stages()
	if len(list) != 2 {
		t.Errorf(
			"a run with a transform and an undeclared column has the stages %T",
			list,
		)
	}
}

// TestPassiveStage checks that a stage without methods of its own leaves a run unchanged.
func TestPassiveStage(t *testing.T) {
	var s stage.Passive
	before, after, left := s.Around(.5, .75)
	if len(before)+len(after) > 0 || left != .75 {
		t.Errorf(
			"it plans %v and %v, and leaves %v",
			before, after, left,
		)
	}
	_, branches := s.Branches()
	if len(branches) > 0 ||
		s.Spends(.5) != 0 ||
		s.TwoClasses() ||
		s.Recoding() != nil ||
		s.Gathers(mechanism.Capabilities{}) ||
		s.CheckEngine(mechanism.Capabilities{}) != "" {
		t.Error("it asks for something")
	}
}
