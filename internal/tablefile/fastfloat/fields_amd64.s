//go:build !purego

#include "textflag.h"

DATA zero16<>+0(SB)/8, $0x3030303030303030
DATA zero16<>+8(SB)/8, $0x3030303030303030
GLOBL zero16<>(SB), RODATA|NOPTR, $16

DATA nine16<>+0(SB)/8, $0x0909090909090909
DATA nine16<>+8(SB)/8, $0x0909090909090909
GLOBL nine16<>(SB), RODATA|NOPTR, $16

DATA point16<>+0(SB)/8, $0x2e2e2e2e2e2e2e2e
DATA point16<>+8(SB)/8, $0x2e2e2e2e2e2e2e2e
GLOBL point16<>(SB), RODATA|NOPTR, $16

// Weights of digits in twos, of these in fours, and of fours in eights.
DATA twos16<>+0(SB)/8, $0x010a010a010a010a
DATA twos16<>+8(SB)/8, $0x010a010a010a010a
GLOBL twos16<>(SB), RODATA|NOPTR, $16

DATA fours16<>+0(SB)/8, $0x0001006400010064
DATA fours16<>+8(SB)/8, $0x0001006400010064
GLOBL fours16<>(SB), RODATA|NOPTR, $16

DATA eights16<>+0(SB)/8, $0x0001271000012710
DATA eights16<>+8(SB)/8, $0x0001271000012710
GLOBL eights16<>(SB), RODATA|NOPTR, $16

// func fieldsAsm(out *float64, most int, line *byte, n, room int, end byte, places *[16][16][16]uint8, tens *[23]float64) (count, next int)
// Requires: AVX2, BMI1, BMI2
TEXT ·fieldsAsm(SB), NOSPLIT, $0-80
	MOVQ         out+0(FP), DI
	MOVQ         line+16(FP), SI
	MOVQ         places+48(FP), R12
	MOVQ         tens+56(FP), R13
	XORQ         DX, DX               // where the field begins
	XORQ         CX, CX               // how many there are
	XORQ         R11, R11             // a bit for each end among 64 bytes, of fields not yet read
	MOVQ         $-64, R10            // where these bytes begin
	VPBROADCASTB end+40(FP), Y7
	VMOVDQU      zero16<>(SB), X8
	VMOVDQU      nine16<>(SB), X9
	VMOVDQU      point16<>(SB), X10
	VMOVDQU      twos16<>(SB), X11
	VMOVDQU      fours16<>(SB), X12
	VMOVDQU      eights16<>(SB), X13

next:
	CMPQ CX, most+8(FP)
	JGE  done

	// BX: where the field begins behind its sign, R8. DX: where it ends, which nothing below has to wait for.
	XORL  R8, R8
	CMPB  (SI)(DX*1), $0x2d
	SETEQ R8
	LEAQ  (DX)(R8*1), BX
	MOVQ  n+24(FP), R14
	LEAQ  16(BX), R9
	CMPQ  R9, room+32(FP)
	JGT   done

find:
	TESTQ   R11, R11
	JZ      more
	TZCNTQ  R11, DX
	BLSRQ   R11, R11
	ADDQ    R10, DX
	CMPQ    DX, R14
	CMOVQGT R14, DX

parse:
	// X1: the digits from BX on. AX and R14: one bit for each digit and for each point.
	VMOVDQU   (SI)(BX*1), X0
	VPSUBB    X8, X0, X1
	VPMINUB   X9, X1, X2
	VPCMPEQB  X1, X2, X2
	VPCMPEQB  X10, X0, X3
	VPMOVMSKB X2, AX
	VPMOVMSKB X3, R14

	// AX: the length, at most 15. R14: the point's place, or the length. R15: the digits after it.
	ORL    R14, AX
	XORL   $0xffff, AX
	JZ     refuse
	TZCNTL AX, AX
	LEAQ   (BX)(AX*1), R9
	CMPQ   R9, DX
	JNE    refuse
	BZHIL  AX, R14, R14
	BLSRL  R14, R15
	JNZ    refuse      // two points
	BTSL   AX, R14
	TZCNTL R14, R14
	MOVL   AX, R15
	SUBL   R14, R15
	SUBL   $1, R15
	ADCL   $0, R15
	MOVL   R14, R9
	ORL    R15, R9
	JZ     refuse      // no digit

	// The digits without the point go to the right end, and from there to two numbers of eight digits.
	SHLL       $4, AX
	ADDL       R14, AX
	SHLL       $4, AX
	VPSHUFB    (R12)(AX*1), X1, X4
	VPMADDUBSW X11, X4, X4
	VPMADDWD   X12, X4, X4
	VPACKUSDW  X4, X4, X4
	VPMADDWD   X13, X4, X4
	VMOVQ      X4, R9
	MOVL       R9, R14
	SHRQ       $32, R9
	IMUL3Q     $100000000, R14, R14
	ADDQ       R14, R9

	// Both are exact: the number has at most 15 digits. So the quotient is the nearest (Clinger).
	VXORPD     X5, X5, X5
	VCVTSI2SDQ R9, X5, X5
	VDIVSD     (R13)(R15*8), X5, X5
	VMOVQ      X5, R9
	SHLQ       $63, R8
	XORQ       R8, R9
	MOVQ       R9, (DI)(CX*8)
	INCQ       CX
	CMPQ       DX, n+24(FP)
	JEQ        last
	INCQ       DX
	JMP        next

more:
	LEAQ 64(R10), R9
	MOVQ R14, DX
	CMPQ R9, R14
	JGT  parse          // the line ends here
	LEAQ 128(R10), AX
	CMPQ AX, room+32(FP)
	JGT  refuse
	MOVQ      R9, R10
	VPCMPEQB  (SI)(R10*1), Y7, Y0
	VPCMPEQB  32(SI)(R10*1), Y7, Y1
	VPMOVMSKB Y0, R11
	VPMOVMSKB Y1, AX
	SHLQ      $32, AX
	ORQ       AX, R11
	JMP       find

refuse:
	MOVQ BX, DX
	SUBQ R8, DX
	JMP  done

last:
	INCQ DX

done:
	VZEROUPPER
	MOVQ CX, count+64(FP)
	MOVQ DX, next+72(FP)
	RET
