//go:build replay

package pipeline

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/mechanism"
)

// identityOf returns what the coin of a record is drawn from.
func identityOf(s *mechanism.Session) func(id uint64) uint64 {
	if !s.Planted(mechanism.CoinsByIndex) {
		return func(id uint64) uint64 { return id }
	}
	next := uint64(0)
	return func(uint64) uint64 {
		next++
		return next
	}
}

// trainingPart returns the records to train on.
func trainingPart(s *mechanism.Session, part, all dataset.View) dataset.View {
	if s.Planted(mechanism.HeldOutInTraining) {
		return all
	}
	return part
}

// atLeast returns the number of records that defaults are made of.
func atLeast(s *mechanism.Session, released, records int) int {
	if s.Planted(mechanism.ExactCount) {
		return records
	}
	return released
}
