package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// maxRecipeBytes is the maximum size of a recipe that is read.
const maxRecipeBytes = recipe.MaxSize

// recipeAndPlan compares the report with the recipe, and with the plan of the recipe, which needs no table.
func (v *verifier) recipeAndPlan() {
	const name = "plan"
	r, header, ok := v.recipe()
	if !ok {
		return
	}
	p, err := r.Pipeline(header)
	if err != nil {
		v.add(
			"recipe",
			"",
			[]string{"it describes no valid run with these columns: " + err.Error()},
		)
		return
	}
	p.PaddedClasses = v.paddedClasses()
	v.add("recipe",
		"it requests the same guarantee as the report and states the same public facts",
		v.recipeProblems(r, p))
	plan, err := p.Plan()
	switch {
	case v.predatesChecksums() || v.before:
		v.skip(name,
			"the release was made by an earlier version of dptrain, which may plan differently, so the steps were not compared with the recipe")
	case err != nil:
		v.add(name, "", []string{"the recipe cannot be planned: " + err.Error()})
	default:
		v.add(name, "planning the recipe gives the same steps and guarantee; no table was read",
			v.planProblems(p, plan))
	}
}

// paddedClasses reports whether the training was planned once for all numbers of classes, as in earlier versions.
func (v *verifier) paddedClasses() bool {
	return !slices.ContainsFunc(v.report.Events, func(e Event) bool {
		return slices.ContainsFunc(strings.Split(e.ID, "/"), pipeline.IsNumberOfClasses)
	})
}

// recipe reads the recipe of a release, and notes if there is none or it cannot be read. The columns of one without a
// header are those that the report names; their order among the features is that of the table.
func (v *verifier) recipe() (r *recipe.Recipe, header []string, ok bool) {
	data, err := readLimited(filepath.Join(v.dir, recipeFile), maxRecipeBytes)
	if errors.Is(err, os.ErrNotExist) {
		v.skip("plan", "there is no recipe to compare the steps with")
		return nil, nil, false
	}
	if err != nil {
		return nil, nil, false // files said so
	}
	r, problems := parsePublished(data)
	if len(problems) > 0 {
		v.add("recipe", "", []string{"it cannot be read: " + problems[0].Error()})
		return nil, nil, false
	}
	if len(r.Data.Header) > 0 {
		return r, r.Data.Header, true
	}
	header = slices.Concat(
		v.report.training().Features.Considered,
		[]string{r.Data.Target},
		r.Data.Exclude,
	)
	if u := r.Privacy.Unit; u != nil && !slices.Contains(header, u.Column) {
		header = append(header, u.Column)
	}
	return r, header, true
}

// parsePublished parses the recipe of a release. One of an earlier version, or with a header that was too long, names
// neither its table nor the columns.
func parsePublished(data []byte) (*recipe.Recipe, recipe.Problems) {
	if !bytes.Contains(data, []byte("\n  header: ")) {
		data = bytes.Replace(
			data,
			[]byte("\ndata:\n"),
			[]byte("\ndata:\n  path: table.csv\n"),
			1,
		)
	}
	return recipe.Parse(recipeFile, data)
}

// dataSetProblems compares the data set of the ledger with that of a recipe.
func (v *verifier) dataSetProblems(r *recipe.Recipe) []string {
	entered := ""
	stated := ""
	if v.report.Ledger != nil {
		entered = v.report.Ledger.Dataset
	}
	if r.Ledger != nil {
		stated = r.Ledger.Dataset
	}
	if entered == stated {
		return nil
	}
	return []string{fmt.Sprintf(
		"the data set in the ledger is %s in the report, but %s in the recipe", printableName(entered),
		printableName(stated))}
}

// recipeProblems compares the report with the facts stated in a recipe.
func (v *verifier) recipeProblems(
	r *recipe.Recipe,
	p *pipeline.Pipeline,
) []string {
	var out []string
	differ := func(what, report, stated any) {
		if report != stated {
			out = append(out,
				fmt.Sprintf("%s is %v in the report, but %v in the recipe", what, report, stated))
		}
	}
	g := v.report.Guarantee
	differ("epsilon", g.Epsilon, r.Privacy.Epsilon)
	differ("delta", g.Delta, r.Privacy.Delta)
	differ("relation", printableName(g.Relation), r.Privacy.Relation)
	composition := r.Privacy.Composition
	if r.Privacy.Delta == 0 {
		composition = budget.Basic.String()
	}
	differ("composition", printableName(g.Composition), composition)
	unit := func(u *Unit) string {
		if u == nil {
			return "one record"
		}
		return fmt.Sprintf("%d rows of %s", u.MaxRows, printableName(u.Column))
	}
	var stated *Unit
	if u := r.Privacy.Unit; u != nil {
		stated = &Unit{u.Column, u.MaxRows}
	}
	differ("the privacy unit", unit(g.Unit), unit(stated))
	differ("task", printableName(v.report.Task), r.Task)
	differ("target", printableName(v.report.Target), printableName(r.Data.Target))
	out = append(out, v.dataSetProblems(r)...)
	same := sameJSON(v.report.Unprotected, list(p.Unprotected()))
	if len(r.Data.Header) == 0 {
		same = sameFacts(v.report.Unprotected, p.Unprotected())
	}
	if !same {
		out = append(out, "unprotected does not match the facts stated in the recipe")
	}
	return append(out, featureProblems(v.report.Features, v.report.Confidence, p)...)
}

// sameFacts compares two lists of facts in any order. The order of columns is ignored too, because without a header
// the position of the target among them is not known.
func sameFacts(a, b []pipeline.Fact) bool {
	sorted := func(facts []pipeline.Fact) []string {
		var out []string
		for _, f := range facts {
			text, _ := json.Marshal(f)
			if f.Name == "columns" || f.Name == "public columns" {
				text, _ = json.Marshal(sortedNames(f.Value))
			}
			out = append(out, f.Name+string(text))
		}
		slices.Sort(out)
		return out
	}
	return slices.Equal(sorted(a), sorted(b))
}

// sortedNames returns the names in a list, which may come from a file or from the program.
func sortedNames(value any) []string {
	var out []string
	switch names := value.(type) {
	case []string:
		out = slices.Clone(names)
	case []any:
		for _, name := range names {
			out = append(out, fmt.Sprint(name))
		}
	}
	slices.Sort(out)
	return out
}

// sameJSON reports whether two values have the same JSON.
func sameJSON(a, b any) bool {
	x, err := json.Marshal(a)
	y, err2 := json.Marshal(b)
	return err == nil && err2 == nil && bytes.Equal(x, y)
}

// featureProblems compares the columns that a model may use and those that it uses.
func featureProblems(f Features, c *Confidence, p *pipeline.Pipeline) []string {
	var out, columns []string
	for _, c := range p.WithoutGroups().Schema.Columns {
		if c.Name != p.Target {
			columns = append(columns, c.Name)
		}
	}
	if !slices.Equal(f.Considered, columns) {
		out = append(out, "features.considered differs from the columns of the recipe")
	}
	for _, name := range f.Selected {
		if !slices.Contains(f.Considered, name) {
			out = append(out, "features.selected contains "+printableName(name)+", which is not in features.considered")
		}
	}
	if c == nil {
		return out
	}
	for _, x := range c.Columns {
		if !slices.Contains(f.Considered, x.Column) ||
			x.Chosen != slices.Contains(f.Selected, x.Column) {
			out = append(out, "confidence.columns and features disagree about "+printableName(x.Column))
		}
		if !(x.Probability >= 0 && x.Probability <= 1) {
			out = append(out, "confidence.columns has no probability for "+printableName(x.Column))
		}
	}
	return out
}

// planProblems compares the report with a recomputed plan.
func (v *verifier) planProblems(
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
) []string {
	out, aligned := v.leafProblems(plan.Priced)
	if !aligned {
		return out
	}
	methods := plan.Methods()
	if v.report.endedEarly() { // before a branch was chosen
		methods = append(methods, plan.Method())
	}
	if !slices.Contains(methods, v.report.Model.Method) {
		out = append(out,
			fmt.Sprintf("the recipe cannot train with method %s",
				printableName(v.report.Model.Method)))
	}
	if a := v.report.Accounting; v.report.Format == Format && a != nil {
		out = append(out, a.factorProblems(plan.RaiseFactors())...)
	}
	return append(out, v.triesProblems(p, plan)...)
}

// leafProblems compares the guarantee and the steps with those of a plan made anew. aligned is false if a step is
// another one, so that nothing after it can be compared.
func (v *verifier) leafProblems(plan *budget.Priced) (out []string, aligned bool) {
	out = guaranteeProblems(
		v.report.Guarantee,
		GuaranteeOf(plan.Guarantee()),
		"in the recipe's plan",
	)
	leaves := plan.Leaves()
	events := v.report.Events
	if len(leaves) != len(events) {
		out = append(out,
			fmt.Sprintf("the %s has %d steps, but the recipe's plan has %d",
				v.report.section().kind().noun, len(events), len(leaves)))
	}
	for i := range min(len(leaves), len(events)) {
		e := events[i]
		l := leaves[i]
		switch {
		case e.ID != l.Path:
			return append(out,
				fmt.Sprintf("step %d is %s, but %s in the recipe's plan", i+1, printableName(e.ID),
					l.Path)), false
		case e.Law != l.Law.Kind.String(), e.Draws != l.Law.Draws, !nearlyEqual(e.Mu, l.Law.Mu),
			!nearlyEqual(e.Epsilon, l.Law.Epsilon), !nearlyEqual(e.Delta, l.Law.Delta):
			out = append(out,
				fmt.Sprintf("%s has a different noise distribution in the recipe's plan", e.ID))
		}
	}
	return out, true
}

// triesProblems compares a search and a choice of sizes with their plan.
func (v *verifier) triesProblems(
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
) []string {
	var out []string
	var want *Search
	if p.Search != nil {
		law, _, _ := plan.Selection(plan.SearchPath())
		want = search(&pipeline.Searched{
			Search: *p.Search,
			Eta:    law.Eta,
			Gamma:  law.Gamma,
		}, p.Task)
	}
	if got := v.report.Search; (got == nil) != (want == nil) {
		out = append(out, "the report and the recipe disagree about whether there was a search")
	} else if got != nil {
		want.Chosen = got.Chosen
		want.Score.Value = got.Score.Value
		chosen := got.Chosen >= 1 && got.Chosen <= len(got.Candidates)
		if v.report.endedEarly() {
			chosen = got.Chosen == 0 && got.Score.Value == 0
		}
		if !reflect.DeepEqual(got, want) || !chosen {
			out = append(out, "the search differs from the recipe")
		}
	}
	law, names, ok := plan.Selection(plan.SizesPath())
	switch x := v.report.Sizes; {
	case (x == nil) == ok:
		out = append(out, "the report and the recipe disagree about whether sizes were tried")
	case ok:
		var sizes []string
		for _, size := range x.Sizes {
			sizes = append(sizes, pipeline.SizeName(size))
		}
		if !slices.Equal(sizes, names) || !nearlyEqual(x.Eta, law.Eta) || !nearlyEqual(x.Gamma, law.Gamma) ||
			!(slices.Contains(x.Sizes, x.Chosen) || v.report.endedEarly() && x.Chosen == 0 && x.Right == 0) {
			out = append(out, "the choice of a size differs from the recipe")
		}
	}
	return out
}
