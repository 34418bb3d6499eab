//go:build replay

package pipeline

import (
	"github.com/dptrain/dptrain/internal/mechanism"
)

// trainingPart returns the records to train on.
func trainingPart(
	s *mechanism.Session,
	part, all mechanism.Records,
) mechanism.Records {
	if s.Planted(mechanism.HeldOutInTraining) {
		return all
	}
	return part
}

// atLeast returns the number of records on which defaults depend.
func atLeast(s *mechanism.Session, released, records int) int {
	if s.Planted(mechanism.ExactCount) {
		return records
	}
	return released
}
