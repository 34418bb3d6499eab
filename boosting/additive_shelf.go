package boosting

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// The lists of a state on a shelf: the targets, the predictions, then the bins of each list, then those of
// each input. Rows are a group, and features of a map are one under the step that brought the map.
const (
	targetList = iota
	predictionList
	binLists
)

// The groups of a state on a shelf.
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

// shelfCells is the number of cells of features up to which all are on the shelf, and likewise of rows.
const shelfCells = 1 << 32

// shelvedFeatures returns the features of the block, from the shelf if they are there.
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

// shelvedRows returns the rows of the block, to read only, nil if they are not on the shelf.
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

// predictions returns the predictions so far, to read only.
func (k *kept) predictions() []float64 {
	if k.f == nil {
		k.f = k.shelf.Floats(predictionList)
	}
	return k.f
}

// moving returns the predictions so far, to be changed.
func (k *kept) moving() []float64 {
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

// seen returns the bins of the inputs.
func (k *kept) seen() [][]uint8 {
	if k.inputs == nil {
		for i := range k.Inputs {
			k.inputs = append(k.inputs, k.shelf.Bytes(k.inputLists()+i))
		}
	}
	return k.inputs
}
