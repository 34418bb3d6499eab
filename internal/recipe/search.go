package recipe

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/dptrain/dptrain/internal/pipeline"
)

// choice is a selection and a model of the recipe with what stands before their paths.
type choice struct {
	path      string // "", or "search.candidates[0]."
	selection *Selection
	model     *Model
}

// choices lists the selections and models that the run may make: its own, or those of the
// candidates of a search.
func (r *Recipe) choices() []choice {
	if r.Search == nil {
		return []choice{{"", &r.Selection, &r.Model}}
	}
	var out []choice
	for i := range r.Search.Candidates {
		out = append(out, choice{candidatePath(i), &r.Search.Candidates[i].Selection, &r.Search.Candidates[i].Model})
	}
	return out
}

// candidatePath is what stands before the keys of a candidate.
func candidatePath(i int) string { return item("search.candidates", i) + "." }

// settleSearch fills the defaults of a search.
func (r *Recipe) settleSearch(given map[string]bool) {
	x := r.Search
	if x == nil {
		return
	}
	if !given["search.runs"] {
		x.Runs = defaultRuns
	}
	if !given["search.holdout"] {
		x.Holdout = defaultScoreShare
	}
	d := Default()
	for i := range x.Candidates {
		c, path := &x.Candidates[i], candidatePath(i)
		if !given[path+"selection.method"] {
			c.Selection.Method = d.Selection.Method
		}
		if !given[path+"model.method"] {
			c.Model.Method = d.Model.Method
		}
		if !given[path+"model.fallback"] {
			c.Model.Fallback = d.Model.Fallback
		}
	}
}

// search checks the search, each candidate as if it stood alone.
func (c *checker) search() {
	r, x, d := c.r, c.r.Search, Default()
	for key, other := range map[string]bool{
		"selection": !reflect.DeepEqual(r.Selection, d.Selection), "model": !reflect.DeepEqual(r.Model, d.Model),
	} {
		if other || c.given(key) {
			c.add(key, key+" stands beside search, whose candidates have one each", "move it into search.candidates")
		}
	}
	if !(x.Runs > 1 && x.Runs <= pipeline.MaxRuns) {
		c.add("search.runs", fmt.Sprintf("search.runs must be above 1 and at most %d, not %s", pipeline.MaxRuns, show(x.Runs)), "it is the mean number of tries; 5 is the default")
	}
	if !(x.Holdout > 0 && x.Holdout <= .5) {
		c.add("search.holdout", "search.holdout must be above 0 and at most 0.5, not "+show(x.Holdout), "it is the share of the training records that scores a try")
	}
	if r.Privacy.Composition == "basic" {
		c.add("privacy.composition", "a search has no price under basic composition", "use composition tight, or a single selection and model")
	}
	if n := len(x.Candidates); n < 2 || n > pipeline.MaxCandidates {
		c.add("search.candidates", fmt.Sprintf("search.candidates must list 2 to %d, not %d", pipeline.MaxCandidates, n), "with one there is nothing to search: use selection and model")
		return
	}
	for i := range x.Candidates {
		c.candidate(i)
	}
}

// candidate checks one candidate. Methods without privacy are never one.
func (c *checker) candidate(i int) {
	x, path := c.r.Search.Candidates[i], candidatePath(i)
	if at := item("search.candidates", i); c.r.src != nil && !c.given(path+"selection") && !c.given(path+"model") {
		c.add(at, at+" declares nothing", "give selection, model or both")
		return
	}
	if j := slices.IndexFunc(c.r.Search.Candidates[:i], func(y Candidate) bool { return reflect.DeepEqual(x, y) }); j >= 0 {
		c.add(item("search.candidates", i), fmt.Sprintf("search.candidates: items %d and %d are the same", j+1, i+1), "defaults included; remove one")
		return
	}
	alone := *c.r
	alone.Selection, alone.Model = x.Selection, x.Model
	sub := checker{r: &alone, can: c.can, home: path}
	sub.selection()
	sub.model()
	sub.partlyPublic()
	if pipeline.MayAbstain(x.Model.Method) {
		sub.add("model.method", x.Model.Method+" may abstain and its law has no price in a search", "use another method")
	}
	c.ps = append(c.ps, sub.ps...)
}

// search translates the search section for d candidate features.
func (r *Recipe) search(d int) (*pipeline.Search, error) {
	out := &pipeline.Search{Runs: r.Search.Runs, Holdout: r.Search.Holdout}
	for _, x := range r.Search.Candidates {
		alone := *r
		alone.Selection, alone.Model = x.Selection, x.Model
		selector, err := alone.selector(d)
		if err != nil {
			return nil, err
		}
		out.Candidates = append(out.Candidates, pipeline.Candidate{Selector: selector, SelectionShare: x.Selection.Share, Model: x.Model.trainer()})
	}
	return out, nil
}
