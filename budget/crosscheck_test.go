package budget

import (
	"testing"
)

// Numbers of an independent accountant: pip install dp-accounting==0.6.0, with
//
//	from dp_accounting.pld import privacy_loss_distribution as P
//	from dp_accounting.pld.common import DifferentialPrivacyParameters as D
//	h = 1e-4
//	L = lambda e: P.from_laplace_mechanism(1/e, value_discretization_interval=h, use_connect_dots=True)
//	G = lambda m: P.from_gaussian_mechanism(1/m, value_discretization_interval=h, use_connect_dots=True)
//	R = lambda e, d=0: P.from_privacy_parameters(D(e, d), value_discretization_interval=h)
//
// and, for the third row, p = G(.4).compose(L(.3).self_compose(3)), then
// p.get_delta_for_epsilon(.5), (1), (2) and p.get_epsilon_for_delta(1e-6).
func TestAgainstDPAccounting(t *testing.T) {
	for _, v := range []struct {
		name  string
		laws  []Law
		delta [3]float64 // at epsilon .5, 1, 2
		eps   float64    // at delta 1e-6
	}{
		{
			"G(.3)",
			[]Law{gaussianLaw(0.3)},
			[3]float64{0.007573480585463531, 5.488749644613142e-05, 1.5189170522988935e-12},
			1.291709944233921,
		},
		{
			"L(.2)x10",
			[]Law{pureLaw(Laplace, 0.2, 10)},
			[3]float64{0.09021197038052611, 0.020309281009778406, 0},
			1.9989780937255879,
		},
		{
			"G(.4)+L(.3)x3",
			[]Law{gaussianLaw(0.4), pureLaw(Laplace, 0.3, 3)},
			[3]float64{0.09889391071860712, 0.02329200714504702, 9.087678252475531e-05},
			2.488748504916066,
		},
		{
			"R(.15)x20",
			[]Law{pureLaw(Pure, 0.15, 20)},
			[3]float64{0.11237999629838613, 0.031591969154832845, 0.000505437052723657},
			2.7156539092449203,
		},
		{
			"G(.25)+R(.5,1e-7)",
			[]Law{
				gaussianLaw(0.25),
				{
					Kind:    Approximate,
					Epsilon: 0.5,
					Delta:   1e-7,
					Draws:   1,
				},
			},
			[3]float64{0.06192124216537451, 0.0016862676313941008, 1.0005112790969169e-07},
			1.540187152522847,
		},
		{
			"G(.2)+L(.1)x5+R(.05)x12",
			[]Law{
				gaussianLaw(0.2),
				pureLaw(Laplace, 0.1, 5),
				pureLaw(Pure, 0.05, 12),
			},
			[3]float64{0.014015015276451305, 0.00022281131994651547, 5.6727501949721225e-12},
			1.4125960397241837,
		},
		{
			"L(.05)x400",
			[]Law{pureLaw(Laplace, 0.05, 400)},
			[3]float64{0.23520598539848578, 0.1240527302774721, 0.019797015646198752},
			4.814783497805173,
		},
	} {
		c := composePLD(0, v.laws...)
		for i, eps := range []float64{0.5, 1, 2} {
			// Their randomised response is rounded up to the grid instead of connected.
			below := 1e-4
			if v.laws[len(v.laws)-1].Kind == Pure {
				below = 2e-3
			}
			got := c.deltaAt(eps)
			if got > v.delta[i]*(1+1e-4)+4e-12 ||
				got < v.delta[i]*(1-below) {
				t.Errorf(
					"%s: delta(%v) = %.12g, dp-accounting %.12g",
					v.name,
					eps,
					got,
					v.delta[i],
				)
			}
		}
		checkNear(
			t, v.name+" epsilon",
			pldEpsilon(c, 1e-6), v.eps,
			3e-5,
		)
	}
}
