package recipe

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"

	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Version is the recipe format this package reads and writes.
const Version = 1

// A Recipe describes one private training run. Obtain one from [Parse], [Load] or [Options.FromSettings]: these fill
// in every default and check every rule. A Recipe is plain data; it may be copied, and keeps no file open.
type Recipe struct {
	// Version is the format of the file, always [Version].
	Version int `yaml:"version" json:"version" jsonschema:"default=1" jsonschema_description:"Format of this file."`
	// Task is "regression", "classification" or "causal".
	Task string `yaml:"task" json:"task" jsonschema:"default=regression" jsonschema_description:"regression (the target is a number), classification (it is one of several classes) or causal (no model is trained)."`
	// Data names the table and declares public knowledge about its columns.
	Data Data `yaml:"data" json:"data" jsonschema:"required" jsonschema_description:"The table, the target, and what is public knowledge about the columns."`
	// Privacy is the budget and the accounting rule.
	Privacy Privacy `yaml:"privacy" json:"privacy" jsonschema:"required" jsonschema_description:"The privacy budget and its accounting."`
	// Holdout is the share of records, in [0, 0.5], kept apart for the private
	// held-out metric; 0 means no metric. Each record draws its own coin.
	Holdout float64 `yaml:"holdout" json:"holdout" jsonschema:"minimum=0,maximum=0.5,default=0.2" jsonschema_description:"Share of records held out for the private metric, chosen independently at random for each record. 0 means no metric."`
	// Evaluate divides the held-out metric by groups; nil for no groups.
	Evaluate *Evaluate `yaml:"evaluate,omitempty" json:"evaluate,omitempty" jsonschema_description:"Additional held-out metrics."`
	// Scaling selects the source of the ranges of numeric columns.
	Scaling Scaling `yaml:"scaling" json:"scaling" jsonschema_description:"Source of the ranges of numeric columns."`
	// Budget divides the budget of the training part among its stages; nil leaves all of it to the defaults.
	Budget *Budget `yaml:"budget,omitempty" json:"budget,omitempty" jsonschema_description:"Shares of the training part of the privacy budget, by stage. Stages that are left out share the rest in proportion to their defaults. The held-out part has its own budget; holdout sets its share of the records."`
	// Count configures the noisy number of records; nil selects the defaults.
	Count *Count `yaml:"count,omitempty" json:"count,omitempty" jsonschema_description:"Use of the noisy number of records, in runs that release it."`
	// Selection configures feature selection.
	Selection Selection `yaml:"selection" json:"selection" jsonschema_description:"Feature selection."`
	// Model configures the model.
	Model Model `yaml:"model" json:"model" jsonschema_description:"The training method."`
	// Search is nil unless several selections and models are tried. Selection and
	// Model are then those of Default and have no meaning.
	Search *Search `yaml:"search,omitempty" json:"search,omitempty" jsonschema_description:"Tries several selections and models, instead of the sections selection and model, and keeps the best by a private score."`
	// Causal is nil except for the task "causal", for which Holdout, Scaling, Selection and Model are ignored.
	Causal *Causal `yaml:"causal,omitempty" json:"causal,omitempty" jsonschema_description:"Columns and method of a causal study (task causal)."`
	// Description is nil except for the task [TaskDescribe], which never comes from a file.
	Description *Description `yaml:"-" json:"-"`
	// Ledger is nil unless spending is recorded across runs.
	Ledger *Ledger `yaml:"ledger,omitempty" json:"ledger,omitempty" jsonschema_description:"Tracks the budget across runs. Without this section, no ledger is kept."`
	// Engine selects where the table is kept during the run: "auto" (also if empty), "memory" or "stream". The
	// release does not depend on it.
	Engine string `yaml:"engine,omitempty" json:"engine,omitempty" jsonschema:"default=auto" jsonschema_description:"Where the table is kept during the run: memory, stream (an encrypted scratch file) or auto (stream if the table may need more than half of the memory and the plan allows it). The release does not depend on it."`
	// About identifies the release for its readers; nil if it is absent. It is published verbatim.
	About *About `yaml:"about,omitempty" json:"about,omitempty" jsonschema_description:"Publisher, data set and purpose of the release. Shown in the report and published verbatim; nothing else depends on it."`
	// Output configures where results are written.
	Output Output `yaml:"output" json:"output" jsonschema_description:"Output folder."`

	src *source // positions of the text it came from; nil if built in code
	// sharesOfEarlier reports that an earlier version published the recipe, in which selection.share had no
	// effect with a model with a fixed distribution.
	sharesOfEarlier bool
	// stagesInCode: see [Recipe.StagesInCode].
	stagesInCode bool
}

// StagesInCode declares that code sets the selection or the model of the run, so that the recipe's settings for
// them are ignored: the plan then decides whether delta can be 0.
func (r *Recipe) StagesInCode() {
	r.stagesInCode = true
}

// Data names the table and declares public knowledge about its columns.
type Data struct {
	// Path is the table, relative to the recipe unless absolute; see
	// [Recipe.DataFile].
	Path string `yaml:"path,omitempty" json:"path,omitempty" jsonschema:"minLength=1" jsonschema_description:"The table, relative to this file: .csv, .tsv, .jsonl (also .gz), .parquet, .xlsx, .arrow or .feather; or a pattern such as visits-*.csv."`
	// SQL names rows of a database instead; nil for a file.
	SQL *SQL `yaml:"sql,omitempty" json:"sql,omitempty" jsonschema_description:"Read the table from a database instead of a file. Needs the program dptrain-sql."`
	// Spark is a query of a Spark cluster whose rows are the records, instead of a file; optional.
	Spark string `yaml:"spark,omitempty" json:"spark,omitempty" jsonschema:"minLength=1" jsonschema_description:"A SELECT on a Spark cluster instead of a file, for fit --engine spark. Its rows are the records. It is not published."`
	// Header lists all columns of the table in order. A published recipe has it, so that it can be planned
	// without the table. Together with Path, it is the required header of the table.
	Header []string `yaml:"header,omitempty" json:"header,omitempty" takes:"name" jsonschema:"minItems=1,uniqueItems=true" jsonschema_description:"All columns of the table, in order. Published recipes contain it, so that they can be planned without the table. A table with other columns is refused."`
	// Target is the column to predict; empty with the task "causal".
	Target string `yaml:"target" json:"target" takes:"name" jsonschema:"minLength=1" jsonschema_description:"The column to predict; required, except with task causal. Or {column, lower, upper, transform}, with its declarations in one place."`
	// Exclude lists columns that are never read as features.
	Exclude []string `yaml:"exclude,omitempty" json:"exclude,omitempty" takes:"name" jsonschema:"uniqueItems=true" jsonschema_description:"Columns that are not features, such as identifiers."`
	// MultilineQuotes allows a quoted CSV cell to contain line breaks.
	MultilineQuotes bool `yaml:"multiline_quotes" json:"multiline_quotes" jsonschema:"default=false" jsonschema_description:"Whether a quoted CSV cell may contain line breaks."`
	// Format describes how the text is written; nil for the format implied by the suffix.
	Format *Format `yaml:"format,omitempty" json:"format,omitempty" jsonschema_description:"Format of a text table: separator, decimal mark, character set and so on."`
	// Undeclared is the treatment of features without declarations: "numbers", or "found", which determines
	// privately whether they are numbers or text. Empty means the default; see [Recipe.Undeclared].
	Undeclared string `yaml:"undeclared,omitempty" json:"undeclared,omitempty" jsonschema:"default=found" jsonschema_description:"Type of features without a declaration. found: numbers, or categories whose values are found privately, depending on the table. numbers: numbers; also the default if private detection is not possible."`
	// Fold determines which texts of categories, words and classes count as one value: "exact" (also if empty),
	// "blanks" or "case".
	Fold string `yaml:"fold,omitempty" json:"fold,omitempty" jsonschema:"default=exact" jsonschema_description:"Which texts count as equal, in text columns and among classes. exact: surrounding blanks are ignored. blanks: repeated blanks inside are also ignored. case: upper and lower case are also ignored."`
	// Numbers is "lenient" (also if empty) or "strict".
	Numbers string `yaml:"numbers,omitempty" json:"numbers,omitempty" jsonschema:"default=lenient" jsonschema_description:"lenient: accepts informal numbers such as 45 yrs, 27.1% or <5. strict: accepts only plain numbers."`
	// Columns holds the declarations, by column name.
	Columns map[string]Column `yaml:"columns,omitempty" json:"columns,omitempty" jsonschema_description:"Public knowledge about columns, by name. These declarations are not protected; the report lists them."`
	// Classes lists the classes of the target, for classification only. If they are private, or empty, they are
	// found, up to MostClasses. See [Recipe.Classes].
	Classes Names `yaml:"classes,omitempty" json:"classes,omitempty" takes:"name" jsonschema:"minItems=2,maxItems=255,uniqueItems=true" jsonschema_description:"The classes of the target, as written in the table (classification only). With two, the second one is the positive class. private (default): classes with enough records are found privately, up to most_classes."`
	// MostClasses is the maximum number of private classes that are found; 0 means the default of
	// [pipeline.Pipeline.MostClassesFound].
	MostClasses int `yaml:"most_classes,omitempty" json:"most_classes,omitempty" jsonschema:"minimum=2,maximum=255,default=32" jsonschema_description:"Maximum number of classes found if they are private. The default is 2 for methods that support only two classes."`
}

// Column declares public knowledge about one column: a range, or the list of its categories. Declarations are not
// protected by the guarantee.
type Column struct {
	// Lower and Upper bound the column, in its own units; both or neither,
	// Lower < Upper. Values outside are clamped.
	Lower *float64 `yaml:"lower,omitempty" json:"lower,omitempty" needs:"upper" jsonschema_description:"Smallest value, in the units of the column; smaller ones are clamped."`
	Upper *float64 `yaml:"upper,omitempty" json:"upper,omitempty" needs:"lower" jsonschema_description:"Largest value, in the units of the column; larger ones are clamped."`
	// Missing replaces cells that are missing or not a finite number; nil leaves the choice of the number to
	// the run.
	Missing *Missing `yaml:"missing,omitempty" json:"missing,omitempty" jsonschema_description:"Number used for missing or unreadable values. Default: the median, found privately. indicator: the median, plus a separate term in the model for such values."`
	// Categories makes the column categorical and lists its values.
	Categories Names `yaml:"categories,omitempty" json:"categories,omitempty" takes:"name" jsonschema:"minItems=1,uniqueItems=true" jsonschema_description:"The values of a category column, as written in the table. private: values with enough records are found privately."`
	// Other reports whether values outside Categories form a category of their own. Parsing sets it (default
	// true) exactly when Categories is set.
	Other *bool `yaml:"other,omitempty" json:"other,omitempty" needs:"categories" jsonschema:"default=true" jsonschema_description:"Whether values outside the list form a category of their own."`
	// Prefix is the number of leading characters of a value that are kept; 0 for all.
	Prefix int `yaml:"prefix,omitempty" json:"prefix,omitempty" jsonschema:"minimum=1,maximum=64" jsonschema_description:"Number of leading characters of a value to keep: with 3, codes with the same first three characters form one category."`
	// Hash makes the column categorical with this number of buckets as categories.
	Hash int `yaml:"hash,omitempty" json:"hash,omitempty" jsonschema:"minimum=2,maximum=1024" jsonschema_description:"Makes the column categorical without a list of values: a public hash assigns them to this number of buckets. No value is published, and no budget is spent."`
	// Encode is "target" for a column whose values are replaced by means of the target, or "none" (also if
	// empty).
	Encode string `yaml:"encode,omitempty" json:"encode,omitempty" jsonschema:"default=none" jsonschema_description:"target: replaces each value by the noisy mean of the target over its records. For category columns with many values and a numeric or two-class target."`
	// Date converts the dates in the column to numbers: it is a layout of package time, or "auto". Parts lists the
	// numbers, and Between the first and the last day, written 2006-01-02.
	Date    string   `yaml:"date,omitempty" json:"date,omitempty" jsonschema:"minLength=1" jsonschema_description:"Layout of a date column, shown by how it writes 2 January 2006: 2006-01-02, or 01/02/2006 15:04. auto: any common unambiguous layout."`
	Parts   []string `yaml:"parts,omitempty" json:"parts,omitempty" needs:"date" jsonschema:"minItems=1,uniqueItems=true" jsonschema_description:"Numbers derived from a date: days, month, weekday, hour. Default: the first three, and hour if the layout has it."`
	Between []string `yaml:"between,omitempty" json:"between,omitempty" needs:"date" jsonschema:"minItems=2,maxItems=2" jsonschema_description:"First and last day of the dates, such as 2020-01-01 and 2024-12-31. Default: the range is found privately."`
	// Transform is the transform of the target: "log", "sqrt", or "none" (also if empty). The model is fitted
	// to the transformed target and predicts in units of the target.
	Transform string `yaml:"transform,omitempty" json:"transform,omitempty" jsonschema:"default=none" jsonschema_description:"For the target only: fit the model to its logarithm or square root; predictions stay in the original units. Numbers below lower are set to lower; without it, log sets numbers below a millionth to 2^-20."`
	// Private marks a protected column; only under the relation
	// substitute-private-columns, where all other columns are public.
	Private bool `yaml:"private,omitempty" json:"private,omitempty" jsonschema:"default=false" jsonschema_description:"Marks a private column, which may be the target. Only with relation substitute-private-columns, under which all other columns are public."`
}

// Privacy is the budget of the run and the accounting rule.
type Privacy struct {
	// Epsilon is finite and greater than 0. The text may be ln(3).
	Epsilon float64 `yaml:"epsilon" json:"epsilon" jsonschema:"required" jsonschema_description:"Privacy loss bound of the whole run: a number above 0, or ln(number)."`
	// Delta is in [0, 1), a public constant that never depends on the number of records; 0 only if all noise of
	// the run is pure, otherwise at least [budget.MinDelta].
	Delta float64 `yaml:"delta" json:"delta" jsonschema:"minimum=0,exclusiveMaximum=1,default=1e-6" jsonschema_description:"Probability that the bound epsilon fails: a public constant, never a function of the number of records. 0 is allowed only if all steps are pure."`
	// Relation is the neighbouring relation of the guarantee.
	Relation string `yaml:"relation" json:"relation" jsonschema:"default=add-remove" jsonschema_description:"Neighbouring relation: one record added or removed (the number of records is private), one record replaced (the number is public), or the private columns of one record replaced."`
	// Composition is "tight" (privacy loss distributions) or "basic" (sums of
	// epsilon, as the papers split it).
	Composition string `yaml:"composition" json:"composition" jsonschema:"default=tight" jsonschema_description:"Composition of the steps: tight (privacy loss distributions) or basic (sums of epsilon)."`
	// Unit is nil if the record is the privacy unit. It needs the relation add-remove.
	Unit *Unit `yaml:"unit,omitempty" json:"unit,omitempty" jsonschema_description:"Protects people (or other units) that may have several records. Without this section, single records are protected."`
}

// Unit is the privacy unit for tables in which a person may have several records: all records with one value of
// a column.
type Unit struct {
	// Column identifies the unit. It is never a feature. A record with a missing cell is not attributed to a
	// unit and is left out.
	Column string `yaml:"column" json:"column" takes:"name" jsonschema:"required,minLength=1" jsonschema_description:"Column that identifies the unit of a record, such as patient_id. It is never a feature; records without a value are left out."`
	// MaxRows is the maximum number of records of a unit that the run keeps, 1 to budget.MaxUnitRows: a public
	// constant. Noise grows in proportion.
	MaxRows int `yaml:"max_rows" json:"max_rows" jsonschema:"required,minimum=1,maximum=1000" jsonschema_description:"Maximum number of records per unit, chosen at random: a public constant. The noise grows in proportion to it."`
}

// Evaluate configures the held-out metric.
type Evaluate struct {
	// By names the column by whose values the metric is also given. It may be an excluded column, which is then read
	// for this purpose only.
	By string `yaml:"by" json:"by" takes:"name" jsonschema:"required,minLength=1" jsonschema_description:"Also report the metric for each value of this category column, at no extra cost: a feature, or an excluded column with declared categories."`
}

// GroupColumn returns the column by whose values the held-out metric is also given, or "".
func (r *Recipe) GroupColumn() string {
	if r.Evaluate == nil {
		return ""
	}
	return r.Evaluate.By
}

// Scaling selects the source of the ranges of numeric columns.
type Scaling struct {
	// Method is "private" (undeclared ranges are found privately) or "declared".
	Method string `yaml:"method" json:"method" jsonschema:"default=private" jsonschema_description:"private: ranges that are not declared are found privately, from the budget. declared: all numeric columns declare lower and upper."`
}

// Budget holds shares of the training part of the privacy budget, each in (0, 1); 0 means the stage's default.
// Names and meanings are those of [pipeline.Shares].
type Budget struct {
	Count     float64 `yaml:"count,omitempty" json:"count,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.03" jsonschema_description:"Share of epsilon for the noisy number of records. The paper uses 0.05 (Dick, Gillenwater and Joseph 2023, section 4.3)."`
	Words     float64 `yaml:"words,omitempty" json:"words,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.055" jsonschema_description:"Share for detecting text columns and their values."`
	Ranges    float64 `yaml:"ranges,omitempty" json:"ranges,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Share for the ranges of numeric columns without declared ones. Default: 0.18 of the remainder after a selection."`
	Selection float64 `yaml:"selection,omitempty" json:"selection,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Share for feature selection. Default: 0.1, or 0.5 for dpfsdr, dpfs and crfs. selection.share is the older name of this key."`
	Model     float64 `yaml:"model,omitempty" json:"model,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Share for the model; for tukey, a share of epsilon. Default: the remainder, or for tukey 0.85 (0.55 with a fallback) if there are other stages."`
	Fallback  float64 `yaml:"fallback,omitempty" json:"fallback,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1" jsonschema_description:"Share for the fallback model. Default: the remainder."`
	Transform float64 `yaml:"transform,omitempty" json:"transform,omitempty" jsonschema:"exclusiveMinimum=0,exclusiveMaximum=1,default=0.03" jsonschema_description:"Share for the errors of a model of a transformed target."`
}

// shares converts the section to [pipeline.Shares]; b may be nil.
func (b *Budget) shares() pipeline.Shares {
	if b == nil {
		return pipeline.Shares{}
	}
	return pipeline.Shares(*b)
}

// Stages lists the stages that have a share of the budget, by their names in the section budget.
func Stages() []string {
	var out []string
	for _, s := range new(pipeline.Shares).Named() {
		out = append(out, s.Name)
	}
	return out
}

// SettleShares drops the default of selection.share if budget.selection was set after the recipe was read.
func (r *Recipe) SettleShares() {
	if r.Budget.shares().Selection == 0 {
		return
	}
	if r.Search != nil {
		search := *r.Search
		search.Candidates = slices.Clone(search.Candidates)
		r.Search = &search
	}
	for _, x := range r.choices() {
		x.selection.Keys = maps.Clone(x.selection.Keys)
		delete(x.selection.Keys, "share")
	}
}

// SetShare sets the share of a stage by its name. It reports whether there is such a stage.
func (r *Recipe) SetShare(stage string, share float64) bool {
	shares := r.Budget.shares()
	for _, s := range shares.Named() {
		if s.Name == stage {
			*s.Value = share
			b := Budget(shares)
			r.Budget = &b
			return true
		}
	}
	return false
}

// Count configures the noisy number of records.
type Count struct {
	// Failure is [pipeline.Pipeline.CountFailure]; 0 means the default.
	Failure float64 `yaml:"failure,omitempty" json:"failure,omitempty" jsonschema:"exclusiveMinimum=0,maximum=0.5,default=0.01" jsonschema_description:"Probability that the lower bound on the number of records is wrong. A smaller value means a larger margin (Dick, Gillenwater and Joseph 2023, section 4.3). Privacy does not depend on it."`
}

// countFailure returns the value for the pipeline.
func (r *Recipe) countFailure() float64 {
	if r.Count == nil {
		return 0
	}
	return r.Count.Failure
}

// Selection configures feature selection.
type Selection struct {
	Method string `yaml:"method" json:"method" jsonschema:"default=auto" jsonschema_description:"Feature selection."`
	// Keys are the values of keys that belong to methods, such as k and features of "fixed"; see
	// [pipeline.SelectorKeys]. Nil means defaults only.
	Keys method.Values `yaml:"-" json:"-"`
}

// K returns the number of columns to select; a category column counts as one. 0 leaves the number to the
// method.
func (s Selection) K() int {
	return s.Keys.Int("k")
}

// Share returns the share of the budget for selection, in (0, 1): by default 0.1, and 0.5 for methods that
// support classes; 0 if the method makes no choice. It is a fraction of the squared Gaussian parameter mu under
// tight composition and of epsilon under basic.
func (s Selection) Share() float64 {
	return s.Keys.Number("share")
}

// Set gives a key a value.
func (s *Selection) Set(key string, value any) {
	if s.Keys == nil {
		s.Keys = method.Values{}
	}
	s.Keys[key] = value
}

// Model configures the training method.
type Model struct {
	Method string `yaml:"method" json:"method" jsonschema:"default=auto" jsonschema_description:"The training method."`
	// Fallback is the method used if Method abstains, or "none". A fallback is paid for whether it is used or
	// not.
	Fallback string `yaml:"fallback" json:"fallback" jsonschema:"default=none" jsonschema_description:"Method used if the first one abstains; its price is paid in any case."`
	// Keys are the values of keys that belong to methods, such as buckets of "tukey"; see [method.Key]. Nil
	// means defaults only.
	Keys method.Values `yaml:"-" json:"-"`
}

// Set gives a key a value.
func (m *Model) Set(key string, value any) {
	if m.Keys == nil {
		m.Keys = method.Values{}
	}
	m.Keys[key] = value
}

// Search tries several combinations of selection and model and keeps the best.
type Search struct {
	// Runs is the mean number of tries, above 1 and at most pipeline.MaxRuns; the actual number is secret.
	Runs float64 `yaml:"runs" json:"runs" jsonschema:"exclusiveMinimum=1,maximum=1000,default=5" jsonschema_description:"Mean number of tries. The actual number is random and secret."`
	// Holdout is the share of the training records, in (0, 0.5], that scores a try.
	Holdout float64 `yaml:"holdout" json:"holdout" jsonschema:"exclusiveMinimum=0,maximum=0.5,default=0.1" jsonschema_description:"Share of the training records used for scoring, chosen independently at random for each record."`
	// Candidates are the 2 to pipeline.MaxCandidates combinations to try.
	Candidates []Candidate `yaml:"candidates" json:"candidates" jsonschema:"required,minItems=2,maxItems=64,uniqueItems=true" jsonschema_description:"The candidates, each with a selection, a model or both. Everything else is shared."`
}

// Candidate is a selection and a model to try; absent parts are auto.
type Candidate struct {
	Selection Selection `yaml:"selection" json:"selection" jsonschema_description:"Feature selection."`
	Model     Model     `yaml:"model" json:"model" jsonschema_description:"The training method."`
}

// Ledger records spending across runs.
type Ledger struct {
	// Path is the ledger file, relative to the recipe unless absolute; see
	// [Recipe.LedgerFile].
	Path string `yaml:"path,omitempty" json:"path,omitempty" jsonschema:"minLength=1,default=dptrain.ledger" jsonschema_description:"The ledger, relative to this file."`
	// Dataset is the name of the data set in the ledger, which adds up all runs on it.
	Dataset string `yaml:"dataset" json:"dataset" jsonschema:"required,minLength=1" jsonschema_description:"Name of the data set in the ledger, which adds up all runs on it. Use the same name for all copies and extracts."`
}

// About identifies a release. Every field is an optional text of one line.
type About struct {
	Title     string `yaml:"title,omitempty" json:"title,omitempty" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Title of the report. By default it names the target."`
	DataSet   string `yaml:"data_set,omitempty" json:"data_set,omitempty" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Name or description of the data set."`
	Publisher string `yaml:"publisher,omitempty" json:"publisher,omitempty" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Who publishes the release."`
	Contact   string `yaml:"contact,omitempty" json:"contact,omitempty" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Contact for questions."`
	Purpose   string `yaml:"purpose,omitempty" json:"purpose,omitempty" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Intended use of the model."`
	Period    string `yaml:"period,omitempty" json:"period,omitempty" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Period covered by the records."`
	Date      string `yaml:"date,omitempty" json:"date,omitempty" jsonschema:"minLength=1,maxLength=500" jsonschema_description:"Publication date of the release."`
}

// A NamedText is a field of [About].
type NamedText struct{ Key, Text string }

// Fields lists the fields of a by key, in the order of a report's head, with empty texts for absent fields.
func (a *About) Fields() []NamedText {
	if a == nil {
		a = &About{}
	}
	return []NamedText{
		{"title", a.Title},
		{"data_set", a.DataSet},
		{"period", a.Period},
		{"purpose", a.Purpose},
		{"publisher", a.Publisher},
		{"contact", a.Contact},
		{"date", a.Date},
	}
}

// Output configures where results are written.
type Output struct {
	// Dir receives release/ and curator/, relative to the working directory.
	Dir string `yaml:"dir,omitempty" json:"dir,omitempty" jsonschema:"minLength=1,default=out" jsonschema_description:"Folder for release/ and curator/, relative to the working directory. Never overwritten without --force."`
}

// The defaults of a search.
const (
	defaultRuns       = 5
	defaultScoreShare = 0.1
)

// DefaultLedger is the value of ledger.path.
const DefaultLedger = "dptrain.ledger"

// Default returns a recipe with every default and the three required values
// (data.path, data.target, privacy.epsilon) left zero.
func Default() Recipe {
	return Recipe{
		Version: Version,
		Task:    "regression",
		Privacy: Privacy{
			Delta:       1e-6,
			Relation:    "add-remove",
			Composition: "tight",
		},
		Holdout:   0.2,
		Scaling:   Scaling{Method: "private"},
		Selection: Selection{Method: "auto"},
		Model:     Model{Method: "auto", Fallback: "none"},
		Output:    Output{Dir: "out"},
	}
}

// fillDefaults fills the defaults that depend on other keys.
func (r *Recipe) fillDefaults(given map[string]bool, can availability) {
	r.keepEarlierDefaults()
	r.settleHeader()
	if r.Task == TaskCausal && !given["privacy.delta"] { // all noise can be pure
		r.Privacy.Delta = 0
	}
	if x := r.Causal; x != nil {
		x.Method, x.Protect = cmp.Or(x.Method, causalMethods[0]),
			cmp.Or(x.Protect, causalProtects[0])
	}
	r.settleSearch(given)
	for _, x := range r.choices() {
		s := x.selection
		byDefault := r.Budget.shares().Selection == 0 &&
			!(x.path == "" && pipeline.MayAbstain(r.Model.Method) && !r.sharesOfEarlier)
		if byDefault && !given[x.path+"selection.share"] && can.choosesColumns(s.Method) &&
			(s.Method != "auto" || s.K() > 0) {
			share := pipeline.DefaultSelectionShare
			if NeedsClasses(s.Method) {
				share = pipeline.ClassedSelectionShare
			}
			s.Set("share", share)
		}
	}
	for name, c := range r.Data.Columns {
		if c.Categories.Declared() && c.Other == nil {
			yes := true
			c.Other = &yes
			r.Data.Columns[name] = c
		}
	}
	if r.Ledger != nil && !given["ledger.path"] {
		r.Ledger.Path = DefaultLedger
	}
}

// movesShare reports whether selection.share is converted to budget.selection: with a model with a fixed
// distribution, whose share depends on the other shares. With other models it remains a share of the budget
// after the count and the text categories.
func (r *Recipe) movesShare() bool {
	return r.Search == nil && !r.sharesOfEarlier && r.Selection.Share() != 0 &&
		pipeline.MayAbstain(r.Model.Method)
}

// divided returns the shares of the run, and the value of selection.share if it is not a share of the whole.
func (r *Recipe) divided() (shares pipeline.Shares, selectionShare float64) {
	shares, selectionShare = r.Budget.shares(), r.Selection.Share()
	if r.movesShare() && shares.Selection == 0 {
		shares.Selection = selectionShare
		selectionShare = 0
	}
	return shares, selectionShare
}

// Notes lists remarks for a reader of the recipe that require no action.
func (r *Recipe) Notes() []string {
	switch {
	case r.movesShare():
		return []string{"selection.share is the older name of budget.selection; it was used as such"}
	case r.sharesOfEarlier:
		return []string{"selection.share has no effect together with " + r.Model.Method +
			", as in the version that published this recipe; use budget.selection to set the share"}
	}
	return nil
}

// unitColumn returns the column that identifies the privacy unit, or "".
func (r *Recipe) unitColumn() string {
	if r.Privacy.Unit == nil {
		return ""
	}
	return r.Privacy.Unit.Column
}

// DataFile returns the path of the table: data.path, relative to the folder of the recipe file unless it was given by
// a flag. It returns "" if the recipe has no data.path.
func (r *Recipe) DataFile() string {
	if r.SetByFlag("data.path") {
		return r.Data.Path
	}
	return r.resolvePath(r.Data.Path)
}

// LedgerFile returns the path of the ledger, relative to the folder of the recipe file unless it was given by flags.
// It returns "" if the recipe has no ledger.
func (r *Recipe) LedgerFile() string {
	if r.Ledger == nil {
		return ""
	}
	if r.SetByFlag("ledger.path") ||
		r.src != nil && r.src.text["ledger"] == (place{}) && r.src.setsBelow("ledger") {
		return r.Ledger.Path
	}
	return r.resolvePath(r.Ledger.Path)
}

func (r *Recipe) resolvePath(path string) string {
	if _, piped := tablefile.Stdin(path); path == "" || piped || filepath.IsAbs(path) ||
		r.src == nil || r.src.file == "" {
		return path
	}
	return filepath.Join(filepath.Dir(r.src.file), path)
}
