package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/tablefile"
)

// formatFlags are the flags that say how the text of a table is written.
type formatFlags struct {
	format  recipe.Format
	missing []string
	header  []string
	numbers string
	set     *pflag.FlagSet
}

// add declares the flags on a verb.
func (f *formatFlags) add(set *pflag.FlagSet) {
	f.set = set
	set.StringVar(&f.format.Separator, "separator", "", "a `CHARACTER` between cells: ';', tab, '|' (default as the header shows)")
	set.StringVar(&f.format.Decimal, "decimal", "", "the decimal `MARK` of numbers: . or ,")
	set.StringVar(&f.format.Thousands, "thousands", "", "the `MARK` of thousands: ',', ., blank")
	set.StringVar(&f.format.Encoding, "encoding", "", "a character set by `NAME`: windows-1252, latin1, utf-16")
	set.StringVar(&f.format.Quote, "quote", "", "by `NAME`: double, single or none around cells")
	set.StringVar(&f.format.Escape, "escape", "", "by `NAME`: doubled or backslash, before a quote within quotes")
	set.StringSliceVar(&f.header, "header", nil, "all `COLUMNS` of a table without a header line")
	set.StringVar(&f.format.Sheet, "sheet", "", "the sheet of an .xlsx by `NAME` (default the first one)")
	set.IntVar(&f.format.Skip, "skip", 0, "a `NUMBER` of lines before the header")
	set.StringSliceVar(&f.missing, "missing", nil, "`NUMBERS` that mean missing: -999")
	set.StringVar(&f.numbers, "numbers", "", "by `NAME`: strict does not read 45 yrs, 27.1%, <5")
}

// formatKeys are the keys of the recipe that the flags stand for.
var formatKeys = map[string]string{
	"separator": "data.format.separator", "decimal": "data.format.decimal", "thousands": "data.format.thousands", "encoding": "data.format.encoding",
	"quote": "data.format.quote", "escape": "data.format.escape", "skip": "data.format.skip", "sheet": "data.format.sheet", "header": "data.header", "missing": "data.format.missing", "numbers": "data.numbers",
}

// lay copies what was given as a flag into the section data of a recipe.
func (f *formatFlags) lay(d *recipe.Data) error {
	var out recipe.Format
	if d.Format != nil {
		out = *d.Format
	}
	for flag, text := range map[string]struct{ from, to *string }{
		"separator": {&f.format.Separator, &out.Separator}, "decimal": {&f.format.Decimal, &out.Decimal},
		"thousands": {&f.format.Thousands, &out.Thousands}, "encoding": {&f.format.Encoding, &out.Encoding},
		"quote": {&f.format.Quote, &out.Quote}, "escape": {&f.format.Escape, &out.Escape}, "sheet": {&f.format.Sheet, &out.Sheet}, "numbers": {&f.numbers, &d.Numbers},
	} {
		if f.set.Changed(flag) {
			*text.to = *text.from
		}
	}
	if f.set.Changed("skip") {
		out.Skip = f.format.Skip
	}
	if f.set.Changed("missing") {
		out.Missing = nil
		for _, text := range f.missing {
			x, err := recipe.ParseNumber(text)
			if err != nil {
				return usagef("--missing takes numbers that stand for missing cells, such as -999, not %.100q", text)
			}
			out.Missing = append(out.Missing, x)
		}
	}
	if f.set.Changed("header") {
		d.Header = f.header
		if kind, _, _ := tablefile.Of(d.Path); !kind.JSON {
			out.Header = "none"
		}
	}
	for flag, key := range formatKeys {
		if f.set.Changed(flag) && strings.HasPrefix(key, "data.format.") || out.Header != "" {
			d.Format = &out
		}
	}
	return nil
}

// reading returns how a table is read: as base says, but for what was given as a flag.
func (f *formatFlags) reading(base recipe.Data) (dataset.ReadOptions, error) {
	if err := f.lay(&base); err != nil {
		return dataset.ReadOptions{}, err
	}
	if wrong := base.CheckReading(); len(wrong) > 0 {
		p := wrong[0]
		for flag, key := range formatKeys {
			if p.Path == key || strings.HasPrefix(p.Path, key+"[") {
				return dataset.ReadOptions{}, usagef("--%s: %s", flag, strings.TrimPrefix((&recipe.Problem{Msg: strings.TrimPrefix(p.Msg, key+": "), Hint: p.Hint}).Error(), key+" "))
			}
		}
		return dataset.ReadOptions{}, wrong
	}
	return base.Reading(), nil
}

// declareFlags stand for keys of the recipe that say what is public or what is trained.
type declareFlags struct {
	unit       string
	maxRows    int
	categories []string
	prefixes   []string
	hashes     []string
	encoded    []string
	undeclared string
	fold       string
	most       int
	ranges     []string
	dates      []string
	private    []string
	transform  string
	method     string
	selection  string
	set        *pflag.FlagSet
}

// add declares the flags on a verb.
func (f *declareFlags) add(set *pflag.FlagSet) {
	f.set = set
	set.StringArrayVar(&f.categories, "categories", nil, "public values of a column, `NAME=VALUES`, such as color=red,green, or color=private; may be repeated")
	set.StringArrayVar(&f.prefixes, "prefix", nil, "how many first characters of its values count, `NAME=NUMBER`, such as diagnosis=3; may be repeated")
	set.StringArrayVar(&f.hashes, "hash", nil, "values of a column fall into so many buckets, `NAME=BUCKETS`, such as surgeon=64; may be repeated")
	set.StringSliceVar(&f.encoded, "encode", nil, "`COLUMNS` of words of which each value becomes a number: the mean of the target, with noise")
	set.StringVar(&f.undeclared, "undeclared", "", "what undeclared columns are, by `NAME`: found, numbers or text (default), or numbers")
	set.StringVar(&f.fold, "fold", "", "which words are one value, by `NAME`: exact (default), blanks or case")
	set.IntVar(&f.most, "most-classes", 0, "the `NUMBER` of classes that are found at most, 2 to 255 (default 32)")
	set.StringArrayVar(&f.ranges, "range", nil, "a public range, `NAME=LOWER:UPPER`, of the target too; may be repeated")
	set.StringVar(&f.transform, "transform", "", "fit log or sqrt of the target, by `NAME`; predictions are in its own units")
	set.StringArrayVar(&f.dates, "date", nil, "a column of dates, `NAME=LAYOUT`, such as born=2006-01-02, or =auto; may be repeated")
	set.StringSliceVar(&f.private, "private", nil, "the `COLUMNS` that are hidden, the target too if it is one, with relation substitute-private-columns")
	set.StringVar(&f.unit, "unit", "", "protect persons: the `COLUMN` that says whose record it is")
	set.IntVar(&f.maxRows, "max-rows", 0, "with --unit, the `NUMBER` of records of a person that are kept")
	set.StringVar(&f.selection, "select", "", "how columns are chosen, by `NAME`: see dptrain help methods")
	set.StringVar(&f.method, "method", "", "what is trained, by `NAME`: see dptrain help methods")
}

// declareKeys are the keys of the recipe that the flags stand for.
var declareKeys = map[string]string{
	"unit": "privacy.unit.column", "max-rows": "privacy.unit.max_rows", "categories": "data.columns", "prefix": "data.columns", "hash": "data.columns", "encode": "data.columns", "range": "data.columns", "date": "data.columns", "private": "data.columns", "transform": "data.columns", "method": "model.method", "select": "selection.method",
	"undeclared": "data.undeclared", "fold": "data.fold", "most-classes": "data.most_classes",
}

// lay copies what was given as a flag into the recipe.
func (f *declareFlags) lay(r *recipe.Recipe) error {
	if f.set == nil {
		return nil
	}
	if r.Search != nil && (f.set.Changed("method") || f.set.Changed("select")) {
		return usagef("--method and --select have no effect on a recipe with a search; change its candidates")
	}
	if f.set.Changed("unit") || f.set.Changed("max-rows") {
		var u recipe.Unit
		if r.Privacy.Unit != nil {
			u = *r.Privacy.Unit
		}
		if f.set.Changed("unit") {
			u.Column = f.unit
		}
		if f.set.Changed("max-rows") {
			u.MaxRows = f.maxRows
		}
		r.Privacy.Unit = &u
		switch {
		case u.Column == "":
			return usagef("--max-rows is for persons: name the column that says whose record it is with --unit")
		case u.MaxRows == 0 && !f.set.Changed("max-rows"):
			return usagef("--unit needs --max-rows: how many records of a person are kept, a public number such as 4")
		}
	}
	if f.set.Changed("undeclared") {
		r.Data.Undeclared = f.undeclared
	}
	if f.set.Changed("fold") {
		r.Data.Fold = f.fold
	}
	if f.set.Changed("most-classes") {
		if r.Data.MostClasses = f.most; f.most < 2 {
			return usagef("--most-classes must be from 2 to 255, not %d", f.most)
		}
	}
	if f.set.Changed("select") {
		r.Select(f.selection)
	}
	if f.set.Changed("method") && r.Model.Method != f.method {
		r.Model = recipe.Model{Method: f.method, Fallback: r.Model.Fallback}
	}
	return f.columns(r)
}

// onceEach returns a function that refuses a column that a flag was given for before, as a recipe refuses a key that is given
// twice.
func onceEach(flag string) func(name string) error {
	seen := map[string]bool{}
	return func(name string) error {
		if seen[name] {
			return usagef("--%s is given twice for the column %q: one of them would have no effect", flag, name)
		}
		seen[name] = true
		return nil
	}
}

// columns declares columns. A flag sets its own keys of a column, and the rules of a recipe say which keys go together.
func (f *declareFlags) columns(r *recipe.Recipe) error {
	columns := maps.Clone(r.Data.Columns)
	if columns == nil {
		columns = map[string]recipe.Column{}
	}
	once := onceEach("categories")
	for _, given := range f.categories {
		name, list, ok := strings.Cut(given, "=")
		values, err := commaList(list)
		if !ok || name == "" || list == "" || err != nil {
			return usagef("--categories takes a column and its values: --categories color=red,green,blue")
		}
		if err := once(name); err != nil {
			return err
		}
		c := columns[name]
		c.Categories, c.Other = recipe.NamesOf(values), new(true)
		columns[name] = c
	}
	if err := f.values(columns, r.Data.Target); err != nil {
		return err
	}
	once = onceEach("range")
	for _, given := range f.ranges {
		name, lower, upper, err := parseRange(given)
		if err == nil {
			err = once(name)
		}
		if err != nil {
			return err
		}
		c := columns[name]
		c.Lower, c.Upper = &lower, &upper
		columns[name] = c
	}
	once = onceEach("private")
	for _, name := range f.private {
		if err := once(name); err != nil {
			return err
		}
		c := columns[name]
		c.Private = true
		columns[name] = c
	}
	once = onceEach("date")
	for _, given := range f.dates {
		name, layout, ok := strings.Cut(given, "=")
		if !ok || name == "" || layout == "" {
			return usagef("--date takes a column and the layout of its dates: --date born=2006-01-02, or --date born=auto")
		}
		if err := once(name); err != nil {
			return err
		}
		c := columns[name]
		c.Date = layout
		columns[name] = c
	}
	if len(columns) > 0 {
		r.Data.Columns = columns
	}
	return nil
}

// values says which texts of columns are one value, and which values become numbers. What says nothing of its categories has
// some that are found.
func (f *declareFlags) values(columns map[string]recipe.Column, target string) error {
	once := onceEach("hash")
	for _, given := range f.hashes {
		name, n, ok := numbered(given)
		if !ok {
			return usagef("--hash takes a column and the number of its buckets: --hash surgeon=64")
		}
		if err := once(name); err != nil {
			return err
		}
		c := columns[name]
		c.Hash = n
		columns[name] = c
	}
	words := func(name string) recipe.Column {
		c := columns[name]
		if c.Categories == nil && c.Hash == 0 && name != target {
			c.Categories, c.Other = recipe.Private(), new(true)
		}
		return c
	}
	once = onceEach("prefix")
	for _, given := range f.prefixes {
		name, n, ok := numbered(given)
		if !ok {
			return usagef("--prefix takes a column and how many characters of its values count: --prefix diagnosis=3")
		}
		if err := once(name); err != nil {
			return err
		}
		c := words(name)
		c.Prefix = n
		columns[name] = c
	}
	once = onceEach("encode")
	for _, name := range f.encoded {
		if err := once(name); err != nil {
			return err
		}
		c := words(name)
		c.Encode = recipe.EncodeTarget
		columns[name] = c
	}
	return nil
}

// numbered splits NAME=NUMBER, of which the number is at least 1.
func numbered(given string) (name string, n int, ok bool) {
	name, text, _ := strings.Cut(given, "=")
	n, err := strconv.Atoi(text)
	return name, n, err == nil && n > 0 && name != "" && recipe.IsPlainNumber(text)
}

// commaList splits a list as flags of lists do: a value with a comma is quoted.
func commaList(text string) ([]string, error) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	var out []string
	set.StringSliceVar(&out, "x", nil, "")
	err := set.Set("x", text)
	return slices.Clone(out), err
}
