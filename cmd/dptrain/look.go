package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	tablecell "github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/ui/look"
)

const lookLong = `Profile the cells of a table for its owner, before the first run:

  look/curator/look.txt: for each column the shares of numbers, text and missing
  values and the likely format of numbers and dates; whether the target holds
  classes; and a recipe with these settings

That file has no privacy guarantee and no budget covers it, so it must not be
published. You may copy the format of the table (separators, character sets,
date layouts) into a recipe, but not its contents (values, ranges, categories),
unless they are public knowledge. None of it is printed. A ledger, if there is
one, records that the table was profiled.`

// lookFlags are the flags of look.
type lookFlags struct {
	target  string
	out     string
	ledger  string
	dataset string
	force   bool
	json    bool
	format  keyValues
}

func lookCommand(a *app) *cobra.Command {
	var flags lookFlags
	cmd := &cobra.Command{
		Use:   "look TABLE",
		Short: "Profile a table for its owner (not private)",
		Long:  lookLong,
		Example: `  dptrain look export.csv --target stay
  dptrain look export.csv --separator ';' --dataset clinic`,
		Args: exactly(1, "one table"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.look(cmd.Context(), args[0], &flags)
		},
	}
	set := cmd.Flags()
	set.SortFlags = false
	set.StringVar(&flags.target, "target", "",
		"predict this `COLUMN` in the recipe (default the last)")
	set.StringVar(&flags.out, "out", "look", "write curator/ to `FOLDER`")
	set.BoolVar(&flags.force, "force", false, "overwrite an existing look.txt")
	set.StringVar(&flags.dataset, "dataset", "",
		"record it in a ledger, under this data set `NAME`")
	set.StringVar(&flags.ledger, "ledger", recipe.DefaultLedger, "ledger `FILE`")
	flags.format.add(cmd)
	completeFlags(cmd, map[string]cobra.CompletionFunc{"target": ofHeader("")})
	jsonFlag(cmd, &flags.json, oneObject)
	return cmd
}

// lookFormat is the value of the key "format" of `look --json`.
const lookFormat = "dptrain.look/1"

// look examines a table and writes the results for its owner. Its output and its error do not depend on any record.
func (a *app) look(ctx context.Context, path string, flags *lookFlags) error {
	data, err := flags.format.apply(recipe.Data{Path: path})
	if err != nil {
		return err
	}
	reading := data.Reading()
	if flags.target != "" {
		reading.Known = []string{flags.target}
	}
	heading, err := dataset.ReadHeading(path, reading)
	if err != nil {
		return err
	}
	printNotes(a.stderr, path, heading.Notes)
	header := heading.Names
	if flags.target != "" && !slices.Contains(header, flags.target) {
		return recipe.ErrTargetAbsent
	}
	file, err := report.PrepareLook(flags.out, flags.force)
	if err != nil {
		return err
	}
	defer file.Close()
	if flags.dataset != "" {
		_, err := a.openLedger(flags.ledger).Note(ctx,
			ledger.Note{
				Dataset: flags.dataset,
				Table:   entry.RealPath(path),
				What:    ledger.NoteLook,
			})
		if err != nil {
			return entry.Hint(ctx, err, flags.ledger, entry.Run{})
		}
	}
	a.stage("read")
	seen, err := look.CountCells(ctx, path, reading)
	if err != nil {
		return err
	}
	a.stage("write")
	if err := file.Commit(ctx, func(w io.Writer) error {
		return writeLook(w, data, header, flags.target, seen)
	}); err != nil {
		return err
	}
	private := filepath.Join(flags.out, report.CuratorDir, report.LookFile)
	if flags.json {
		return writeJSON(a.stdout, privateFile{lookFormat, private})
	}
	_, err = fmt.Fprint(a.stdout,
		report.Paragraph("Private",
			fmt.Sprintf(
				"%s holds the profile of the table and a recipe. It depends on the records without any privacy guarantee: "+
					"it is for the data owner only. This text and the exit code do not depend on its content.",
				private)))
	return err
}

// privateFile returns the path of a file that only the data owner may read.
type privateFile struct {
	Format  string `json:"format"`
	Private string `json:"private"`
}

const lookNotice = `Profile of a table, for the data owner only. It was counted on the records
themselves, without any privacy guarantee. Do not publish or share it.

Safe to use: the format of the table. Separators, decimal marks, character sets,
date layouts, and whether a column holds numbers, dates or text depend on how
the table was exported, not on who is in it.

Not safe to use: the contents of the table. Do not declare categories, ranges or
a number for missing values because you saw them here or in the table. Declare
what is public knowledge and leave out the rest: it is found privately.
`

// writeLook writes the description of a table with a proposed recipe.
func writeLook(
	w io.Writer,
	data recipe.Data,
	header []string,
	target string,
	seen *look.Table,
) error {
	var b strings.Builder
	b.WriteString(lookNotice)
	fmt.Fprintf(&b, "\n%s: %d records\n\n", data.Path, seen.Rows)
	width := len("column")
	for i := range seen.Columns {
		width = max(width, text.RuneWidthWithoutEscSequences(seen.Columns[i].Name))
	}
	width = min(width, 30)
	fmt.Fprintf(
		&b,
		"%-*s  numbers   text  missing   distinct  looks like\n",
		width,
		"column",
	)
	proposed := proposedFormat(&data, seen)
	data.Columns = map[string]recipe.Column{}
	for i := range seen.Columns {
		c := &seen.Columns[i]
		declared, what := guess(c, proposed)
		if (declared.Date != "" || declared.Categories.Declared()) &&
			c.Name != cmp.Or(target, header[len(header)-1]) {
			data.Columns[c.Name] = declared
		}
		values := fmt.Sprint(c.Values)
		if c.Many {
			values = fmt.Sprintf(">%d", look.MostValues-1)
		}
		fmt.Fprintf(&b, "%s  %7s  %5s  %7s  %9s  %s\n",
			text.Pad(text.Trim(c.Name, width), width, ' '), share(c.Plain, seen.Rows),
			share(c.Text, seen.Rows), share(c.Missing, seen.Rows), values, what)
	}
	unit, propose := proposedUnit(&b, seen, cmp.Or(target, header[len(header)-1]))
	delete(data.Columns, unit.Column) // the unit is not a feature
	classes := proposedClasses(
		&b,
		seen,
		cmp.Or(target, header[len(header)-1]),
		proposed,
	)
	proposedEncoding(&b, &data, seen)
	proposedFold(&b, &data, seen)
	writePressures(&b, seen)
	b.WriteString("\nA recipe with the format of the table, but none of its contents:\n\n")
	starter, err := data.InitUnit(header, target, unit, propose, classes)
	if err != nil {
		return err
	}
	b.Write(starter)
	_, err = io.WriteString(w, b.String())
	return err
}

// proposedUnit writes which column may identify the person behind each record, and returns the unit for the recipe.
// propose is true if only the values of that column are evidence; the recipe then contains the unit as a comment.
func proposedUnit(
	b *strings.Builder,
	seen *look.Table,
	target string,
) (unit recipe.Unit, propose bool) {
	best := -1
	byName := false
	for i := range seen.Columns {
		c := &seen.Columns[i]
		looks, named := c.Identifies(seen.Rows)
		if c.Name == target || !looks || best >= 0 && (byName || !named) {
			continue
		}
		best = i
		byName = named
	}
	if best < 0 {
		return unit, false
	}
	c := &seen.Columns[best]
	unit = recipe.Unit{
		Column:  c.Name,
		MaxRows: recipe.ProposedMaxRows,
	}
	how := "Its values look like names or codes, so the recipe contains this line as a comment."
	if byName {
		how = "Its name suggests the same, so the recipe contains this line: delete it if the column does not identify the owner of a record."
	}
	b.WriteString("\n" +
		report.Paragraph("Unit",
			fmt.Sprintf(
				"Column %s has about %.0f different values in %d records and looks like an identifier. One "+
					"person or thing may therefore have several records, which a run that protects single records would protect less. "+
					"unit: {column: %s, max_rows: %d} protects each value of the column with all its records. %s "+
					"It keeps at most %d records of each, at random, and the noise grows with that number. "+
					"%d is proposed for every table: do not choose max_rows from the contents of this one.",
				printable(c.Name), c.Different(), seen.Rows, printable(c.Name),
				recipe.ProposedMaxRows, how, recipe.ProposedMaxRows, recipe.ProposedMaxRows)))
	return unit, !byName
}

// proposedEncoding writes that a table without a declared character set is not UTF-8, and declares Windows-1252 in the
// recipe, which most such tables have.
func proposedEncoding(b *strings.Builder, data *recipe.Data, seen *look.Table) {
	cells := int64(0)
	for i := range seen.Columns {
		cells += seen.Columns[i].Invalid
	}
	f := recipe.Format{}
	if data.Format != nil {
		f = *data.Format
	}
	if f.Encoding != "" || cells == 0 {
		return
	}
	f.Encoding = "windows-1252"
	data.Format = &f
	b.WriteString("\n" + report.Paragraph("Encoding", fmt.Sprintf(
		"%d cells contain characters that are not valid UTF-8. The recipe reads the table as windows-1252, the usual character set "+
			"of such files in Western Europe: compare some names with the program that exported it.", cells)))
}

// proposedFold writes which columns have values that differ only in case or in blanks, and folds them in the recipe.
func proposedFold(b *strings.Builder, data *recipe.Data, seen *look.Table) {
	var names []string
	for i := range seen.Columns {
		c := &seen.Columns[i]
		if data.Columns[c.Name].Categories.Declared() && c.Variants() > 0 {
			names = append(names, printable(c.Name))
		}
	}
	if data.Fold != "" || len(names) == 0 {
		return
	}
	data.Fold = tablecell.FoldCase
	b.WriteString("\n" + report.Paragraph("Spelling", fmt.Sprintf(
		"Some values of %s differ only in upper and lower case or in blanks. The recipe has fold: case, "+
			"which treats them as one value: delete the line if they mean different things.",
		strings.Join(names, ", "))))
}

// writePressures writes which columns have blood pressures, and that only their first values are used.
func writePressures(b *strings.Builder, seen *look.Table) {
	var names []string
	for i := range seen.Columns {
		c := &seen.Columns[i]
		if holdsPressures(c) {
			names = append(names, printable(c.Name))
		}
	}
	if len(names) == 0 {
		return
	}
	b.WriteString("\n" + report.Paragraph("Pressure", fmt.Sprintf(
		"Cells of %s are pairs such as 144/94. Only the first value, 144, is used, and the second is ignored. To use both, "+
			"split the column in two, such as systolic and diastolic, in the table itself before the first run.",
		strings.Join(names, ", "))))
}

// holdsPressures reports whether at least half of the texts of a column are blood pressures.
func holdsPressures(c *look.Column) bool {
	return c.Pressures > 0 && 2*c.Pressures >= c.Text
}

// fewValues is the maximum number of distinct values of a numeric target that may be classes.
const fewValues = 10

// proposedClasses writes a description of the target and returns the classes for the recipe. Classes are not
// declared for a regression.
//
// Whether a column holds text is a property of the export. The number of its values is a property of the data, so
// the recipe does not contain it.
func proposedClasses(
	b *strings.Builder,
	seen *look.Table,
	target, proposed string,
) recipe.Names {
	k := slices.IndexFunc(seen.Columns, func(c look.Column) bool {
		return c.Name == target
	})
	c := &seen.Columns[k]
	say := func(text string) {
		b.WriteString("\n" + report.Paragraph("Target", text))
	}
	declared, _ := guess(c, proposed)
	switch few := !c.Many && c.Values <= fewValues && c.Values > 0; {
	case declared.Categories.Declared() && c.Values < 2:
		say("It has only one value, so there is nothing to learn.")
		return recipe.Private()
	case declared.Categories.Declared():
		say(fmt.Sprintf(
			"It contains text, so the recipe is for classification. Up to %d classes are found privately. If the classes are public knowledge, list them in data.classes. "+
				"Do not copy them from this file or the table: which classes occur is private.",
			pipeline.DefaultMostClasses))
		return recipe.Private()
	case few && declared.Date == "":
		say(fmt.Sprintf(
			"It has %d different values, which may be classes. If it is public knowledge that they are, set task: classification and data.classes: private, "+
				"or run dptrain init with --task classification. This recipe does not, because the values that occur are private.",
			c.Values))
	}
	return recipe.Names{}
}

// proposedFormat adds the settings with which most texts become numbers to the data format, and returns a
// description of the added settings.
func proposedFormat(data *recipe.Data, seen *look.Table) string {
	var comma, thousands, lenient int64
	for i := range seen.Columns {
		c := &seen.Columns[i]
		comma += c.Comma
		thousands += c.Thousands
		lenient += c.Lenient
	}
	f := recipe.Format{}
	if data.Format != nil {
		f = *data.Format
	}
	switch {
	case f.Decimal != "" || f.Thousands != "" || max(comma, thousands) <= lenient:
		return ""
	case thousands >= comma:
		f.Thousands = ","
		data.Format = &f
		return "thousands"
	}
	f.Decimal, f.Thousands, data.Format = ",", ".", &f // the point is then no decimal mark
	return "comma"
}

// guess returns a possible declaration of a column and a description of its cells.
func guess(c *look.Column, proposed string) (recipe.Column, string) {
	full := c.Plain + c.Text
	best := ""
	most := int64(0)
	for k, layout := range look.Layouts() {
		if c.Dates[k] > most {
			best = layout
			most = c.Dates[k]
		}
	}
	numbers := c.Plain + c.Lenient
	how := "numbers"
	switch {
	case proposed == "comma" && c.Plain+c.Comma > numbers:
		numbers = c.Plain + c.Comma
		how = "numbers with decimal commas"
	case proposed == "thousands" && c.Plain+c.Thousands > numbers:
		numbers = c.Plain + c.Thousands
		how = "numbers with thousands commas"
	case holdsPressures(c):
		how = "pairs like 144/94: only the first value is used"
	case c.Lenient > 0:
		how = "informal numbers, like 45 yrs or <5"
	}
	switch {
	case full == 0:
		return recipe.Column{}, "empty"
	case 2*most > full && best != "20060102":
		return recipe.Column{Date: best}, "dates: " + best
	case 2*numbers > full && c.Many:
		return recipe.Column{}, how + "; exclude it if it identifies records"
	case 2*numbers > full:
		return recipe.Column{}, how
	case c.Many || 2*int64(c.Values) > full && full > 100:
		return recipe.Column{}, "text, mostly distinct; exclude it if it identifies records"
	}
	return recipe.Column{Categories: recipe.Private()}, "categories, to be found privately"
}

// share formats part of all records as a percentage.
func share(part, all int64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(all))
}
