package regression

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// kindLinear is the kind of a [Linear] model.
const kindLinear = "linear"

// Tasks a model can be trained for.
const (
	TaskRegression     = "regression"
	TaskClassification = "classification"
)

// Unbounded is the clamp that stands for "no bound": [-Unbounded, Unbounded]
// holds every real measurement, and is narrow enough that sums of squares of
// clamped values stay finite.
const Unbounded = 1e100

// Model is a trained model. Its methods do not change it and may be called
// from several goroutines at once.
type Model interface {
	// Kind names the model's form, and with it the layout of its file.
	Kind() string
	// Output says what is predicted.
	Output() Output
	// Inputs lists the columns a prediction needs, in the order of the model
	// file. The caller must not change it.
	Inputs() []Column
	// Sums takes the model apart into sums of what each column adds: one for a model of a
	// number, one per score for a classifier, the last classes of Output. It is nil for a
	// kind that is no sum, such as votes. The caller must not change them.
	Sums() []*Additive
	// Validate reports the first contradiction in the model as a [*ModelError].
	Validate() error
	// Predict returns one prediction for each row of rows: for regression the
	// target in its own units, for classification an index into the classes of
	// Output. The result is stored in dst when its capacity suffices (dst may
	// be nil; its contents are overwritten) and has length rows.N. dst must
	// not overlap a column of rows. Every returned value is finite. An error
	// wraps a [ColumnError] for each column that rows does not provide, or is
	// a [ModelError].
	Predict(dst []float64, rows Rows) ([]float64, error)
}

// Output describes the target of a model.
type Output struct {
	Task    string   // TaskRegression or TaskClassification
	Target  string   // name of the target column
	Classes []string // for classification: the declared classes, in order
	// Probability is that of the second of two classes by the score; nil if there is none.
	Probability *Probability
}

// ColumnType tells numbers from categories.
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

	// Values makes numbers of a column of texts: a cell that is category number i of Categories is the
	// number Values[i], and every other cell the last one. The column is Numeric, and the numbers are in
	// [Lower, Upper]. Nil for a column of numbers.
	Values []float64

	// Category columns. A cell outside Categories counts as other. Other says
	// whether training had an indicator for it; without one such a cell
	// contributes nothing.
	Categories []string
	Other      bool

	// Fold, Prefix and Hash say which value the text of a cell is, as in a recipe; Categories lists
	// such values.
	Fold         string
	Prefix, Hash int

	// Reading says how cells were written in the table that the model was trained on.
	Reading Reading
}

// Text reports whether the cells of the column are texts: categories, or what stands for numbers.
func (c *Column) Text() bool { return c.Type == Category || c.Values != nil }

// text is the rule that says which value a text is.
func (c *Column) text() cell.Text { return cell.Text{Fold: c.Fold, Prefix: c.Prefix, Hash: c.Hash} }

// Guarantee is the differential-privacy guarantee a model was released under.
// A model without one (nil) was trained without privacy.
type Guarantee struct {
	Epsilon  float64 `json:"epsilon"`        // >= 0
	Delta    float64 `json:"delta"`          // in [0, 1)
	Mu       float64 `json:"mu"`             // total Gaussian-DP parameter; 0 when the run has none
	Relation string  `json:"relation"`       // the neighbouring relation, as recipes name it
	Unit     *Unit   `json:"unit,omitempty"` // what Relation adds or removes; nil: one record
}

// Unit is a privacy unit of several records: one value of a column, with all records
// that have it, of which at most MaxRows were used.
type Unit struct {
	Column  string `json:"column"`
	MaxRows int    `json:"max_rows"` // >= 1
}

// ModelError reports a model that contradicts itself, such as a term without
// its column. Path says where, in the words of the model file:
// "terms[3].column".
type ModelError struct {
	Path    string
	Problem string
}

func (e *ModelError) Error() string {
	return fmt.Sprintf("model: %s: %s", e.Path, e.Problem)
}

func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }
