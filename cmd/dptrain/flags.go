package main

import (
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/recipe"
)

// A keyFlag is a flag that sets keys of a recipe. Its row in [keyFlags] defines its commands, its help (repeated in
// the manual pages and the command-line reference), its shell completion, its effect, and the matching parameter of
// the Python estimators.
type keyFlag struct {
	name     string
	commands []string
	key      string // of the recipe; "data.columns" and "budget" for nested keys
	form     flagForm
	help     string
	helpOf   map[string]string // by command, for help texts that differ
	complete cobra.CompletionFunc
	columns  columnForm // complete with columns of the table
	python   pythonForm

	// settings converts values into settings of the recipe. If it is nil, the flag sets key directly.
	settings func(flag string, values []string) ([]recipe.Setting, error)
}

// flagForm is the syntax of the values of a flag.
type flagForm int

const (
	textFlag   flagForm = iota
	numberFlag          // a number as in a recipe, such as 1e-6 or ln(3)
	wholeFlag           // an integer, checked when flags are parsed
	shareFlag           // a float, checked when flags are parsed
	listFlag            // comma-separated texts
	namesFlag           // comma-separated names, or private
	eachFlag            // may be repeated, one value each time
	switchFlag          // true or false
)

// columnForm defines how a shell completes a value with columns of the table.
type columnForm int

const (
	noColumn       columnForm = iota
	plainColumn               // formatted as NAME
	columnAndValue            // formatted as NAME=
)

// pythonForm defines how the Python estimators pass the parameter of the same name (with _ for -) as the flag.
type pythonForm int

const (
	noPython    pythonForm = iota // no parameter, one with another name, or set by the estimators
	pythonValue                   // --flag=VALUE
	pythonList                    // --flag=A,B
	pythonDict                    // --flag=NAME=VALUE for each item
)

// Lists of commands with the same flags.
var (
	modelCommands = []string{"fit", "plan"}
	runCommands   = append([]string{"causal", "describe"}, modelCommands...)
	readCommands  = append([]string{"predict", "look", "init", "serve"}, runCommands...)
)

// appendCommands returns a copy of commands with more appended.
func appendCommands(commands []string, more ...string) []string {
	return append(slices.Clone(commands), more...)
}

// dataUsage is the help text of --data.
const dataUsage = "read the table from `FILE`: .csv, .tsv, .jsonl (also .gz), .parquet, .xlsx, .arrow or .feather; a pattern such as 'visits-*.csv'; or - for CSV on standard input (-.jsonl, -.parquet and so on for other formats)"

// keyFlags lists the flags in the order of the help text.
var keyFlags = []keyFlag{
	{
		name:     "data",
		commands: appendCommands(modelCommands, "causal"),
		key:      "data.path",
		help:     dataUsage,
		complete: tables,
	},
	{
		name:     "target",
		commands: modelCommands,
		key:      "data.target",
		help:     "predict this `COLUMN`",
		columns:  plainColumn,
	},
	{
		name:     "columns",
		commands: []string{"causal"},
		key:      "causal.columns",
		form:     listFlag,
		help:     "numeric `COLUMNS` to compare, two or more: x,y",
		columns:  plainColumn,
	},
	{
		name:     "task",
		commands: modelCommands,
		key:      "task",
		help:     "train for `TASK`: regression (default) or classification",
		complete: oneOf("regression", "classification"),
	},
	{
		name:     "classes",
		commands: modelCommands,
		key:      "data.classes",
		form:     namesFlag,
		help:     "`CLASSES` of the target, for classification: no,yes (default private: found with noise)",
	},
	{
		name:     "epsilon",
		commands: runCommands,
		key:      "privacy.epsilon",
		form:     numberFlag,
		help:     "privacy budget: a `NUMBER` above 0, or 'ln(3)'",
	},
	{
		name:     "delta",
		commands: runCommands,
		key:      "privacy.delta",
		form:     numberFlag,
		python:   pythonValue,
		help:     "delta of the guarantee: a public `NUMBER`, at least 1e-10 (default 1e-6)",
		helpOf:   map[string]string{"causal": "delta of the guarantee: a public `NUMBER`, 0 or at least 1e-10 (default 0)"},
	},
	{
		name:     "by",
		commands: []string{"describe"},
		key:      "describe.by",
		help:     "also compute means for each value of this `COLUMN`",
		columns:  plainColumn,
	},
	{
		name:     "columns",
		commands: []string{"describe"},
		key:      "describe.columns",
		form:     listFlag,
		help:     "describe only these `COLUMNS` (default all)",
		columns:  plainColumn,
	},
	{
		name:     "relation",
		commands: runCommands,
		key:      "privacy.relation",
		python:   pythonValue,
		help:     "neighbouring `RELATION`: add-remove (default), substitute or, with --private, substitute-private-columns",
		helpOf: map[string]string{
			"causal":   "neighbouring `RELATION`: add-remove (default) or substitute",
			"describe": "neighbouring `RELATION`: add-remove (default) or substitute",
		},
		complete: oneOf("add-remove", "substitute", "substitute-private-columns"),
	},
	{
		name:     "exclude",
		commands: appendCommands(modelCommands, "describe"),
		key:      "data.exclude",
		form:     listFlag,
		python:   pythonList,
		help:     "do not use these `COLUMNS` as features: id,zip",
		helpOf:   map[string]string{"describe": "leave out these `COLUMNS`: id,zip"},
		columns:  plainColumn,
	},
	{
		name:     "holdout",
		commands: modelCommands,
		key:      "holdout",
		form:     shareFlag,
		python:   pythonValue,
		help:     "`SHARE` of the records to hold out for the metric (default 0.2)",
	},
	{
		name:     "by",
		commands: modelCommands,
		key:      "evaluate.by",
		python:   pythonValue,
		help:     "also report the held-out metric for each value of this categorical `COLUMN`, at no extra cost",
		columns:  plainColumn,
	},
	{
		name:     "budget",
		commands: modelCommands,
		key:      "budget",
		form:     listFlag,
		python:   pythonDict,
		settings: shareSettings,
		help:     "shares of the training budget: `STAGE=SHARE`, such as selection=0.05,model=0.9 (stages: count, words, ranges, selection, model, fallback, transform)",
	},
	{
		name:     "k",
		commands: modelCommands,
		key:      "selection.k",
		form:     numberFlag,
		python:   pythonValue,
		help:     "`NUMBER` of columns to select",
	},
	{
		name:     "rounds",
		commands: modelCommands,
		key:      "model.rounds",
		form:     numberFlag,
		python:   pythonValue,
		help:     "`NUMBER` of boosting rounds",
	},
	{
		name:     "fallback",
		commands: modelCommands,
		key:      "model.fallback",
		python:   pythonValue,
		help:     "train `METHOD` if --method produces no model",
	},
	{
		name:     "bins",
		commands: []string{"causal"},
		key:      "causal.bins",
		form:     wholeFlag,
		help:     "`NUMBER` of bins per column, 4 to 32 (default from a noisy count)",
	},
	{
		name:     "method",
		commands: []string{"causal"},
		key:      "causal.method",
		help:     "`METHOD`: histogram (default) or anm, the baseline",
		complete: oneOf("histogram", "anm"),
	},
	{
		name:     "score",
		commands: []string{"causal"},
		key:      "causal.score",
		help:     "`SCORE` of --method anm: " + strings.Join(direction.Baselines(), ", "),
	},
	{
		name:     "protect",
		commands: []string{"causal"},
		key:      "causal.protect",
		help:     "`RECORDS` that --method anm protects: all (default) or test, which leaves the training records unprotected",
	},
	{
		name:     "set",
		commands: modelCommands,
		form:     eachFlag,
		settings: anySettings,
		help:     "set any other recipe key: `KEY=VALUE`, such as model.rounds=3; may be repeated",
	},
	{
		name:     "dataset",
		commands: runCommands,
		key:      "ledger.dataset",
		help:     "record the run in a ledger, under this data set `NAME`",
	},
	{
		name:     "ledger",
		commands: runCommands,
		key:      "ledger.path",
		help:     "ledger `FILE` (default dptrain.ledger)",
	},
	{
		name:     "categories",
		commands: appendCommands(modelCommands, "describe"),
		key:      "data.columns",
		form:     eachFlag,
		python:   pythonDict,
		settings: categorySettings,
		help:     "public values of a column: `NAME=VALUES`, such as color=red,green; color=private finds them privately; may be repeated",
		columns:  columnAndValue,
	},
	{
		name:     "prefix",
		commands: appendCommands(modelCommands, "describe"),
		key:      "data.columns",
		form:     eachFlag,
		python:   pythonDict,
		settings: prefixSettings,
		help:     "use only the first characters of each value: `NAME=NUMBER`, such as diagnosis=3; may be repeated",
		columns:  columnAndValue,
	},
	{
		name:     "hash",
		commands: modelCommands,
		key:      "data.columns",
		form:     eachFlag,
		python:   pythonDict,
		settings: hashSettings,
		help:     "hash the values of a column into buckets: `NAME=BUCKETS`, such as surgeon=64; may be repeated",
		columns:  columnAndValue,
	},
	{
		name:     "encode",
		commands: modelCommands,
		key:      "data.columns",
		form:     listFlag,
		python:   pythonList,
		settings: encodeSettings,
		help:     "replace each value of these text `COLUMNS` by the noisy mean of the target",
		columns:  plainColumn,
	},
	{
		name:     "undeclared",
		commands: appendCommands(modelCommands, "describe"),
		key:      "data.undeclared",
		python:   pythonValue,
		help:     "treat undeclared columns as `KIND`: found (default; numbers or text, detected privately) or numbers",
		complete: oneOf("found", "numbers"),
	},
	{
		name:     "fold",
		commands: appendCommands(modelCommands, "describe"),
		key:      "data.fold",
		python:   pythonValue,
		help:     "`RULE` for equal texts: exact (default), blanks (inner blanks collapsed) or case (upper and lower case equal, too)",
		complete: oneOf("exact", "blanks", "case"),
	},
	{
		name:     "most-classes",
		commands: modelCommands,
		key:      "data.most_classes",
		form:     wholeFlag,
		python:   pythonValue,
		help:     "maximum `NUMBER` of classes to find, 2 to 255 (default 32)",
	},
	{
		name:     "range",
		commands: runCommands,
		key:      "data.columns",
		form:     eachFlag,
		settings: rangeSettings,
		help:     "public range of a feature or the target: `NAME=LOWER:UPPER`; may be repeated",
		columns:  columnAndValue,
		helpOf: map[string]string{
			"causal":   "public range of a column: `NAME=LOWER:UPPER`; may be repeated",
			"describe": "public range of a column: `NAME=LOWER:UPPER`; may be repeated",
		},
	},
	{
		name:     "transform",
		commands: modelCommands,
		key:      "data.columns",
		settings: transformSettings,
		help:     "fit a `TRANSFORM` of the target, log or sqrt; predictions stay in its original units",
	},
	{
		name:     "date",
		commands: appendCommands(modelCommands, "describe"),
		key:      "data.columns",
		form:     eachFlag,
		settings: dateSettings,
		help:     "read a column as dates: `NAME=LAYOUT`, such as born=2006-01-02 or born=auto; may be repeated",
		columns:  columnAndValue,
	},
	{
		name:     "private",
		commands: modelCommands,
		key:      "data.columns",
		form:     listFlag,
		python:   pythonList,
		settings: privateSettings,
		help:     "with --relation substitute-private-columns: the private `COLUMNS`, which may include the target",
		columns:  plainColumn,
	},
	{
		name:     "unit",
		commands: appendCommands(modelCommands, "describe"),
		key:      "privacy.unit.column",
		python:   pythonValue,
		help:     "protect people instead of single records: `COLUMN` identifies the person",
		columns:  plainColumn,
	},
	{
		name:     "max-rows",
		commands: appendCommands(modelCommands, "describe"),
		key:      "privacy.unit.max_rows",
		form:     wholeFlag,
		python:   pythonValue,
		help:     "with --unit: maximum `NUMBER` of records per person",
	},
	{
		name:     "select",
		commands: modelCommands,
		key:      "selection.method",
		python:   pythonValue,
		help:     "select columns by `METHOD`; see dptrain help methods",
		complete: selectors,
	},
	{
		name:     "method",
		commands: modelCommands,
		key:      "model.method",
		python:   pythonValue,
		help:     "train with `METHOD`; see dptrain help methods",
		complete: trainers,
	},
	{
		name:     "multiline-quotes",
		commands: []string{"predict"},
		key:      "data.multiline_quotes",
		form:     switchFlag,
		help:     "let quoted CSV cells contain line breaks",
	},
	{
		name:     "separator",
		commands: readCommands,
		key:      "data.format.separator",
		help:     "`CHARACTER` between cells: ';', tab, '|' (default detected from the header)",
		complete: oneOf(";", "tab", "|", ","),
	},
	{
		name:     "decimal",
		commands: readCommands,
		key:      "data.format.decimal",
		help:     "decimal `MARK` of numbers: . or ,",
		complete: oneOf(",", "."),
	},
	{
		name:     "thousands",
		commands: readCommands,
		key:      "data.format.thousands",
		help:     "thousands `MARK` of numbers: ',', ., blank",
		complete: oneOf(".", ",", "blank", "apostrophe"),
	},
	{
		name:     "encoding",
		commands: readCommands,
		key:      "data.format.encoding",
		help:     "`CHARSET` of the table: windows-1252, latin1, utf-16",
		complete: oneOf(dataset.Encodings()...),
	},
	{
		name:     "quote",
		commands: readCommands,
		key:      "data.format.quote",
		help:     "`STYLE` of the quotes around cells: double, single or none",
		complete: oneOf("double", "single", "none"),
	},
	{
		name:     "escape",
		commands: readCommands,
		key:      "data.format.escape",
		help:     "`STYLE` of a quote within quotes: doubled or backslash",
		complete: oneOf("doubled", "backslash"),
	},
	{
		name:     "header",
		commands: readCommands,
		key:      "data.header",
		form:     listFlag,
		help:     "names of all `COLUMNS`, for a table without a header line",
	},
	{
		name:     "sheet",
		commands: readCommands,
		key:      "data.format.sheet",
		help:     "read the sheet `NAME` of an .xlsx file (default the first)",
	},
	{
		name:     "skip",
		commands: readCommands,
		key:      "data.format.skip",
		form:     wholeFlag,
		help:     "`NUMBER` of lines to skip before the header",
	},
	{
		name:     "missing",
		commands: readCommands,
		key:      "data.format.missing",
		form:     listFlag,
		python:   pythonList,
		settings: missingSettings,
		help:     "treat these `NUMBERS` as missing values: -999",
	},
	{
		name:     "numbers",
		commands: readCommands,
		key:      "data.numbers",
		python:   pythonValue,
		help:     "read numbers in `MODE`: lenient (default) or strict, which treats 45 yrs, 27.1% and <5 as missing values",
		complete: oneOf("lenient", "strict"),
	},
	{
		name:     "out",
		commands: []string{"fit", "causal", "describe", "audit"},
		key:      "output.dir",
		help:     "write release/ and curator/ to `FOLDER` (default out)",
		helpOf:   map[string]string{"audit": "with --own-table: write curator/ to `FOLDER` (default out)"},
	},
}

// has reports whether the command has the flag.
func (f *keyFlag) has(command string) bool {
	return slices.Contains(f.commands, command)
}

// helpFor returns the help text of the flag for a command.
func (f *keyFlag) helpFor(command string) string {
	if help, ok := f.helpOf[command]; ok {
		return help
	}
	return f.help
}

// flagsOf lists the flags of a command that set keys of the recipe.
func flagsOf(command string) []*keyFlag {
	var out []*keyFlag
	for i := range keyFlags {
		if keyFlags[i].has(command) {
			out = append(out, &keyFlags[i])
		}
	}
	return out
}

// flagsByKey returns the flags of a command by the path of their key. Keys with several flags are omitted.
func flagsByKey(command string) map[string]string {
	out := map[string]string{}
	for _, f := range flagsOf(command) {
		if f.key != "data.columns" && f.key != "" {
			out[f.key] = "--" + f.name
		}
	}
	return out
}

// keyValues holds the values of the flags of a command that set keys.
type keyValues struct {
	command string
	set     *pflag.FlagSet
}

// add declares the flags of a command on the command.
func (v *keyValues) add(cmd *cobra.Command) {
	v.declare(cmd.Name(), cmd.Flags())
	completions := map[string]cobra.CompletionFunc{}
	for _, f := range flagsOf(v.command) {
		switch f.columns {
		case plainColumn:
			completions[f.name] = ofHeader("")
		case columnAndValue:
			completions[f.name] = ofHeader("=")
		default:
			completions[f.name] = f.complete
		}
	}
	completeFlags(cmd, completions)
}

// declare declares the flags of a command on a flag set.
func (v *keyValues) declare(command string, set *pflag.FlagSet) {
	v.command = command
	v.set = set
	set.SortFlags = false
	for _, f := range flagsOf(command) {
		help := f.helpFor(command)
		switch f.form {
		case textFlag, numberFlag:
			set.String(f.name, "", help)
		case wholeFlag:
			set.Int(f.name, 0, help)
		case shareFlag:
			numberVar(set, new(float64), f.name, 0, help)
		case listFlag, namesFlag:
			set.StringSlice(f.name, nil, help)
		case eachFlag:
			set.StringArray(f.name, nil, help)
		case switchFlag:
			set.Bool(f.name, false, help)
		}
	}
}

// settings returns the recipe settings of all flags that were set.
func (v *keyValues) settings() ([]recipe.Setting, error) {
	var out []recipe.Setting
	for _, f := range flagsOf(v.command) {
		given := v.set.Lookup(f.name)
		if given == nil || !given.Changed {
			continue
		}
		some, err := f.parse(given.Value)
		if err != nil {
			return nil, err
		}
		out = append(out, some...)
	}
	return out, nil
}

// parse returns the recipe settings for the value of a flag.
func (f *keyFlag) parse(value pflag.Value) ([]recipe.Setting, error) {
	flag := "--" + f.name
	values := []string{value.String()}
	if list, ok := value.(pflag.SliceValue); ok {
		values = list.GetSlice()
	} else if values[0] == "" {
		return nil, usagef("%s is empty: give a value or omit the flag", flag)
	}
	if f.settings != nil {
		return f.settings(flag, values)
	}
	switch f.form {
	case numberFlag, wholeFlag, shareFlag:
		return []recipe.Setting{recipe.SetNumber(flag, f.key, values[0])}, nil
	case listFlag:
		return []recipe.Setting{recipe.SetList(flag, f.key, values)}, nil
	case switchFlag:
		return []recipe.Setting{recipe.SetBool(flag, f.key, values[0] == "true")}, nil
	case namesFlag:
		return []recipe.Setting{recipe.SetNames(flag, f.key, values)}, nil
	default:
		return []recipe.Setting{recipe.SetText(flag, f.key, values[0])}, nil
	}
}

// Conversions for flags that set several keys, or keys nested below the key of their row.

// anySettings parses the values of --set.
func anySettings(_ string, values []string) ([]recipe.Setting, error) {
	var out []recipe.Setting
	for _, text := range values {
		path, value, found := cutPath(text)
		if !found || strings.TrimSpace(path) == "" {
			return nil, usagef("--set: %q is not KEY=VALUE, such as model.rounds=3", text)
		}
		out = append(out,
			recipe.Setting{
				Path:  strings.TrimSpace(path),
				Value: strings.TrimSpace(value),
			})
	}
	return out, nil
}

// shareSettings parses shares of stages. They override the shares of the recipe stage by stage.
func shareSettings(flag string, values []string) ([]recipe.Setting, error) {
	var out []recipe.Setting
	for _, item := range values {
		stage, text, found := strings.Cut(item, "=")
		stage = strings.TrimSpace(stage)
		text = strings.TrimSpace(text)
		share, err := strconv.ParseFloat(text, 64)
		switch {
		case !found || err != nil:
			return nil, usagef("%s: %q is not STAGE=SHARE, such as selection=0.05", flag, item)
		case !(share > 0 && share < 1):
			return nil,
				usagef("%s: the share of %s must be above 0 and below 1, not %s", flag, stage, text)
		case !slices.Contains(recipe.Stages(), stage):
			return nil,
				usagef("%s: unknown stage %q; the stages are %s", flag, stage,
					strings.Join(recipe.Stages(), ", "))
		}
		out = append(out,
			recipe.SetNumber(flag, "budget."+stage, strconv.FormatFloat(share, 'g', -1, 64)))
	}
	return out, nil
}

// missingSettings parses the numbers that mean a missing value.
func missingSettings(flag string, values []string) ([]recipe.Setting, error) {
	for _, text := range values {
		if _, err := recipe.ParseNumber(text); err != nil {
			return nil,
				usagef("--missing takes the numbers that mean a missing value, such as -999, not %.100q",
					text)
		}
	}
	return []recipe.Setting{recipe.SetNumbers(flag, "data.format.missing", values)}, nil
}

// transformSettings parses the transform of the target.
func transformSettings(flag string, values []string) ([]recipe.Setting, error) {
	return []recipe.Setting{recipe.SetText(flag, "transform", values[0]).OfTarget()}, nil
}

// columnSettings collects settings of a flag that is repeated for several columns.
type columnSettings struct {
	flag string
	out  []recipe.Setting
	seen map[string]bool
}

// add adds settings of one key of a column. A second value for the same column is an error, like a duplicate key in
// a recipe.
func (c *columnSettings) add(column string, settings ...recipe.Setting) error {
	if c.seen[column] {
		return usagef("%s is given twice for column %q; remove one of them",
			c.flag, column)
	}
	if c.seen == nil {
		c.seen = map[string]bool{}
	}
	c.seen[column] = true
	c.out = append(c.out, settings...)
	return nil
}

// categorySettings parses columns with their categories.
func categorySettings(flag string, values []string) ([]recipe.Setting, error) {
	c := columnSettings{flag: flag}
	for _, given := range values {
		name, list, ok := strings.Cut(given, "=")
		categories, err := commaList(list)
		if !ok || name == "" || list == "" || err != nil {
			return nil,
				usagef("--categories needs NAME=VALUES, such as --categories color=red,green,blue")
		}
		if err := c.add(name, recipe.SetNames(flag, "categories", categories).OfColumn(name),
			recipe.SetBool(flag, "other", true).OfColumn(name)); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// hashSettings parses columns with their numbers of buckets.
func hashSettings(flag string, values []string) ([]recipe.Setting, error) {
	c := columnSettings{flag: flag}
	for _, given := range values {
		name, n, ok := numbered(given)
		if !ok {
			return nil,
				usagef("--hash needs NAME=BUCKETS, such as --hash surgeon=64")
		}
		if err := c.add(name, recipe.SetNumber(flag, "hash", n).OfColumn(name)); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// prefixSettings parses columns with the number of leading characters to use. Without declared values, the prefixes
// are found privately.
func prefixSettings(flag string, values []string) ([]recipe.Setting, error) {
	c := columnSettings{flag: flag}
	for _, given := range values {
		name, n, ok := numbered(given)
		if !ok {
			return nil,
				usagef("--prefix needs NAME=NUMBER, such as --prefix diagnosis=3")
		}
		if err := c.add(name, recipe.SetNumber(flag, "prefix", n).OfColumn(name),
			recipe.FindCategories(flag, name)); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// encodeSettings parses text columns to be converted to numbers. Without declared values, the texts are found
// privately.
func encodeSettings(flag string, values []string) ([]recipe.Setting, error) {
	c := columnSettings{flag: flag}
	for _, name := range values {
		if err := c.add(name, recipe.SetText(flag, "encode", recipe.EncodeTarget).OfColumn(name),
			recipe.FindCategories(flag, name)); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// rangeSettings parses columns with their ranges.
func rangeSettings(flag string, values []string) ([]recipe.Setting, error) {
	c := columnSettings{flag: flag}
	for _, given := range values {
		name, lower, upper, err := parseRange(given)
		if err == nil {
			err = c.add(
				name,
				recipe.SetNumber(flag, "lower", lower).OfColumn(name),
				recipe.SetNumber(flag, "upper", upper).OfColumn(name),
			)
		}
		if err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// parseRange splits NAME=LOWER:UPPER into the name and two numbers. The name may contain an equals sign.
func parseRange(text string) (name, lower, upper string, err error) {
	at := strings.LastIndexByte(text, '=')
	from, to, ok := strings.Cut(text[at+1:], ":")
	if at < 1 || !ok || !isNumber(from) || !isNumber(to) {
		return "", "", "",
			usagef("--range: %.100q is not NAME=LOWER:UPPER, such as age=0:120", text)
	}
	return text[:at], from, to, nil
}

// isNumber reports whether text is a valid number in a recipe.
func isNumber(text string) bool {
	_, err := recipe.ParseNumber(text)
	return err == nil
}

// dateSettings parses columns with their date layouts.
func dateSettings(flag string, values []string) ([]recipe.Setting, error) {
	c := columnSettings{flag: flag}
	for _, given := range values {
		name, layout, ok := cutLast(given, "=")
		if !ok || name == "" || layout == "" {
			return nil,
				usagef("--date needs NAME=LAYOUT, such as --date born=2006-01-02 or --date born=auto")
		}
		if err := c.add(name, recipe.SetText(flag, "date", layout).OfColumn(name)); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// privateSettings parses the columns that are private.
func privateSettings(flag string, values []string) ([]recipe.Setting, error) {
	c := columnSettings{flag: flag}
	for _, name := range values {
		if err := c.add(name, recipe.SetBool(flag, "private", true).OfColumn(name)); err != nil {
			return nil, err
		}
	}
	return c.out, nil
}

// numbered splits NAME=NUMBER into the name and an integer of at least 1.
func numbered(given string) (name, number string, ok bool) {
	name, number, _ = cutLast(given, "=")
	n, err := strconv.Atoi(number)
	return name, number, err == nil && n > 0 && name != "" && recipe.IsPlainNumber(number)
}

// commaList splits a comma-separated list. Items that contain a comma are quoted.
func commaList(text string) ([]string, error) {
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	var out []string
	set.StringSliceVar(&out, "x", nil, "")
	err := set.Set("x", text)
	return slices.Clone(out), err
}

// reading returns the options for reading a table: those of base, overridden by the flags.
func (v *keyValues) reading(base recipe.Data) (dataset.ReadOptions, error) {
	d, err := v.apply(base)
	return d.Reading(), err
}

// apply returns the data section of a recipe, overridden by the flags. It changes only the keys of reading.
func (v *keyValues) apply(base recipe.Data) (recipe.Data, error) {
	settings, err := v.settings()
	if err != nil {
		return base, err
	}
	d, problems := base.WithSettings(settings)
	if len(problems) > 0 && problems[0].Flag() != "" {
		return base, usagef("%v", problems[0])
	}
	return d, problems.Err()
}

// cutPath cuts KEY=VALUE after the path of a key, which may have a quoted name in brackets.
func cutPath(text string) (path, value string, found bool) {
	quoted := false
	for i := 0; i < len(text); i++ {
		switch {
		case quoted && text[i] == '\\':
			i++
		case text[i] == '"' && (quoted || strings.HasSuffix(text[:i], "[")):
			quoted = !quoted
		case text[i] == '=' && !quoted:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// cutLast cuts a text around the last occurrence of a separator: the name of a column may contain it, and the value
// after it does not.
func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}
