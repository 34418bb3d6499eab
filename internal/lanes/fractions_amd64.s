//go:build !purego

#include "textflag.h"

DATA one<>+0(SB)/8, $1.0
GLOBL one<>(SB), RODATA|NOPTR, $8

// func fractionsAsm(x, n *float64, count int)
// Requires: AVX2
// Eight fractions are taken side by side, from the largest n down. One begins when its own n is reached.
TEXT ·fractionsAsm(SB), NOSPLIT, $0-24
	MOVQ x+0(FP), DI
	MOVQ n+8(FP), SI
	MOVQ count+16(FP), CX
	VBROADCASTSD one<>(SB), Y15

next:
	VMOVUPD (DI), Y0
	VMOVUPD 32(DI), Y1
	VMOVAPD Y0, Y2
	VMOVAPD Y1, Y3
	VMOVUPD (SI), Y4
	VMOVUPD 32(SI), Y5
	VMAXPD  Y4, Y5, Y6
	VEXTRACTF128 $1, Y6, X7
	VMAXPD  X6, X7, X6
	VPERMILPD $1, X6, X7
	VMAXSD  X6, X7, X6
	VCVTTSD2SIQ X6, DX
	VBROADCASTSD X6, Y6

	PCALIGN $32
term:
	VDIVPD Y2, Y6, Y8
	VDIVPD Y3, Y6, Y9
	VCMPPD $13, Y6, Y4, Y10  // n >= k
	VCMPPD $13, Y6, Y5, Y11
	VADDPD Y8, Y0, Y8
	VADDPD Y9, Y1, Y9
	VBLENDVPD Y10, Y8, Y2, Y2
	VBLENDVPD Y11, Y9, Y3, Y3
	VSUBPD Y15, Y6, Y6
	DECQ DX
	JG   term

	VMOVUPD Y2, (DI)
	VMOVUPD Y3, 32(DI)
	ADDQ $64, DI
	ADDQ $64, SI
	SUBQ $8, CX
	JG   next
	VZEROUPPER
	RET
