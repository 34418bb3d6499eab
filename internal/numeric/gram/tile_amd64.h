// The body of both tiles up to the label reduce, with LOAD, COL0 to COL4 and NEXT of the file that includes
// it. Registers 0 to 9 hold the sums of up to five columns of b, and zeros where there are no steps.

	MOVQ  dst+0(FP), DX
	MOVQ  a+8(FP), SI
	MOVQ  b+16(FP), DI
	MOVQ  stride+24(FP), R8
	MOVQ  steps+32(FP), CX
	MOVQ  w+40(FP), BX
	LEAQ  (R8)(R8*2), R9
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	VPXOR Y4, Y4, Y4
	VPXOR Y5, Y5, Y5
	VPXOR Y6, Y6, Y6
	VPXOR Y7, Y7, Y7
	VPXOR Y8, Y8, Y8
	VPXOR Y9, Y9, Y9
	TESTQ CX, CX
	JLE   reduce
	CMPQ  BX, $1
	JLT   reduce
	JEQ   one
	CMPQ  BX, $3
	JLT   two
	JEQ   three
	CMPQ  BX, $4
	JEQ   four

	PCALIGN $32
five:
	LOAD
	COL0
	COL1
	COL2
	COL3
	COL4
	NEXT
	JNZ five
	JMP reduce

	PCALIGN $32
four:
	LOAD
	COL0
	COL1
	COL2
	COL3
	NEXT
	JNZ four
	JMP reduce

	PCALIGN $32
three:
	LOAD
	COL0
	COL1
	COL2
	NEXT
	JNZ three
	JMP reduce

	PCALIGN $32
two:
	LOAD
	COL0
	COL1
	NEXT
	JNZ two
	JMP reduce

	PCALIGN $32
one:
	LOAD
	COL0
	NEXT
	JNZ one
