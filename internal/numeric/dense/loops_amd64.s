//go:build !purego

#include "textflag.h"

// ROW adds the products of one number of a with 8 of b.
#define ROW(A, S0, S1) \
	VBROADCASTSD A, Y10;       \
	VMULPD       Y8, Y10, Y11; \
	VMULPD       Y9, Y10, Y12; \
	VADDPD       Y11, S0, S0;  \
	VADDPD       Y12, S1, S1

// func tileAsm(dst *float64, stride int, a, b *float64, steps int)
// Requires: AVX2
TEXT ·tileAsm(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ a+16(FP), SI
	MOVQ b+24(FP), BX
	MOVQ steps+32(FP), CX
	LEAQ (R8)(R8*2), R9
	VMOVUPD 0(DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 0(DI)(R8*1), Y2
	VMOVUPD 32(DI)(R8*1), Y3
	VMOVUPD 0(DI)(R8*2), Y4
	VMOVUPD 32(DI)(R8*2), Y5
	VMOVUPD 0(DI)(R9*1), Y6
	VMOVUPD 32(DI)(R9*1), Y7

	PCALIGN $32
next:
	VMOVUPD 0(BX), Y8
	VMOVUPD 32(BX), Y9
	ROW(0(SI), Y0, Y1)
	ROW(8(SI), Y2, Y3)
	ROW(16(SI), Y4, Y5)
	ROW(24(SI), Y6, Y7)
	ADDQ $64, BX
	ADDQ $32, SI
	DECQ CX
	JNZ  next
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 0(DI)(R8*1)
	VMOVUPD Y3, 32(DI)(R8*1)
	VMOVUPD Y4, 0(DI)(R8*2)
	VMOVUPD Y5, 32(DI)(R8*2)
	VMOVUPD Y6, 0(DI)(R9*1)
	VMOVUPD Y7, 32(DI)(R9*1)
	VZEROUPPER
	RET

// PART adds a multiple of 4 numbers of a row.
#define PART(AT, S, T) \
	VMULPD AT, Y8, T; \
	VADDPD T, S, S

// func combineAsm(dst, x, rows *float64, stride, count, n int)
// Requires: AVX2
TEXT ·combineAsm(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ rows+16(FP), BX
	MOVQ stride+24(FP), R8
	MOVQ n+40(FP), DX

wide:
	CMPQ DX, $32
	JLT  narrow
	MOVQ x+8(FP), SI
	MOVQ count+32(FP), CX
	MOVQ BX, R9
	VMOVUPD 0(DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3
	VMOVUPD 128(DI), Y4
	VMOVUPD 160(DI), Y5
	VMOVUPD 192(DI), Y6
	VMOVUPD 224(DI), Y7

	PCALIGN $32
row:
	VBROADCASTSD 0(SI), Y8
	PART(0(R9), Y0, Y9)
	PART(32(R9), Y1, Y10)
	PART(64(R9), Y2, Y11)
	PART(96(R9), Y3, Y12)
	PART(128(R9), Y4, Y13)
	PART(160(R9), Y5, Y14)
	PART(192(R9), Y6, Y15)
	PART(224(R9), Y7, Y9)
	ADDQ $8, SI
	ADDQ R8, R9
	DECQ CX
	JNZ  row
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VMOVUPD Y4, 128(DI)
	VMOVUPD Y5, 160(DI)
	VMOVUPD Y6, 192(DI)
	VMOVUPD Y7, 224(DI)
	ADDQ $256, DI
	ADDQ $256, BX
	SUBQ $32, DX
	JMP  wide

narrow:
	CMPQ DX, $4
	JLT  done
	MOVQ x+8(FP), SI
	MOVQ count+32(FP), CX
	MOVQ BX, R9
	VMOVUPD 0(DI), Y0

short:
	VBROADCASTSD 0(SI), Y8
	PART(0(R9), Y0, Y9)
	ADDQ $8, SI
	ADDQ R8, R9
	DECQ CX
	JNZ  short
	VMOVUPD Y0, 0(DI)
	ADDQ $32, DI
	ADDQ $32, BX
	SUBQ $4, DX
	JMP  narrow

done:
	VZEROUPPER
	RET

// TURN rotates 4 numbers of the row at AT, whose neighbour is in B.
#define TURN(AT, TO, B) \
	VMOVUPD AT, Y4;         \
	VMULPD  Y4, Y9, Y5;     \
	VMULPD  B, Y8, Y6;      \
	VADDPD  Y6, Y5, Y5;     \
	VMOVUPD Y5, TO;         \
	VMULPD  Y4, Y8, Y6;     \
	VMULPD  B, Y9, Y7;      \
	VSUBPD  Y7, Y6, B

// func rotateAsm(last *float64, stride int, turns *float64, count int)
// Requires: AVX2
TEXT ·rotateAsm(SB), NOSPLIT, $0-32
	MOVQ last+0(FP), DI
	MOVQ stride+8(FP), R8
	MOVQ turns+16(FP), SI
	MOVQ count+24(FP), CX
	VMOVUPD 0(DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVUPD 64(DI), Y2
	VMOVUPD 96(DI), Y3

	PCALIGN $32
turn:
	MOVQ DI, BX
	SUBQ R8, DI
	VBROADCASTSD 0(SI), Y8
	VBROADCASTSD 8(SI), Y9
	TURN(0(DI), 0(BX), Y0)
	TURN(32(DI), 32(BX), Y1)
	TURN(64(DI), 64(BX), Y2)
	TURN(96(DI), 96(BX), Y3)
	ADDQ $16, SI
	DECQ CX
	JNZ  turn
	VMOVUPD Y0, 0(DI)
	VMOVUPD Y1, 32(DI)
	VMOVUPD Y2, 64(DI)
	VMOVUPD Y3, 96(DI)
	VZEROUPPER
	RET
