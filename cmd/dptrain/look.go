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

const lookLong = `Write for the owner of a table what its cells look like, before the first run:

  look/curator/look.txt: by column the shares of numbers, words and missing
  cells, how numbers and dates seem to be written, whether the target holds
  words, which are classes, and a recipe that says so

No guarantee covers that file, and no budget pays for it: it must not be
published. How a table is written (separators, character sets, layouts of dates)
may go into a recipe. What is in it (values, ranges, categories) may not, unless
it is public knowledge. Nothing of it is printed. With a ledger, that the table
was looked at is noted there.`

// lookFlags are the flags of look.
type lookFlags struct {
	target, out     string
	ledger, dataset string
	force, json     bool
	format          keyValues
}

func lookCommand(a *app) *cobra.Command {
	var flags lookFlags
	cmd := &cobra.Command{
		Use:   "look TABLE",
		Short: "Write for the owner of a table what its cells look like",
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
		"the `COLUMN` to predict, for the recipe (default the last one)")
	set.StringVar(&flags.out, "out", "look", "the `FOLDER` that curator/ is in")
	set.BoolVar(&flags.force, "force", false, "replace a look.txt that is there already")
	set.StringVar(&flags.dataset, "dataset", "",
		"note it in a ledger, under this `NAME` of the data set")
	set.StringVar(&flags.ledger, "ledger", recipe.DefaultLedger, "the ledger: a `FILE`")
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
			ledger.Note{Dataset: flags.dataset, Table: entry.RealPath(path), What: ledger.NoteLook})
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
				"%s says what the cells of the table look like, and has a recipe. It depends on the records and no guarantee covers "+
					"it: it is for the owner of the data only. This text and the exit code are the same whatever it says.",
				private)))
	return err
}

// privateFile returns the path of a file that only the data owner may read.
type privateFile struct {
	Format  string `json:"format"`
	Private string `json:"private"`
}

const lookNotice = `What the cells of a table look like, for the owner of the data alone. It was
counted on the records themselves, and no guarantee covers it. Do not publish it
and do not tell anybody of it.

Harmless to use: how the table is written. Separators, decimal marks, character
sets, layouts of dates, and whether a column holds numbers, dates or words say
how the table was exported, and nothing of who is in it.

Not harmless: what is in the table. Do not declare categories, ranges or a
number for missing cells because you saw them here or in the table. Declare what
is public knowledge, and leave the rest out: it is found privately.
`

// writeLook writes the description of a table with a proposed recipe.
func writeLook(
	w io.Writer, data recipe.Data, header []string, target string, seen *look.Table,
) error {
	var b strings.Builder
	b.WriteString(lookNotice)
	fmt.Fprintf(&b, "\n%s: %d records\n\n", data.Path, seen.Rows)
	width := len("column")
	for i := range seen.Columns {
		width = max(width, text.RuneWidthWithoutEscSequences(seen.Columns[i].Name))
	}
	width = min(width, 30)
	fmt.Fprintf(&b, "%-*s  numbers  words  missing  different  looks like\n", width, "column")
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
	classes := proposedClasses(&b, seen, cmp.Or(target, header[len(header)-1]), proposed)
	proposedEncoding(&b, &data, seen)
	proposedFold(&b, &data, seen)
	b.WriteString("\nA recipe. It says how the table is written, and nothing of what is in it:\n\n")
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
	b *strings.Builder, seen *look.Table, target string,
) (unit recipe.Unit, propose bool) {
	best := -1
	byName := false
	for i := range seen.Columns {
		c := &seen.Columns[i]
		looks, named := c.Identifies(seen.Rows)
		if c.Name == target || !looks || best >= 0 && (byName || !named) {
			continue
		}
		best, byName = i, named
	}
	if best < 0 {
		return unit, false
	}
	c := &seen.Columns[best]
	unit = recipe.Unit{Column: c.Name, MaxRows: recipe.ProposedMaxRows}
	how := "Its values look like names or codes, so the recipe has the line as a comment."
	if byName {
		how = "Its name says so too, so the recipe protects it: delete the line if the column does not say whose record it is."
	}
	b.WriteString("\n" +
		report.Paragraph("Unit",
			fmt.Sprintf(
				"The column %s has about %.0f different values in %d records and looks like an identifier, so "+
					"one person or thing may have several records, and a run that protects single records would protect such a group less: "+
					"unit: {column: %s, max_rows: %d} protects each value of the column with all its records. %s "+
					"It keeps at most %d records of each, at random, and the noise grows with that number. "+
					"%d is proposed for every table: do not choose max_rows by what is in this one.",
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
	f.Encoding, data.Format = "windows-1252", &f
	b.WriteString("\n" + report.Paragraph("Encoding", fmt.Sprintf(
		"%d cells have letters that are not UTF-8. The recipe reads the table as windows-1252, the usual character set "+
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
			"which makes one value of them: delete the line if they mean different things.",
		strings.Join(names, ", "))))
}

// fewValues is the maximum number of distinct values of a numeric target that may be classes.
const fewValues = 10

// proposedClasses writes a description of the target and returns the classes for the recipe. Classes are not
// declared for a regression.
//
// Whether a column holds text is a property of the export. The number of its values is a property of the data, so
// the recipe does not contain it.
func proposedClasses(b *strings.Builder, seen *look.Table, target, proposed string) recipe.Names {
	k := slices.IndexFunc(seen.Columns, func(c look.Column) bool { return c.Name == target })
	c := &seen.Columns[k]
	say := func(text string) { b.WriteString("\n" + report.Paragraph("Target", text)) }
	declared, _ := guess(c, proposed)
	switch few := !c.Many && c.Values <= fewValues && c.Values > 0; {
	case declared.Categories.Declared() && c.Values < 2:
		say("It holds one word, so there is nothing to learn.")
		return recipe.Private()
	case declared.Categories.Declared():
		say(fmt.Sprintf(
			"It holds text, so the recipe is for a classification. The classes are found privately, up to %d of them. If they are public knowledge, list them in data.classes. "+
				"Do not copy them from this file: which ones the table has is not harmless.",
			pipeline.DefaultMostClasses))
		return recipe.Private()
	case few && declared.Date == "":
		say(fmt.Sprintf(
			"It has %d different values, which may be classes. If that they are is public knowledge, set task: classification and data.classes: private, "+
				"or run dptrain init with --task classification. The recipe here does not, for which values there are is not harmless.",
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
		comma, thousands, lenient = comma+c.Comma, thousands+c.Thousands, lenient+c.Lenient
	}
	f := recipe.Format{}
	if data.Format != nil {
		f = *data.Format
	}
	switch {
	case f.Decimal != "" || f.Thousands != "" || max(comma, thousands) <= lenient:
		return ""
	case thousands >= comma:
		f.Thousands, data.Format = ",", &f
		return "thousands"
	}
	f.Decimal, f.Thousands, data.Format = ",", ".", &f // the point is then no decimal mark
	return "comma"
}

// guess returns a possible declaration of a column and a description of its cells.
func guess(c *look.Column, proposed string) (recipe.Column, string) {
	full := c.Plain + c.Text
	best, most := "", int64(0)
	for k, layout := range look.Layouts() {
		if c.Dates[k] > most {
			best, most = layout, c.Dates[k]
		}
	}
	numbers, how := c.Plain+c.Lenient, "numbers"
	switch {
	case proposed == "comma" && c.Plain+c.Comma > numbers:
		numbers, how = c.Plain+c.Comma, "numbers with decimal commas"
	case proposed == "thousands" && c.Plain+c.Thousands > numbers:
		numbers, how = c.Plain+c.Thousands, "numbers with commas between thousands"
	case c.Lenient > 0:
		how = "numbers as people write them"
	}
	switch {
	case full == 0:
		return recipe.Column{}, "nothing"
	case 2*most > full && best != "20060102":
		return recipe.Column{Date: best}, "dates: " + best
	case 2*numbers > full && c.Many:
		return recipe.Column{}, how + "; exclude it if it identifies records"
	case 2*numbers > full:
		return recipe.Column{}, how
	case c.Many || 2*int64(c.Values) > full && full > 100:
		return recipe.Column{}, "texts, most of them different; exclude it if it identifies records"
	}
	return recipe.Column{Categories: recipe.Private()}, "words, to be found privately"
}

// share formats part of all records as a percentage.
func share(part, all int64) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%.0f%%", 100*float64(part)/float64(all))
}
