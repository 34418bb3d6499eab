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

// KERNEL turns 8 dot products at AT into the kernel, in OUT.
#define KERNEL(AT, NORMS, OUT) \
	VMOVDQU  AT, Y0;         \
	VPADDD   Y0, Y0, Y0;     \
	VPADDD   NORMS, Y15, Y1; \
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

// func kernelAsm(dst *int16, dots *int32, norms *uint32, norm uint32, n int)
// Requires: AVX2
TEXT ·kernelAsm(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ dots+8(FP), SI
	MOVQ norms+16(FP), BX
	MOVL norm+24(FP), AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15
	MOVQ n+32(FP), CX
	CONSTANT(0xffff, X14, Y14)
	CONSTANT(2632, X13, Y13)
	CONSTANT(15200, X12, Y12)
	CONSTANT(45340, X11, Y11)

	PCALIGN $32
more:
	KERNEL(0(SI), 0(BX), Y3)
	KERNEL(32(SI), 32(BX), Y4)
	VPACKUSDW Y4, Y3, Y3
	VPERMQ    $0xD8, Y3, Y3
	VMOVDQU   Y3, 0(DI)
	ADDQ $64, SI
	ADDQ $64, BX
	ADDQ $32, DI
	SUBQ $16, CX
	JG   more
	VZEROUPPER
	RET
