//go:build !purego

#include "textflag.h"

// Registers: Y0-Y4 lo and Y5-Y9 hi sums of columns 0-4 of b; Y10-Y12 the 48
// rows of a in hand; Y13-Y15 temporaries. SI a, DI b, R8 stride, R9 3*stride,
// CX steps left.

// LOAD takes the next 48 rows of a.
#define LOAD \
	VMOVDQU 0(SI), Y10;  \
	VMOVDQU 32(SI), Y11; \
	VMOVDQU 64(SI), Y12

// COL multiplies them with a column of b whose three vectors are at M0-M2.
// Three VPMADDWD of at most 2^29 are added: t fits 32 bits.
#define COL(M0, M1, M2, LO, HI) \
	VPMADDWD M0, Y10, Y13;  \
	VPMADDWD M1, Y11, Y14;  \
	VPMADDWD M2, Y12, Y15;  \
	VPADDD   Y14, Y13, Y13; \
	VPADDD   Y15, Y13, Y13; \
	VPADDD   Y13, LO, LO;   \
	VPSRAD   $16, Y13, Y13; \
	VPADDD   Y13, HI, HI

#define COL0 COL(0(DI), 32(DI), 64(DI), Y0, Y5)
#define COL1 COL(0(DI)(R8*1), 32(DI)(R8*1), 64(DI)(R8*1), Y1, Y6)
#define COL2 COL(0(DI)(R8*2), 32(DI)(R8*2), 64(DI)(R8*2), Y2, Y7)
#define COL3 COL(0(DI)(R9*1), 32(DI)(R9*1), 64(DI)(R9*1), Y3, Y8)
#define COL4 COL(0(DI)(R8*4), 32(DI)(R8*4), 64(DI)(R8*4), Y4, Y9)

// NEXT moves to the next 48 rows and sets the flags for the loop.
#define NEXT \
	ADDQ $96, SI; \
	ADDQ $96, DI; \
	DECQ CX

// func tileAsm(dst *halves, a, b *int16, stride, steps, w int)
// Requires: AVX2
TEXT ·tileAsm(SB), NOSPLIT, $0-48
#include "tile_amd64.h"

	// Add the eight lanes of each register: lo[0:4], hi[0:4], then column 4.
reduce:
	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X10
	VPADDD       X10, X0, X0
	VMOVDQU      X0, 0(DX)
	VPHADDD      Y6, Y5, Y5
	VPHADDD      Y8, Y7, Y7
	VPHADDD      Y7, Y5, Y5
	VEXTRACTI128 $1, Y5, X10
	VPADDD       X10, X5, X5
	VMOVDQU      X5, 20(DX)
	VPHADDD      Y9, Y4, Y4
	VPHADDD      Y4, Y4, Y4
	VEXTRACTI128 $1, Y4, X10
	VPADDD       X10, X4, X4
	VMOVD        X4, 16(DX)
	VPEXTRD      $1, X4, 36(DX)
	VZEROUPPER
	RET
