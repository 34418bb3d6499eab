package scaling

import "testing"

// TestTwoValues checks that a target with records in two separate bins is recognised, with round numbers in them, and that
// other targets are not.
func TestTwoValues(t *testing.T) {
	noisy := func(at map[int]float64) noisyCounts {
		counts := make([]float64, Bins)
		for b := range counts {
			counts[b] = 5 * float64(b%3-1) // noise of standard deviation about 4
		}
		for b, n := range at {
			counts[b] += n
		}
		return noisyCounts{counts, 4}
	}
	for _, c := range []struct {
		name string
		at   map[int]float64
		want bool
	}{
		{"two classes", map[int]float64{0: 700, 31: 300}, true},
		{"a rare class", map[int]float64{2: 1000, 20: 40}, true},
		{"three values", map[int]float64{0: 700, 16: 200, 31: 300}, false},
		{"neighbours", map[int]float64{4: 500, 5: 500}, false},
		{"one value", map[int]float64{4: 1000}, false},
		{"noise", nil, false},
		{"zeros and a spread", map[int]float64{0: 900, 10: 100, 11: 140, 12: 120}, false},
	} {
		got, ok := twoValues(noisy(c.at), interval{-.02, 1.03})
		if ok != c.want {
			t.Errorf("%s: %v, want %v", c.name, ok, c.want)
		}
		if c.name == "two classes" && got != [2]float64{0, 1} {
			t.Errorf("%s: values %v, want 0 and 1", c.name, got)
		}
	}
}

func TestRoundNumber(t *testing.T) {
	for _, c := range [][3]float64{
		{-.1, .2, 0}, {.97, 1.02, 1}, {1.9, 2.2, 2}, {-1.04, -.98, -1}, {4711, 4712, 4711}, {.031, .042, .04}, {-250, -180, -200},
	} {
		if got := roundNumber(c[0], c[1]); got < c[0] || got > c[1] || got-c[2] > 1e-9 || c[2]-got > 1e-9 {
			t.Errorf("%v in [%v, %v], want %v", got, c[0], c[1], c[2])
		}
	}
}
