package budget

import "fmt"

// MaxUnitRows is the largest number of records that a unit may keep. Noise grows in
// proportion to the cap, so a larger one would leave no model.
const MaxUnitRows = 1000

// Unit says who is protected. The zero value is one record. Otherwise it is
// whoever a value of a column stands for, with all records that have this value:
// neighbouring tables differ by a whole unit, of any number of records. The run
// keeps at most MaxRows of them.
type Unit struct {
	// Column names the column that identifies a unit.
	Column string
	// MaxRows is the cap, from 1 to MaxUnitRows.
	MaxRows int
}

// Records returns how many records of the table in use a unit has at most: 1 if
// the record is the unit.
func (u Unit) Records() int { return max(u.MaxRows, 1) }

// validate returns a *TargetError if a field is out of range, or if the relation
// leaves the unit without a meaning: a unit that is replaced may bring another
// number of records, so the number of records, which is public under every
// relation but AddRemove, would tell on it.
func (u Unit) validate(r Relation) error {
	bad := func(problem string) error {
		return &TargetError{Field: "unit.max_rows", Value: float64(u.MaxRows), Problem: problem}
	}
	switch {
	case u == Unit{}:
		return nil
	case u.Column == "":
		return bad("a cap on the rows of a unit needs the column that names the unit")
	case u.MaxRows < 1 || u.MaxRows > MaxUnitRows:
		return bad(fmt.Sprintf("must be from 1 to %d", MaxUnitRows))
	case r != AddRemove:
		return bad("a unit of several records needs the relation add-remove: under " + r.String() +
			" the number of records is public, and a unit that is replaced may change it")
	}
	return nil
}
