package bench

import (
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// TestSyntheticLaw checks the properties that [Explain] documents for its tables. The tables are the same in every
// run.
func TestSyntheticLaw(t *testing.T) {
	schema := dataset.Schema{Columns: []dataset.Column{
		{Name: "a"},
		{Name: "idle"},
		{
			Name:   "y",
			Ranged: true,
			Lower:  100,
			Upper:  900,
		},
		{
			Name:   "b",
			Ranged: true,
			Lower:  -8,
			Upper:  8,
		},
		{
			Name:       "c",
			Kind:       dataset.Category,
			Categories: []string{"u", "v"},
			Other:      true,
		},
	}}
	const n = 40_000
	draw := func(seed uint64) ([]dataset.ColumnData, *synthetic) {
		f := newFamily(
			schema, []int{0, 3, 4},
			2, newSynthetic(seed, 1),
		)
		cols, err := f.drawRows(t.Context(), n)
		if err != nil {
			t.Fatal(err)
		}
		return cols, f
	}
	cols, f := draw(7)
	a := cols[0].Floats
	b := cols[3].Floats
	y := cols[2].Floats
	got := correlation(a, b)
	if math.Abs(got-SyntheticCorrelation) > .03 {
		t.Errorf("correlation %v", got)
	}
	if mean, sd := meanAndDeviation(b); math.Abs(mean) > .06 || math.Abs(sd-2) > .05 {
		t.Errorf(
			"a range of -8 to 8 has mean %v, deviation %v",
			mean, sd,
		)
	}
	mean, sd := meanAndDeviation(y)
	if math.Abs(mean-500) > 3 ||
		math.Abs(sd-100) > 3 ||
		slices.Min(y) < 100 ||
		slices.Max(y) > 900 {
		t.Errorf(
			"target: mean %v, deviation %v",
			mean, sd,
		)
	}
	counts := make([]int, 3)
	truth := make([]float64, n)
	for i, code := range cols[4].Codes {
		counts[code]++
		for k, j := range f.numeric {
			u := f.units[j]
			truth[i] += f.scores[0].weights[k] * (cols[j].Floats[i] - u.center) / u.scale
		}
		truth[i] += f.scores[0].effects[0][code]
	}
	for _, count := range counts {
		if math.Abs(float64(count)-n/3.) > 500 {
			t.Errorf("levels %v", counts)
		}
	}
	r := correlation(truth, y)
	if math.Abs(r*r-SyntheticR2) > .02 {
		t.Errorf("the true function has R² %v", r*r)
	}
	again, _ := draw(7)
	other, _ := draw(8)
	if !slices.Equal(again[2].Floats, y) ||
		slices.Equal(other[2].Floats, y) {
		t.Error("the seed does not choose the table")
	}
}

// TestSyntheticClasses checks that classes have about the same size and the difficulty that [Explain] documents, and
// that omitted columns have no effect on them.
func TestSyntheticClasses(t *testing.T) {
	const n = 40_000
	for classes, truth := range map[int]float64{
		2: .5 + math.Asin(math.Sqrt(SyntheticR2))/math.Pi,
		3: 0,
		5: 0,
	} {
		target := dataset.Column{Name: "y", Kind: dataset.Category}
		for k := range classes {
			target.Categories = append(target.Categories, string(rune('a'+k)))
		}
		schema := dataset.Schema{Columns: []dataset.Column{
			target,
			{Name: "a"},
			{Name: "idle"},
			{Name: "b"},
			{
				Name:       "c",
				Kind:       dataset.Category,
				Categories: []string{"u", "v"},
				Other:      true,
			},
		}}
		draw := func(seed uint64) ([]dataset.ColumnData, *synthetic) {
			f := newFamily(
				schema, []int{1, 3, 4},
				0, newSynthetic(seed, 1),
			)
			cols, err := f.drawRows(t.Context(), n)
			if err != nil {
				t.Fatal(err)
			}
			return cols, f
		}
		cols, f := draw(7)
		if len(f.scores) != scoreCount(target) ||
			slices.Max(cols[2].Floats) != slices.Min(cols[2].Floats) {
			t.Errorf(
				"%d classes: %d scores, idle column %v",
				classes,
				len(f.scores),
				cols[2].Floats[:5],
			)
		}
		count := make([]int, classes)
		right := 0
		for i, k := range cols[0].Codes {
			if count[k]++; k == f.best[i] {
				right++
			}
		}
		for _, c := range count {
			share := float64(c) / n * float64(classes)
			if classes == 2 &&
				math.Abs(share-1) > .03 || share < .3 || share > 2 {
				t.Errorf("%d classes: sizes %v", classes, count)
			}
		}
		accuracy := float64(right) / n
		if truth != 0 && math.Abs(accuracy-truth) > .01 ||
			accuracy < 1.5/float64(classes) ||
			accuracy > .9 {
			t.Errorf(
				"%d classes: the true function is right for %v, want %v",
				classes,
				accuracy,
				truth,
			)
		}
		again, _ := draw(7)
		other, _ := draw(8)
		if !slices.Equal(again[0].Codes, cols[0].Codes) ||
			slices.Equal(other[0].Codes, cols[0].Codes) {
			t.Error("the seed does not choose the table")
		}
	}
}

func meanAndDeviation(x []float64) (mean, sd float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		sd += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, math.Sqrt(sd)
}

func correlation(x, y []float64) float64 {
	mx, sx := meanAndDeviation(x)
	my, sy := meanAndDeviation(y)
	sum := 0.
	for i := range x {
		sum += (x[i] - mx) * (y[i] - my) / float64(len(x))
	}
	return sum / sx / sy
}
