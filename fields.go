package dptrain

import (
	"regexp"
	"strings"
)

// Texts of other packages address the reader of a terminal: they name recipe keys and flags. This file translates
// them into fields and options.

// flagPhrases replaces phrases that name a flag and are more than a note in parentheses.
var flagPhrases = strings.NewReplacer(
	"choose another --out, or overwrite it with --force", "choose another folder, or remove it",
	"or choose another --out", "or choose another folder",
	"choose another --out", "choose another folder",
	"give the table with --data, or write a recipe with `dptrain init`", "name the recipe file",
	"list its columns with --header", "set NoHeader and list its columns in Header",
	"data.header: [a, b, c], or --header a,b,c", "data.header: [a, b, c]",
	"list the columns with --header a,b,c, or in a recipe data.header: [a, b, c]",
	"list the columns in Names of the options of the reader",
	"list all column names with --header a,b,c, or in a recipe data.header: [a, b, c] and data.format: {header: none}",
	"list all column names in Names of the options of the reader",
	"; if it names the columns, use the name of the target as written there, or skip it with --skip ",
	"; if it names the columns, use the name of the target as written there, or skip it with Format.Skip ",
	", or list all names with --skip ", ", or list all names in Names of the options, with Format.Skip ",
	" --header a,b,c; pandas and R", "; pandas and R",
	"set encoding with --encoding utf-16, or in a recipe data.format: {encoding: utf-16}",
	`set Format.Encoding to "utf-16"`,
	"add --encoding utf-16", `set Format.Encoding to "utf-16"`,
	"name one with --sheet, or in a recipe data.format: {sheet: NAME}", "name one in Format.Sheet",
	"leave the column out with --exclude", "leave the column out",
	"set the separator (--separator)", "set the separator (Format.Separator)",
	"or name another folder with --scratch", "or name another folder in Scratch",
	"or use --engine stream", `or set Engine to "stream"`,
	"; register it with `dptrain ledger init ", "; register it with Ledger.Register in ",
	" --dataset NAME --epsilon TOTAL`", "",
	"commit it with `dptrain ledger commit", "commit it with `dptrain ledger commit",
	"remove it, and add --engine spark --connect sc://HOST:PORT to fit", "remove it",
	"name it in --columns or in --exclude, not both", "name it once",
	"remove it from --exclude", "remove it from Exclude",
	"with --columns", "in Columns",
	"give the ledger with --ledger", "give the ledger to Verify",
	"name another column with --target", "name another column in Target",
	"correct --classes (data.classes), which must match exactly, or add --fold case if only upper and lower case differ; for a numeric target, omit --task classification",
	"correct Classes, which must match exactly; for a numeric target, set Task to \"regression\"",
	"if it contains class names, add --task classification (task: classification); if its numbers are written 1,5 add --decimal , (data.format.decimal: \",\"); if they are written 1,500 add --thousands , (data.format.thousands: \",\")",
	"if it contains class names, set Task to \"classification\"; if its numbers are written 1,5 set Format.Decimal of the table; if they are written 1,500 set Format.Thousands",
	"declare long names with --classes (data.classes)", "declare long names in Classes",
	"correct --classes (data.classes)", "correct Classes",
	", or add --fold case (data.fold: case) if only upper and lower case differ", "",
	"task: classification", `Task: "classification"`,
	"private: true", "Private: true",
	"write --set ", "write ",
)

// flagNote matches a note about flags in parentheses.
var flagNote = regexp.MustCompile(` \(--[a-z][^()]*\)`)

// withoutFlags returns a text about a recipe without flags.
func withoutFlags(text string) string {
	return flagNote.ReplaceAllString(flagPhrases.Replace(text), "")
}

// columnKey matches the key of a declaration of a column, with its name and the key below it.
var columnKey = regexp.MustCompile(
	`\bdata\.columns(?:\.([A-Za-z0-9_<-]+)|\[("(?:[^"\\]|\\.)*")\])(?:\.([a-z]+))?`)

// fieldName matches a key that corresponds to a field.
var fieldName = regexp.MustCompile(`\b(?:[a-z]+\.[a-z_.]+[a-z_]|holdout (?:must|and))`)

// fieldOfKey holds the fields of a [Run] by recipe key.
var fieldOfKey = map[string]string{
	"privacy.epsilon":       "Epsilon",
	"privacy.delta":         "Delta",
	"privacy.relation":      "Relation",
	"privacy.composition":   "Composition",
	"privacy.unit":          "Unit",
	"privacy.unit.column":   "Unit.Column",
	"privacy.unit.max_rows": "Unit.MaxRows",
	"data.path":             "Table.Path",
	"data.header":           "Table.Header",
	"data.multiline_quotes": "Table.Format.MultilineQuotes",
	"data.target":           "Target",
	"data.classes":          "Classes",
	"data.most_classes":     "MostClasses",
	"data.exclude":          "Exclude",
	"data.columns":          "Columns",
	"data.undeclared":       "Undeclared",
	"data.format":           "Table.Format",
	"data.format.decimal":   "Table.Format.Decimal",
	"data.format.thousands": "Table.Format.Thousands",
	"data.format.missing":   "Table.Format.Missing",
	"data.format.encoding":  "Table.Format.Encoding",
	"data.format.separator": "Table.Format.Separator",
	"data.format.sheet":     "Table.Format.Sheet",
	"data.format.skip":      "Table.Format.Skip",
	"holdout must":          "Holdout must",
	"holdout and":           "Holdout and",
	"evaluate.by":           "EvaluateBy",
	"scaling.method":        "DeclaredScaling",
	"count.failure":         "CountFailure",
	"selection.method":      "Selector",
	"selection.runs":        "SizeRuns",
	"model.method":          "Model",
	"model.fallback":        "Fallback",
	"search.candidates":     "Search.Candidates",
	"search.runs":           "Search.Runs",
	"search.holdout":        "Search.Holdout",
	"ledger.path":           "Ledger",
	"ledger.dataset":        "Dataset",
	"budget.count":          `Shares["count"]`,
	"budget.words":          `Shares["words"]`,
	"budget.ranges":         `Shares["ranges"]`,
	"budget.selection":      `Shares["selection"]`,
	"budget.model":          `Shares["model"]`,
	"budget.fallback":       `Shares["fallback"]`,
	"budget.transform":      `Shares["transform"]`,
}

// inFields returns a text about a run with fields in place of recipe keys and flags.
func inFields(text string) string {
	text = columnKey.ReplaceAllStringFunc(withoutFlags(text), func(key string) string {
		parts := columnKey.FindStringSubmatch(key)
		name := parts[2]
		if name == "" {
			name = `"` + parts[1] + `"`
		}
		field := ""
		if parts[3] != "" {
			field = "." + strings.ToUpper(parts[3][:1]) + parts[3][1:]
		}
		return "Columns[" + name + "]" + field
	})
	return fieldName.ReplaceAllStringFunc(text, func(key string) string {
		if field, ok := fieldOfKey[key]; ok {
			return field
		}
		return key
	})
}
