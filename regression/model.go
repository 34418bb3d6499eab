package regression

import (
	"fmt"
	"math"
)

// kindLinear is the kind of a [Linear] model.
const kindLinear = "linear"

// Tasks of a model.
const (
	TaskRegression     = "regression"
	TaskClassification = "classification"
)

// Unbounded is the clamp of a column or target without bounds: [-Unbounded, Unbounded] contains every real
// measurement and is narrow enough to keep sums of squares finite.
const Unbounded = 1e100

// Model is a trained model. Its methods do not change it and may be called
// from several goroutines at once.
type Model interface {
	// Kind returns the name of the model's kind, which determines the layout of its file.
	Kind() string
	// Output describes the prediction.
	Output() Output
	// Inputs lists the columns a prediction needs, in the order of the model
	// file. The caller must not change it.
	Inputs() []Column
	// Sums decomposes the model into sums over columns: one for a regression model; for a classifier one per
	// score, for the last classes of Output. It is nil for kinds that are not sums, such as votes. The caller
	// must not change them.
	Sums() []*Additive
	// Validate reports the first inconsistency in the model as a [*ModelError].
	Validate() error
	// Predict returns one prediction per row: the target in its own units for regression, an index into the
	// classes of Output for classification. The result has length rows.N and uses dst (which may be nil, and is
	// overwritten) if its capacity suffices. dst must not overlap a column of rows. Every prediction is finite.
	// The error wraps a [ColumnError] for each column that rows does not provide, or is a [ModelError].
	Predict(dst []float64, rows Rows) ([]float64, error)
}

// Output describes the target of a model.
type Output struct {
	Task    string   // TaskRegression or TaskClassification
	Target  string   // name of the target column
	Classes []string // for classification: the declared classes, in order
	// Probability maps the score to the probability of the second of two classes; nil if there are no
	// probabilities.
	Probability *Probability
}

// ColumnType distinguishes numeric and category columns.
type ColumnType uint8

const (
	Numeric  ColumnType = iota // float64 cells, NaN when missing
	Category                   // cells from a declared list, else other
)

// String returns the name used in model files.
func (t ColumnType) String() string {
	switch t {
	case Numeric:
		return "numeric"
	case Category:
		return "category"
	}
	return "invalid"
}

// Column is one input of a model, and the treatment of its cells.
type Column struct {
	Name string
	Type ColumnType

	// Numeric columns. A cell that is missing, unparseable, NaN or infinite
	// takes the value Missing; then the cell is clamped to [Lower, Upper], in
	// the column's own units. All three are finite and Lower <= Upper.
	Lower, Upper, Missing float64

	// Values assigns numbers to a column of texts: a cell in category i of Categories has the number Values[i],
	// any other cell the last number. The column is Numeric and the numbers are in [Lower, Upper]. Nil for a
	// column of numbers.
	Values []float64

	// Category columns. A cell outside Categories is other. Other reports whether training had an indicator for
	// it; without one, such a cell contributes 0.
	Categories []string
	Other      bool

	// TextRule transforms the text of a cell. Categories lists transformed texts.
	TextRule TextRule

	// Reading describes how cells were written in the training table.
	Reading Reading
}

// A TextRule transforms the text of a cell before it is compared with the categories of its column. The zero value
// only removes surrounding blanks. The folding, the prefix and the hash apply in this order.
type TextRule struct {
	Fold   string // "" or "exact": none; "blanks": runs of blanks count as one; "case": upper and lower case are equal too
	Prefix int    // number of leading characters to keep, at most 64; 0 for all
	Hash   int    // number of buckets to hash to, at most 1,024; 0 for no hashing
}

// Text reports whether the cells of the column are texts: categories, or texts with Values.
func (c *Column) Text() bool {
	return c.Type == Category || c.Values != nil
}

// Guarantee is the differential-privacy guarantee of a released model. A nil Guarantee means that the model was
// trained without privacy.
type Guarantee struct {
	Epsilon  float64 `json:"epsilon"`        // >= 0
	Delta    float64 `json:"delta"`          // in [0, 1)
	Mu       float64 `json:"mu"`             // Gaussian-DP parameter of the whole run; 0 if it has none
	Relation string  `json:"relation"`       // the neighbouring relation, as recipes name it
	Unit     *Unit   `json:"unit,omitempty"` // privacy unit that Relation adds or removes; nil: one record
}

// Unit is a privacy unit of several records: all records with one value of a column. At most MaxRows of a
// unit's records were used.
type Unit struct {
	Column  string `json:"column"`
	MaxRows int    `json:"max_rows"` // >= 1
}

// ModelError reports an inconsistent model, such as a term without its column. Path locates the problem with
// the names of the model file: "terms[3].column".
type ModelError struct {
	Path    string
	Problem string
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("model: %s: %s", e.Path, e.Problem)
}

func isFinite(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0)
}
