//go:build !purego

#include "textflag.h"

// ADD adds the products of 4 numbers at AT with Y8 to SUM.
#define ADD(AT, SUM) \
	VPMOVSXWD AT, X9;      \
	VCVTDQ2PD X9, Y9;      \
	VMULPD    Y8, Y9, Y9;  \
	VADDPD    Y9, SUM, SUM

// func addAsm(f *float64, x *[]int16, theta *float64, columns, n int)
// Requires: AVX2
// Division by 2^14 is a product with 2^-14: both are exact but for numbers near the least, and rounded alike there.
TEXT ·addAsm(SB), NOSPLIT, $0-40
	MOVQ f+0(FP), DI
	MOVQ x+8(FP), R8
	MOVQ theta+16(FP), R9
	MOVQ columns+24(FP), R10
	MOVQ n+32(FP), R11
	XORQ DX, DX              // bytes of a column that are done
	MOVQ $0x3F10000000000000, AX
	VMOVQ AX, X7
	VBROADCASTSD X7, Y7      // 2^-14

rows:
	VMOVUPD 0(DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	MOVQ R8, SI
	MOVQ R9, BX
	MOVQ R10, CX

	PCALIGN $32
columns:
	VBROADCASTSD 0(BX), Y8
	VMULPD Y7, Y8, Y8
	MOVQ 0(SI), AX
	ADDQ DX, AX
	ADD(0(AX), Y0)
	ADD(8(AX), Y1)
	ADD(16(AX), Y2)
	ADD(24(AX), Y3)
	ADDQ $24, SI
	ADDQ $8, BX
	DECQ CX
	JNZ  columns

	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	ADDQ $128, DI
	ADDQ $32, DX
	SUBQ $16, R11
	JG   rows
	VZEROUPPER
	RET

// SQUARES adds the squares of the numbers of two columns, in Y8 and Y9, to the sums: their lower 16 bits to Y0 and Y1,
// the upper ones to Y2 and Y3. Y4 has the largest size.
#define SQUARES \
	VPABSW     Y8, Y10;       \
	VPMAXUW    Y10, Y4, Y4;   \
	VPABSW     Y9, Y10;       \
	VPMAXUW    Y10, Y4, Y4;   \
	VPUNPCKLWD Y9, Y8, Y10;   \
	VPUNPCKHWD Y9, Y8, Y11;   \
	VPMADDWD   Y10, Y10, Y10; \
	VPMADDWD   Y11, Y11, Y11; \
	VPAND      Y15, Y10, Y12; \
	VPAND      Y15, Y11, Y13; \
	VPSRLD     $16, Y10, Y10; \
	VPSRLD     $16, Y11, Y11; \
	VPADDD     Y12, Y0, Y0;   \
	VPADDD     Y13, Y1, Y1;   \
	VPADDD     Y10, Y2, Y2;   \
	VPADDD     Y11, Y3, Y3

// FOUR puts the sums of four rows together, LOW + 2^16 HIGH.
#define FOUR(LOW, HIGH, OFF) \
	VPMOVZXDQ LOW, Y10;       \
	VPMOVZXDQ HIGH, Y11;      \
	VPSLLQ    $16, Y11, Y11;  \
	VPADDQ    Y11, Y10, Y10;  \
	VMOVDQU   Y10, OFF(DI)

// func normsAsm(norms *uint64, x *[]int16, columns, n int) (most uint32)
// Requires: AVX2
// With numbers of at most 2^14 the squares of two sum to at most 2^29, so that 2^15 pairs fit the sums of either half.
TEXT ·normsAsm(SB), NOSPLIT, $0-36
	MOVQ norms+0(FP), DI
	MOVQ x+8(FP), R8
	MOVQ columns+16(FP), R10
	MOVQ n+24(FP), R11
	XORQ DX, DX
	VPXOR Y4, Y4, Y4
	MOVL $0xffff, AX
	VMOVD AX, X15
	VPBROADCASTD X15, Y15

rows:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ R8, SI
	MOVQ R10, CX
	SUBQ $2, CX
	JLT  odd

	PCALIGN $32
pairs:
	MOVQ 0(SI), AX
	MOVQ 24(SI), BX
	VMOVDQU 0(AX)(DX*1), Y8
	VMOVDQU 0(BX)(DX*1), Y9
	SQUARES
	ADDQ $48, SI
	SUBQ $2, CX
	JGE  pairs

odd:
	ADDQ $2, CX
	JLE  store
	MOVQ 0(SI), AX
	VMOVDQU 0(AX)(DX*1), Y8
	VPXOR Y9, Y9, Y9
	SQUARES

store:
	FOUR(X0, X2, 0)
	FOUR(X1, X3, 32)
	VEXTRACTI128 $1, Y0, X0
	VEXTRACTI128 $1, Y1, X1
	VEXTRACTI128 $1, Y2, X2
	VEXTRACTI128 $1, Y3, X3
	FOUR(X0, X2, 64)
	FOUR(X1, X3, 96)
	ADDQ $128, DI
	ADDQ $32, DX
	SUBQ $16, R11
	JG   rows

	// The largest of the 16 sizes.
	VEXTRACTI128 $1, Y4, X5
	VPMAXUW X5, X4, X4
	VPSRLDQ $8, X4, X5
	VPMAXUW X5, X4, X4
	VPSRLDQ $4, X4, X5
	VPMAXUW X5, X4, X4
	VPSRLDQ $2, X4, X5
	VPMAXUW X5, X4, X4
	VMOVD X4, AX
	ANDL $0xffff, AX
	MOVL AX, most+32(FP)
	VZEROUPPER
	RET
