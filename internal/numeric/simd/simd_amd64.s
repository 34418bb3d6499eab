//go:build !purego

#include "textflag.h"

// NIBBLE copies the numbers at AT whose bits are set in AX, less than 16, to DI and moves it on.
#define NIBBLE(AT) \
	POPCNTQ AX, BX;             \
	SHLQ    $5, AX;             \
	VMOVDQU (R8)(AX*1), Y0;     \
	VPERMD  AT, Y0, Y1;         \
	VMOVDQU Y1, (DI);           \
	LEAQ    (DI)(BX*8), DI

// func pickAsm(dst, src *float64, mask *byte, bytes, room int, places *[16][8]uint32) (picked int)
// Requires: AVX2
TEXT ·pickAsm(SB), NOSPLIT, $0-56
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ mask+16(FP), DX
	MOVQ bytes+24(FP), CX
	MOVQ room+32(FP), R9
	MOVQ places+40(FP), R8
	MOVQ DI, R10
	LEAQ -64(DI)(R9*8), R11  // the last place with room for 8 numbers

next:
	CMPQ DI, R11
	JA   done
	MOVBQZX (DX), R12
	MOVQ R12, AX
	ANDQ $15, AX
	NIBBLE(0(SI))
	MOVQ R12, AX
	SHRQ $4, AX
	NIBBLE(32(SI))
	ADDQ $64, SI
	INCQ DX
	DECQ CX
	JNZ  next

done:
	SUBQ R10, DI
	SHRQ $3, DI
	MOVQ DI, picked+48(FP)
	VZEROUPPER
	RET

// func pickWide(dst, src *float64, mask *byte, bytes, room int) (picked int)
// Requires: AVX512F, POPCNT
TEXT ·pickWide(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ src+8(FP), SI
	MOVQ mask+16(FP), DX
	MOVQ bytes+24(FP), CX
	MOVQ room+32(FP), R9
	MOVQ DI, R10
	LEAQ -64(DI)(R9*8), R11  // the last place with room for 8 numbers

	PCALIGN $32
next:
	CMPQ DI, R11
	JA   done
	MOVBQZX (DX), AX
	VMOVDQU64 (SI), Z0
	KMOVW AX, K1
	POPCNTQ AX, AX
	VPCOMPRESSQ Z0, K1, Z0
	VMOVDQU64 Z0, (DI)
	LEAQ (DI)(AX*8), DI
	ADDQ $64, SI
	INCQ DX
	DECQ CX
	JNZ  next

done:
	SUBQ R10, DI
	SHRQ $3, DI
	MOVQ DI, picked+40(FP)
	VZEROUPPER
	RET

// BROADCAST sets all of Y to a constant of 32 bits.
#define BROADCAST(VALUE, X, Y) \
	MOVL         VALUE, AX; \
	VMOVD        AX, X;     \
	VPBROADCASTD X, Y

// func magnitudesAsm(bins *uint16, column *float64, n int)
// Requires: AVX2
TEXT ·magnitudesAsm(SB), NOSPLIT, $0-24
	MOVQ bins+0(FP), DI
	MOVQ column+8(FP), SI
	MOVQ n+16(FP), CX
	BROADCAST($0x7ff, X8, Y8)
	BROADCAST($958, X9, Y9)
	BROADCAST($128, X10, Y10)
	BROADCAST($1, X11, Y11)
	VPXOR Y12, Y12, Y12

	PCALIGN $32
eight:
	VMOVUPD 0(SI), Y0
	VMOVUPD 32(SI), Y1
	VCMPPD $0, Y12, Y0, Y2        // 0
	VCMPPD $0, Y12, Y1, Y3
	VCMPPD $3, Y0, Y0, Y4         // no number
	VCMPPD $3, Y1, Y1, Y5
	VSHUFPS $0xDD, Y1, Y0, Y0     // the upper halves of numbers 0 1 4 5 2 3 6 7
	VSHUFPS $0x88, Y3, Y2, Y2
	VSHUFPS $0x88, Y5, Y4, Y4
	VPSRLD $20, Y0, Y1
	VPAND Y8, Y1, Y1
	VPSUBD Y9, Y1, Y1
	VPMINSD Y10, Y1, Y1
	VPMAXSD Y11, Y1, Y1
	VPOR Y11, Y0, Y0              // a sign, even of 0
	VPSIGND Y0, Y1, Y1
	VPANDN Y1, Y2, Y1
	VPADDD Y10, Y1, Y1
	VPSRLD $16, Y4, Y4
	VPOR Y4, Y1, Y1
	VPACKUSDW Y1, Y1, Y1
	VEXTRACTI128 $1, Y1, X2
	VPUNPCKLDQ X2, X1, X1
	VMOVDQU X1, (DI)
	ADDQ $64, SI
	ADDQ $16, DI
	SUBQ $8, CX
	JG   eight
	VZEROUPPER
	RET

// NONE sets the four lanes of X2 to -1 where the numbers in Y0 are none.
#define NONE \
	VCMPPD       $3, Y0, Y0, Y2; \
	VEXTRACTF128 $1, Y2, X3;     \
	VSHUFPS      $0x88, X3, X2, X2

// FOUR sets the four lanes of X0 to the bins of the numbers in Y0.
#define FOUR \
	VSUBPD      Y8, Y0, Y0;  \
	VMULPD      Y9, Y0, Y0;  \
	VMAXPD      Y11, Y0, Y0; \
	VMINPD      Y10, Y0, Y0; \
	VCVTTPD2DQY Y0, X0

// func equalBinsAsm(bins *uint16, column *float64, n int, lower, scale, most float64)
// Requires: AVX2
// The larger of no number and 0 is 0 here.
TEXT ·equalBinsAsm(SB), NOSPLIT, $0-48
	MOVQ bins+0(FP), DI
	MOVQ column+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD lower+24(FP), Y8
	VBROADCASTSD scale+32(FP), Y9
	VBROADCASTSD most+40(FP), Y10
	VPXOR Y11, Y11, Y11

	PCALIGN $32
eight:
	VMOVUPD 0(SI), Y0
	NONE
	VMOVDQA X2, X4
	FOUR
	VMOVDQA X0, X5
	VMOVUPD 32(SI), Y0
	NONE
	FOUR
	VPACKUSDW X0, X5, X0
	VPACKSSDW X2, X4, X2
	VPOR X2, X0, X0
	VMOVDQU X0, (DI)
	ADDQ $64, SI
	ADDQ $16, DI
	SUBQ $8, CX
	JG   eight
	VZEROUPPER
	RET

// GRID sets the four lanes of X0 to the numbers in Y0 on the grid.
#define GRID \
	VCMPPD      $3, Y0, Y0, Y2;     \
	VBLENDVPD   Y2, Y7, Y0, Y0;     \
	VSUBPD      Y8, Y0, Y0;         \
	VMULPD      Y9, Y0, Y0;         \
	VCMPPD      $3, Y0, Y0, Y2;     \
	VANDNPD     Y0, Y2, Y0;         \
	VMINPD      Y10, Y0, Y0;        \
	VMAXPD      Y11, Y0, Y0;        \
	VCVTTPD2DQY Y0, X0

// func fixedAsm(dst *int16, column *float64, n int, missing, center, scale float64)
// Requires: AVX2
TEXT ·fixedAsm(SB), NOSPLIT, $0-48
	MOVQ dst+0(FP), DI
	MOVQ column+8(FP), SI
	MOVQ n+16(FP), CX
	VBROADCASTSD missing+24(FP), Y7
	VBROADCASTSD center+32(FP), Y8
	VBROADCASTSD scale+40(FP), Y9
	MOVQ $0x40D0000000000000, AX // 2^14
	VMOVQ AX, X10
	VBROADCASTSD X10, Y10
	MOVQ $0xC0D0000000000000, AX
	VMOVQ AX, X11
	VBROADCASTSD X11, Y11

	PCALIGN $32
eight:
	VMOVUPD 0(SI), Y0
	GRID
	VMOVDQA X0, X5
	VMOVUPD 32(SI), Y0
	GRID
	VPACKSSDW X0, X5, X0
	VMOVDQU X0, (DI)
	ADDQ $64, SI
	ADDQ $16, DI
	SUBQ $8, CX
	JG   eight
	VZEROUPPER
	RET

// PART sets the four lanes of Y to those of the numbers at AT, times the factors at BY.
#define PART(AT, BY, Y, T) \
	VPMOVSXWD AT, Y;       \
	VPMULLD   BY, Y, Y;    \
	VPSRAD    $31, Y, T;   \
	VPSRLD    $17, T, T;   \
	VPADDD    T, Y, Y;     \
	VPSRAD    $15, Y, Y

// func shortenAsm(column *int16, factors *int32, n int)
// Requires: AVX2
// To a negative product 2^15 - 1 is added first, so that the shift truncates toward zero.
TEXT ·shortenAsm(SB), NOSPLIT, $0-24
	MOVQ column+0(FP), DI
	MOVQ factors+8(FP), SI
	MOVQ n+16(FP), CX

	PCALIGN $32
eight:
	PART(0(DI), 0(SI), X0, X1)
	PART(8(DI), 16(SI), X2, X3)
	VPACKSSDW X2, X0, X0
	VMOVDQU X0, (DI)
	ADDQ $16, DI
	ADDQ $32, SI
	SUBQ $8, CX
	JG   eight
	RET

// func doublesAsm(dst *float64, data *byte, n int) (done int)
// Requires: AVX2
// The exponent of a number that is not finite is all ones.
TEXT ·doublesAsm(SB), NOSPLIT, $0-32
	MOVQ dst+0(FP), DI
	MOVQ data+8(FP), SI
	MOVQ n+16(FP), CX
	XORQ DX, DX
	BROADCAST($0x7ff00000, X8, Y8)

	PCALIGN $32
eight:
	VMOVDQU 0(SI)(DX*8), Y0
	VMOVDQU 32(SI)(DX*8), Y1
	VSHUFPS $0xDD, Y1, Y0, Y2
	VPAND Y8, Y2, Y2
	VPCMPEQD Y8, Y2, Y2
	VPTEST Y2, Y2
	JNE  done
	VMOVDQU Y0, 0(DI)(DX*8)
	VMOVDQU Y1, 32(DI)(DX*8)
	ADDQ $8, DX
	CMPQ DX, CX
	JLT  eight

done:
	MOVQ DX, done+24(FP)
	VZEROUPPER
	RET
