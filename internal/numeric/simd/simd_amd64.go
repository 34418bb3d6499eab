//go:build !purego

package simd

import (
	"math"
	"unsafe"

	"golang.org/x/sys/cpu"
)

// none is NaN, which represents a missing value.
var none = math.NaN()

// groupRows is how many numbers the loops take at a time.
const groupRows = 8

// places holds, for each nibble of a mask, the places of its numbers as pairs of four bytes.
var places = func() (out [16][8]uint32) {
	for nibble := range out {
		at := 0
		for k := range 4 {
			if nibble>>k&1 == 1 {
				out[nibble][at], out[nibble][at+1] = uint32(2*k), uint32(2*k+1)
				at += 2
			}
		}
	}
	return out
}()

// pickAsm is Pick for at least one byte of mask, and ends before dst has no place for 8 numbers.
//
//go:noescape
func pickAsm(
	dst, src *float64,
	mask *byte,
	bytes, room int,
	places *[16][8]uint32,
) (picked int)

// pickWide is pickAsm with registers of 512 bits.
//
//go:noescape
func pickWide(dst, src *float64, mask *byte, bytes, room int) (picked int)

// magnitudesAsm is Magnitudes for n numbers, a multiple of groupRows and at least one.
//
//go:noescape
func magnitudesAsm(bins *uint16, column *float64, n int)

// equalBinsAsm is EqualBins for n numbers, a multiple of groupRows and at least one.
//
//go:noescape
func equalBinsAsm(
	bins *uint16,
	column *float64,
	n int,
	lower, scale, most float64,
)

// fixedAsm is Grid.Fixed for n numbers, a multiple of groupRows and at least one.
//
//go:noescape
func fixedAsm(
	dst *int16,
	column *float64,
	n int,
	missing, center, scale float64,
)

// shortenAsm is Shorten for n numbers, a multiple of groupRows and at least one.
//
//go:noescape
func shortenAsm(column *int16, factors *int32, n int)

// doublesAsm is Doubles for n numbers, a multiple of groupRows and at least one. It ends before a group that holds one
// that is not finite.
//
//go:noescape
func doublesAsm(dst *float64, data *byte, n int) (done int)

// packAsm is Decimals.Pack for n numbers, a multiple of groupRows and at least one.
//
//go:noescape
func packAsm(
	dst, exact *byte,
	column *float64,
	n, width int,
	power, over, none float64,
	least int,
)

// unpackAsm is Decimals.Unpack for n numbers, a multiple of groupRows and at least one.
//
//go:noescape
func unpackAsm(
	column *float64,
	src *byte,
	n, width int,
	power, over, none float64,
	least int,
)

// wide is whether registers of 512 bits are used.
var wide = cpu.X86.HasAVX512F

// wholeGroups returns how many of n numbers the loops take.
func wholeGroups(n int) int {
	if !cpu.X86.HasAVX2 {
		return 0
	}
	return n / groupRows * groupRows
}

// fusedRows returns the number of rows that loops with fused multiply-add can process.
func fusedRows(n int) int {
	if !cpu.X86.HasFMA {
		return 0
	}
	return wholeGroups(n)
}

func pickMasked(dst, src []float64, mask []byte) int {
	if wholeGroups(len(dst)) == 0 || len(mask) == 0 {
		return 0
	}
	if wide {
		return pickWide(
			unsafe.SliceData(dst),
			unsafe.SliceData(src),
			unsafe.SliceData(mask),
			len(mask),
			len(dst),
		)
	}
	return pickAsm(
		unsafe.SliceData(dst),
		unsafe.SliceData(src),
		unsafe.SliceData(mask),
		len(mask),
		len(dst),
		&places,
	)
}

func binMagnitudes(bins []uint16, column []float64) int {
	n := wholeGroups(len(column))
	if n > 0 {
		magnitudesAsm(unsafe.SliceData(bins), unsafe.SliceData(column), n)
	}
	return n
}

func equalBins(
	bins []uint16,
	column []float64,
	lower, scale, most float64,
) int {
	n := wholeGroups(len(column))
	if n > 0 {
		equalBinsAsm(
			unsafe.SliceData(bins),
			unsafe.SliceData(column),
			n,
			lower,
			scale,
			most,
		)
	}
	return n
}

func (g Grid) roundToGrid(dst []int16, column []float64) int {
	n := wholeGroups(len(column))
	if n > 0 {
		fixedAsm(
			unsafe.SliceData(dst),
			unsafe.SliceData(column),
			n,
			g.Missing,
			g.Center,
			g.Scale,
		)
	}
	return n
}

func scaleRows(column []int16, factors []int32) int {
	n := wholeGroups(len(column))
	if n > 0 {
		shortenAsm(unsafe.SliceData(column), unsafe.SliceData(factors), n)
	}
	return n
}

func decodeDoubles(dst []float64, data []byte) int {
	n := wholeGroups(len(dst))
	if n == 0 {
		return 0
	}
	return doublesAsm(unsafe.SliceData(dst), unsafe.SliceData(data), n)
}

func (d Decimals) packDecimals(dst, exact []byte, column []float64) int {
	n := fusedRows(len(column))
	if n > 0 {
		packAsm(
			unsafe.SliceData(dst),
			unsafe.SliceData(exact),
			unsafe.SliceData(column),
			n,
			d.width,
			d.power,
			d.over,
			none,
			int(d.Min()),
		)
	}
	return n
}

func (d Decimals) unpackDecimals(column []float64, src []byte) int {
	n := fusedRows(len(column))
	if n > 0 {
		unpackAsm(
			unsafe.SliceData(column),
			unsafe.SliceData(src),
			n,
			d.width,
			d.power,
			d.over,
			none,
			int(d.Min()),
		)
	}
	return n
}
