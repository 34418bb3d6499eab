//go:build replay

package audit

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// TestReplayWithPrivateTarget checks, for a private target, that no release of any method sees inputs farther apart
// than it declares, and that published values depend on the target of a record, changed or missing, only through
// releases. All features are public, or some are private too; without -full in turn by the name of the run, and
// with neighbours of every second kind of change, as in [TestReplayWithoutTarget].
func TestReplayWithPrivateTarget(t *testing.T) {
	runs := missingRuns()
	for name, s := range map[string]selection.Selector{
		"greedy-gram":         selection.GreedyGram{K: 2},
		"greedy-gram, priced": selection.GreedyGram{Budget: 2},
	} {
		for _, file := range []string{"houses", "classes", "classes-three"} {
			runs[name+" on "+file] = missingRun{file, 40, func(p *pipeline.Pipeline) {
				p.Model = adassp.JointGram{}
				p.Selector = s
			}}
		}
	}
	for i, name := range slices.Sorted(maps.Keys(runs)) {
		for k, feature := range []int{noFeature, 0} {
			if i%2 != k && !*full {
				continue
			}
			t.Run(fmt.Sprintf("%s, private feature %d", name, feature), func(t *testing.T) {
				t.Parallel()
				replayPrivateTarget(t, runs[name], feature, i)
			})
		}
	}
}

// noFeature is the index of no column.
const noFeature = -1

// replayPrivateTarget replays a run whose target is private, together with the column with index feature. The number of
// the run determines its neighbours.
func replayPrivateTarget(t *testing.T, run missingRun, feature, number int) {
	t.Helper()
	r, p, _ := loadExample(
		t,
		"../../examples/"+run.example+".yaml",
	)
	p.Budget.Relation = budget.SubstitutePrivateColumns
	for j := range p.Schema.Columns {
		c := &p.Schema.Columns[j]
		c.Private = c.Name == p.Target || j == feature
	}
	run.change(p)
	whole := numbersOnly(t, r, p)
	n := run.rows
	tab := blankTargets(t, whole.Select(firstRows(n)).Compact(), p.Target, func(i int) bool {
		return i == n/2 || i%5 == 3
	})
	neighbours := missingNeighbours(t, p, tab, number)
	neighbours = append(
		neighbours,
		targetlessNeighbours(t, tab, p.Target, p.Budget.Relation, number)...,
	)
	checkReplay(t, r, p, tab, neighbours)
}

// TestPrivateTargetFreesFeatures checks that, if the target is the only private column, the plan of every method that
// uses public features has no release about features alone.
func TestPrivateTargetFreesFeatures(t *testing.T) {
	for _, file := range []string{"private-target", "private-target-classes"} {
		_, p, _ := loadExample(
			t,
			"../../examples/"+file+".yaml",
		)
		for _, l := range planPipeline(t, p).Leaves() {
			if slices.Contains([]budget.Statistic{"gram", "class statistics", "eigenvalue"},
				l.Statistic) {
				t.Errorf(
					"%s: the plan releases %s at %s",
					file, l.Statistic, l.Path,
				)
			}
		}
	}
}
