package budget

import "fmt"

// MaxUnitRows is the largest number of records that a unit may keep. Noise grows in
// proportion to the cap, so a larger one would leave no model.
const MaxUnitRows = 1000

// Unit is the privacy unit. The zero value is one record. Otherwise a unit is all records with the same value
// in a column: neighbouring tables differ by a whole unit, of any number of records. The run keeps at most
// MaxRows of a unit's records.
type Unit struct {
	// Column names the column that identifies a unit.
	Column string
	// MaxRows is the cap, from 1 to MaxUnitRows.
	MaxRows int
}

// Records returns the largest number of records of a unit in the table in use: 1 if the record is the unit.
func (u Unit) Records() int {
	return max(u.MaxRows, 1)
}

// validate returns a *TargetError if a field is out of range, or if the unit has no meaning under the
// relation: a unit that is replaced may bring another number of records, so the number of records, which is
// public under every relation but AddRemove, would reveal the replacement.
func (u Unit) validate(r Relation) error {
	bad := func(problem string) error {
		return &TargetError{
			Field:   "unit.max_rows",
			Value:   float64(u.MaxRows),
			Problem: problem,
		}
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
			" the number of records is public, but replacing a unit may change it")
	}
	return nil
}
