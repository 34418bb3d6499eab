package mechanism

import "github.com/dptrain/dptrain/dataset"

// A State holds data of a [Stateful] statistic about every record between passes. The data are a
// function of the record and of released values, computed in steps. An engine that keeps no state
// takes all steps again, in the same order, and gets the same numbers bit for bit.
type State interface {
	// Steps returns the number of steps to take. It grows between passes.
	Steps() int
	// Begin returns the state of the records of a block before the first step.
	Begin(b dataset.Block) Kept
}

// A Leaver is a [Kept] that owns memory. Leave releases the memory. An engine that does not keep
// the state calls it after the accumulator has seen the block.
type Leaver interface{ Leave() }

// Kept is the state of the records of one block.
type Kept interface {
	// Take takes a step, numbered from 0, for the records of the block.
	Take(step int, b dataset.Block)
}

// A Stateful statistic reads a state together with the records. Its blocks have the same
// number of rows in all passes with one state.
type Stateful interface {
	Statistic
	State() State
}

// A StorableState is a state that an engine can store outside memory, as columns of a [ColumnStore].
type StorableState interface {
	State
	// BeginStorable is Begin for a block that will be stored.
	BeginStorable(b dataset.Block) StorableBlock
	// Open returns the state of a block of n records after done steps. It reads columns from the
	// store when they are needed.
	Open(n, done int, from ColumnStore) StorableBlock
}

// A StorableBlock is the state of the records of one block of a [StorableState].
type StorableBlock interface {
	Kept
	// Store writes the columns that the store does not have or that have changed. Which
	// columns these are must depend on the steps only.
	Store(to ColumnStore)
}

// A ColumnStore stores the columns of a [StorableState] for the records of one block at a time. A
// column is identified by a small number, from 0, and always has the same type. Slices that a
// store returns are valid until the next block and may be changed. A store returns no errors: the
// engine reports them after the block, whose values must then be discarded.
type ColumnStore interface {
	Bytes(column int) []uint8
	PutBytes(column int, values []uint8)
	Floats(column int) []float64
	PutFloats(column int, values []float64)
	Shorts(column int) []int16
	PutShorts(column int, values []int16)

	// Group returns the given number of columns of a group that were stored together under a tag,
	// or nil if the block has no columns under this tag. Groups are numbered from 0.
	Group(group, tag, columns int) [][]int16
	// PutGroup stores columns as a group under a tag and drops the group's columns under any other tag.
	PutGroup(group, tag int, columns [][]int16)
}

// Advance takes the steps of a state for the records of a block, starting with step done, and
// returns k.
func Advance(s State, k Kept, done int, b dataset.Block) Kept {
	for i := done; i < s.Steps(); i++ {
		k.Take(i, b)
	}
	return k
}
