package boosting

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// Columns of the state in a [mechanism.ColumnStore]: the targets, the predictions, the bins of each list, and the
// bins of each input. The rows are a group, and so are the features of a map, tagged with the step that introduced it.
const (
	targetList = iota
	predictionList
	binLists
)

// Groups of columns of the state in a [mechanism.ColumnStore].
const (
	rowGroup = iota
	featureGroup
)

func (s *state) inputLists() int {
	return binLists + s.lists()
}

// BeginStorable implements [mechanism.StorableState].
func (s *state) BeginStorable(b dataset.Block) mechanism.StorableBlock {
	return s.begin(b, !s.rowlessStore)
}

// Open implements [mechanism.StorableState].
func (s *state) Open(
	n, done int,
	from mechanism.ColumnStore,
) mechanism.StorableBlock {
	k := &kept{
		state:  s,
		n:      n,
		store:  from,
		bins:   make([][]uint8, s.lists()),
		joined: make([]bool, s.lists()),
	}
	for i, m := range s.Moves[:done] {
		if m.Map != nil {
			k.features = m.Map
			k.entered = i
		}
	}
	return k
}

// maxStoredCells is the largest number of cells of features that are stored, and likewise of rows. Beyond it they are
// computed again in every pass.
const maxStoredCells = 1 << 32

// storedFeatures returns the features of the block, from the store if they are there. Otherwise it computes and
// stores them.
func (k *kept) storedFeatures() [][]int16 {
	if phi := k.store.Group(featureGroup, k.entered, k.features.Features()); phi != nil {
		return phi
	}
	phi := k.computed()
	k.store.PutGroup(featureGroup, k.entered, phi)
	return phi
}

// Store implements [mechanism.StorableBlock].
func (k *kept) Store(to mechanism.ColumnStore) {
	begun := k.store == nil
	if begun {
		to.PutShorts(targetList, k.y)
		if !k.rowlessStore {
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

// storedRows returns the rows of the block, which must not be changed, or nil if they are not in the store.
func (k *kept) storedRows() [][]int16 {
	if k.store == nil || k.rowlessStore {
		return nil
	}
	return k.store.Group(rowGroup, 0, len(k.Start))
}

// targets returns the scaled targets, in units of 2^-14.
func (k *kept) targets() []int16 {
	if k.y == nil {
		k.y = k.store.Shorts(targetList)
	}
	return k.y
}

// predictions returns the current predictions, read only.
func (k *kept) predictions() []float64 {
	if k.f == nil {
		k.f = k.store.Floats(predictionList)
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
		k.bins[i] = k.store.Bytes(binLists + i)
	}
	return k.bins[i]
}

// inputBins returns the bins of the inputs.
func (k *kept) inputBins() [][]uint8 {
	if k.inputs == nil {
		for i := range k.Inputs {
			k.inputs = append(k.inputs, k.store.Bytes(k.inputLists()+i))
		}
	}
	return k.inputs
}
