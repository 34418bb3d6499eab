package recipe

import (
	"reflect"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// choice is a selection and a model of the recipe with the prefix of their paths.
type choice struct {
	path      string // "", or "search.candidates[0]."
	selection *Selection
	model     *Model
}

// choices lists the possible selections and models of the run: its own, or those of the candidates of a search.
func (r *Recipe) choices() []choice {
	if r.Search == nil {
		return []choice{{"", &r.Selection, &r.Model}}
	}
	var out []choice
	for i := range r.Search.Candidates {
		out = append(out,
			choice{candidatePath(i), &r.Search.Candidates[i].Selection,
				&r.Search.Candidates[i].Model})
	}
	return out
}

// candidatePath returns the prefix of the keys of a candidate.
func candidatePath(i int) string {
	return item("search.candidates", i) + "."
}

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
		c := &x.Candidates[i]
		path := candidatePath(i)
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

// search validates the search, and each candidate separately.
func (c *checker) search() {
	r := c.r
	d := Default()
	for key, other := range map[string]bool{
		"selection": !reflect.DeepEqual(r.Selection, d.Selection),
		"model":     !reflect.DeepEqual(r.Model, d.Model),
	} {
		if wrong := pipeline.BesideSearch(key); other || c.given(key) {
			c.add(wrong.Field, wrong.Message, wrong.Hint)
		}
	}
	whole := r.outlineSearch() != nil
	for i := range r.Search.Candidates {
		c.candidate(i, whole)
	}
}

// candidate checks one candidate. Unless the search is validated as a whole, the candidate is also checked as a
// separate run. Methods without privacy cannot be candidates.
func (c *checker) candidate(i int, whole bool) {
	x := c.r.Search.Candidates[i]
	path := candidatePath(i)
	if at := item("search.candidates", i); c.r.src != nil && !c.given(path+"selection") &&
		!c.given(path+"model") {
		c.add(at, at+" is empty", "give selection, model or both")
		return
	}
	alone := *c.r
	alone.Selection = x.Selection
	alone.Model = x.Model
	sub := checker{
		r:    &alone,
		can:  c.can,
		home: path,
	}
	sub.selection()
	sub.model()
	if !whole {
		alone.Search = nil
		sub.pipeline()
	}
	c.ps = append(c.ps, sub.ps...)
}

// search translates the search section for d candidate features.
func (r *Recipe) search(d int) (*pipeline.Search, error) {
	out := &pipeline.Search{
		Runs:    r.Search.Runs,
		Holdout: r.Search.Holdout,
	}
	for _, x := range r.Search.Candidates {
		alone := *r
		alone.Selection = x.Selection
		alone.Model = x.Model
		selector, err := alone.selector(d)
		if err != nil {
			return nil, err
		}
		out.Candidates = append(out.Candidates,
			pipeline.Candidate{
				Selector:       selector,
				SelectionShare: x.Selection.Share(),
				Model:          x.Model.trainer(),
			})
	}
	return out, nil
}
