package direction

import (
	"math"
	"testing"
)

// specifiedHistogram returns the example for which an independent program computed the scores of the specification.
func specifiedHistogram(noise bool) Histogram {
	h := Histogram{6, make([]float64, 36)}
	for i := 1; i <= 200; i++ {
		t := float64(i)
		x := math.Sin(1.7 * t)
		y := .6*x*x*x + .25*x + .12*math.Sin(2.9*t+.3*t*t)
		h.Counts[binIndex(x)*6+binIndex(y)]++
	}
	for i := range 6 {
		for j := range 6 {
			if noise {
				h.Counts[i*6+j] += 1.5 * float64((7*i+13*j)%11-5)
			}
		}
	}
	return h
}

func binIndex(x float64) int {
	return min(int((x+1)*3), 5)
}

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf(
			"%s: %.9f, want %.9f",
			what, got, want,
		)
	}
}

// TestSpecifiedScores reproduces the scores of the specification.
func TestSpecifiedScores(t *testing.T) {
	h := specifiedHistogram(false)
	for i, want := range []float64{28, 21, 5, 0, 0, 0, 0, 7, 16, 0, 0, 0, 0, 0, 15, 9, 0, 0, 0, 0,
		8, 11, 0, 0, 0, 0, 0, 19, 8, 0, 0, 0, 0,
		3, 25, 25} {
		checkNear(t, "count", h.Counts[i], want)
	}
	p := h.Projected()
	p.Counts = normalizeAbove(p.Counts, 1e-9)
	for i, want := range []float64{-1.225507866, -.514756039, -.084742357, .064545057, .514646071,
		1.225072269} {
		checkNear(t, "smooth mean", newFit(p).f[i], want)
	}
	want := []Score{
		{Likelihood, -.012472580, .185910022},
		{HSIC, .013806221, .036119193},
		{LOCI, -.022298084, .017038902},
		{CDCI, .210583792, 1.372815567},
		{RECI, .012567789, .016376477},
	}
	scores := Scores(h, false)
	for i, s := range scores[1 : len(want)+1] {
		if s.Name != want[i].Name {
			t.Errorf(
				"score %d is %s, want %s",
				i, s.Name, want[i].Name,
			)
		}
		checkNear(t, s.Name, s.Forward, want[i].Forward)
		checkNear(t, s.Name+" of the reverse", s.Backward, want[i].Backward)
	}
	igci := scores[len(scores)-1]
	checkBlend(
		t,
		scores[0],
		-.012472580+.5*igci.Forward+5*.013806221,
		.185910022+.5*igci.Backward+5*.036119193,
	)
	signed := LikelihoodScore(h, true)
	checkNear(t, "signed", signed.Forward, -.012472580)
	checkNear(t, "signed of the reverse", signed.Backward, .185910022)
}

// TestSpecifiedNoise reproduces the scores of the specification with noise.
func TestSpecifiedNoise(t *testing.T) {
	h := specifiedHistogram(true)
	p := h.Projected()
	checkNear(t, "sum", p.Total(), 204.5)
	zeros := 0
	for _, x := range p.Counts {
		if x == 0 {
			zeros++
		}
	}
	if zeros != 10 {
		t.Errorf("%d zeros, want 10", zeros)
	}
	for j, want := range []float64{19.230769231, 15.230769231, 2.230769231, .230769231, 3.230769231,
		6.230769231} {
		checkNear(t, "first row", p.Counts[j], want)
	}
	s := Scores(h, false)
	checkNear(t, "anmlik", s[1].Forward, .764999247)
	checkNear(t, "anmlik of the reverse", s[1].Backward, .966176101)
	checkNear(t, "hsic", s[2].Forward, .013775144)
	checkNear(t, "hsic of the reverse", s[2].Backward, .024730280)
	signed := LikelihoodScore(h, true)
	checkNear(t, "signed", signed.Forward, .408106239)
	checkNear(t, "signed of the reverse", signed.Backward, .737189101)
	igci := s[len(s)-1]
	checkBlend(
		t,
		BlendScore(h, true),
		.408106239+.5*igci.Forward+5*.013775144,
		.737189101+.5*igci.Backward+5*.024730280,
	)
}

// checkBlend compares the score that determines the direction.
func checkBlend(t *testing.T, s Score, forward, backward float64) {
	t.Helper()
	if s.Name != Blend {
		t.Errorf(
			"%s decides, want %s",
			s.Name, Blend,
		)
	}
	checkNear(t, "blend", s.Forward, forward)
	checkNear(t, "blend of the reverse", s.Backward, backward)
}

// TestScoresAreTotal checks that scores are finite for any noise.
func TestScoresAreTotal(t *testing.T) {
	for _, counts := range [][]float64{
		make([]float64, 36),
		{0: -1e9, 35: 0},
		{0: 1e18, 35: 0},
		{0: 1, 7: -1, 35: 0},
		{
			3:  5,
			9:  5,
			15: 5,
			35: 0,
		},
	} {
		for _, signed := range []bool{false, true} {
			for _, s := range Scores(Histogram{6, counts}, signed) {
				if math.IsNaN(s.Forward+s.Backward) ||
					math.IsInf(s.Forward+s.Backward, 0) {
					t.Errorf(
						"%v, signed %v: %+v",
						counts, signed, s,
					)
				}
			}
		}
	}
}

// TestVote checks the vote of the three scores alone.
func TestVote(t *testing.T) {
	s := []Score{
		{Likelihood, 0, 1},
		{HSIC, 1, 0},
		{LOCI, 0, 1},
		{CDCI, 1, 0},
		{RECI, 1, 0},
		{IGCI, 1, 0},
	}
	if got := Vote(s); got != 1 {
		t.Errorf("vote %d, want 1", got)
	}
	s[2].Forward = 1
	if got := Vote(s); got != 0 {
		t.Errorf("vote %d, want 0", got)
	}
}
