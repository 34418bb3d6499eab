package boosting

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// Lists of a state on a shelf: the targets, the predictions, the bins of each list, and the bins of each input.
// Rows form a group. Features of a map form a group stored under the step that introduced the map.
const (
	targetList = iota
	predictionList
	binLists
)

// Groups of a state on a shelf.
const (
	rowGroup = iota
	featureGroup
)

func (s *state) inputLists() int { return binLists + s.lists() }

// BeginShelved implements [mechanism.Shelved].
func (s *state) BeginShelved(b dataset.Block) mechanism.Shelvable { return s.begin(b, !s.rowlessShelf) }

// Open implements [mechanism.Shelved].
func (s *state) Open(n, done int, from *mechanism.Shelf) mechanism.Shelvable {
	k := &kept{state: s, n: n, shelf: from, bins: make([][]uint8, s.lists()), joined: make([]bool, s.lists())}
	for i, m := range s.Moves[:done] {
		if m.Map != nil {
			k.features = m.Map
			k.entered = i
		}
	}
	return k
}

// shelfCells is the maximum number of cells of features that the shelf stores, and likewise of rows.
const shelfCells = 1 << 32

// shelvedFeatures returns the features of the block from the shelf, or nil if they are not stored.
func (k *kept) shelvedFeatures() [][]int16 {
	if phi := k.shelf.Group(featureGroup, k.entered, k.features.Features()); phi != nil {
		return phi
	}
	phi := k.computed()
	k.shelf.PutGroup(featureGroup, k.entered, phi)
	return phi
}

// Shelve implements [mechanism.Shelvable].
func (k *kept) Shelve(to *mechanism.Shelf) {
	begun := k.shelf == nil
	if begun {
		to.PutShorts(targetList, k.y)
		if !k.rowlessShelf {
			to.PutGroup(rowGroup, 0, k.x)
		}
		for i, bins := range k.inputs {
			to.PutBytes(k.inputLists()+i, bins)
		}
	}
	if begun || k.moved {
		to.PutFloats(predictionList, k.f)
	}
	for i, bins := range k.bins {
		if begun || k.joined[i] {
			to.PutBytes(binLists+i, bins)
		}
	}
}

// shelvedRows returns the rows of the block from the shelf, read only, or nil if they are not stored.
func (k *kept) shelvedRows() [][]int16 {
	if k.shelf == nil || k.rowlessShelf {
		return nil
	}
	return k.shelf.Group(rowGroup, 0, len(k.Start))
}

// targets returns the scaled targets, in units of 2^-14.
func (k *kept) targets() []int16 {
	if k.y == nil {
		k.y = k.shelf.Shorts(targetList)
	}
	return k.y
}

// predictions returns the current predictions, read only.
func (k *kept) predictions() []float64 {
	if k.f == nil {
		k.f = k.shelf.Floats(predictionList)
	}
	return k.f
}

// mutablePredictions returns the current predictions for modification.
func (k *kept) mutablePredictions() []float64 {
	k.moved = true
	return k.predictions()
}

// list returns the bins of a list.
func (k *kept) list(i int) []uint8 {
	if k.bins[i] == nil {
		k.bins[i] = k.shelf.Bytes(binLists + i)
	}
	return k.bins[i]
}

// inputBins returns the bins of the inputs.
func (k *kept) inputBins() [][]uint8 {
	if k.inputs == nil {
		for i := range k.Inputs {
			k.inputs = append(k.inputs, k.shelf.Bytes(k.inputLists()+i))
		}
	}
	return k.inputs
}
