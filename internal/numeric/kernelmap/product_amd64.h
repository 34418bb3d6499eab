// The arguments of both tiles, and their eight sums of zero.

	MOVQ  dst+0(FP), DI
	MOVQ  stride+8(FP), R8
	MOVQ  a+16(FP), SI
	MOVQ  lda+24(FP), R9
	MOVQ  b+32(FP), BX
	MOVQ  steps+40(FP), CX
	LEAQ  (R9)(R9*2), R10
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
