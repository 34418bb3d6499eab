//go:build !purego

#include "textflag.h"

// STEP adds the products of a pair of numbers of each of four rows, OFF bytes from SI, with the 16 pairs
// of b in B. VPDPWSSD adds modulo 2^32.
#define STEP(OFF, B, S0, S1, S2, S3) \
	VPDPWSSD.BCST OFF(SI), B, S0;        \
	VPDPWSSD.BCST OFF(SI)(R9*1), B, S1;  \
	VPDPWSSD.BCST OFF(SI)(R9*2), B, S2;  \
	VPDPWSSD.BCST OFF(SI)(R10*1), B, S3

// func tileWide(dst *int32, stride int, a *int16, lda int, b *int16, steps int)
// Requires: AVX512F, AVX512VNNI
// Z0-Z3 are the sums of even steps, Z4-Z7 of odd ones: each is a chain.
TEXT ·tileWide(SB), NOSPLIT, $0-48
#include "product_amd64.h"
	SUBQ  $2, CX
	JLT   last

	PCALIGN $32
next:
	VMOVDQU64 0(BX), Z8
	VMOVDQU64 64(BX), Z9
	STEP(0, Z8, Z0, Z1, Z2, Z3)
	STEP(4, Z9, Z4, Z5, Z6, Z7)
	ADDQ $128, BX
	ADDQ $8, SI
	SUBQ $2, CX
	JGE  next

last:
	ADDQ $2, CX
	JLE  store
	VMOVDQU64 0(BX), Z8
	STEP(0, Z8, Z0, Z1, Z2, Z3)

store:
	VPADDD    Z4, Z0, Z0
	VPADDD    Z5, Z1, Z1
	VPADDD    Z6, Z2, Z2
	VPADDD    Z7, Z3, Z3
	VMOVDQU64 Z0, 0(DI)
	ADDQ      R8, DI
	VMOVDQU64 Z1, 0(DI)
	ADDQ      R8, DI
	VMOVDQU64 Z2, 0(DI)
	ADDQ      R8, DI
	VMOVDQU64 Z3, 0(DI)
	VZEROUPPER
	RET

// The bits of Shortest and of full.
#define SHORTEST 0x3fb999999999999a
#define LENGTH 0x40cfffffff800000

// EVERY sets all lanes of Z to a float64 by its bits.
#define EVERY(BITS, X, Z) \
	MOVQ         $BITS, AX; \
	VMOVQ        AX, X;     \
	VBROADCASTSD X, Z

// func stretchWide(dst *[]int16, at int, sums *int32, scales *float64, n int)
// Requires: AVX512F
// Lanes are records. Z0 and Z1 have the squared lengths of q, then what stretches q.
TEXT ·stretchWide(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ at+8(FP), R8
	MOVQ sums+16(FP), SI
	MOVQ scales+24(FP), BX
	MOVQ n+32(FP), CX
	MOVQ SI, R9
	MOVQ BX, R10
	MOVQ CX, R11
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1

	PCALIGN $32
squares:
	VBROADCASTSD 0(R10), Z2
	VCVTDQ2PD 0(R9), Z3
	VCVTDQ2PD 32(R9), Z4
	VMULPD Z2, Z3, Z3
	VMULPD Z2, Z4, Z4
	VMULPD Z3, Z3, Z3
	VMULPD Z4, Z4, Z4
	VADDPD Z3, Z0, Z0
	VADDPD Z4, Z1, Z1
	ADDQ $8, R10
	ADDQ $64, R9
	DECQ R11
	JNZ  squares

	EVERY(SHORTEST, X5, Z5)
	EVERY(LENGTH, X6, Z6)
	VSQRTPD Z0, Z0
	VSQRTPD Z1, Z1
	VMAXPD  Z5, Z0, Z0
	VMAXPD  Z5, Z1, Z1
	VDIVPD  Z0, Z6, Z0
	VDIVPD  Z1, Z6, Z1

	PCALIGN $32
features:
	VBROADCASTSD 0(BX), Z2
	VCVTDQ2PD 0(SI), Z3
	VCVTDQ2PD 32(SI), Z4
	VMULPD Z2, Z3, Z3
	VMULPD Z2, Z4, Z4
	VMULPD Z0, Z3, Z3
	VMULPD Z1, Z4, Z4
	VCVTTPD2DQ Z3, Y3
	VCVTTPD2DQ Z4, Y4
	VINSERTI64X4 $1, Y4, Z3, Z3
	MOVQ 0(DI), AX
	VPMOVDW Z3, 0(AX)(R8*1)
	ADDQ $24, DI
	ADDQ $8, BX
	ADDQ $64, SI
	DECQ CX
	JNZ  features
	VZEROUPPER
	RET
