//go:build replay

package audit

import (
	"context"
	"fmt"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// TestReplayClassesSubstituted replays every classifier and every selection that reads classes, for two classes and
// for three, with a record substituted, as in [replayedNeighbours], on a table small enough that one record matters. (The example recipes cover
// most methods under add-remove; tukey abstains on such a table.)
func TestReplayClassesSubstituted(t *testing.T) {
	const file = "../../testdata/loans.csv"
	header, err := dataset.Header(file, dataset.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	type how struct{ selection, model string }
	all := []how{
		{"dpfsdr", "logistic"},
		{"dpfs", "svm"},
		{"crfs", "brc"},
		{"auto", pipeline.Auto},
	}
	for _, m := range pipeline.Methods(regression.TaskClassification) {
		if !pipeline.MayAbstain(m) {
			all = append(all, how{"none", m})
		}
	}
	for i, c := range all {
		for target, list := range map[string]string{
			"repaid": "no, yes",
			"rating": "weak, fair, very good",
		} {
			t.Run(fmt.Sprint(
				c.selection, " ", c.model, " ",
				target,
			), func(t *testing.T) {
				t.Parallel()
				other := map[string]string{
					"repaid": "rating",
					"rating": "repaid",
				}[target]
				text := fmt.Sprintf(
					"task: classification\ndata:\n  path: %s\n  target: %s\n  classes: [%s]\n  exclude: [%s, purpose]\n  columns:\n    home: {categories: [rent, own, with family]}\n"+
						"privacy: {epsilon: 2, relation: substitute}\nselection: {method: %s}\nmodel: {method: %s}\nholdout: 0.3\n",
					file,
					target,
					list,
					other,
					c.selection,
					c.model,
				)
				r, problems := recipe.Parse("", []byte(text))
				if len(problems) > 0 {
					t.Fatal(problems)
				}
				p, err := r.Pipeline(header)
				if err != nil {
					t.Fatal(err)
				}
				tab, _, err := dataset.Read(
					context.Background(),
					file,
					p.Schema,
					dataset.ReadOptions{},
				)
				if err != nil {
					t.Fatal(err)
				}
				tab = tab.Select(firstRows(30)).Compact()
				neighbours := replayedNeighbours(t, allNeighbours(t, p, tab), i)
				faults, closest := replayOn(t, r, p, planPipeline(t, p), tab, 5, neighbours)
				for _, f := range faults {
					t.Error(f)
				}
				if closest < .7 {
					t.Errorf(
						"the closest release came within %.3f of its declared sensitivity",
						closest,
					)
				}
			})
		}
	}
}
