// Package gram computes the exact integer Gram matrix X^T X of fixed-point
// rows.
//
// # What it is for
//
// Every least-squares method of this module needs the sums of products of all
// pairs of columns over all records, and needs them exactly: a privacy
// guarantee bounds how far one record can move a sum, and a floating-point sum
// also moves by rounding, by an amount that depends on the order
// of the records. Rows are therefore stored as int16 on the grid 2^-14 over
// [-1, 1] (value v represents v/16384, so |v| <= [MaxAbs]) and their products
// are summed in integers. The result is the same for every order of the rows,
// every partition into blocks and every number of goroutines.
//
// # Invariants
//
//   - The sum is exact while n*2^28 < 2^63, that is for n < 2^35 rows
//     accumulated into one dst.
//   - Running time depends on the shape (n, p) only: no branch and no address
//     depends on a value.
//   - A value outside [-MaxAbs, MaxAbs] makes the sums of its column
//     unspecified; it never causes a panic.
//   - Nothing is shared between calls: run one call per goroutine, each with
//     its own dst, and add the results.
//
// # How it works
//
// Rows are taken in blocks small enough for the second-level cache and copied,
// zero-padded, into an aligned contiguous buffer; the copy costs 1/p of the
// arithmetic and removes unaligned loads, tails and the cache conflicts of
// columns whose distance is close to a power of two. Within a block a tile of one
// column against up to five neighbouring ones is held in registers.
//
// The tile multiplies with VPMADDWD, which adds two products of at most 2^28:
// |lane| <= 2^29. Three such lanes t = m1+m2+m3 fit 32 bits; the fourth may
// reach 2^31 and does not. Instead of widening t to 64 bits (an expensive
// shuffle), the kernel keeps two 32-bit sums per lane,
//
//	lo = sum of t              modulo 2^32
//	hi = sum of floor(t/2^16)  exact: |t/2^16| <= 1.5*2^14
//
// and the true sum S of c terms is 2^16*hi + e with 0 <= e < c*2^16. S and lo
// agree modulo 2^32, so e = lo - 2^16*hi modulo 2^32 whenever c*2^16 <= 2^32,
// and S is known exactly. The argument survives adding the eight lanes of a
// register, with c as many times as large. See maxSteps for the bound.
//
// With AVX-512 VNNI, registers are twice as wide and VPDPWSSD adds the second and the third product
// to the first, without saturation: t is the same. There are twice as many registers too, so a tile is of two
// columns against five, and a vector of the five is loaded once for both. While it works, the processor is asked to
// fetch the next block.
//
// On arm64, NEON adds six products of at most 2^28 to each of four lanes, which
// fit 32 bits, and then those lanes in pairs to two sums of 64 bits. So one
// release has the same integers on both architectures.
//
// The portable kernel is used where AVX2 is absent, on other architectures,
// and under the build tag purego.
package gram
