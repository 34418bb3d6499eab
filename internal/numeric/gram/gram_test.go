package gram

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func newRand(seed uint64) *rand.Rand {
	return rand.New(rand.NewPCG(seed, 14))
}

// checkKernel compares a kernel with the definition. It starts with a nonzero dst, since Accumulate must add.
func checkKernel(t *testing.T, k namedTile, x [][]int16) {
	t.Helper()
	got := make([]int64, Len(len(x)))
	want := make([]int64, Len(len(x)))
	for i := range got {
		got[i] = int64(i)*1e12 - 5e12
		want[i] = got[i]
	}
	naiveGram(want, x)
	var s Scratch
	s.accumulate(got, x, k.tile)
	d := cmp.Diff(want, got)
	if d != "" {
		t.Fatalf(
			"%s, %d columns (-want +got):\n%s",
			k.name, len(x), d,
		)
	}
}

func TestIndexIsAPackingByRows(t *testing.T) {
	for p := range 12 {
		k := 0
		for i := range p {
			for j := i; j < p; j++ {
				if Index(p, i, j) != k ||
					Index(p, j, i) != k {
					t.Fatalf(
						"Index(%d, %d, %d) = %d, want %d",
						p, i, j,
						Index(p, i, j), k,
					)
				}
				k++
			}
		}
		if Len(p) != k {
			t.Fatalf(
				"Len(%d) = %d, want %d",
				p, Len(p), k,
			)
		}
	}
}

// TestSmallShapesAreExact combines every row tail with every column tail, for random and extreme values.
func TestSmallShapesAreExact(t *testing.T) {
	rng := newRand(1)
	for _, k := range allTiles() {
		for n := range 71 {
			for p := 1; p <= 20; p++ {
				checkKernel(t, k, uniformColumns(rng, n, p))
				checkKernel(t, k, extremeColumns(rng, n, p))
			}
		}
	}
}

// TestLargerShapesAreExact covers several blocks, block boundaries and, with 130 columns, several panels.
func TestLargerShapesAreExact(t *testing.T) {
	rng := newRand(2)
	for _, k := range allTiles() {
		for _, n := range []int{
			blockRows - 1, blockRows, blockRows + 1,
			2*blockRows + 47, 5000,
		} {
			for _, p := range []int{1, 4, 5, 13} {
				checkKernel(t, k, uniformColumns(rng, n, p))
				checkKernel(t, k, extremeColumns(rng, n, p))
			}
		}
		checkKernel(t, k, uniformColumns(rng, 100, 2*panelCols+13))
		checkKernel(t, k, uniformColumns(rng, blockRows+9, panelCols+10))
	}
}

// TestOverflowEdge uses the largest magnitude in every row, where a fourth VPMADDWD lane or a sum over a long block
// would exceed 32 bits.
func TestOverflowEdge(t *testing.T) {
	patterns := map[string]func(r, c int) int16{
		"all +1": func(_, _ int) int16 {
			return MaxAbs
		},
		"all -1": func(_, _ int) int16 {
			return -MaxAbs
		},
		"columns opposite": func(_, c int) int16 {
			return int16(1-2*(c%2)) * MaxAbs
		},
		"rows opposite": func(r, _ int) int16 {
			return int16(1-2*(r%2)) * MaxAbs
		},
		"both opposite": func(r, c int) int16 {
			return int16(1-2*((r+c)%2)) * MaxAbs
		},
		"runs opposite": func(r, c int) int16 {
			return int16(1-2*((r/stepRows+c)%2)) * MaxAbs
		},
		"one off the edge": func(r, c int) int16 {
			return int16(1-2*(c%2)) * (MaxAbs - int16(r%2))
		},
		"tiny negative": func(_, c int) int16 {
			return int16(2*(c%2) - 1)
		},
	}
	for name, value := range patterns {
		t.Run(name, func(t *testing.T) {
			for _, k := range allTiles() {
				for _, n := range []int{
					1, 2, 7, 8, 9, 48,
					96, 1000, 2*blockRows + 5,
				} {
					checkKernel(t, k, fillColumns(n, 7, value))
				}
			}
		})
	}
}

func TestUnalignedColumns(t *testing.T) {
	big := uniformColumns(newRand(3), 400, 11)
	for _, k := range allTiles() {
		for off := range 34 {
			x := make([][]int16, len(big))
			for c := range x {
				start := (off + 3*c) % 35 // every column at its own odd address
				x[c] = big[c][start : start+301]
			}
			checkKernel(t, k, x)
		}
	}
}

func TestTileMatchesPortable(t *testing.T) {
	if len(assemblyTiles()) == 0 {
		t.Skip("no assembly for this build or processor")
	}
	rng := newRand(4)
	for w := 1; w <= tileWidth; w++ {
		for h := 1; h <= tileHeight; h++ {
			for _, steps := range []int{1, 2, 3, 31, 32} {
				n := steps * stepRows
				stride := n + 16
				buf := slices.Concat(extremeColumns(rng, stride, tileWidth+tileHeight)...)
				off := rng.IntN(16)
				for below := range h {
					made := tile{
						rows:   n,
						stride: stride,
						row:    tileWidth + 1,
						h:      h,
						w:      w,
						below:  below,
					}
					made.a = buf[off:]
					made.b = buf[h*stride+off:]
					made.ahead = buf
					sums := func(add tileFunc) []int64 {
						t := made
						t.dst = make([]int64, tileHeight*(tileWidth+1))
						add(&t)
						return t.dst
					}
					want := sums(tileGo)
					for _, k := range assemblyTiles() {
						d := cmp.Diff(want, sums(k.tile))
						if d != "" {
							t.Fatalf(
								"h=%d w=%d below=%d steps=%d (-portable +%s):\n%s",
								h,
								w,
								below,
								steps,
								k.name,
								d,
							)
						}
					}
				}
			}
		}
	}
}

func TestScratchIsReusableAcrossShapes(t *testing.T) {
	rng := newRand(5)
	var s Scratch
	for _, shape := range [][2]int{
		{2000, 9},
		{3, 2},
		{0, 4},
		{100, 0},
		{49, 30},
		{1, 1},
		{5000, 6},
	} {
		x := uniformColumns(rng, shape[0], shape[1])
		got := make([]int64, Len(shape[1]))
		want := make([]int64, Len(shape[1]))
		s.Accumulate(got, x)
		naiveGram(want, x)
		d := cmp.Diff(want, got)
		if d != "" {
			t.Fatalf(
				"shape %v (-want +got):\n%s",
				shape, d,
			)
		}
	}
}

// TestPropertyOrderAndCutsDoNotMatter checks that the result does not depend on the order of the rows, on how they
// are divided among calls, or on the kernel, and that the rows are not modified.
func TestPropertyOrderAndCutsDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(0, 2*blockRows+100).Draw(t, "n")
		p := rapid.IntRange(1, 14).Draw(t, "p")
		rng := newRand(rapid.Uint64().Draw(t, "seed"))
		limit := rapid.SampledFrom([]int{1, 100, MaxAbs - 1, MaxAbs}).Draw(t, "limit")
		x := fillColumns(n, p, func(_, _ int) int16 {
			return int16((rng.IntN(3) - 1) * (limit - rng.IntN(2)))
		})
		before := fillColumns(n, p, func(r, c int) int16 {
			return x[c][r]
		})
		want := make([]int64, Len(p))
		naiveGram(want, x)

		order := rng.Perm(n)
		shuffled := fillColumns(n, p, func(r, c int) int16 {
			return x[c][order[r]]
		})
		cut := rapid.IntRange(0, n).Draw(t, "cut")
		for _, k := range allTiles() {
			got := make([]int64, Len(p))
			var s Scratch
			s.accumulate(got, rowsOf(shuffled, 0, cut), k.tile)
			s.accumulate(got, rowsOf(shuffled, cut, n), k.tile)
			d := cmp.Diff(want, got)
			if d != "" {
				t.Fatalf(
					"%s (-want +got):\n%s",
					k.name, d,
				)
			}
		}
		Accumulate(make([]int64, Len(p)), x)
		d := cmp.Diff(before, x)
		if d != "" {
			t.Fatalf("the rows were changed:\n%s", d)
		}
	})
}

func TestDotIsExact(t *testing.T) {
	rng := newRand(6)
	long := 2*maxSteps*stepRows + 7
	for _, k := range allTiles() {
		for _, n := range append([]int{48, 95, 96, 97, 1000, long}, upTo(50)...) {
			for off := range 3 {
				for _, x := range [][][]int16{
					uniformColumns(rng, n+off, 2),
					extremeColumns(rng, n+off, 2),
					fillColumns(n+off, 2, func(_, _ int) int16 {
						return -MaxAbs
					}),
					fillColumns(n+off, 2, func(_, c int) int16 {
						return int16(1-2*c) * MaxAbs
					}),
				} {
					a := x[0][off:]
					b := x[1][:n]
					var want int64
					for r := range a {
						want += int64(a[r]) * int64(b[r])
					}
					got := dot(a, b, k.tile)
					if got != want {
						t.Fatalf(
							"%s, n=%d off=%d: %d, want %d",
							k.name, n, off, got, want,
						)
					}
				}
			}
		}
	}
}

func upTo(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i
	}
	return s
}

func TestShapeMismatchPanicsWithoutNamingTheRowCount(t *testing.T) {
	x := fillColumns(1237, 3, func(_, _ int) int16 {
		return 1
	})
	ragged := [][]int16{
		x[0],
		x[1][:1236],
		x[2],
	}
	for name, call := range map[string]func(){
		"dst length": func() {
			Accumulate(make([]int64, 5), x)
		},
		"ragged": func() {
			Accumulate(make([]int64, 6), ragged)
		},
		"Dot": func() {
			Dot(x[0], x[1][:1236])
		},
		"Index": func() {
			Index(3, 3, 0)
		},
	} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				msg := fmt.Sprint(recover())
				if !strings.HasPrefix(msg, "gram: ") ||
					strings.Contains(msg, "123") {
					t.Errorf("panic says %q", msg)
				}
			}()
			call()
			t.Error("did not panic")
		})
	}
}

// TestOutOfRangeValuesDoNotPanic checks that values out of range only make the sums unspecified.
func TestOutOfRangeValuesDoNotPanic(t *testing.T) {
	x := fillColumns(5000, 6, func(r, c int) int16 {
		return int16(-32768 + r*c)
	})
	for _, k := range allTiles() {
		var s Scratch
		s.accumulate(make([]int64, Len(6)), x, k.tile)
		dot(x[0], x[1], k.tile)
	}
	runtime.KeepAlive(x)
}
