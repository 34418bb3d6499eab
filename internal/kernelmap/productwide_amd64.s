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
