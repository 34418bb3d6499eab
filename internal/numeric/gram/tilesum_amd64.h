// The end of a tile with registers of 512 bits: it adds the sixteen lanes of each of Z0 to Z9, puts the two sums
// of each column together and adds them to the int64 at DX, those that K1 names. Z1 and Z20 are overwritten.

	FOLD(Z0)
	FOLD(Z1)
	FOLD(Z2)
	FOLD(Z3)
	FOLD(Z4)
	FOLD(Z5)
	FOLD(Z6)
	FOLD(Z7)
	FOLD(Z8)
	FOLD(Z9)

	// lo[0:4] in X0, hi[0:4] in X5, and column 4 in X4.
	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      Y6, Y5, Y5
	VPHADDD      Y8, Y7, Y7
	VPHADDD      Y7, Y5, Y5
	VEXTRACTI128 $1, Y5, X1
	VPADDD       X1, X5, X5
	VPHADDD      Y9, Y4, Y4
	VPHADDD      Y4, Y4, Y4
	VEXTRACTI128 $1, Y4, X1
	VPADDD       X1, X4, X4

	// All lo in Y0 and all hi in Y5.
	VINSERTI128 $1, X4, Y0, Y0
	VPSRLQ      $32, X4, X4
	VINSERTI128 $1, X4, Y5, Y5

	// 2^16*hi + (lo - 2^16*hi modulo 2^32), as in the package comment.
	VPSLLD    $16, Y5, Y1
	VPSUBD    Y1, Y0, Y0
	VPMOVZXDQ Y0, Z0
	VPMOVSXDQ Y5, Z5
	VPSLLQ    $16, Z5, Z5
	VPADDQ    Z5, Z0, Z0
	VPADDQ.Z  (DX), Z0, K1, Z0
	VMOVDQU64 Z0, K1, (DX)
