//go:build !purego

#include "textflag.h"

// The assembler has no names for these. Q is 2^30 for the instruction that reads the upper half of its operands.
#define SMULL(Q, M, N, D) WORD $(0x0e60c000 | Q | M<<16 | N<<5 | D)
#define SMLAL(Q, M, N, D) WORD $(0x0e608000 | Q | M<<16 | N<<5 | D)
#define SADALP(N, D) WORD $(0x4ea06800 | N<<5 | D)
#define UPPER 0x40000000

// COL adds the products of 24 rows, those of b in V0 to V2 and of a column in A, A+1 and A+2, to the two sums of
// 64 bits in SUM. A lane of T has six products of at most 2^28, which fit 32 bits.
#define COL(A, T, SUM) \
	SMULL(0, A, 0, T);           \
	SMLAL(UPPER, A, 0, T);       \
	SMLAL(0, (A+1), 1, T);       \
	SMLAL(UPPER, (A+1), 1, T);   \
	SMLAL(0, (A+2), 2, T);       \
	SMLAL(UPPER, (A+2), 2, T);   \
	SADALP(T, SUM)

// func pairAsm(sums *[2]int64, a, b *int16, stride, steps int)
TEXT ·pairAsm(SB), NOSPLIT, $0-40
	MOVD sums+0(FP), R0
	MOVD a+8(FP), R1
	MOVD b+16(FP), R2
	MOVD stride+24(FP), R3
	MOVD steps+32(FP), R4
	ADD  R1, R3, R3
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16

pair:
	VLD1.P 48(R2), [V0.H8, V1.H8, V2.H8]
	VLD1.P 48(R1), [V3.H8, V4.H8, V5.H8]
	VLD1.P 48(R3), [V6.H8, V7.H8, V8.H8]
	COL(3, 18, 16)
	COL(6, 19, 17)
	SUBS   $1, R4, R4
	BNE    pair

	VADDP V17.D2, V16.D2, V16.D2
	VST1  [V16.D2], (R0)
	RET

// func oneAsm(a, b *int16, steps int) int64
TEXT ·oneAsm(SB), NOSPLIT, $0-32
	MOVD a+0(FP), R1
	MOVD b+8(FP), R2
	MOVD steps+16(FP), R4
	VEOR V16.B16, V16.B16, V16.B16

one:
	VLD1.P 48(R2), [V0.H8, V1.H8, V2.H8]
	VLD1.P 48(R1), [V3.H8, V4.H8, V5.H8]
	COL(3, 18, 16)
	SUBS   $1, R4, R4
	BNE    one

	VADDP V16.D2, V16.D2, V16.D2
	VMOV  V16.D[0], R0
	MOVD  R0, ret+24(FP)
	RET
