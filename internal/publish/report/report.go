package report

import (
	"math"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/evaluate"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// A Report is the public account of one run. Its fields are the keys of the report file, in the order of the file. Of
// the sections [Training], [Causal] and [Description] it has the one of the task of the run, and the others are nil. The
// tag format lists the versions that have the key (all, if there is no tag); a question mark after the version says that
// the key is absent there if its value is zero.
type Report struct {
	Format    string    `json:"format"`
	Guarantee Guarantee `json:"guarantee"`
	// Accounting describes how the events add up to the guarantee, from version 4 on.
	Accounting *Accounting `json:"accounting" format:"4+?"`
	Events     []Event     `json:"events"` // in the order of the plan
	*Training
	Causal      *Causal            `json:",inline"`
	Description *Description       `json:",inline"`
	Unprotected []pipeline.Fact    `json:"unprotected"` // stated by the recipe or by flags, not protected
	Warnings    []pipeline.Warning `json:"warnings"`
	// Ledger is where the run was entered; nil, and absent from the file, for a
	// run that kept no ledger.
	Ledger *Ledger `json:"ledger,omitempty"`
	// Files are the files of the same release; Checksum is that of the report itself, and
	// [Encode] fills it in. See [Verify].
	Files    Hashes `json:"files" format:"3+"`
	Checksum string `json:"checksum" format:"3+"`
}

// Training is the section of a run that trains a model.
type Training struct {
	Task     string   `json:"task"` // "regression" or "classification"
	Target   string   `json:"target"`
	Features Features `json:"features"`
	Model    Model    `json:"model"`
	Metrics  Metrics  `json:"metrics"`
	// Confidence describes how sure the choice of features is; nil, and absent from the file, where nothing was
	// chosen in private.
	Confidence *Confidence `json:"confidence" format:"4+?"`
	// Importances has the importance of each column for the predictions, the largest first; absent if the method
	// does not release the spread of the columns.
	Importances []Importance `json:"importances" format:"3+?"`
	// Interactions describes the contribution of terms of all columns together; absent for a model without such
	// terms.
	Interactions *Interactions `json:"interactions,omitempty" format:"3+?"`
	// Columns lists the numeric columns with few numeric cells; absent if there are no such columns.
	Columns []Unread `json:"columns" format:"3+?"`
	// Card holds noisy histograms of the training records, released with the ranges of the columns; absent if no
	// range was found privately.
	Card []CardColumn `json:"card" format:"4+?"`
	// Kinds counts numbers, text and missing cells of columns without declarations, and Texts the values found in text
	// columns; absent if nothing was counted.
	Kinds []CardKinds `json:"kinds" format:"4+?"`
	Texts []CardText  `json:"texts" format:"4+?"`
	// Stopped explains why the run trained no model: too few records have a usable target. It is nil, and absent from
	// the file, for every other run.
	Stopped *Stopped `json:"stopped" format:"4+?"`
	// Search is the result of a search; nil, and absent from the file, for a run without one.
	Search *Search `json:"search,omitempty"`
	// Sizes is the result of choosing the number of features; nil, and absent from the
	// file, for a run without a list of sizes.
	Sizes *Sizes `json:"sizes,omitempty"`
}

// Hashes are the SHA-256 hashes of the other files of a release, in hex; empty, and absent from the report, for a
// file that is not in the release.
type Hashes struct {
	Model   string `json:"model.json,omitempty"`
	Picture string `json:"causal.svg,omitempty"`
	Recipe  string `json:"recipe.yaml,omitempty"`
	Page    string `json:"report.html,omitempty"` // releases of earlier versions have none
}

// Ledger is the ledger reservation of a run. Head is the head of the chain right after the reservation, before the
// first row was read, so it does not depend on any record.
type Ledger struct {
	Dataset string `json:"dataset"`
	Entry   int64  `json:"entry"`
	Head    string `json:"head"` // SHA-256, in hex
	// Nonce is the nonce of the reservation: 128 random bits, in hex.
	Nonce string `json:"nonce" format:"4+"`
}

// Enter records the ledger entry of the run and removes the warning about a missing ledger.
func (r *Report) Enter(l Ledger) {
	r.Ledger = &l
	r.Warnings = slices.DeleteFunc(r.Warnings, func(w pipeline.Warning) bool {
		return w.Code == stage.CodeNoLedger
	})
}

// Warn adds a warning to the report.
func (r *Report) Warn(w pipeline.Warning) {
	r.Warnings = append(r.Warnings, w)
}

// Stopped explains why a run trained no model. The numbers of records are noisy.
type Stopped struct {
	Readable float64 `json:"readable"` // records with a usable target: a number, or one of the classes
	Text     float64 `json:"text"`     // with text instead of a number, or in no declared class
	Empty    float64 `json:"empty"`    // with an empty target
	Scale    float64 `json:"scale"`    // of the Laplace noise in each number; 0 if they are exact
	Spent    float64 `json:"spent"`    // the epsilon of the only step that was taken
	Meaning  string  `json:"meaning"`  // a summary in sentences
}

// Unread is a numeric column with few numeric cells.
type Unread struct {
	Column string `json:"column"`
	// Left reports that no range was found, so that the column is not in the model (or, for the target, that the
	// model predicts a constant). TooFew reports that there may have been too few records to find a range with this
	// budget.
	Left   bool `json:"left"`
	TooFew bool `json:"too_few"`
	// Unread is the share of missing or non-numeric cells, in [0, 1], and StdError the standard deviation of the
	// noise in it; 0 for a column that is not in the model.
	Unread   float64 `json:"unread"`
	StdError float64 `json:"std_error"`
}

// Guarantee is the privacy guarantee of a run.
type Guarantee struct {
	Epsilon  float64 `json:"epsilon"` // > 0
	Delta    float64 `json:"delta"`   // in [0, 1)
	Relation string  `json:"relation"`
	// Unit is the unit that the relation adds or removes; nil, and absent from the file, if it is one record.
	Unit *Unit `json:"unit,omitempty"`
	// Mu is the parameter of the smallest Gaussian curve above the profile; nil (null) if there is no such curve.
	Mu *float64 `json:"mu"`
	// Composition is the way in which the steps were added up: "tight" or "basic".
	Composition string `json:"composition"`
	// Spent is the epsilon that the noise distributions guarantee at Delta, at most Epsilon.
	Spent float64 `json:"spent"`
	// Profile lists the delta at other epsilons, in increasing order.
	Profile []Point `json:"profile"`
	// Attack bounds the success of an attacker, and Meaning states it in a sentence; see [Guarantee.AttackOf] and
	// [Guarantee.MeaningOf]. Reports have both from version 3 on; prices of plans have neither.
	Attack  *Attack `json:"attack,omitempty" format:"3+?"`
	Meaning string  `json:"meaning,omitempty" format:"3+?"`
}

// Unit is the privacy unit of a run that keeps at most MaxRows records of each entity, identified by the value
// of Column.
type Unit struct {
	Column  string `json:"column"`
	MaxRows int    `json:"max_rows"` // from 1 to 1000
}

// Point is one point of a privacy profile.
type Point struct {
	Epsilon float64 `json:"epsilon"`
	Delta   float64 `json:"delta"`
}

// Event is one step that was paid for. All draws of a step are equal; the parameters of the noise distribution are
// for one draw.
type Event struct {
	ID    string `json:"id"`    // path in the plan, such as fit/train/model/gram
	Stage string `json:"stage"` // such as scaling, model, r2
	Law   string `json:"law"`   // gaussian, laplace, exponential, pure or approximate
	Draws int    `json:"draws"` // paid for, >= 1
	// Sensitivity bounds the change of the statistic between neighbouring tables (for a choice: the width of the
	// scores' change), and Scale is the noise scale (Gaussian: standard deviation; 0 for a choice), both in the units
	// of the statistic. They are 0 if nothing was released.
	Sensitivity float64 `json:"sensitivity"`
	Scale       float64 `json:"scale"`
	Part        string  `json:"part"` // the records that the step uses: all, train, score (of a search) or holdout

	Mu       float64 `json:"mu,omitempty"`      // gaussian
	Epsilon  float64 `json:"epsilon,omitempty"` // every other distribution
	Delta    float64 `json:"delta,omitempty"`   // approximate
	Released int     `json:"released"`          // draws made; the others were paid for too
	// Taken is false for a step of a branch that the run did not take, and for one after the run had stopped; nil,
	// and absent from the file, for every other step.
	Taken *bool `json:"taken" format:"3+?"`
	// Threshold is the noisy count from which a text category of one of Columns columns was published, in the step
	// that pays for new categories; 0, and absent from the file, for every other step and if no category was
	// released.
	Threshold float64 `json:"threshold" format:"4+?"`
	Columns   int     `json:"columns" format:"4+?"`
}

// Features are the names of the columns that a model may use and the names of the columns that it uses.
type Features struct {
	Considered []string `json:"considered"`
	Selected   []string `json:"selected"`
}

// Model describes the trained model.
type Model struct {
	Method string `json:"method"`
	Kind   string `json:"kind"` // layout of model.json; empty without a model, if the method abstained or the run stopped
}

// Metrics are the private measures of quality; nil if no quality was measured: absent from the file, or null in the
// version before 3 that has the key.
type Metrics struct {
	R2               *R2        `json:"r2" format:"1,3+?"`
	R2Transformed    *R2        `json:"r2_transformed" format:"3+?"` // of a transformed target, in transformed units
	MAE              *Quality   `json:"mae" format:"3+?"`            // mean absolute error, in units of the target
	RMSE             *Quality   `json:"rmse" format:"3+?"`           // root of the mean squared error, in units of the target
	Intervals        []Interval `json:"intervals" format:"3+?"`      // prediction intervals, by level; the same as in model.json
	Accuracy         *Share     `json:"accuracy" format:"2,3+?"`
	BalancedAccuracy *Share     `json:"balanced_accuracy" format:"2,3+?"`
	Confusion        *Confusion `json:"confusion" format:"2,3+?"`
	// Records is the noisy number of held-out records behind the metrics: those with a usable target, or for a
	// classification those with a label. MissingTargets is about the other held-out records.
	Records        *Count   `json:"records" format:"3+?"`
	MissingTargets *Missing `json:"missing_targets" format:"3+?"`
	// OtherLabels is about those of Records with a label that is not a class of the model. They count as errors in
	// the accuracy. Reports of earlier versions do not have this key: there the accuracy is about the records of the
	// classes alone, and those with another label are among MissingTargets.
	OtherLabels *Missing `json:"other_labels" format:"4+?"`

	Groups *Groups `json:"groups" format:"4+?"` // by the values of a column; nil, and absent, without evaluate.by

	// These are for classifications; the last four are about the scores, and AUC, LogLoss and Thresholds are for two
	// classes only.
	Recalls      []Recall      `json:"recalls" format:"3+?"` // one per class
	LargestClass *LargestClass `json:"largest_class" format:"3+?"`
	AUC          *Share        `json:"auc" format:"3+?"`
	LogLoss      *Loss         `json:"log_loss" format:"3+?"`
	Reliability  []Bin         `json:"reliability" format:"3+?"`
	Thresholds   []Threshold   `json:"thresholds" format:"3+?"`
}

// A Count is a noisy number of records of Part.
type Count struct {
	Value   float64 `json:"value"`   // may be negative
	Scale   float64 `json:"scale"`   // standard deviation of the noise
	Private bool    `json:"private"` // released by a mechanism
	Part    string  `json:"part"`    // "holdout"
}

// A Share is a number from 0 to 1 about records like those of Part. The interval [Lower, Upper] has confidence Level;
// it covers the privacy noise and, from version 3 on, sampling error.
type Share struct {
	Value   float64 `json:"value"`
	Lower   float64 `json:"lower"`
	Upper   float64 `json:"upper"`
	Level   float64 `json:"level"`
	Private bool    `json:"private"` // released by a mechanism
	Part    string  `json:"part"`    // "holdout"
}

// Confusion holds noisy, rounded numbers of the records of Part.
type Confusion struct {
	Classes []string `json:"classes"`
	// Counts has one row for every true class, a last row for the records with another label, and one column for
	// every predicted class. Without Metrics.OtherLabels the last row also counts the records without a label.
	Counts [][]int `json:"counts"`
	Scale  float64 `json:"scale"` // standard deviation of the noise in each
	// NoneScale is the noise in the last row, if it is different, as in reports of earlier versions.
	NoneScale float64 `json:"none_scale" format:"3+?"`
	Private   bool    `json:"private"` // released by a mechanism
	Part      string  `json:"part"`    // "holdout"
}

// R2 is the coefficient of determination, measured on the records of Part. The interval [Lower, Upper] has confidence
// Level and is about new records; in version 1 it covers the privacy noise only. From version 4 on an error counts as
// at most ErrorLimit.
type R2 struct {
	Value   float64 `json:"value"` // in [-1, 1]; -1 stands for "-1 or less"
	Lower   float64 `json:"lower"`
	Upper   float64 `json:"upper"`
	Level   float64 `json:"level"`
	Private bool    `json:"private"` // released by a mechanism
	Part    string  `json:"part"`    // "holdout"
	// In version 1 residuals were clipped to ±ResidualClip. Targets are clamped to [TargetLower, TargetUpper]. All
	// are in units of the target.
	ResidualClip float64 `json:"residual_clip" format:"1"`
	TargetLower  float64 `json:"target_lower"`
	TargetUpper  float64 `json:"target_upper"`
	// Beyond is the share of targets outside these limits, and BeyondUpper its upper 97.5% confidence limit.
	Beyond      float64 `json:"beyond" format:"3+"`
	BeyondUpper float64 `json:"beyond_upper" format:"3+"`
	// ErrorLimit is the size, in units of the target, above which an error counts as that size. ErrorsSeenBeyond
	// reports that larger errors were detected, so that the limit was raised.
	ErrorLimit       float64    `json:"error_limit" format:"4+"`
	ErrorsSeenBeyond bool       `json:"errors_seen_beyond" format:"4+"`
	AllErrors        *AllErrors `json:"all_errors" format:"4+?"`
	// PredictionsCut reports that predictions are clamped to [TargetLower, TargetUpper] too.
	PredictionsCut bool `json:"predictions_cut" format:"4+"`
	// NoiseShare is the part of the variance of Value due to privacy noise, in [0, 1], which a larger budget reduces.
	// The rest is sampling error, which more held-out records reduce.
	NoiseShare float64 `json:"noise_share" format:"4+"`
}

// AllErrors bounds R² if every error counts in full, however large.
type AllErrors struct {
	Lower float64 `json:"lower"` // the lowest possible R², for any distribution of the errors; at most R2.Lower
	Level float64 `json:"level"` // confidence level of this one-sided bound
}

// New returns the report of a run that trained a model. It looks at the public half of the result
// only.
func New(res *pipeline.Result) *Report {
	r := newReport(Format, res.Guarantee, res.Addition, res.Unprotected, res.Warnings)
	r.Training = &Training{
		Task:     res.Task,
		Target:   res.Target,
		Features: Features{list(res.Considered), list(res.Selected)},
		Model:    Model{Method: res.Method},
	}
	r.Confidence = confidenceOf(res)
	r.Importances = importances(res.Importances)
	for _, u := range res.Unread {
		r.Columns = append(r.Columns, Unread{
			Column: u.Column,
			Left:   true,
			TooFew: u.Faint,
		})
	}
	for _, g := range res.Gaps {
		r.Columns = append(r.Columns,
			Unread{
				Column:   g.Column,
				Unread:   g.Share,
				StdError: g.StdError,
			})
	}
	r.Card = cardOf(res.Card)
	r.Kinds = cardKindsOf(res.Kinds)
	r.Texts = cardTextsOf(res.Vocabulary)
	if x := res.Stopped; x != nil {
		r.Stopped = &Stopped{
			Readable: x.Readable,
			Text:     x.Text,
			Empty:    x.Empty,
			Scale:    x.Scale,
			Spent:    x.Epsilon,
			Meaning:  x.Cause(),
		}
	}
	if res.Model != nil {
		r.Model.Kind = res.Model.Kind()
		r.Interactions = interactions(res.Model)
	}
	r.addEvents(res.Events, res)
	if res.Search != nil {
		r.Search = search(res.Search, res.Task)
	}
	if x := res.Sizes; x != nil {
		r.Sizes = &Sizes{x.Sizes, x.Runs, x.Eta, x.Gamma, x.Chosen, x.Right}
	}
	r.Metrics.classes(res)
	if m := res.R2; m != nil {
		r.Metrics.regression(m)
	}
	if m := res.Transformed; m != nil {
		r.Metrics.R2Transformed = r2Of(m)
	}
	return r
}

// newReport returns a report with the keys that all tasks share but the events.
func newReport(
	format string,
	g budget.Guarantee,
	a budget.Addition,
	unprotected []pipeline.Fact,
	warnings []pipeline.Warning,
) *Report {
	return &Report{
		Format:      format,
		Guarantee:   GuaranteeOf(g).explained(),
		Accounting:  accountingOf(a, g.Relation, g.Unit),
		Events:      []Event{},
		Unprotected: list(unprotected),
		Warnings:    list(warnings),
	}
}

// addEvents adds the steps of a run. Which of them were left out follows from the branch, the search and the stop in res.
func (r *Report) addEvents(events []mechanism.Event, res *pipeline.Result) {
	for _, e := range events {
		r.Events = append(r.Events, event(e, res))
	}
}

func share(s evaluate.Share) *Share {
	return &Share{
		Value:   s.Value,
		Lower:   s.Lower,
		Upper:   s.Upper,
		Level:   s.Level,
		Private: true,
		Part:    "holdout",
	}
}

// GuaranteeOf converts a guarantee to the form used in reports.
func GuaranteeOf(g budget.Guarantee) Guarantee {
	out := Guarantee{
		Epsilon:     g.Epsilon,
		Delta:       g.Delta,
		Relation:    g.Relation.String(),
		Composition: g.Composition.String(),
		Spent:       g.Spent,
		Profile:     []Point{},
	}
	if !math.IsInf(g.Mu, 0) {
		out.Mu = &g.Mu
	}
	if u := g.Unit; u != (budget.Unit{}) {
		out.Unit = &Unit{u.Column, u.MaxRows}
	}
	for _, p := range g.Profile {
		out.Profile = append(out.Profile, Point(p))
	}
	return out
}

func event(e mechanism.Event, res *pipeline.Result) Event {
	at := e.Place
	out := Event{
		ID:          e.Path,
		Stage:       at.Stage,
		Law:         e.Law.Kind.String(),
		Draws:       e.Law.Draws,
		Sensitivity: e.Sensitivity,
		Scale:       e.Scale,
		Part:        at.Part,
		Mu:          e.Law.Mu,
		Epsilon:     e.Law.Epsilon,
		Delta:       e.Law.Delta,
		Released:    e.Released,
		Threshold:   e.Threshold,
		Columns:     e.Columns,
	}
	if leftOut(at, res) || res.Stopped != nil && e.Released == 0 {
		out.Taken = new(bool)
	}
	return out
}

// leftOut reports whether a step is of a branch that a run, or the winning try of a search, did not take. The steps
// of losing tries are not reported, because this would reveal that the tries were made.
func leftOut(at budget.Place, res *pipeline.Result) bool {
	taken := choices(res.Branch)
	for i, name := range choices(at.Branch) {
		if i >= len(taken) || taken[i] != name {
			return res.Search == nil || at.Candidate == pipeline.CandidateName(res.Search.Chosen)
		}
	}
	return false
}

// choices lists the choices that lead to a branch, the first choice first.
func choices(branch string) []string {
	if branch == "" {
		return nil
	}
	return strings.Split(branch, "/")
}

// list returns an empty list for nil, so that files contain [] instead of null.
func list[T any](s []T) []T {
	if s == nil {
		return []T{}
	}
	return s
}
