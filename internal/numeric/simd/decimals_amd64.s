//go:build !purego

#include "textflag.h"

// DECIMALS sets Y4 and Y5 to the numbers of which Y2 holds the integers, Y13 being the integer, and Y14 the number, of those
// that are none, Y15 the power and Y12 one over it. Y8 and Y9 are what is left of the integers by the first quotients.
#define DECIMALS \
	VPCMPEQD     Y13, Y2, Y3;     \
	VEXTRACTI128 $1, Y2, X5;      \
	VCVTDQ2PD    X2, Y8;          \
	VCVTDQ2PD    X5, Y9;          \
	VMULPD       Y12, Y8, Y4;     \
	VMULPD       Y12, Y9, Y5;     \
	VFNMADD231PD Y15, Y4, Y8;     \
	VFNMADD231PD Y15, Y5, Y9;     \
	VFMADD231PD  Y12, Y8, Y4;     \
	VFMADD231PD  Y12, Y9, Y5;     \
	VEXTRACTI128 $1, Y3, X7;      \
	VPMOVSXDQ    X3, Y6;          \
	VPMOVSXDQ    X7, Y7;          \
	VBLENDVPD    Y6, Y14, Y4, Y4; \
	VBLENDVPD    Y7, Y14, Y5, Y5

// TIMES sets X2 and X3 to the integers next to the numbers at SI times the power, the numbers being in Y0 and Y1. What is beyond 32 bits
// is the smallest integer.
#define TIMES \
	VMOVUPD   0(SI), Y0;   \
	VMOVUPD   32(SI), Y1;  \
	VMULPD    Y15, Y0, Y2; \
	VMULPD    Y15, Y1, Y3; \
	VCVTPD2DQY Y2, X2;     \
	VCVTPD2DQY Y3, X3

// EXACT stores which of Y4 and Y5 have the bits of Y0 and Y1, and goes on to the next eight numbers.
#define EXACT \
	VPCMPEQQ  Y0, Y4, Y4; \
	VPCMPEQQ  Y1, Y5, Y5; \
	VMOVMSKPD Y4, AX;     \
	VMOVMSKPD Y5, BX;     \
	SHLL      $4, BX;     \
	ORL       BX, AX;     \
	MOVB      AX, (DX);   \
	INCQ      DX;         \
	ADDQ      $64, SI;    \
	SUBQ      $8, CX

// func packAsm(dst, exact *byte, column *float64, n, width int, power, over, none float64, least int)
// Requires: AVX2, FMA
TEXT ·packAsm(SB), NOSPLIT, $0-72
	MOVQ dst+0(FP), DI
	MOVQ exact+8(FP), DX
	MOVQ column+16(FP), SI
	MOVQ n+24(FP), CX
	MOVQ width+32(FP), R8
	VBROADCASTSD power+40(FP), Y15
	VBROADCASTSD over+48(FP), Y12
	VBROADCASTSD none+56(FP), Y14
	VMOVQ least+64(FP), X13
	VPBROADCASTD X13, Y13
	CMPQ R8, $2
	JEQ  two
	JGT  four

	PCALIGN $32
one:
	TIMES
	VPACKSSDW X3, X2, X2
	VPACKSSWB X2, X2, X2
	VMOVQ     X2, (DI)
	VPMOVSXBD X2, Y2
	DECIMALS
	ADDQ $8, DI
	EXACT
	JG   one
	VZEROUPPER
	RET

	PCALIGN $32
two:
	TIMES
	VPACKSSDW X3, X2, X2
	VMOVDQU   X2, (DI)
	VPMOVSXWD X2, Y2
	DECIMALS
	ADDQ $16, DI
	EXACT
	JG   two
	VZEROUPPER
	RET

	PCALIGN $32
four:
	TIMES
	VINSERTI128 $1, X3, Y2, Y2
	VMOVDQU     Y2, (DI)
	DECIMALS
	ADDQ $32, DI
	EXACT
	JG   four
	VZEROUPPER
	RET

// func unpackAsm(column *float64, src *byte, n, width int, power, over, none float64, least int)
// Requires: AVX2, FMA
// What comes 1024 numbers later is fetched ahead: a column begins anew in every block, and processors do not look beyond a page.
TEXT ·unpackAsm(SB), NOSPLIT, $0-64
	MOVQ column+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ n+16(FP), CX
	MOVQ width+24(FP), R8
	VBROADCASTSD power+32(FP), Y15
	VBROADCASTSD over+40(FP), Y12
	VBROADCASTSD none+48(FP), Y14
	VMOVQ least+56(FP), X13
	VPBROADCASTD X13, Y13
	CMPQ R8, $2
	JEQ  two
	JGT  four

	PCALIGN $32
one:
	PREFETCHT0 1024(SI)
	VPMOVSXBD (SI), Y2
	DECIMALS
	VMOVUPD Y4, 0(DI)
	VMOVUPD Y5, 32(DI)
	ADDQ $8, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   one
	VZEROUPPER
	RET

	PCALIGN $32
two:
	PREFETCHT0 2048(SI)
	VPMOVSXWD (SI), Y2
	DECIMALS
	VMOVUPD Y4, 0(DI)
	VMOVUPD Y5, 32(DI)
	ADDQ $16, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   two
	VZEROUPPER
	RET

	PCALIGN $32
four:
	PREFETCHT0 4096(SI)
	VMOVDQU (SI), Y2
	DECIMALS
	VMOVUPD Y4, 0(DI)
	VMOVUPD Y5, 32(DI)
	ADDQ $32, SI
	ADDQ $64, DI
	SUBQ $8, CX
	JG   four
	VZEROUPPER
	RET
