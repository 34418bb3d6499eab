//go:build !purego

#include "textflag.h"

// Registers: Z0-Z4 lo and Z5-Z9 hi sums of columns 0-4 of b; Z10-Z12 the 96
// rows of a in hand; Z13 a temporary. SI a, DI b, R8 stride, R9 3*stride,
// CX steps left.

// LOAD takes the next 96 rows of a.
#define LOAD \
	VMOVDQU64 0(SI), Z10;  \
	VMOVDQU64 64(SI), Z11; \
	VMOVDQU64 128(SI), Z12

// COL multiplies them with a column of b whose three vectors are at M0-M2.
// Three sums of two products, of at most 2^29, are added: t fits 32 bits.
#define COL(M0, M1, M2, LO, HI) \
	VPMADDWD M0, Z10, Z13; \
	VPDPWSSD M1, Z11, Z13; \
	VPDPWSSD M2, Z12, Z13; \
	VPADDD   Z13, LO, LO;  \
	VPSRAD   $16, Z13, Z13; \
	VPADDD   Z13, HI, HI

#define COL0 COL(0(DI), 64(DI), 128(DI), Z0, Z5)
#define COL1 COL(0(DI)(R8*1), 64(DI)(R8*1), 128(DI)(R8*1), Z1, Z6)
#define COL2 COL(0(DI)(R8*2), 64(DI)(R8*2), 128(DI)(R8*2), Z2, Z7)
#define COL3 COL(0(DI)(R9*1), 64(DI)(R9*1), 128(DI)(R9*1), Z3, Z8)
#define COL4 COL(0(DI)(R8*4), 64(DI)(R8*4), 128(DI)(R8*4), Z4, Z9)

// NEXT moves to the next 96 rows and sets the flags for the loop.
#define NEXT \
	ADDQ $192, SI; \
	ADDQ $192, DI; \
	DECQ CX

// FOLD adds the upper half of a register to the lower one.
#define FOLD(Z) \
	VEXTRACTI64X4 $1, Z, Y20; \
	VPADDD        Z20, Z, Z

// COLUMNS sets K1 to the w lowest bits.
#define COLUMNS \
	MOVQ  BX, CX; \
	MOVL  $1, AX; \
	SHLL  CX, AX; \
	DECL  AX;     \
	KMOVW AX, K1

// func tileWide(dst *int64, a, b *int16, stride, steps, w int)
// Requires: AVX512F, AVX512BW, AVX512VNNI
TEXT ·tileWide(SB), NOSPLIT, $0-48
#include "tile_amd64.h"

reduce:
	COLUMNS
#include "tilesum_amd64.h"
	VZEROUPPER
	RET
