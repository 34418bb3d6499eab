//go:build !purego

#include "textflag.h"

// ROW adds the products of a pair of numbers of one row with 16 pairs of b.
#define ROW(A, S0, S1) \
	VPBROADCASTD A, Y10;        \
	VPMADDWD     Y8, Y10, Y11;  \
	VPMADDWD     Y9, Y10, Y12;  \
	VPADDD       Y11, S0, S0;   \
	VPADDD       Y12, S1, S1

// func tileAsm(dst *int32, stride int, a *int16, lda int, b *int16, steps int)
// Requires: AVX2
TEXT ·tileAsm(SB), NOSPLIT, $0-48
#include "product_amd64.h"
	TESTQ CX, CX
	JLE   store

	PCALIGN $32
next:
	VMOVDQU 0(BX), Y8
	VMOVDQU 32(BX), Y9
	ROW(0(SI), Y0, Y1)
	ROW(0(SI)(R9*1), Y2, Y3)
	ROW(0(SI)(R9*2), Y4, Y5)
	ROW(0(SI)(R10*1), Y6, Y7)
	ADDQ $64, BX
	ADDQ $4, SI
	DECQ CX
	JNZ  next

store:
	VMOVDQU Y0, 0(DI)
	VMOVDQU Y1, 32(DI)
	ADDQ    R8, DI
	VMOVDQU Y2, 0(DI)
	VMOVDQU Y3, 32(DI)
	ADDQ    R8, DI
	VMOVDQU Y4, 0(DI)
	VMOVDQU Y5, 32(DI)
	ADDQ    R8, DI
	VMOVDQU Y6, 0(DI)
	VMOVDQU Y7, 32(DI)
	VZEROUPPER
	RET

// CONSTANT sets all 32-bit lanes of Y to a number.
#define CONSTANT(N, X, Y) \
	MOVL         $N, AX; \
	VMOVD        AX, X;  \
	VPBROADCASTD X, Y

// KERNEL turns 8 dot products at AT into the kernel, in OUT. Y10 is the squared length of the landmark.
#define KERNEL(AT, NORMS, OUT) \
	VMOVDQU  AT, Y0;         \
	VPADDD   Y0, Y0, Y0;     \
	VPADDD   NORMS, Y10, Y1; \
	VPSUBD   Y0, Y1, Y0;     \
	VPSRLD   $16, Y0, Y1;    \
	VPAND    Y14, Y0, Y0;    \
	VPMULHUW Y13, Y0, Y2;    \
	VPSUBD   Y2, Y12, Y2;    \
	VPMULHUW Y2, Y0, Y2;     \
	VPSUBD   Y2, Y11, Y2;    \
	VPMULHUW Y2, Y0, Y2;     \
	VPSUBD   Y2, Y14, Y2;    \
	VPSRLVD  Y1, Y2, Y2;     \
	VPSRLD   $2, Y2, OUT

// func kernelAsm(dst *int16, dots *int32, marks, norms *uint32, pairs int)
// Requires: AVX2
// The kernel of two landmarks fills the halves of the lanes of 16 records.
TEXT ·kernelAsm(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ dots+8(FP), SI
	MOVQ marks+16(FP), BX
	MOVQ norms+24(FP), DX
	MOVQ pairs+32(FP), CX
	CONSTANT(0xffff, X14, Y14)
	CONSTANT(2632, X13, Y13)
	CONSTANT(15200, X12, Y12)
	CONSTANT(45340, X11, Y11)
	VMOVDQU 0(DX), Y8
	VMOVDQU 32(DX), Y9

	PCALIGN $32
more:
	VPBROADCASTD 0(BX), Y10
	KERNEL(0(SI), Y8, Y3)
	KERNEL(32(SI), Y9, Y4)
	VPBROADCASTD 4(BX), Y10
	KERNEL(64(SI), Y8, Y5)
	KERNEL(96(SI), Y9, Y6)
	VPSLLD  $16, Y5, Y5
	VPSLLD  $16, Y6, Y6
	VPOR    Y5, Y3, Y3
	VPOR    Y6, Y4, Y4
	VMOVDQU Y3, 0(DI)
	VMOVDQU Y4, 32(DI)
	ADDQ $128, SI
	ADDQ $8, BX
	ADDQ $64, DI
	DECQ CX
	JNZ  more
	VZEROUPPER
	RET
