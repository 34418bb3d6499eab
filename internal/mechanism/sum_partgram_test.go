package mechanism

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// partOf sums rows: u and z of the i-th record.
func partOf(
	t *testing.T,
	s *Session,
	weights []int,
	p int,
	limit float64,
	u, z [][]int16,
) (*PartGram, Bounded[Vector]) {
	t.Helper()
	g := s.NewPartGram(weights, p, limit)
	for i := range u {
		g.Add(columnsOf(u[i]), columnsOf(z[i]))
	}
	b, err := g.Bound()
	if err != nil {
		t.Fatal(err)
	}
	return g, b
}

// columnsOf is one record as a block.
func columnsOf(row []int16) [][]int16 {
	out := make([][]int16, len(row))
	for k, v := range row {
		out[k] = []int16{v}
	}
	return out
}

// TestPartGramSensitivity replaces the private part of a record, next to every public part, by every other over a
// circle of directions below, at and above the limit. The declared bound is never exceeded and is attained, for
// weights of the cross block that put k below and above 2. Each block alone stays within 2 R B and sqrt2 B^2 and
// attains it.
func TestPartGramSensitivity(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	var circle [][]int16
	for i := range 48 {
		for _, r := range []float64{.3, .7072, 1} {
			a := 2 * math.Pi * float64(i) / 48
			circle = append(
				circle,
				[]int16{
					int16(r * math.Cos(a) * FixedOne),
					int16(r * math.Sin(a) * FixedOne),
				},
			)
		}
	}
	publics := [][]int16{
		{0, 0}, {FixedOne, 0},
		{FixedOne, FixedOne / 2},
	}
	for _, limit := range []float64{.5, .9} {
		for _, weights := range [][]int{
			{5, 9}, {40, 20},
			{70, 70}, {140, 60},
			{400, 500},
		} {
			reached := [3]float64{}
			for _, first := range circle {
				for _, second := range circle {
					u := publics[2:]
					_, x := partOf(
						t,
						s,
						weights,
						2,
						limit,
						u,
						[][]int16{append([]int16(nil), first...)},
					)
					_, y := partOf(
						t,
						s,
						weights,
						2,
						limit,
						u,
						[][]int16{append([]int16(nil), second...)},
					)
					if x.sens != y.sens {
						t.Fatal("the bound depends on a private column")
					}
					var cross, square float64
					for i := range x.value {
						d := float64(x.value[i] - y.value[i])
						if i < 4 {
							cross += d * d
						} else {
							square += d * d
						}
					}
					r := math.Hypot(float64(weights[0]), float64(weights[1])/2)
					b2 := limit * FixedOne * FixedOne
					reached[0] = max(
						reached[0],
						math.Sqrt(cross)/(2*r*FixedOne*math.Sqrt(b2)),
					)
					reached[1] = max(
						reached[1],
						math.Sqrt(square)/(math.Sqrt2*squareWeight*b2),
					)
					reached[2] = max(reached[2], math.Sqrt(cross+square)/x.sens)
				}
			}
			for i, name := range []string{"cross block", "private block", "both"} {
				if reached[i] > 1+1e-12 || reached[i] < .985 {
					t.Errorf(
						"limit %v, weights %v: the %s moves by %v of its bound",
						limit,
						weights,
						name,
						reached[i],
					)
				}
			}
		}
	}
}

// TestPartGramBoundIsPublic checks that the bound follows the longest public part of any record, and does not depend
// on the private parts.
func TestPartGramBoundIsPublic(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	u := [][]int16{
		{100, 3},
		{FixedOne, -FixedOne},
		{0, 0},
	}
	_, a := partOf(
		t, s, []int{70, 70},
		1, 1, u,
		[][]int16{{5}, {7}, {9}},
	)
	_, b := partOf(
		t, s, []int{70, 70},
		1, 1, u,
		[][]int16{{FixedOne}, {0}, {-FixedOne}},
	)
	_, c := partOf(
		t, s, []int{70, 70},
		1, 1, u[:1],
		[][]int16{{5}},
	)
	if a.sens != b.sens || c.sens >= a.sens {
		t.Errorf(
			"%v %v %v",
			a.sens, b.sens, c.sens,
		)
	}
}

// TestPartGramExactIsPublic checks that the exact block is bit-identical for any private parts.
func TestPartGramExactIsPublic(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	u := [][]int16{
		{100, 3},
		{FixedOne, -FixedOne},
		{-7, 9000},
	}
	exact := func(z [][]int16) []float64 {
		g, _ := partOf(
			t, s, []int{70, 20},
			2, .3, u, z,
		)
		v, err := g.Exact()
		if err != nil {
			t.Fatal(err)
		}
		return v.Value()
	}
	want := exact([][]int16{
		{0, 0}, {0, 0},
		{0, 0},
	})
	for _, v := range []int16{
		1, -1, 5000, FixedOne, -FixedOne,
		math.MaxInt16, math.MinInt16,
	} {
		got := exact([][]int16{
			{v, 0}, {v, v},
			{-v, 77},
		})
		if !slices.Equal(got, want) {
			t.Errorf(
				"private entries of %d: %v, want %v",
				v, got, want,
			)
		}
	}
}

// TestPartGramValues checks that blocks are the sums of products, and that Unpack undoes the weights.
func TestPartGramValues(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	u := [][]int16{{FixedOne, 2000}, {-9000, 300}}
	z := [][]int16{{5000, -6000}, {700, FixedOne}}
	g, b := partOf(
		t, s, []int{3, 200},
		2, 2, u, z,
	)
	cross, square, sigmas, sigma := g.Unpack(toFloats(b.value, b.unit), 7)
	exact, err := g.Exact()
	if err != nil {
		t.Fatal(err)
	}
	product := func(a, b [][]int16, i, j int) float64 {
		return (float64(a[0][i])*float64(b[0][j]) + float64(a[1][i])*float64(b[1][j])) * gramUnit
	}
	want := [][3]float64{
		{cross[0], product(u, z, 0, 0), 0},
		{cross[1], product(u, z, 0, 1), 0},
		{cross[2], product(u, z, 1, 0), 0},
		{cross[3], product(u, z, 1, 1), 0},
		{square[0], product(z, z, 0, 0), 0},
		{square[1], product(z, z, 0, 1), 0},
		{square[2], product(z, z, 1, 1), 0},
		{exact.Value()[0], product(u, u, 0, 0), 0},
		{exact.Value()[1], product(u, u, 0, 1), 0},
		{exact.Value()[2], product(u, u, 1, 1), 0},
		{sigmas[0], 7. / 3, 0},
		{sigmas[1], 7. / 200, 0},
		{sigma, .1, 0},
	}
	for i, w := range want {
		if math.Abs(w[0]-w[1]) > 1e-12 {
			t.Errorf(
				"entry %d: %v, want %v",
				i, w[0], w[1],
			)
		}
	}
}

// TestPartGramMerges checks that two parts merge to the whole.
func TestPartGramMerges(t *testing.T) {
	s := testSession(t, budget.SubstitutePrivateColumns, 1)
	u := [][]int16{{100, 3}, {FixedOne, -FixedOne}}
	z := [][]int16{{5}, {-700}}
	_, whole := partOf(
		t, s, []int{1, 2},
		1, .3, u, z,
	)
	a, _ := partOf(
		t, s, []int{1, 2},
		1, .3, u[:1],
		z[:1],
	)
	b, _ := partOf(
		t, s, []int{1, 2},
		1, .3, u[1:],
		z[1:],
	)
	a.Cells().mergeValues(b.Cells().copyValues())
	merged, err := a.Bound()
	if err != nil ||
		changeNorm(merged, whole) != 0 ||
		merged.sens != whole.sens {
		t.Errorf(
			"%v and %v, %v",
			merged, whole, err,
		)
	}
}

// TestPartGramRefuses checks that blocks of public columns are public under one relation only.
func TestPartGramRefuses(t *testing.T) {
	for _, rel := range []budget.Relation{budget.AddRemove, budget.Substitute} {
		g := testSession(t, rel, 1).NewPartGram([]int{1}, 1, 1)
		_, err := g.Exact()
		if !errors.Is(err, ErrRelation) {
			t.Errorf("%v: exact: %v", rel, err)
		}
		_, err = g.Bound()
		if !errors.Is(err, ErrRelation) {
			t.Errorf("%v: bound: %v", rel, err)
		}
	}
	w := CrossWeight(1e9)
	if w != MaxCrossWeight || CrossWeight(0) != 1 || CrossWeight(1) != 70 {
		t.Errorf(
			"weights %d, %d, %d",
			w, CrossWeight(0), CrossWeight(1),
		)
	}
}
