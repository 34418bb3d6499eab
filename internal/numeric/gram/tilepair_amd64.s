//go:build !purego

#include "textflag.h"

// Registers: Z0-Z4 lo and Z5-Z9 hi sums of columns 0-4 of b with the first column of a, Z10-Z14 and Z15-Z19
// those with the second; Z20-Z22 and Z23-Z25 the 96 rows of a in hand; Z26 some of b; Z27 and Z28 temporaries.
// SI a, R10 its second column, DI b, R8 stride, R9 3*stride, R11 what is fetched ahead, CX steps left.

// LOAD takes the next 96 rows of a.
#define LOAD \
	VMOVDQU64  0(SI), Z20;   \
	VMOVDQU64  64(SI), Z21;  \
	VMOVDQU64  128(SI), Z22; \
	VMOVDQU64  0(R10), Z23;  \
	VMOVDQU64  64(R10), Z24; \
	VMOVDQU64  128(R10), Z25; \
	PREFETCHT1 (R11)

// COL multiplies them with a column of b whose three vectors are at M0-M2, as in tilewide_amd64.s. Each of these
// is loaded once for both columns of a.
#define COL(M0, M1, M2, LO, HI, LO2, HI2) \
	VMOVDQU64 M0, Z26;       \
	VPMADDWD  Z26, Z20, Z27; \
	VPMADDWD  Z26, Z23, Z28; \
	VMOVDQU64 M1, Z26;       \
	VPDPWSSD  Z26, Z21, Z27; \
	VPDPWSSD  Z26, Z24, Z28; \
	VMOVDQU64 M2, Z26;       \
	VPDPWSSD  Z26, Z22, Z27; \
	VPDPWSSD  Z26, Z25, Z28; \
	VPADDD    Z27, LO, LO;   \
	VPADDD    Z28, LO2, LO2; \
	VPSRAD    $16, Z27, Z27; \
	VPSRAD    $16, Z28, Z28; \
	VPADDD    Z27, HI, HI;   \
	VPADDD    Z28, HI2, HI2

#define COL0 COL(0(DI), 64(DI), 128(DI), Z0, Z5, Z10, Z15)
#define COL1 COL(0(DI)(R8*1), 64(DI)(R8*1), 128(DI)(R8*1), Z1, Z6, Z11, Z16)
#define COL2 COL(0(DI)(R8*2), 64(DI)(R8*2), 128(DI)(R8*2), Z2, Z7, Z12, Z17)
#define COL3 COL(0(DI)(R9*1), 64(DI)(R9*1), 128(DI)(R9*1), Z3, Z8, Z13, Z18)
#define COL4 COL(0(DI)(R8*4), 64(DI)(R8*4), 128(DI)(R8*4), Z4, Z9, Z14, Z19)

// NEXT moves to the next 96 rows and sets the flags for the loop.
#define NEXT \
	ADDQ $192, SI;  \
	ADDQ $192, R10; \
	ADDQ $192, DI;  \
	ADDQ $64, R11;  \
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

// func tilePair(dst *int64, a, b *int16, stride, steps, w, row, below int, ahead *int16)
// Requires: AVX512F, AVX512BW, AVX512VNNI
TEXT ·tilePair(SB), NOSPLIT, $0-72
	MOVQ   a+8(FP), R10
	ADDQ   stride+24(FP), R10
	MOVQ   ahead+64(FP), R11
	VPXORD Z10, Z10, Z10
	VPXORD Z11, Z11, Z11
	VPXORD Z12, Z12, Z12
	VPXORD Z13, Z13, Z13
	VPXORD Z14, Z14, Z14
	VPXORD Z15, Z15, Z15
	VPXORD Z16, Z16, Z16
	VPXORD Z17, Z17, Z17
	VPXORD Z18, Z18, Z18
	VPXORD Z19, Z19, Z19
#include "tile_amd64.h"

	// The sums of the first column of a, and then, in the same registers, of the second.
reduce:
	COLUMNS
	MOVQ row+48(FP), R9
	MOVQ below+56(FP), CX
	MOVL AX, BX
	SHRL CX, BX
	SHLL CX, BX
	MOVQ $2, CX

column:
#include "tilesum_amd64.h"
	VMOVDQA64 Z10, Z0
	VMOVDQA64 Z11, Z1
	VMOVDQA64 Z12, Z2
	VMOVDQA64 Z13, Z3
	VMOVDQA64 Z14, Z4
	VMOVDQA64 Z15, Z5
	VMOVDQA64 Z16, Z6
	VMOVDQA64 Z17, Z7
	VMOVDQA64 Z18, Z8
	VMOVDQA64 Z19, Z9
	KMOVW     BX, K1
	LEAQ      (DX)(R9*8), DX
	DECQ      CX
	JNZ       column
	VZEROUPPER
	RET
