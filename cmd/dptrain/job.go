package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/celltypes"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// recipeFlags are the flags that stand for keys of a recipe.
type recipeFlags struct {
	data, target, epsilon, delta, out, relation, task string
	ledger, dataset                                   string
	choose, rounds, fallback                          string
	exclude, classes, shares, settings                []string
	holdout                                           float64
	format                                            formatFlags
	declare                                           declareFlags
	causal                                            *causalFlags   // of the verb causal; nil for every other
	describe                                          *describeFlags // of the verb describe; nil for every other
	stdin                                             io.Reader      // for --data -
	notes                                             io.Writer      // where notes about the header go
	set                                               *pflag.FlagSet
}

// dataUsage is the help of --data.
const dataUsage = "the table: a `FILE` .csv, .tsv, .jsonl (also .gz), .parquet, .xlsx, .arrow or .feather, a pattern such as 'visits-*.csv', or - for CSV on standard input (-.jsonl for JSON Lines)"

// add declares the flags on a verb.
func (f *recipeFlags) add(set *pflag.FlagSet) {
	f.set = set
	set.SortFlags = false
	set.StringVar(&f.data, "data", "", dataUsage)
	set.StringVar(&f.target, "target", "", "the `COLUMN` to predict")
	set.StringVar(&f.task, "task", "", "what the target is, by `NAME`: regression (default) or classification")
	set.StringSliceVar(&f.classes, "classes", nil, "the `CLASSES` of the target, for classification: no,yes (default private: they are found)")
	set.StringVar(&f.epsilon, "epsilon", "", "the privacy budget: a `NUMBER` above 0, or 'ln(3)'")
	set.StringVar(&f.delta, "delta", "", "a public `NUMBER`, at least 1e-10 (default 1e-6)")
	set.StringVar(&f.relation, "relation", "", "what is hidden, by `NAME`: add-remove (default), substitute, or substitute-private-columns with --private")
	set.StringSliceVar(&f.exclude, "exclude", nil, "`COLUMNS` that are not features: id,zip")
	set.Float64Var(&f.holdout, "holdout", 0, "the `SHARE` of records kept for the held-out metric (default 0.2)")
	set.StringSliceVar(&f.shares, "budget", nil, "how the training divides the budget, by `STAGE=SHARE`: selection=0.05,model=0.9 (stages: count, words, ranges, selection, model, fallback, transform)")
	set.StringVar(&f.choose, "k", "", "how many columns to choose, a `NUMBER`")
	set.StringVar(&f.rounds, "rounds", "", "rounds of boosting, a `NUMBER`")
	set.StringVar(&f.fallback, "fallback", "", "what is trained in case --method makes no model, by `NAME`")
	set.StringArrayVar(&f.settings, "set", nil, "any other key of a recipe, `KEY=VALUE`, such as model.rounds=3; may be repeated")
	set.StringVar(&f.dataset, "dataset", "", "enter the run in a ledger, under this `NAME` of the data set")
	set.StringVar(&f.ledger, "ledger", "", "the ledger: a `FILE` (default dptrain.ledger)")
	f.declare.add(set)
	f.format.add(set)
}

// addCausal declares the flags of causal.
func (f *recipeFlags) addCausal(set *pflag.FlagSet) {
	f.set, f.causal.changed = set, set.Changed
	set.SortFlags = false
	set.StringVar(&f.data, "data", "", dataUsage)
	set.StringSliceVar(&f.causal.names, "columns", nil, "two or more numeric `COLUMNS`: x,y")
	set.StringArrayVar(&f.causal.ranges, "range", nil, "a public range, `NAME=LOWER:UPPER`; may be repeated")
	set.StringVar(&f.epsilon, "epsilon", "", "the privacy budget: a `NUMBER` above 0, or 'ln(3)'")
	set.StringVar(&f.delta, "delta", "", "a public `NUMBER`, 0 or at least 1e-10 (default 0)")
	set.StringVar(&f.relation, "relation", "", "what is hidden, by `NAME`: add-remove (default) or substitute")
	set.IntVar(&f.causal.bins, "bins", 0, "the `NUMBER` of bins per column, 4 to 32 (default by a noisy count)")
	set.StringVar(&f.causal.method, "method", "", "`NAME`: histogram (default) or anm, the baseline")
	set.StringVar(&f.causal.score, "score", "", "of anm, by `NAME`: "+strings.Join(direction.Baselines(), ", "))
	set.StringVar(&f.causal.protect, "protect", "", "of anm, by `NAME`: all (default) or test, which leaves the training records unprotected")
	set.StringVar(&f.dataset, "dataset", "", "enter the run in a ledger, under this `NAME` of the data set")
	set.StringVar(&f.ledger, "ledger", "", "the ledger: a `FILE` (default dptrain.ledger)")
	f.format.add(set)
}

// addOut declares --out, for the verb that writes.
func (f *recipeFlags) addOut(set *pflag.FlagSet) {
	set.StringVar(&f.out, "out", "", "the `FOLDER` for release/ and curator/ (default out)")
}

// keys says which key of the recipe a flag stands for.
func (f *recipeFlags) keys() map[string]string {
	keys := flagKeys()
	maps.Copy(keys, formatKeys)
	if f.causal == nil {
		maps.Copy(keys, declareKeys)
	}
	if f.describe != nil {
		keys["columns"], keys["by"] = "describe.columns", "describe.by"
	}
	return keys
}

// flagKeys says so of flags that are not in a group.
func flagKeys() map[string]string {
	return map[string]string{
		"data": "data.path", "target": "data.target", "epsilon": "privacy.epsilon", "delta": "privacy.delta",
		"out": "output.dir", "relation": "privacy.relation", "exclude": "data.exclude", "holdout": "holdout",
		"k": "selection.k", "rounds": "model.rounds", "fallback": "model.fallback",
		"task": "task", "classes": "data.classes", "budget": "budget",
		"ledger": "ledger.path", "dataset": "ledger.dataset",
		"columns": "causal.columns", "bins": "causal.bins", "range": "data.columns",
		"method": "causal.method", "score": "causal.score", "protect": "causal.protect",
	}
}

// job is a run that was asked for: a recipe with the flags laid over it.
type job struct {
	recipe   *recipe.Recipe
	table    string            // path of the table
	ledger   string            // path of the ledger; empty for none
	blame    map[string]string // flag by the key it replaced
	note     string            // label of the run in the ledger
	without  string            // path of the ledger of a published recipe, which is not there
	bare     bool              // there is no recipe file: what is missing is a missing flag
	header   []string          // of the table; set by prepare
	stdin    io.Reader         // for a table that is -
	notes    io.Writer         // where notes about the header go; nil for nowhere
	connect  string            // where the cluster is
	progress *progressLine
}

// load reads the recipe named in args, if any, and lays the flags over it. All
// problems are reported together.
func (f *recipeFlags) load(args []string) (*job, error) {
	j := &job{blame: map[string]string{}, stdin: f.stdin, notes: f.notes}
	keys := f.keys()
	for _, flag := range slices.Sorted(maps.Keys(keys)) {
		key := keys[flag]
		if !f.set.Changed(flag) {
			continue
		}
		if given := f.set.Lookup(flag).Value.String(); given == "" {
			return nil, usagef("--%s is empty: give a value, or leave the flag out", flag)
		}
		if j.blame[key] != "" { // several flags stand for the columns
			flag = strings.TrimPrefix(j.blame[key], "--") + " or --" + flag
		}
		j.blame[key] = "--" + flag
	}
	settings, err := f.settingsOf()
	if err != nil {
		return nil, err
	}
	if len(args) == 0 {
		return f.loadFlags(j, settings)
	}
	base, err := recipe.Options{Set: settings}.Load(args[0])
	if err != nil {
		return nil, err
	}
	if j.notes != nil {
		for _, note := range base.Notes() {
			fmt.Fprintf(j.notes, "%s: note: %s\n", args[0], note)
		}
	}
	j.recipe, j.table, j.ledger = base, base.DataFile(), base.LedgerFile()
	if j.queries() || j.onSpark() {
		if j.blame["data.path"] == "" {
			j.table = tableOfQuery
		} else {
			base.Data.SQL, base.Data.Spark = nil, "" // --data takes its place
		}
	}
	or := func(value, instead string) string {
		if value == "" {
			return instead
		}
		return value
	}
	over, problems := recipe.FromFlags(recipe.Flags{
		Data: or(f.data, or(base.Data.Path, "table.csv")), Target: or(f.target, base.Data.Target), Epsilon: or(f.epsilon, "1"), Delta: f.delta, Out: f.out,
		Columns: f.columns(base), Set: settings})
	if len(problems) > 0 {
		return nil, problems
	}
	if err := f.lay(j, over); err != nil {
		return nil, err
	}
	if _, err := os.Stat(j.ledger); errors.Is(err, fs.ErrNotExist) && j.table == "" && j.blame["ledger.path"] == "" {
		j.ledger, j.without = "", j.ledger // no row is read without a table, so nothing is spent
	}
	if err := f.causal.lay(j); err != nil {
		return nil, err
	}
	return j, j.explain(j.recipe.Check())
}

// settingsOf reads the flags --set. A method and a selection that flags name are settings then too, as what is set may belong
// to them.
func (f *recipeFlags) settingsOf() ([]recipe.Setting, error) {
	var out []recipe.Setting
	for _, text := range f.settings {
		path, value, found := strings.Cut(text, "=")
		if !found || strings.TrimSpace(path) == "" {
			return nil, usagef("--set: %q is not KEY=VALUE, such as model.rounds=3", text)
		}
		out = append(out, recipe.Setting{Path: strings.TrimSpace(path), Value: strings.TrimSpace(value)})
	}
	for _, given := range []recipe.Setting{
		{Path: "selection.k", Value: f.choose, Flag: "--k"}, {Path: "model.fallback", Value: f.fallback, Flag: "--fallback"},
		{Path: "model.rounds", Value: f.rounds, Flag: "--rounds"},
	} {
		if given.Value != "" {
			out = append(out, given)
		}
	}
	if delta, err := strconv.ParseFloat(f.delta, 64); err == nil && delta == 0 {
		// Whether a run may have it depends on other flags, so the rules are put to all of them together.
		out = append(out, recipe.Setting{Path: "privacy.delta", Value: "0", Flag: "--delta"})
	}
	if len(out) == 0 {
		return nil, nil
	}
	for path, name := range map[string]string{"selection.method": f.declare.selection, "model.method": f.declare.method} {
		if name != "" {
			out = append(out, recipe.Setting{Path: path, Value: name})
		}
	}
	return out, nil
}

// loadFlags makes the job of a run without a recipe file.
func (f *recipeFlags) loadFlags(j *job, settings []recipe.Setting) (*job, error) {
	given := recipe.Flags{Data: f.data, Target: f.target, Epsilon: f.epsilon, Delta: f.delta, Out: f.out, Columns: f.columns(nil), Set: settings}
	build := func() (*recipe.Recipe, recipe.Problems) { return recipe.FromFlags(given) }
	if f.describe != nil {
		build = func() (*recipe.Recipe, recipe.Problems) { return recipe.ForDescription(given, f.describe.asked()) }
	}
	r, problems := build()
	if len(problems) > 0 {
		return nil, problems
	}
	j.recipe, j.table, j.bare = r, r.DataFile(), true
	if err := f.lay(j, r); err != nil {
		return nil, err
	}
	if err := f.causal.lay(j); err != nil {
		return nil, err
	}
	return j, j.explain(j.recipe.Check())
}

// noted is load for a run that a ledger may keep with a note.
func (f *recipeFlags) noted(args []string, note string) (*job, error) {
	j, err := f.load(args)
	if err != nil {
		return nil, err
	}
	if j.note = note; note != "" && j.ledger == "" {
		return nil, usagef("--note is a label in a ledger: name the data set with --dataset")
	}
	return j, nil
}

// lay copies what was given as a flag into the recipe; over holds the values of
// the flags that package recipe reads.
func (f *recipeFlags) lay(j *job, over *recipe.Recipe) error {
	r := j.recipe
	if err := f.declare.lay(r); err != nil {
		return err
	}
	if (j.blame["ledger.path"] != "" || j.blame["ledger.dataset"] != "") && r.Ledger == nil {
		j.ledger = recipe.DefaultLedger
		r.Ledger = &recipe.Ledger{Path: j.ledger}
	}
	for key := range j.blame {
		switch key {
		case "data.path":
			r.Data.Path, j.table = over.Data.Path, over.Data.Path
		case "data.target":
			r.Data.Target = over.Data.Target
		case "privacy.epsilon":
			r.Privacy.Epsilon = over.Privacy.Epsilon
		case "privacy.delta":
			r.Privacy.Delta = over.Privacy.Delta
		case "output.dir":
			r.Output.Dir = over.Output.Dir
		case "privacy.relation":
			r.Privacy.Relation = f.relation
		case "data.exclude":
			r.Data.Exclude = f.exclude
		case "task":
			r.Task = f.task
		case "data.classes":
			r.Data.Classes = recipe.NamesOf(f.classes)
		case "holdout":
			r.Holdout = f.holdout
		case "budget":
			if err := layShares(r, f.shares); err != nil {
				return err
			}
		case "ledger.path":
			r.Ledger.Path, j.ledger = f.ledger, f.ledger
		case "ledger.dataset":
			r.Ledger.Dataset = f.dataset
		}
	}
	if f.declare.transform != "" && r.Data.Target != "" {
		r.Data.SetTransform(f.declare.transform)
	}
	if f.format.set == nil {
		return nil
	}
	return f.format.lay(&r.Data)
}

// layShares sets the shares of the flag --budget, which take the place of those of the recipe stage by stage.
func layShares(r *recipe.Recipe, list []string) error {
	for _, item := range list {
		stage, text, found := strings.Cut(item, "=")
		share, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		switch {
		case !found || err != nil:
			return usagef("--budget: %q is not STAGE=SHARE, such as selection=0.05", item)
		case !(share > 0 && share < 1):
			return usagef("--budget: the share of %s must be above 0 and below 1, not %s", stage, strings.TrimSpace(text))
		case !r.SetShare(strings.TrimSpace(stage), share):
			return usagef("--budget: there is no stage %q; the stages are %s", stage, strings.Join(recipe.Stages(), ", "))
		}
	}
	r.SettleShares()
	return nil
}

// pipeline returns the run for a table with this header.
func (j *job) pipeline(ctx context.Context, header []string) (*pipeline.Pipeline, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	problems := j.recipe.Validate(header)
	if slices.ContainsFunc(problems, isAbsent) {
		return nil, fault.WithKind(fault.Data, j.explain(problems))
	}
	if len(problems) > 0 {
		return nil, j.explain(problems)
	}
	if err := j.checkTypes(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return j.recipe.Pipeline(header)
}

// checkTypes compares the run with the types that the schema of its file states, if there is one. No row is read.
func (j *job) checkTypes() error {
	if _, piped := tablefile.Stdin(j.table); piped || j.table == "" || j.queries() || j.onSpark() {
		return nil
	}
	return j.explain(j.recipe.CheckTypes(celltypes.Of(j.table)))
}

// checkColumns refuses a table whose file states types of used columns that cannot be read; see [dataset.ReadOptions.CheckColumns].
func (j *job) checkColumns(ctx context.Context, schema dataset.Schema) error {
	if _, piped := tablefile.Stdin(j.table); piped || j.table == "" || j.queries() || j.onSpark() {
		return nil
	}
	return j.readOptions().CheckColumns(ctx, j.table, schema)
}

// isAbsent tells what Validate says about a column that the header lacks.
func isAbsent(p recipe.Problem) bool {
	return strings.HasPrefix(p.Path, "data.") || strings.Contains(p.Path, "selection.features") || strings.HasPrefix(p.Path, "causal.columns[") || strings.HasPrefix(p.Path, "describe.") || p.Path == "privacy.unit.column"
}

// prepare reads the header of the table, if there is one, and prices the run. No row is
// read.
func (j *job) prepare(ctx context.Context) (*pipeline.Pipeline, *pipeline.Plan, error) {
	header, err := j.columns(ctx)
	if err != nil {
		return nil, nil, err
	}
	j.header = header
	p, err := j.pipeline(ctx, header)
	if err != nil {
		return nil, nil, err
	}
	if err := j.checkColumns(ctx, p.Schema); err != nil {
		return nil, nil, err
	}
	plan, err := price(ctx, p)
	if err == nil {
		err = p.Rehearse(ctx, plan)
	}
	return p, plan, j.placed(err)
}

// columns returns the header of the table, or of a recipe without one.
func (j *job) columns(ctx context.Context) ([]string, error) {
	if j.table == "" {
		return j.recipe.Data.Header, nil
	}
	if j.queries() {
		return j.queryColumns(ctx)
	}
	if j.onSpark() {
		return j.sparkColumns(ctx)
	}
	var heading dataset.Heading
	var err error
	name, piped := tablefile.Stdin(j.table)
	if piped {
		heading, j.stdin, err = dataset.HeadingFrom(j.stdin, name, j.readOptions())
	} else {
		name = j.table
		heading, err = dataset.ReadHeading(j.table, j.readOptions())
	}
	if j.notes != nil {
		printNotes(j.notes, name, heading.Notes)
	}
	return heading.Names, err
}

// printNotes writes notes about the header of a table, a line each.
func printNotes(w io.Writer, table string, notes []dataset.Note) {
	for _, n := range notes {
		severity := "note"
		if n.Code != "" {
			severity = "warning[" + n.Code + "]"
		}
		fmt.Fprintf(w, "%s: %s: %s\n", severity, table, n.Text)
	}
}

// read reads the records of the table.
func (j *job) read(ctx context.Context, schema dataset.Schema) (*dataset.Table, *dataset.Stats, error) {
	if j.queries() {
		return j.readQuery(ctx, schema)
	}
	if j.onSpark() {
		return nil, nil, errOnSpark
	}
	if stdin, piped := tablefile.Stdin(j.table); piped {
		return dataset.ReadFrom(ctx, j.stdin, stdin, schema, j.readOptions())
	}
	return dataset.Read(ctx, j.table, schema, j.readOptions())
}

// needsTable refuses a recipe that has a plan and no table.
func (j *job) needsTable() error {
	if j.table != "" {
		return nil
	}
	return j.explain(recipe.Problems{j.recipe.Place(recipe.Problem{Path: "data.path", Msg: "data.path is required: the table to learn from", Hint: "add it, or give --data"})})
}

// price plans a run.
func price(ctx context.Context, p *pipeline.Pipeline) (*pipeline.Plan, error) {
	plan, err := p.PlanContext(ctx)
	if err != nil && ctx.Err() == nil && fault.KindOf(err) == fault.Internal { // what the recipe describes has no plan
		err = fault.WithKind(fault.Recipe, err)
	}
	return plan, err
}

// placed says where in the recipe the field of an error stands.
func (j *job) placed(err error) error {
	var wrong *fault.Error
	if !errors.As(err, &wrong) || wrong.Field == "" || wrong.Kind != fault.Recipe {
		return err
	}
	return j.explain(recipe.Problems{j.recipe.Place(recipe.Problem{Path: wrong.Field, Msg: wrong.Message, Hint: wrong.Hint})})
}

// holdable refuses a table that cannot be held; see [entry.Holdable].
func (j *job) holdable(p *pipeline.Pipeline, copies int) error {
	return entry.Holdable(j.table, len(j.header), p.Schema, copies)
}

// readOptions returns how the table is read. The columns that the recipe names as the target, the unit and the subject of a
// causal study are known to be in the header.
func (j *job) readOptions() dataset.ReadOptions {
	o := j.recipe.Data.Reading()
	if target := j.recipe.Data.Target; target != "" {
		o.Known = append(o.Known, target)
	}
	if u := j.recipe.Privacy.Unit; u != nil && u.Column != "" {
		o.Known = append(o.Known, u.Column)
	}
	if c := j.recipe.Causal; c != nil {
		o.Known = append(o.Known, c.Columns...)
	}
	if d := j.recipe.Description; d != nil {
		o.Known = append(o.Known, d.Columns...)
		if d.By != "" {
			o.Known = append(o.Known, d.By)
		}
	}
	return o
}

// explain makes an error of problems, nil if there are none, in which problems
// of a key that a flag replaced name the flag.
func (j *job) explain(problems recipe.Problems) error {
	if len(problems) == 0 {
		return nil
	}
	lines := make([]string, len(problems))
	for i, p := range problems {
		if flag := j.flagOf(p.Path); flag != "" {
			msg := p.Msg
			if formatKeys[flag[2:]] == p.Path || declareKeys[flag[2:]] == p.Path { // the flag stands for it
				msg = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(msg, p.Path), ":"), " ")
			}
			if strings.HasSuffix(p.Path, ".transform") {
				msg = strings.TrimPrefix(msg, p.Path+": ")
			}
			p = recipe.Problem{Msg: flag + ": " + msg, Hint: p.Hint}
		}
		lines[i] = p.Error()
	}
	err := error(&explained{errors.New(strings.Join(lines, "\n")), problems})
	return err
}

// flagOf returns the flag that replaced the key at path or one that holds it.
// Without a recipe file it is the flag that stands for the key, given or not, and
// so it is with the keys of a ledger that flags alone asked for.
func (j *job) flagOf(path string) string {
	for key, flag := range j.blame {
		if path == key || strings.HasPrefix(path, key+"[") || strings.HasPrefix(path, key+".") {
			return flag
		}
	}
	if j.bare || path == "ledger.dataset" && j.blame["ledger.path"] != "" {
		for flag, key := range flagKeys() {
			if path == key {
				return "--" + flag
			}
		}
	}
	return ""
}

// explained is Problems with another text.
type explained struct {
	error
	problems recipe.Problems
}

func (e *explained) Unwrap() []error { return []error{e.problems} }
