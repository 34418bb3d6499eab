package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/celltypes"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// recipeFlags holds the flags that set keys of a recipe, and the streams of a run.
type recipeFlags struct {
	keyValues
	table string    // the argument of describe
	stdin io.Reader // for --data -
	notes io.Writer // receives notes about the header
}

// A job is a requested run: a recipe overridden by flags.
type job struct {
	recipe   *recipe.Recipe
	table    string      // path of the table
	ledger   string      // path of the ledger, or empty
	note     string      // label of the run in the ledger
	without  string      // path of the ledger of a published recipe, which does not exist here
	header   []string    // of the table; set by prepare
	stdin    io.Reader   // for the table "-"
	notes    *rowCounter // receives notes about the header; may be nil
	connect  string      // address of the cluster
	progress *progressLine
}

// load reads the recipe named in args, if any, and applies the flags. It reports all problems together.
func (f *recipeFlags) load(args []string) (*job, error) {
	settings, err := f.settings()
	if err != nil {
		return nil, err
	}
	o := recipe.Options{
		Set:   settings,
		Flags: flagsByKey(f.command),
	}
	switch f.command {
	case "causal":
		o.Task = recipe.TaskCausal
	case "describe":
		o.Set = append(o.Set, recipe.SetText("TABLE", "data.path", f.table))
		o.Description = f.description()
	}
	r, err := readRecipe(o, args)
	if err != nil {
		return nil, err
	}
	var notes *rowCounter
	if f.notes != nil {
		notes = &rowCounter{to: f.notes}
		for _, note := range r.Notes() {
			fmt.Fprintf(
				notes,
				"%s: note: %s\n",
				cmp.Or(strings.Join(args, ""), "dptrain"),
				note,
			)
		}
	}
	j := &job{
		recipe: r,
		table:  r.DataFile(),
		ledger: r.LedgerFile(),
		stdin:  f.stdin,
		notes:  notes,
	}
	if j.queries() || j.onSpark() {
		j.table = tableOfQuery
	}
	if _, err := os.Stat(j.ledger); errors.Is(err, fs.ErrNotExist) && j.table == "" &&
		!r.SetByFlag("ledger.path") {
		j.ledger, j.without = "", j.ledger // without a table no row is read, so no budget is spent
	}
	return j, nil
}

// readRecipe reads the recipe named in args, or builds one from the settings alone.
func readRecipe(o recipe.Options, args []string) (*recipe.Recipe, error) {
	if len(args) > 0 {
		return o.Load(args[0])
	}
	r, problems := o.FromSettings()
	return r, problems.Err()
}

// loadForLedger is load for a run with a ledger note.
func (f *recipeFlags) loadForLedger(args []string, note string) (*job, error) {
	j, err := f.load(args)
	if err != nil {
		return nil, err
	}
	if j.note = note; note != "" && j.ledger == "" {
		return nil, usagef("--note needs a ledger: name the data set with --dataset")
	}
	return j, nil
}

// pipeline returns the pipeline for a table with this header.
func (j *job) pipeline(
	ctx context.Context,
	header []string,
) (*pipeline.Pipeline, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if err := j.validate(header); err != nil {
		return nil, err
	}
	if err := j.checkTypes(header); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return j.recipe.Pipeline(header)
}

// checkTypes checks the columns against the types in the schema of the file, if it has one, and notes undeclared dates.
// It reads no row.
func (j *job) checkTypes(header []string) error {
	if j.table == "" || j.queries() || j.onSpark() {
		return nil
	}
	types := j.cellTypes()
	if dates := j.recipe.UndeclaredDates(header, types); j.notes != nil && len(dates) > 0 {
		printNotes(j.notes, j.table, []dataset.Note{{Text: fmt.Sprintf(
			"the dates in %q are read as text; add --date %s=auto (data.columns, date: auto) to use their days, months and weekdays",
			dates, printable(dates[0]))}})
	}
	return j.recipe.CheckTypes(types).Err()
}

// cellTypes returns the column types in the schema of the table, once [job.columns] has read its header. Text has no types.
func (j *job) cellTypes() map[string]celltypes.Type {
	name, piped := tablefile.Stdin(j.table)
	if !piped {
		return celltypes.Read(j.table)
	}
	if held, ok := j.stdin.(*bytes.Reader); ok {
		return celltypes.ReadHeld(name, held)
	}
	return nil
}

// checkColumns returns an error if the file declares an unsupported type for a used column; see
// [dataset.ReadOptions.CheckColumns].
func (j *job) checkColumns(ctx context.Context, schema dataset.Schema) error {
	if j.table == "" || j.queries() || j.onSpark() {
		return nil
	}
	if name, piped := tablefile.Stdin(j.table); piped {
		return j.readOptions().CheckColumnsFrom(ctx, j.stdin, name, schema)
	}
	return j.readOptions().CheckColumns(ctx, j.table, schema)
}

// validate checks the recipe against the header of the table. Problems with columns are data errors.
func (j *job) validate(header []string) error {
	problems := j.recipe.Validate(header)
	if problems.AboutHeader() {
		return fault.WithKind(fault.Data, problems)
	}
	return problems.Err()
}

// prepare reads the header of the table, if there is one, and computes the price of the run. It reads no row.
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

// columns returns the header of the table, or the columns listed in the recipe if there is no table.
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
		heading, j.stdin, err = dataset.HeadingFrom(ctx, j.stdin, name, j.readOptions())
	} else {
		name = j.table
		heading, err = dataset.ReadHeading(j.table, j.readOptions())
	}
	if j.notes != nil {
		printNotes(j.notes, name, heading.Notes)
	}
	return heading.Names, err
}

// A rowCounter passes lines on and counts the rows that they take on a terminal of [report.SummaryWidth] columns.
type rowCounter struct {
	to   io.Writer
	rows int
}

func (c *rowCounter) Write(lines []byte) (int, error) {
	for line := range bytes.Lines(lines) {
		length := utf8.RuneCount(bytes.TrimSuffix(line, []byte("\n")))
		c.rows += 1 + max(length-1, 0)/report.SummaryWidth
	}
	return c.to.Write(lines)
}

// noteRows returns the number of rows that notes took on a terminal.
func (j *job) noteRows() int {
	if j.notes == nil {
		return 0
	}
	return j.notes.rows
}

// printNotes prints notes about the header of a table, one per line.
func printNotes(w io.Writer, table string, notes []dataset.Note) {
	for _, n := range notes {
		severity := "note"
		if n.Code != "" {
			severity = "warning[" + n.Code + "]"
		}
		fmt.Fprintf(w, "%s: %s: %s\n", severity, table, n.Text)
	}
}

// read reads all records of the table into memory.
func (j *job) read(
	ctx context.Context,
	schema dataset.Schema,
) (*dataset.Table, *dataset.Stats, error) {
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

// needsTable returns an error for a recipe without a table.
func (j *job) needsTable() error {
	if j.table != "" {
		return nil
	}
	return recipe.Problems{j.recipe.Place(
		recipe.Problem{
			Path: "data.path",
			Msg:  "data.path is required: the table to train on",
			Hint: "add it, or give --data",
		})}
}

// price computes the plan of a run.
func price(ctx context.Context, p *pipeline.Pipeline) (*pipeline.Plan, error) {
	plan, err := p.PlanContext(ctx)
	if err != nil && ctx.Err() == nil && fault.KindOf(err) == fault.Internal { // the recipe has no plan
		err = fault.WithKind(fault.Recipe, err)
	}
	return plan, err
}

// placed adds the position in the recipe, or the flag, to an error about a field.
func (j *job) placed(err error) error {
	var wrong *fault.Error
	if !errors.As(err, &wrong) || wrong.Field == "" || wrong.Kind != fault.Recipe {
		return err
	}
	return recipe.Problems{j.recipe.Place(
		recipe.Problem{
			Path: wrong.Field,
			Msg:  wrong.Message,
			Hint: wrong.Hint,
		})}
}

// checkMemory returns an error if the table does not fit into memory; see [engine.Holdable].
func (j *job) checkMemory(p *pipeline.Pipeline, copies int) error {
	return engine.Holdable(j.table, len(j.header), p.Schema, copies)
}

// readOptions returns the options for reading the table. The columns that the recipe names, such as the target and
// the unit, are marked as known to be in the header.
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
