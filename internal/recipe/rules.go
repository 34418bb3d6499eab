package recipe

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// checker applies the rules that involve more than one key, or need better messages than a schema gives. It
// works on the decoded recipe, so recipes from files and from flags are checked by the same rules.
type checker struct {
	r     *Recipe
	can   availability
	bench bool
	home  string // of the keys selection and model: "", or a candidate's path with a dot
	ps    Problems
}

// checkRules runs every rule; it never stops at the first problem.
func checkRules(r *Recipe, can availability, bench bool) Problems {
	c := &checker{
		r:     r,
		can:   can,
		bench: bench,
	}
	if r.Task == TaskDescribe {
		c.describe()
		return c.ps
	}
	c.format()
	if r.Task == TaskCausal {
		c.causal()
		return c.ps
	}
	if r.Causal != nil || c.given("causal") {
		c.add(
			"causal",
			"causal needs task: causal",
			"set the task, or remove the section",
		)
	}
	c.data()
	c.columns()
	c.privacy()
	c.groups()
	c.name("scaling.method", r.Scaling.Method, scalings, c.can.scalings)
	if r.Search == nil {
		c.selection()
		c.model()
	} else {
		c.search()
	}
	c.pipeline()
	if r.Engine != "" || c.given("engine") {
		c.name("engine", r.Engine, engines, engines)
	}
	c.ledgerAndOutput()
	return c.ps
}

func (c *checker) add(path, msg, hint string) {
	if at := c.fullPath(path); at != path {
		path, msg = at, shortPath(strings.TrimSuffix(c.home, "."))+": "+msg
	}
	c.ps = append(c.ps, c.r.src.problem(path, msg, hint))
}

// fullPath returns the full path of a key of a selection or a model, which may be a candidate's.
func (c *checker) fullPath(path string) string {
	if strings.HasPrefix(path, "selection.") || strings.HasPrefix(path, "model.") {
		return c.home + path
	}
	return path
}

// given reports whether the text sets path.
func (c *checker) given(path string) bool {
	if c.r.src == nil {
		return false
	}
	_, ok := c.r.src.at[c.fullPath(path)]
	return ok
}

// name checks a name against a closed list, then against the features of this build, and reports whether it is
// on the closed list.
func (c *checker) name(path, word string, closed, available []string) bool {
	switch {
	case !slices.Contains(closed, word):
		hint := "one of " + oneOf(closed)
		if best, ok := nearest(word, closed); ok {
			hint = "did you mean " + best + "? " + hint
		}
		c.add(path, fmt.Sprintf("%s: unknown name %s", path, quoted(word)), hint)
		return false
	case !slices.Contains(available, word):
		c.add(path, fmt.Sprintf("%s: %s is not available in this version", path, word),
			"available: "+oneOf(available))
	}
	return true
}

func (c *checker) format() {
	r := c.r
	if r.Version != Version {
		c.add(
			"version",
			fmt.Sprintf("unknown version %d of the recipe format", r.Version),
			fmt.Sprintf("this version of dptrain reads version %d", Version),
		)
	}
	c.name("task", r.Task, tasks, c.can.tasks)
}

// pipeline checks the run by the rules of the pipeline, which report the offending keys.
func (c *checker) pipeline() {
	for _, wrong := range c.r.outline(c.bench).Wrong() {
		c.add(wrong.Field, wrong.Message, wrong.Hint)
	}
}

func (c *checker) data() {
	d := c.r.Data
	if c.given("data.header") && len(d.Header) == 0 {
		c.add("data.header", "data.header is empty",
			"list all columns of the table, or remove it and give data.path")
	} else if d.Path == "" && d.SQL == nil && d.Spark == "" && len(d.Header) == 0 && !c.bench {
		c.add("data.path", "data.path is required: the table to train on", "")
	}
	switch {
	case d.Target == "" && (!c.bench || c.given("data.target")):
		c.add(
			"data.target",
			"data.target is required: the name of the column to predict",
			"",
		)
	case !utf8.ValidString(d.Target):
		c.add("data.target", "data.target is not UTF-8 text", "")
	case slices.Contains(d.Exclude, d.Target) && d.Target != "":
		i := slices.Index(d.Exclude, d.Target)
		c.add(item("data.exclude", i), "the target "+quoted(d.Target)+" is excluded",
			"the target is never a feature, so remove it here")
	}
	c.reading()
	c.sql()
	c.spark()
	c.nameList("data.exclude", d.Exclude, "column")
	c.nameList("data.header", d.Header, "column")
	c.undeclared()
	c.classes()
	c.foldChecks()
}

func (c *checker) classes() {
	classes := c.r.Data.Classes
	switch {
	case c.r.Task == "regression" &&
		(classes.Found || len(classes.List) > 0 || c.given("data.classes")):
		c.add("data.classes", "data.classes cannot be used for regression",
			"remove it, or set task: classification")
		return
	case c.r.Task == "classification" && !classes.Found && len(classes.List) == 0 &&
		(c.bench || c.given("data.classes")):
		c.add("data.classes",
			"data.classes is required for classification: every value the target can take",
			"the list is public, so it must not come from the data")
		return
	case c.bench && classes.Found:
		c.add("data.classes",
			"data.classes must list the classes in an experiment, which compares their predictions",
			"the table is public, so its values can be used")
		return
	}
	if c.r.Data.MostClasses != 0 && !c.r.Classes().Found {
		c.add(
			"data.most_classes",
			"data.most_classes needs classes: "+privateWord,
			mostHint(c.r.Task),
		)
	}
	c.nameList("data.classes", classes.List, "class")
}

// nameList rejects empty and repeated names. Categories are compared as readers compare texts: without the blanks
// around them, and in the normalization form NFC.
func (c *checker) nameList(path string, names []string, what string) {
	first := map[string]int{}
	for i, name := range names {
		p := item(path, i)
		if what != "column" {
			name = cell.Normal(name)
		}
		if name == "" {
			c.add(p, shortPath(path)+": an empty "+what, "")
			continue
		}
		if j, again := first[name]; again {
			c.add(
				p,
				fmt.Sprintf("%s: %s %s is listed twice", shortPath(path), what, quoted(name)),
				fmt.Sprintf("it is already item %d", j+1),
			)
			continue
		}
		first[name] = i
	}
}

func (c *checker) privacy() {
	p := c.r.Privacy
	c.name("privacy.relation", p.Relation, relations, c.can.relations)
	c.name("privacy.composition", p.Composition, compositions, c.can.compositions)
	c.budget("epsilon", budget.Target{Epsilon: p.Epsilon})
	c.budget("delta", budget.Target{
		Epsilon: 1,
		Delta:   p.Delta,
	})
	c.delta()
	if p.Unit != nil {
		c.unit(*p.Unit)
	}
}

// delta checks with the stages of the run whether delta can be 0. A method without privacy has no delta, and an
// unknown name is rejected elsewhere.
func (c *checker) delta() {
	knownModel := c.r.Model.Method == pipeline.Auto ||
		slices.Contains(trainers(anyTrainer), c.r.Model.Method)
	if c.r.Task == TaskCausal || c.r.stagesInCode || !knownModel ||
		!slices.Contains(selections, c.r.Selection.Method) {
		return
	}
	if wrong := c.r.outline(c.bench).NeedsDelta(); wrong != nil {
		c.add(wrong.Field, wrong.Message, wrong.Hint)
	}
}

// budget validates a budget by the rules of package budget. Only key can have a mistake.
func (c *checker) budget(key string, t budget.Target) {
	var wrong *budget.TargetError
	path := "privacy." + key
	switch {
	case !errors.As(t.Validate(), &wrong):
	case wrong.Value == 0 && !c.given(path):
		c.add(path, path+" is required: "+required[key][0], required[key][1])
	default:
		hint := wrong.Hint
		if key == "epsilon" && !finiteNumber(wrong.Value) {
			hint = "`dptrain bench` runs non-private methods by name"
		}
		c.add(path, path+" "+wrong.Problem+", not "+show(wrong.Value), hint)
	}
}

// required explains the keys of a budget without defaults.
var required = map[string][2]string{
	"epsilon": {"the privacy budget of the run", "for example 1.0, or ln(3)"},
	"unit.max_rows": {"the maximum number of records per unit",
		"a public constant, such as 4; noise grows in proportion to it"},
}

// unit checks the privacy unit.
func (c *checker) unit(u Unit) {
	switch p := "privacy.unit.column"; {
	case u.Column == "":
		c.add(p, p+" is required: the column that identifies the unit",
			"for example patient_id")
	case !utf8.ValidString(u.Column):
		c.add(p, p+" is not UTF-8 text", "")
	case u.Column == c.r.Data.Target:
		c.add(p, p+": the target "+quoted(u.Column)+" cannot identify the unit",
			"name the column that identifies the person or unit")
	}
	if _, declared := c.r.Data.Columns[u.Column]; declared {
		c.add(child("data.columns", u.Column),
			"the column "+quoted(u.Column)+" identifies the unit and cannot be declared",
			"it is never a feature, so remove it here")
	}
	c.budget("unit.max_rows",
		budget.Target{
			Epsilon: 1,
			Unit: budget.Unit{
				Column:  "any",
				MaxRows: u.MaxRows,
			},
		})
	if c.bench {
		c.add("privacy.unit", "privacy.unit cannot be used in an experiment, which is not private",
			"remove it; only `dptrain fit` supports it")
	}
}

func (c *checker) ledgerAndOutput() {
	if l := c.r.Ledger; l != nil {
		if l.Dataset == "" {
			c.add("ledger.dataset",
				"ledger.dataset is required: it names the data set whose runs the ledger adds up",
				"")
		}
		if l.Path == "" {
			c.add(
				"ledger.path",
				"ledger.path is empty",
				"remove it to use "+DefaultLedger,
			)
		}
	}
	c.checkAbout()
	if c.r.Output.Dir == "" {
		c.add("output.dir", "output.dir is empty", "remove it to use out")
	}
	c.path("data.path", c.r.Data.Path)
	c.path("output.dir", c.r.Output.Dir)
	if c.r.Ledger != nil {
		c.path("ledger.path", c.r.Ledger.Path)
	}
}

// mostAbout is the maximum number of characters of a text of the section about.
const mostAbout = 500

// checkAbout checks that the texts about the release are short and of one line.
func (c *checker) checkAbout() {
	for _, f := range c.r.About.Fields() {
		key := "about." + f.Key
		switch {
		case strings.ContainsFunc(f.Text, unicode.IsControl):
			c.add(
				key,
				key+" has a line break or another control character",
				"write it on one line",
			)
		case utf8.RuneCountInString(f.Text) > mostAbout:
			c.add(key, fmt.Sprintf("%s is longer than %d characters", key, mostAbout),
				"shorten it, or link to a page with the details")
		}
	}
}

// path rejects line ends and other control characters in a file name, because output that contains them would
// be misread.
func (c *checker) path(key, name string) {
	if strings.ContainsFunc(name, unicode.IsControl) {
		c.add(
			key,
			key+" contains a control character: "+quoted(name),
			"use a name without one",
		)
	}
}

// mostHint is the remedy for a number of classes in a run that finds no classes.
func mostHint(task string) string {
	if task == "classification" {
		return "remove it"
	}
	return "remove it, or set task: classification (--task classification)"
}
