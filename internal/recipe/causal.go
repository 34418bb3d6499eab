package recipe

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/causal"
)

// TaskCausal is the task that estimates causal directions and trains no model.
const TaskCausal = "causal"

// Causal selects the columns and the method of a causal study.
type Causal struct {
	// Columns are 2 to direction.MaxColumns numeric columns. Every pair is examined.
	Columns []string `yaml:"columns" json:"columns" takes:"name" jsonschema:"required,minItems=2,maxItems=20,uniqueItems=true" jsonschema_description:"Numeric columns to compare, in all pairs."`
	// Method is "histogram" or "anm", the baseline.
	Method string `yaml:"method" json:"method" jsonschema:"default=histogram" jsonschema_description:"histogram: one noisy histogram per pair. anm: the baseline, a noisy difference of two regression scores."`
	// Score is the score of the method anm.
	Score string `yaml:"score,omitempty" json:"score,omitempty" jsonschema_description:"Score of the method anm. Default: none; it is required."`
	// Protect is "all" or, with the method anm, "test": the training records then have no
	// protection.
	Protect string `yaml:"protect" json:"protect" jsonschema:"default=all" jsonschema_description:"all: every record is protected. test (anm only): the training records are not protected."`
	// Lambda is the penalty of the regressions of the method anm; 0 leaves it to the study.
	Lambda float64 `yaml:"lambda,omitempty" json:"lambda,omitempty" jsonschema:"minimum=0.0001,maximum=1000" jsonschema_description:"Penalty of the regressions of the method anm (Kusner 2016, figure 4.4). Default: 0.5, or 0.002 with protect: test."`
	// Bins is the number of bins per column; 0 leaves it to a noisy count.
	Bins int `yaml:"bins,omitempty" json:"bins,omitempty" jsonschema:"minimum=4,maximum=32" jsonschema_description:"Bins per column in the histogram of a pair. Default: 6, 8 or 12, depending on a noisy count of the records."`
}

// causal checks a recipe for a causal study.
func (c *checker) causal() {
	r := c.r
	if c.bench {
		c.add(
			"task",
			"task: causal cannot be used in an experiment with models",
			"`dptrain causal` runs it",
		)
	}
	for _, x := range []struct {
		key  string
		used bool
	}{
		{"data.target", r.Data.Target != ""},
		{"data.classes", r.Data.Classes.Found || len(r.Data.Classes.List) > 0},
		{"data.exclude", len(r.Data.Exclude) > 0},
		{"holdout", false},
		{"evaluate", r.Evaluate != nil},
		{"scaling", false},
		{"budget", r.Budget != nil},
		{"count", r.Count != nil},
		{"selection", false},
		{"model", false},
		{"search", r.Search != nil},
		{"engine", r.Engine != ""},
	} {
		if x.used || c.given(x.key) || c.givenBelow(x.key) {
			c.add(
				x.key,
				x.key+" cannot be used with task: causal, which does not train a model",
				"remove it; causal.columns names the columns",
			)
		}
	}
	c.path("data.path", r.Data.Path)
	c.reading()
	c.sql()
	c.spark()
	c.nameList("data.header", r.Data.Header, "column")
	switch {
	case c.given("data.header") && len(r.Data.Header) == 0:
		c.add(
			"data.header",
			"data.header is empty",
			"list all columns of the table, or remove it and give data.path",
		)
	case r.Data.Path == "" && r.Data.SQL == nil && r.Data.Spark == "" && len(r.Data.Header) == 0 && !c.bench:
		c.add("data.path", "data.path is required: the table to read", "")
	}
	c.causalColumns()
	if r.Privacy.Relation == privateColumns {
		c.add("privacy.relation", "the relation "+privateColumns+" cannot be used with task: causal, which protects whole records",
			"use add-remove, or substitute if the number of records is public")
	}
	c.privacy()
	c.ledgerAndOutput()
}

// causalColumns validates the section causal and the declarations of its columns.
func (c *checker) causalColumns() {
	x := c.r.Causal
	if x == nil {
		c.add(
			"causal",
			"causal.columns is required with task: causal",
			"causal: {columns: [x, y]}",
		)
		return
	}
	switch n := len(x.Columns); {
	case n < 2:
		c.add("causal.columns", "causal.columns needs at least two columns", "")
	case n > direction.MaxColumns:
		c.add("causal.columns", fmt.Sprintf("causal.columns lists %d columns, but at most %d are allowed", n, direction.MaxColumns),
			"use fewer columns; all pairs share the budget")
	}
	c.nameList("causal.columns", x.Columns, "column")
	if x.Bins != 0 && (x.Bins < direction.MinBins || x.Bins > direction.MaxBins) || x.Bins == 0 && c.given("causal.bins") {
		c.add(
			"causal.bins",
			fmt.Sprintf("causal.bins must be from %d to %d, not %d", direction.MinBins, direction.MaxBins, x.Bins),
			"omit it to let a noisy count decide",
		)
	}
	if i := slices.Index(x.Columns, c.r.unitColumn()); i >= 0 && c.r.unitColumn() != "" {
		c.add(
			item("causal.columns", i),
			"the column "+quoted(x.Columns[i])+" identifies the unit and cannot be a cause",
			"",
		)
	}
	c.causalMethod()
	for name, col := range c.r.Data.Columns {
		path := child("data.columns", name)
		switch {
		case !slices.Contains(x.Columns, name):
			c.add(
				path,
				"the column "+quoted(name)+" is declared, but not listed in causal.columns",
				"remove it here, or add it there",
			)
		case col.Categories.Declared():
			c.add(
				child(path, "categories"),
				"the column "+quoted(name)+" has categories, but causal directions need numbers",
				"",
			)
		case col.Missing.asIndicator():
			c.add(child(path, "missing"), shortPath(path)+": missing: indicator cannot be used with task: causal",
				"declare a number, or omit it; records without a value are then left out of the pairs of this column")
		case col.Private:
			c.add(
				child(path, "private"),
				"private columns cannot be used with task: causal",
				"every column is protected; remove private",
			)
		default:
			c.bounds(path, col)
		}
	}
}

// The names of causal.method and causal.protect.
var (
	causalMethods  = []string{"histogram", anmMethod}
	causalProtects = []string{"all", protectTest}
)

const (
	anmMethod   = "anm"
	protectTest = "test"
	lambdaPath  = "causal.lambda"
)

// causalMethod checks the keys of the baseline.
func (c *checker) causalMethod() {
	x := c.r.Causal
	known := c.name("causal.method", x.Method, causalMethods, causalMethods)
	c.name("causal.protect", x.Protect, causalProtects, causalProtects)
	scores := direction.Baselines()
	knownScore := x.Score == "" || c.name("causal.score", x.Score, scores, scores)
	switch {
	case !known:
	case x.Method != anmMethod:
		for _, key := range []struct {
			path string
			used bool
		}{{"causal.score", x.Score != "" || c.given("causal.score")}, {"causal.protect", x.Protect == protectTest}} {
			if key.used {
				c.add(key.path, key.path+" has no effect with method "+x.Method+", which protects every record and computes all scores",
					"remove it, or set causal.method: "+anmMethod)
			}
		}
		if x.Lambda != 0 || c.given(lambdaPath) {
			c.add(lambdaPath, lambdaPath+" has no effect with method "+x.Method+", which fits no regression", "remove it, or set causal.method: "+anmMethod)
		}
		return
	case x.Score == "":
		c.add("causal.score", "causal.score is required with method "+anmMethod, "one of "+oneOf(scores))
	case knownScore && x.Score != direction.HSIC && x.Protect != protectTest:
		c.add("causal.score", "causal.score: "+x.Score+" has no sensitivity bound for training records", "use hsic, or protect only the test records "+
			"with causal.protect: "+protectTest)
	}
	if !known {
		return
	}
	if (x.Lambda != 0 || c.given(lambdaPath)) && !(x.Lambda >= direction.LeastPenalty && x.Lambda <= direction.MostPenalty) {
		c.add(
			lambdaPath,
			fmt.Sprintf("%s must be from %s to %s, not %s", lambdaPath, fault.Number(direction.LeastPenalty), fault.Number(direction.MostPenalty), fault.Number(x.Lambda)),
			"omit it for the default",
		)
	}
	if len(x.Columns) > 2 {
		c.add("causal.columns", "method "+anmMethod+" needs exactly two columns", "")
	}
	if x.Bins != 0 {
		c.add("causal.bins", "causal.bins has no effect with method "+anmMethod, "remove it")
	}
	if c.r.Privacy.Relation == budget.AddRemove.String() {
		c.add(
			"privacy.relation",
			"method "+anmMethod+" needs a public number of records",
			"set privacy.relation: "+budget.Substitute.String(),
		)
	}
	for i, name := range x.Columns {
		if col := c.r.Data.Columns[name]; col.Lower == nil && col.Upper == nil {
			c.add(item("causal.columns", i), "method "+anmMethod+" needs the range of the column "+quoted(name),
				"declare lower and upper in data.columns")
		}
	}
	if x.Protect == protectTest && c.r.Ledger != nil {
		c.add("ledger", "a study that protects only the test records cannot use a ledger", "its total would also cover "+
			"the training records, which are not protected; remove the ledger section")
	}
}

// givenBelow reports whether the text has a key below path.
func (c *checker) givenBelow(path string) bool {
	if c.r.src == nil {
		return false
	}
	for at := range c.r.src.at {
		if strings.HasPrefix(at, path+".") {
			return true
		}
	}
	return false
}

// Study returns the study that a recipe with task: causal describes for a table with the
// given header. It is Problems if the recipe and the header do not fit.
func (r *Recipe) Study(header []string) (causal.Study, error) {
	if problems := r.Validate(header); len(problems) > 0 {
		return causal.Study{}, problems
	}
	target, err := r.budget()
	if err != nil {
		return causal.Study{}, err
	}
	s := causal.Study{
		Schema:   dataset.Schema{Unit: r.unitColumn()},
		Budget:   target,
		Bins:     r.Causal.Bins,
		Score:    r.Causal.Score,
		TestOnly: r.Causal.Protect == protectTest,
		Lambda:   r.Causal.Lambda,
	}
	for _, name := range r.Causal.Columns {
		s.Schema.Columns = append(s.Schema.Columns, r.column(name, false))
	}
	return s, nil
}

// noModel is the problem reported if a model is requested from a recipe with task: causal.
func (r *Recipe) noModel() Problems {
	return Problems{r.src.problem("task", "task: causal trains no model", "`dptrain causal` runs it")}
}

// publishedCausal is the form of a recipe with task: causal in release/recipe.yaml.
type publishedCausal struct {
	Version int           `yaml:"version"`
	Task    string        `yaml:"task"`
	Data    publishedData `yaml:"data"`
	Privacy Privacy       `yaml:"privacy"`
	Causal  *Causal       `yaml:"causal"`
	Ledger  *struct {
		Dataset string `yaml:"dataset"`
	} `yaml:"ledger,omitempty"`
}

// publicCausal is [Recipe.Public] of such a recipe. A header that would make it too long
// becomes that of the columns it names.
func (r *Recipe) publicCausal() []byte {
	p := publishedCausal{
		Version: r.Version,
		Task:    r.Task,
		Data:    r.Data.published(),
		Privacy: r.Privacy,
		Causal:  r.Causal,
	}
	if r.Ledger != nil {
		p.Ledger = &struct {
			Dataset string `yaml:"dataset"`
		}{r.Ledger.Dataset}
	}
	text := encode(p)
	if len(text) > MaxSize {
		p.Data.Header = slices.Clone(r.Causal.Columns)
		if u := r.unitColumn(); u != "" {
			p.Data.Header = append(p.Data.Header, u)
		}
		text = encode(p)
	}
	return text
}
