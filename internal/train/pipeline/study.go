package pipeline

import (
	"errors"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// What trainings share with the studies that train no model: causal directions and descriptions.

// OpenStudy opens the session of a study with the function open, and returns the records it may use: at most as many of
// every unit as the plan allows. A table with another schema than that of the study is refused with [ErrSchema].
func OpenStudy(
	priced *budget.Priced,
	schema dataset.Schema,
	t *dataset.Table,
	open func(*budget.Priced) (*mechanism.Session, error),
) (*mechanism.Session, dataset.View, error) {
	if !SameSchema(schema, t.Schema()) {
		return nil, dataset.View{}, ErrSchema
	}
	root, err := open(priced)
	if err != nil {
		return nil, dataset.View{}, err
	}
	return root, cappedRecords(t.View(), root, priced.Target().Unit), nil
}

// cappedRecords keeps at most as many records of every unit as the budget allows, and no records without a unit.
func cappedRecords(
	all dataset.View,
	s *mechanism.Session,
	unit budget.Unit,
) dataset.View {
	if unit == (budget.Unit{}) {
		return all
	}
	return all.Cap(unit.MaxRows, s.Lots("unit").Draw)
}

// EmptyTable returns a table without records, for a rehearsal.
func EmptyTable(schema dataset.Schema) (*dataset.Table, error) {
	columns := make([]dataset.ColumnData, len(schema.Columns))
	for j, c := range schema.Columns {
		if c.Kind == dataset.Numeric {
			columns[j].Floats = []float64{}
		} else {
			columns[j].Codes = []int32{}
		}
	}
	return dataset.NewTable(schema, columns, []uint64{})
}

// TooFaint adds to an error of a rehearsal, if it is [mechanism.ErrScale], that epsilon is too small for the run, which
// name names.
func TooFaint(err error, epsilon float64, name string) error {
	if errors.Is(err, mechanism.ErrScale) {
		return fmt.Errorf("%w; epsilon %v is too small for this %s", err, epsilon, name)
	}
	return err
}

// UnitFacts lists what a run states about its privacy unit.
func UnitFacts(u budget.Unit) []Fact {
	if u.Column == "" {
		return nil
	}
	return []Fact{
		{Name: "unit column", Value: u.Column},
		{Name: "records kept of a unit", Value: u.MaxRows},
	}
}

// ColumnFacts lists what a run states about the numbers in a column: the range, and the value in place of a missing one.
func ColumnFacts(c dataset.Column) []Fact {
	var out []Fact
	if c.Ranged {
		out = append(out, Fact{
			Name:  "range of " + c.Name,
			Value: []float64{c.Lower, c.Upper},
		})
	}
	if c.HasMissing {
		out = append(out, Fact{
			Name:  "missing value of " + c.Name,
			Value: c.Missing,
		})
	}
	return out
}

// NoLedgerWarning is the first warning of a run, which its entry in a ledger takes back.
func NoLedgerWarning() Warning {
	return Warning{
		Code:     stage.CodeNoLedger,
		Severity: Theoretical,
		Text:     "This run is not in a ledger, so nothing limits the total privacy loss of all runs on the same records.",
	}
}

// EpsilonWarnings returns a warning if epsilon is so large that the guarantee is weak.
func EpsilonWarnings(epsilon float64) []Warning {
	if !(epsilon > 10) {
		return nil
	}
	return []Warning{{
		Code:     stage.CodeLargeEpsilon,
		Severity: Critical,
		Text:     "An epsilon above 10 guarantees little in the worst case. See mu and the privacy profile in the report.",
	}}
}
