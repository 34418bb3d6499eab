package mechanism

import (
	"math"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestSquareSumsSensitivity: records with numbers, at and beyond the corners, in cells and in none, and without.
func TestSquareSumsSensitivity(t *testing.T) {
	values := []float64{-9, -.3, 0, .7, 1, 1.1, math.NaN()}
	places := []uint16{NoSize, 0, 1, 3} // none, the far one, one of each group
	for _, reach := range []float64{0, .25, .7, .97, 1} {
		// Under substitution t would have to move by 2 and t^2 by 1, which no pair does.
		search(t, 1, len(values)*len(values)*len(places), .96, func(s *Session, rows []int) Bounded[Vector] {
			q := s.NewSquareSums(CellGroups{2, 2, reach})
			for _, r := range rows {
				k := r / len(places)
				q.Add([]float64{values[k%len(values)]}, []float64{values[k/len(values)]}, []uint16{places[r%len(places)]})
			}
			return q.bound()
		})
	}
	for rel, want := range map[budget.Relation]float64{budget.AddRemove: 1.254990, budget.Substitute: 1.319091} {
		if got := session(t, rel, 1).NewSquareSums(CellGroups{}).bound().Sensitivity(); math.Abs(got-want) > 5e-7 {
			t.Errorf("%v: %v, want %v", rel, got, want)
		}
	}
	for rel, want := range map[budget.Relation]float64{budget.AddRemove: 1.302881, budget.Substitute: 1.388344} {
		if got := session(t, rel, 1).NewSquareSums(CellGroups{4, 16, .5}).bound().Sensitivity(); math.Abs(got-want) > 5e-7 {
			t.Errorf("%v: with cells %v, want %v", rel, got, want)
		}
	}
}

// TestSquareSumsRelease: each sum divided by its weight, with its own noise. With
// deviations below .0084 the sums are exact to .1, nearly twelve of them (odds below 1e-30).
func TestSquareSumsRelease(t *testing.T) {
	s := precise(t, budget.AddRemove, 1000)
	q, other := s.NewSquareSums(CellGroups{1, 2, .8}), s.NewSquareSums(CellGroups{1, 2, .8})
	q.Add([]float64{.5, -2, math.NaN()}, []float64{2, .5, 1}, []uint16{NoSize, 2, 0})
	other.Add([]float64{math.NaN(), 0}, []float64{math.NaN(), math.NaN()}, []uint16{0, 2})
	q.Cells().merge(other.Cells().values())
	released, err := q.Release(s, "leaf")
	if err != nil {
		t.Fatal(err)
	}
	got := released.Value()
	for name, c := range map[string][2]float64{
		"count": {got.Count, 3}, "sum": {got.Sum, -.5}, "target": {got.Target, 1.25}, "residual": {got.Residual, 1.25}, "beyond": {got.Beyond, 1}, "missing": {got.Missing, 2},
		"first cell": {got.Cells[0], 0}, "second cell": {got.Cells[1], 0}, "third cell": {got.Cells[2], 2}, "group": {got.Groups[0], 2},
	} {
		if math.Abs(c[0]-c[1]) > .1 {
			t.Errorf("%s is %v, want %v", name, c[0], c[1])
		}
	}
	for name, c := range map[string][2]float64{"count": {got.CountNoise, .15}, "sum": {got.SumNoise, .25}, "target": {got.TargetNoise, .7}, "missing": {got.MissingNoise, .4}, "beyond": {got.BeyondNoise, math.Sqrt(1.1225 - .36)}, "the first cell": {got.FarNoise, .35}, "cells": {got.CellNoise, math.Sqrt((1.1225 - .8*.8*.8*.8) / 2)}} {
		residual := got.ResidualNoise / math.Sqrt(1+.16/(1.1225-.36))
		if math.Abs(c[0]*c[1]/residual-1) > 1e-8 {
			t.Errorf("the noise of %s is %v", name, c[0])
		}
	}
}

// TestSquareSumsNoise: at mu = 1 the standard deviations of the specification, with a share
// of three quarters of mu^2.
func TestSquareSumsNoise(t *testing.T) {
	for rel, want := range map[budget.Relation]float64{budget.AddRemove: 1.449138, budget.Substitute: 1.523155} {
		s := precise(t, rel, math.Sqrt(.75))
		released, err := s.NewSquareSums(CellGroups{}).Release(s, "leaf")
		if err != nil {
			t.Fatal(err)
		}
		if got := .15 * released.Value().CountNoise; math.Abs(got-want) > 2e-6 {
			t.Errorf("%v: %v, want %v", rel, got, want)
		}
	}
}
