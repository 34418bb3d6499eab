package pipeline

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/stage"
	"github.com/dptrain/dptrain/regression"
)

// TestGroups: metrics by group have the price of a run without them, whether the column is a feature, is read for them only, or
// has its values found. The values of a column that is no feature are in no model.
func TestGroups(t *testing.T) {
	tab := housesTable(t, 20000)
	found := tab.Schema().Clone()
	found.Columns[2] = dataset.Column{
		Name:  "kind",
		Kind:  dataset.Category,
		Other: true,
		Found: true,
	}
	cells := tab.View().Block(0, tab.Len())
	undeclared, err := dataset.NewTable(
		found,
		[]dataset.ColumnData{
			{Floats: slices.Clone(cells.Float(0, nil))},
			{Floats: slices.Clone(cells.Float(1, nil))},
			{
				Codes: wordCodes(cells.Codes(2, nil)),
				Words: []string{"", "flat", "house"},
			},
			{Floats: slices.Clone(cells.Float(3, nil))},
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		table *dataset.Table
		only  bool
	}{
		"feature":    {tab, false},
		"no feature": {tab, true},
		"found":      {undeclared, false},
	} {
		plain := pricePipeline(c.table)
		plain.Model = adassp.JointGram{}
		p := plain.clone()
		p.Groups = "kind"
		p.GroupsOnly = c.only
		if c.only {
			plain = p.WithoutGroups()
			if plain.Schema.Index("kind") >= 0 ||
				p.Schema.Index("kind") < 0 {
				t.Fatal("the run without groups reads their column, or lost that of the other")
			}
		}
		plan, err := p.Plan()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		bare, err := plain.Plan()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		leaves := plan.Leaves()
		for i, l := range bare.Leaves() {
			if leaves[i].Path != l.Path ||
				leaves[i].Law != l.Law {
				t.Errorf(
					"%s: step %s has another price with groups",
					name, l.Path,
				)
			}
		}
		if plan.Guarantee().Mu != bare.Guarantee().Mu {
			t.Errorf(
				"%s: mu is %v with groups and %v without",
				name,
				plan.Guarantee().Mu,
				bare.Guarantee().Mu,
			)
		}
		res, err := p.FitPlan(context.Background(), plan, c.table, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if res.R2.Groups == nil || len(res.R2.Groups.Groups) != 3 {
			t.Fatalf(
				"%s: groups are %+v",
				name, res.R2.Groups,
			)
		}
		for k, want := range []string{"flat", "house", ""} {
			g := res.R2.Groups.Groups[k]
			if g.Name != want ||
				g.Other != (k == 2) ||
				k < 2 && (g.TooFew || g.Records.Value < 1000) {
				t.Errorf(
					"%s: group %d is %+v",
					name, k, g,
				)
			}
		}
		inModel := slices.ContainsFunc(res.Model.Inputs(), func(in regression.Column) bool {
			return in.Name == "kind"
		})
		if c.only && (inModel || slices.Contains(res.Considered, "kind")) {
			t.Errorf("%s: the model reads the column", name)
		}
		if !slices.ContainsFunc(res.Unprotected, func(f Fact) bool {
			return f.Name == GroupsFact && f.Value == "kind"
		}) {
			t.Errorf(
				"%s: the column is not among the facts that are not protected",
				name,
			)
		}
	}
}

// TestGroupsRehearse: a run with a very small budget is rehearsed with its groups, those that are to be found included.
func TestGroupsRehearse(t *testing.T) {
	tab := housesTable(t, 10)
	for name, change := range map[string]func(*Pipeline){
		"feature": func(*Pipeline) {},
		"no feature": func(p *Pipeline) {
			p.GroupsOnly = true
		},
		"found": func(p *Pipeline) {
			p.Schema.Columns[2] = dataset.Column{
				Name:  "kind",
				Kind:  dataset.Category,
				Other: true,
				Found: true,
			}
		},
		"classes": func(p *Pipeline) {
			p.Task = regression.TaskClassification
			p.Schema.Columns[3] = dataset.Column{
				Name:       "price",
				Kind:       dataset.Category,
				Labels:     true,
				Categories: []string{"low", "high"},
			}
		},
	} {
		p := pricePipeline(tab).clone()
		p.Model = adassp.JointGram{}
		p.Budget.Epsilon = .001
		p.Groups = "kind"
		change(p)
		plan, err := p.Plan()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !plan.hasFaintDraw() {
			t.Fatalf(
				"%s: the budget is too large for a rehearsal",
				name,
			)
		}
		if err := p.Rehearse(context.Background(), plan); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// wordCodes returns the codes of words in a list that begins with no word.
func wordCodes(codes []int32) []int32 {
	out := make([]int32, len(codes))
	for i, code := range codes {
		out[i] = code + 1
	}
	return out
}

// TestGroupsRefused: groups that a run cannot have are refused before any row is read.
func TestGroupsRefused(t *testing.T) {
	tab := housesTable(t, 10)
	many := tab.Schema().Clone()
	many.Columns[2].Categories = stage.Placeholders("kind", 33)
	for name, change := range map[string]func(*Pipeline){
		"the target": func(p *Pipeline) {
			p.Groups = "price"
		},
		"numbers": func(p *Pipeline) {
			p.Groups = "area"
		},
		"an absent column": func(p *Pipeline) {
			p.Groups = "colour"
		},
		"no held-out part": func(p *Pipeline) {
			p.Groups = "kind"
			p.Holdout = 0
		},
		"no column": func(p *Pipeline) {
			p.GroupsOnly = true
		},
		"too many": func(p *Pipeline) {
			p.Groups = "kind"
			p.Schema = many
		},
		"words of no model": func(p *Pipeline) {
			p.Groups = "kind"
			p.GroupsOnly = true
			p.Schema.Columns[2].Categories = nil
			p.Schema.Columns[2].Found = true
		},
	} {
		p := pricePipeline(tab).clone()
		change(p)
		_, err := p.Plan()
		if !errors.Is(err, ErrGroups) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestGroupsMayChange: a record that is replaced changes its group unless the column is public.
func TestGroupsMayChange(t *testing.T) {
	for _, c := range []struct {
		relation budget.Relation
		private  bool
		want     bool
	}{
		{budget.AddRemove, false, false},
		{budget.Substitute, false, true},
		{budget.SubstitutePrivateColumns, false, false},
		{budget.SubstitutePrivateColumns, true, true},
	} {
		p := pricePipeline(housesTable(t, 10)).clone()
		p.Budget.Relation = c.relation
		p.Schema.Columns[2].Private = c.private
		p.Groups = "kind"
		got := p.plannedGroups(p.Schema).Change
		if got != c.want {
			t.Errorf(
				"%v, private %v: %v",
				c.relation, c.private, got,
			)
		}
	}
}
