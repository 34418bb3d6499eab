package published

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/combin"
)

// correctedByDefinition returns the canonical Lipschitz mechanism by its definition, over every set y individually, with loss
// (1-gamma) max(a, b) - gamma b, where b is the least score in y and a the largest outside. Classes of C(t-h-2,
// k-h-1) members give the same result; see TestCorrectedMechanismMatchesSpecification.
func correctedByDefinition(m TopK, scores []float64) Law {
	var sets []class
	all := combin.Combinations(len(scores), m.K)
	for _, set := range all {
		in := math.Inf(1)
		out := math.Inf(-1)
		for j, s := range scores {
			if slices.Contains(set, j) {
				in = min(in, s)
			} else {
				out = max(out, s)
			}
		}
		sets = append(
			sets,
			class{utility: -m.Epsilon / 2 * ((1-m.Gamma)*max(in, out) - m.Gamma*in)},
		)
	}
	law := make(Law, len(all))
	logs := make([]float64, len(all))
	for i, s := range sets {
		logs[i] = s.utility
	}
	total := logSum(logs)
	for i, set := range all {
		law[i] = Draw{set, logs[i] - total}
		if !m.Gumbel {
			law[i].LogP = math.Log(m.winProbability(sets, i, float64(len(sets))))
		}
	}
	return law
}

// TestCorrectedMechanismMatchesSpecification reproduces the output distributions of the corrected mechanism in the
// specification, which validates the reference for the witnesses.
func TestCorrectedMechanismMatchesSpecification(t *testing.T) {
	m := TopK{
		K:       2,
		Epsilon: 1,
		Gamma:   .5,
		Gumbel:  true,
	}
	for _, want := range [][]float64{
		{.254027, .197836, .154075, .154075, .119994, .119994},
		{.280178, .200109, .148250, .148250, .111607, .111607},
	} {
		l := correctedByDefinition(m, []float64{3, 2, 1, 0})
		for i, d := range l {
			checkNear(
				t,
				fmt.Sprintf("gumbel %v: %v", m.Gumbel, d.Columns),
				math.Exp(d.LogP),
				want[i],
				5e-7,
			)
		}
		m.Gumbel = false
	}
}

// TestLipschitzWitnessOrder shows that two score vectors with a negligible difference, in reverse order, have a log
// ratio of ln k at every epsilon.
func TestLipschitzWitnessOrder(t *testing.T) {
	for k, want := range map[int]float64{
		2: .693,
		3: 1.099,
		5: 1.609,
		7: 1.946,
	} {
		up := make([]float64, 2*k)
		down := make([]float64, 2*k)
		for j := range up {
			up[j] = float64(j) * 1e-9
			down[j] = -float64(j) * 1e-9
		}
		for _, epsilon := range []float64{.01, 1, 5} {
			m := TopK{
				K:       k,
				Epsilon: epsilon,
				Gamma:   .5,
				Gumbel:  true,
			}
			checkNear(
				t,
				fmt.Sprintf("k = %d, epsilon = %v", k, epsilon),
				Loss(must(m.Law(up)), must(m.Law(down))),
				want,
				.0005,
			)
			checkNear(
				t,
				fmt.Sprintf("k = %d, epsilon = %v, corrected", k, epsilon),
				Loss(correctedByDefinition(m, up), correctedByDefinition(m, down)),
				0,
				1e-6,
			)
			if m.Gumbel = false; k <= 3 {
				checkNear(
					t,
					fmt.Sprintf("k = %d, epsilon = %v, exponential noise", k, epsilon),
					Loss(must(m.Law(up)), must(m.Law(down))),
					want,
					.0005,
				)
			}
		}
	}
}

// TestLipschitzWitnessTables shows the same for one record, with real tables and ordered scores. All columns equal
// the target, so their scores are equal; the added record has a different rank in each.
func TestLipschitzWitnessTables(t *testing.T) {
	const n = 4000
	for k, epsilons := range map[int][]float64{
		2: {.01, .5},
		3: {.01, .1, 1},
		5: {1},
	} {
		x := make([][]float64, 2*k)
		y := rearrangedColumns(n, 1)[0]
		for j := range x {
			x[j] = y
		}
		record := make([]float64, 2*k)
		for j := range record {
			record[j] = n - float64(2*k-j) - .5 // above all but 2k-1-j of the others
		}
		x2 := withRecord(x, record...)
		y2 := append(slices.Clone(y), n)
		for _, epsilon := range epsilons {
			m := Lipschitz{K: k}
			got := Loss(
				must(m.Law(x, y, epsilon)),
				must(m.Law(x2, y2, epsilon)),
			)
			checkNear(
				t,
				fmt.Sprintf("k = %d, epsilon = %v", k, epsilon),
				got,
				math.Log(float64(k)),
				.01,
			)
			if got <= epsilon {
				t.Errorf(
					"k = %d: loss %v is not above the claim %v",
					k, got, epsilon,
				)
			}
			before, err1 := tauA(t.Context(), x, y)
			after, err2 := tauA(t.Context(), x2, y2)
			if err1 != nil || err2 != nil {
				t.Fatal(err1, err2)
			}
			got = Loss(
				correctedByDefinition(m.topK(epsilon), before),
				correctedByDefinition(m.topK(epsilon), after),
			)
			if got > epsilon {
				t.Errorf(
					"k = %d: corrected loss %v above %v",
					k, got, epsilon,
				)
			}
		}
	}
}

// TestLipschitzWitnessSearch checks pairs of score vectors at distance 1 in every coordinate, found by hill climbing
// at epsilon 1.
func TestLipschitzWitnessSearch(t *testing.T) {
	for _, x := range []struct {
		m    TopK
		a, b []float64
		want float64
	}{
		{
			TopK{3, 1, .5, true},
			[]float64{3.289, 1.582, 1.598, -5.574, 1.573},
			[]float64{2.289, 2.326, .598, -4.574, 2.573},
			1.68,
		},
		{
			TopK{4, 1, .5, false},
			[]float64{
				-1.334, 1.059, .653, 1.412,
				-1.307, 2.368,
			},
			[]float64{
				-2.334, 1.404, 1.653,
				2.412, -.307, 1.368,
			},
			1.92,
		},
		{
			TopK{3, 1, .25, false},
			[]float64{-.148, .332, .159, .190, -2.940},
			[]float64{
				-1.148, -.668, 1.159,
				-.810, -1.940,
			},
			1.68,
		},
	} {
		for j := range x.a {
			if math.Abs(x.a[j]-x.b[j]) > 1+1e-9 {
				t.Fatalf("scores %d differ by more than the sensitivity", j)
			}
		}
		checkNear(
			t,
			fmt.Sprint(x.m),
			Loss(
				must(x.m.Law(x.a)),
				must(x.m.Law(x.b)),
			),
			x.want,
			.01,
		)
		got := Loss(
			correctedByDefinition(x.m, x.a),
			correctedByDefinition(x.m, x.b),
		)
		if got > x.m.Epsilon {
			t.Errorf(
				"%v: corrected loss %v above %v",
				x.m, got, x.m.Epsilon,
			)
		}
	}
}

// TestLipschitzCorrectedHolds checks that no random pair of neighbours violates the guarantee of the corrected
// mechanism.
func TestLipschitzCorrectedHolds(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		d := 2 + r.IntN(4)
		m := TopK{
			K:       1 + r.IntN(d-1),
			Epsilon: 1,
			Gamma:   r.Float64(),
			Gumbel:  r.IntN(2) == 0,
		}
		a := make([]float64, d)
		b := make([]float64, d)
		for j := range a {
			a[j] = float64(r.IntN(5)) / 2
			b[j] = a[j] + float64(r.IntN(5)-2)/2
		}
		got := Loss(correctedByDefinition(m, a), correctedByDefinition(m, b))
		if got > m.Epsilon+1e-9 {
			t.Fatalf(
				"%v: loss %v for %v and %v",
				m, got, a, b,
			)
		}
	}
}

func TestLipschitzDrawsItsLaw(t *testing.T) {
	scores := []float64{.5, 3, 1, 2.5, 1, 4}
	for _, m := range []TopK{
		{3, 1, .5, true},
		{3, 2, .5, false},
		{2, 1, 0, false},
		{5, 1, .25, false},
		{1, 1, .5, true},
	} {
		checkFrequencies(t, fmt.Sprint(m), must(m.Law(scores)), 20000, func(src Source) []int {
			return must(m.Draw(src, scores))
		})
	}
	x := rearrangedColumns(19, 7, 11, 5, 2)
	y := rearrangedColumns(19, 12)[0]
	v, target := newView(t, x, y)
	m := Lipschitz{K: 2}
	checkFrequencies(t, "tables", must(m.Law(x, y, 3)), 10000, func(src Source) []int {
		return must(m.Fit(t.Context(), src, v, target, 3, 0)).Columns
	})
}

// TestLipschitzWide checks that class sizes far beyond the largest float64 do not cause errors. With scores far apart
// the result is the true top k.
func TestLipschitzWide(t *testing.T) {
	const (
		d = 20000
		k = 200
	)
	scores := make([]float64, d)
	for j := range scores {
		scores[j] = float64(d - j)
		if j < k {
			scores[j] += 1e7
		}
	}
	got := must(TopK{
		K:       k,
		Epsilon: 1,
		Gamma:   .5,
	}.Draw(fixedSource(3), scores))
	want := make([]int, k)
	for j := range want {
		want[j] = j
	}
	if !slices.Equal(got, want) {
		t.Errorf("picked %v", got)
	}
	equal := make([]float64, d)
	got = must(TopK{
		K:       k,
		Epsilon: 1,
		Gamma:   .5,
	}.Draw(fixedSource(3), equal))
	if len(
		slices.Compact(got)) != k {
		t.Errorf(
			"%d different columns, want %d",
			len(got), k,
		)
	}
}
