package regression

import (
	"context"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// TestHashedTables checks that a text has the same prediction in a table that was read by the rule of its column,
// whose codes are values already, as text in rows, and in a single record.
func TestHashedTables(t *testing.T) {
	texts := []string{
		"anna", "bert", "#1",
		"1", "", "NA", "Anna",
	}
	for name, rule := range map[string]TextRule{
		"buckets": {Hash: 5},
		"letters and buckets": {
			Fold:   cell.FoldCase,
			Prefix: 2,
			Hash:   7,
		},
		"letters":              {Fold: cell.FoldCase, Prefix: 2},
		"letters without case": {Fold: cell.FoldCase},
	} {
		column := Column{
			Name:       "who",
			Type:       Category,
			Other:      true,
			TextRule:   rule,
			Categories: []string{"an", "be", "#1"},
		}
		if rule.Hash > 0 {
			column.Categories = cell.Text(rule).Buckets()
		}
		if rule.Prefix == 0 && rule.Hash == 0 {
			column.Categories[0] = "anna"
		}
		added := &Linear{
			Columns: []Column{column},
			Lower:   -1000,
			Upper:   1000,
		}
		valued := &Linear{
			Columns: []Column{column},
			Lower:   -1000,
			Upper:   1000,
		}
		for k, category := range column.Categories {
			added.Terms = append(
				added.Terms,
				Term{Category: category, Coefficient: float64(k + 1)},
			)
			valued.Columns[0].Values = append(
				valued.Columns[0].Values,
				float64(k+1),
			)
		}
		added.Terms = append(added.Terms, Term{Other: true, Coefficient: -1})
		valued.Columns[0].Values = append(valued.Columns[0].Values, -1)
		valued.Columns[0].Type = Numeric
		valued.Columns[0].Other = false
		valued.Columns[0].Lower = -1
		valued.Columns[0].Upper = 8
		valued.Columns[0].Missing = -1
		valued.Terms = []Term{{Coefficient: 1}}

		schema := dataset.Schema{Columns: []dataset.Column{{
			Name:       "who",
			Kind:       dataset.Category,
			Categories: column.Categories,
			Other:      true,
			TextRule:   dataset.TextRule(rule),
		}}}
		table, _, err := dataset.ReadFrom(
			context.Background(),
			strings.NewReader("who,x\n"+strings.Join(texts, ",0\n")+",0\n"),
			"stdin",
			schema,
			dataset.ReadOptions{},
		)
		if err != nil {
			t.Fatal(err)
		}
		for kind, m := range map[string]Model{"terms": added, "values": valued} {
			want, err := m.Predict(
				nil,
				Rows{
					N:      len(texts),
					Labels: map[string][]string{"who": texts},
				},
			)
			if err != nil {
				t.Fatal(name, kind, err)
			}
			got, err := m.Predict(nil, Rows{N: len(texts), Codes: map[string]Codes{
				"who": {table.Codes(0), column.Categories}}})
			if err != nil {
				t.Fatal(name, kind, err)
			}
			p, err := Compile(m)
			if err != nil {
				t.Fatal(err)
			}
			for i, text := range texts {
				single, err := p.PredictRecord(map[string]any{"who": text})
				if err != nil ||
					got[i] != want[i] ||
					single != want[i] {
					t.Errorf(
						"%s, %s: %q is %v in a table, %v as text and %v alone, %v",
						name,
						kind,
						text,
						got[i],
						want[i],
						single,
						err,
					)
				}
			}
			if want[0] == want[1] {
				t.Errorf(
					"%s, %s: the texts have one prediction",
					name, kind,
				)
			}
		}
	}
}
