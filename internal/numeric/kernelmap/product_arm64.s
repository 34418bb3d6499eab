//go:build !purego

#include "textflag.h"

// The assembler has no names for these. Q is 2^30 for the instruction that reads the upper half of N; I is a lane of V4.
#define SMLAL(Q, I, N, D) WORD $(0x0f442000 | Q | (I&1)<<20 | (I&2)<<20 | (I&4)<<9 | N<<5 | D)
#define MUL(M, N, D) WORD $(0x4ea09c00 | M<<16 | N<<5 | D)
#define USHL(M, N, D) WORD $(0x6ea04400 | M<<16 | N<<5 | D)
#define UPPER 0x40000000

// ROW adds the products of the numbers I and I+1 of V4, a pair of one row, with 16 pairs of b: the first numbers of
// them are in V0 and V2, the second in V1 and V3. The sums are in S and the three after it.
#define ROW(I, S) \
	SMLAL(0, I, 0, S);             \
	SMLAL(UPPER, I, 0, (S+1));     \
	SMLAL(0, I, 2, (S+2));         \
	SMLAL(UPPER, I, 2, (S+3));     \
	SMLAL(0, (I+1), 1, S);         \
	SMLAL(UPPER, (I+1), 1, (S+1)); \
	SMLAL(0, (I+1), 3, (S+2));     \
	SMLAL(UPPER, (I+1), 3, (S+3))

#define ZERO(V) VEOR V.B16, V.B16, V.B16

// func tileAsm(dst *int32, stride int, a *int16, lda int, b *int16, steps int)
TEXT ·tileAsm(SB), NOSPLIT, $0-48
	MOVD dst+0(FP), R0
	MOVD stride+8(FP), R1
	MOVD a+16(FP), R2
	MOVD lda+24(FP), R3
	MOVD b+32(FP), R5
	MOVD steps+40(FP), R9
	ADD  R3, R2, R6
	ADD  R3, R6, R7
	ADD  R3, R7, R8
	ZERO(V16)
	ZERO(V17)
	ZERO(V18)
	ZERO(V19)
	ZERO(V20)
	ZERO(V21)
	ZERO(V22)
	ZERO(V23)
	ZERO(V24)
	ZERO(V25)
	ZERO(V26)
	ZERO(V27)
	ZERO(V28)
	ZERO(V29)
	ZERO(V30)
	ZERO(V31)
	CMP  $0, R9
	BLE  store

next:
	VLD2.P 32(R5), [V0.H8, V1.H8]
	VLD2.P 32(R5), [V2.H8, V3.H8]
	VLD1.P 4(R2), V4.S[0]
	VLD1.P 4(R6), V4.S[1]
	VLD1.P 4(R7), V4.S[2]
	VLD1.P 4(R8), V4.S[3]
	ROW(0, 16)
	ROW(2, 20)
	ROW(4, 24)
	ROW(6, 28)
	SUBS   $1, R9, R9
	BNE    next

store:
	VST1 [V16.S4, V17.S4, V18.S4, V19.S4], (R0)
	ADD  R1, R0, R0
	VST1 [V20.S4, V21.S4, V22.S4, V23.S4], (R0)
	ADD  R1, R0, R0
	VST1 [V24.S4, V25.S4, V26.S4, V27.S4], (R0)
	ADD  R1, R0, R0
	VST1 [V28.S4, V29.S4, V30.S4, V31.S4], (R0)
	RET

// CONSTANT sets all 32-bit lanes of V to a number.
#define CONSTANT(N, V) \
	MOVD $N, R9; \
	VDUP R9, V.S4

// KERNEL turns the dot products of four records with a landmark, in vector D, into the kernel. MARK and NORM have
// squared lengths. A shift is an 8-bit number, so one above 31, which leaves nothing, becomes 31.
#define KERNEL(D, VD, MARK, NORM) \
	VADD  MARK.S4, NORM.S4, V30.S4; \
	VSUB  VD.S4, V30.S4, V30.S4;    \
	VSUB  VD.S4, V30.S4, V30.S4;    \
	VUSHR $16, V30.S4, V31.S4;      \
	VUMIN V31.S4, V16.S4, V31.S4;   \
	VSUB  V31.S4, V17.S4, V31.S4;   \
	VAND  V30.B16, V4.B16, V30.B16; \
	MUL(5, 30, D);                  \
	VUSHR $16, VD.S4, VD.S4;        \
	VSUB  VD.S4, V6.S4, VD.S4;      \
	MUL(D, 30, D);                  \
	VUSHR $16, VD.S4, VD.S4;        \
	VSUB  VD.S4, V7.S4, VD.S4;      \
	MUL(D, 30, D);                  \
	VUSHR $16, VD.S4, VD.S4;        \
	VSUB  VD.S4, V4.S4, VD.S4;      \
	USHL(31, D, D);                 \
	VUSHR $2, VD.S4, VD.S4

// func kernelAsm(dst *int16, dots *int32, marks, norms *uint32, pairs int)
// The kernel of two landmarks fills the halves of the lanes of 16 records.
TEXT ·kernelAsm(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD dots+8(FP), R1
	MOVD marks+16(FP), R2
	MOVD norms+24(FP), R3
	MOVD pairs+32(FP), R5
	CONSTANT(0xffff, V4)
	CONSTANT(2632, V5)
	CONSTANT(15200, V6)
	CONSTANT(45340, V7)
	CONSTANT(31, V16)
	ZERO(V17)
	VLD1 (R3), [V0.S4, V1.S4, V2.S4, V3.S4]

more:
	VLD1R.P 4(R2), [V18.S4]
	VLD1R.P 4(R2), [V19.S4]
	VLD1.P  64(R1), [V20.S4, V21.S4, V22.S4, V23.S4]
	VLD1.P  64(R1), [V24.S4, V25.S4, V26.S4, V27.S4]
	KERNEL(20, V20, V18, V0)
	KERNEL(21, V21, V18, V1)
	KERNEL(22, V22, V18, V2)
	KERNEL(23, V23, V18, V3)
	KERNEL(24, V24, V19, V0)
	KERNEL(25, V25, V19, V1)
	KERNEL(26, V26, V19, V2)
	KERNEL(27, V27, V19, V3)
	VSLI    $16, V24.S4, V20.S4
	VSLI    $16, V25.S4, V21.S4
	VSLI    $16, V26.S4, V22.S4
	VSLI    $16, V27.S4, V23.S4
	VST1.P  [V20.S4, V21.S4, V22.S4, V23.S4], 64(R0)
	SUBS    $1, R5, R5
	BNE     more
	RET
