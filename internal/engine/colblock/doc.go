// Package colblock is the encoding of blocks of columns: cells of consecutive records, column by
// column, without loss of a bit. It has three users. Package dataset keeps numeric columns in
// memory as a [Column], package stream writes the columns of a chunk to its scratch file, and
// package cluster sends blocks and gathered records as fields of its messages.
//
// Numbers with few decimal places become integers over a power of ten, after "ALP: Adaptive
// Lossless Floating-Point Compression" (Afroozeh, Kuffó and Boncz, 2023), and numbers of single
// precision are stored in 4 bytes. Numbers that fit neither encoding are stored as exceptions with
// their positions. If there are too many exceptions, the numbers are stored as they are. Codes of
// categories take the fewest bytes that hold the largest one, and texts are stored once per block.
//
// The bytes depend on the cells alone, not on the machine.
package colblock
