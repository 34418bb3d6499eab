package report

import (
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// spike returns counts with n records in each of the bins [from, to) of 32, and noise of standard deviation scale.
func spike(r *rand.Rand, n float64, from, to int, scale float64) CardColumn {
	c := CardColumn{Column: "x", Lower: 0, Upper: 32, Counts: make([]float64, 32), Scale: scale}
	for k := range c.Counts {
		c.Counts[k] = scale * r.NormFloat64()
		if k >= from && k < to {
			c.Counts[k] += n
		}
	}
	return c
}

// TestVisible checks where histograms end: exactly where there is little noise, within few bins where there is much, and
// not at all where no record is visible or the whole histogram is full.
func TestVisible(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, ends := range [][2]int{{0, 32}, {0, 1}, {31, 32}, {0, 17}, {9, 11}, {30, 31}} {
		from, to := spike(r, 1000, ends[0], ends[1], 20).visible()
		if from != ends[0] || to != ends[1] {
			t.Errorf("bins %d to %d, want %v", from, to, ends)
		}
	}
	missed, beyond := 0, 0
	const trials = 400
	for range trials {
		from, to := spike(r, 500, 8, 20, 250).visible()
		missed += max(from-8, 0) + max(20-to, 0)
		beyond += max(8-from, 0) + max(to-20, 0)
	}
	// 12 of 32 bins have records. The whole histogram has 20 empty ones; here it is 7.4, and a bin is missed in one of 20.
	if missed > trials/4 || beyond > 10*trials {
		t.Errorf("of %d histograms, %d bins are missed and %d are empty", trials, missed, beyond)
	}
	for range trials {
		c := spike(r, 0, 0, 0, 250)
		if from, to := c.visible(); from < 0 || from >= to || to > 32 {
			t.Fatalf("bins %d to %d of noise alone", from, to)
		}
	}
	empty := CardColumn{Upper: 1, Counts: make([]float64, 32)}
	if from, to := empty.visible(); from != 0 || to != 32 {
		t.Errorf("bins %d to %d of an empty histogram", from, to)
	}
	one := CardColumn{Upper: 1, Counts: []float64{3}}
	if from, to := one.visible(); from != 0 || to != 1 {
		t.Errorf("bins %d to %d of a single one", from, to)
	}
}

// TestVisibleBars checks that the bars of a histogram add up to all its counts, that those beyond the visible bins are one
// bar at each end, and that their intervals hold in 95% of histograms or more, wherever the end is.
func TestVisibleBars(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	c := spike(r, 1000, 10, 14, 1)
	bars, table := c.bars()
	var labels []string
	total := 0.
	for _, b := range bars {
		labels = append(labels, b.Label)
		total += b.Value
	}
	want := []string{"below 10", "10 to 12", "12 to 14", "above 14"}
	if !slices.Equal(labels, want) || len(table.Rows) != len(want) || total < 3950 {
		t.Errorf("%q, %v records, %v", labels, total, table.Rows)
	}
	const trials = 2000
	ends, failed := 0, 0
	for range trials {
		bars, _ := spike(r, 300, 6, 20, 250).bars()
		var from, to float64
		for _, b := range bars {
			if label, ok := strings.CutPrefix(b.Label, "above "); ok && label != "30" {
				from, to = numberOf(t, label), 32
				ends++
				held := 300 * max(min(to, 20)-max(from, 6), 0)
				if held < b.Low || held > b.High {
					failed++
				}
			}
		}
	}
	// At most 5% may fail. With 1,600 ends or so, 7% would be four standard deviations above that.
	if ends < trials/2 || float64(failed) > .05*float64(ends) {
		t.Errorf("%d of %d intervals fail", failed, ends)
	}
}

// TestDrawnRange checks the range of curves: the declared one, the bins in which counts show records, or, without counts,
// the outer quantiles.
func TestDrawnRange(t *testing.T) {
	r := &Report{Training: &Training{Card: []CardColumn{
		spike(rand.New(rand.NewPCG(5, 6)), 1000, 3, 9, 1),
		spike(rand.New(rand.NewPCG(5, 6)), 1000, 3, 9, 1),
	}}}
	r.Card[0].Column = "declared"
	r.Card[1].Column = "found"
	r.Unprotected = []pipeline.Fact{{Name: "range of declared"}}
	for _, x := range []struct {
		name         string
		lower, upper float64
		why          reach
	}{
		{"declared", -30, 130, reachDeclared},
		{"found", 3, 9, reachVisible},
		{"without counts", 0, 100, reachQuantiles},
	} {
		lower, upper, why := r.drawnRange(regression.Column{Name: x.name, Lower: -30, Upper: 130})
		if lower != x.lower || upper != x.upper || why != x.why {
			t.Errorf("%s: %v to %v, %v", x.name, lower, upper, why)
		}
	}
	if lower, upper, _ := r.drawnRange(regression.Column{Name: "found", Lower: 5, Upper: 130}); lower != 5 || upper != 9 {
		t.Errorf("%v to %v, beyond the range of the model", lower, upper)
	}
}

func numberOf(t *testing.T, text string) float64 {
	t.Helper()
	x, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64)
	if err != nil {
		t.Fatal(err)
	}
	return x
}
