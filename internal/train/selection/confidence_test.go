package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/kendall"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
)

// rater is a selector that reports the confidence of its choice.
type rater interface {
	Selector
	Choose(context.Context, *mechanism.Session, Facts, mechanism.Records) (method.Choice, error)
}

// rankTable draws columns of falling rank correlation with the target, and returns their scores.
func rankTable(t *testing.T, n, d int) (dataset.View, Facts, []float64) {
	t.Helper()
	return drawRankTable(t, rand.New(rand.NewPCG(21, 1)), n, d, .5)
}

// drawRankTable does so with the given random numbers and effect of the first column.
func drawRankTable(
	t *testing.T, rng *rand.Rand, n, d int, effect float64,
) (dataset.View, Facts, []float64) {
	t.Helper()
	columns := make([][]float64, d+1)
	for range n {
		y := rng.NormFloat64()
		for j := range d {
			columns[j] = append(
				columns[j],
				y*effect/float64(j+1)+rng.NormFloat64(),
			)
		}
		columns[d] = append(columns[d], y)
	}
	var f Facts
	var data []dataset.ColumnData
	for j, c := range columns {
		f.Columns = append(
			f.Columns,
			dataset.Column{Name: string(rune('a' + j))},
		)
		data = append(data, dataset.ColumnData{Floats: c})
		f.Ranges = append(f.Ranges, scaling.Range{Lower: -4, Upper: 4})
	}
	f.Columns, f.Target = f.Columns[:d], f.Columns[d]
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: append(slices.Clone(f.Columns), f.Target)},
		data,
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	scores := make([]float64, d)
	var scratch kendall.Scratch
	target := kendall.Rank(columns[d], &scratch)
	for j := range scores {
		s := kendall.S(kendall.Rank(columns[j], &scratch), target, &scratch)
		scores[j] = math.Abs(float64(s)) / float64(n-1)
	}
	return tab.View(), f, scores
}

// TestGapHolds checks over 300 private choices that the best column left out rarely exceeds the worst chosen one by
// more than the gap allows, and that the gap is narrow enough to be informative: some choice uses a sixth of it. The
// gap holds with probability .95 or more, so more than 30 failures have a probability below 1e-4.
func TestGapHolds(t *testing.T) {
	v, f, scores := rankTable(t, 300, 12)
	for _, x := range []SIS{
		{K: 3, Score: ScoreTau},
		{
			K:     3,
			Score: ScoreTau,
			TopK:  mechanism.Peeling,
		},
		{
			K:     3,
			Score: ScoreTau,
			TopK:  mechanism.Lipschitz,
		},
		{
			K:     3,
			Score: ScoreTau,
			TopK:  mechanism.LipschitzExponential,
		},
		{
			K:        3,
			Score:    ScoreTau,
			TopK:     mechanism.Lipschitz,
			Gamma:    .25,
			HasGamma: true,
		},
	} {
		priced := classPriced(t, x, 3, f)
		failures := 0
		largest := 0.
		for range 300 {
			s, err := mechanism.NewSession(priced.Again())
			if err != nil {
				t.Fatal(err)
			}
			choice, err := x.Choose(context.Background(), s, f, memory.NewRecords(v))
			if err != nil {
				t.Fatal(err)
			}
			c, err := choice.Confidence(context.Background(), x.K)
			if err != nil ||
				c.Probabilities != nil ||
				c.Gap == nil ||
				!(c.Gap.Score > 0) {
				t.Fatalf("%+v, %v", c, err)
			}
			missed := missedScore(scores, choice.Picked)
			largest = max(largest, missed/c.Gap.Score)
			if missed > c.Gap.Score {
				failures++
			}
		}
		if failures > 30 || largest < 1./6 {
			t.Errorf(
				"%+v: %d failures, and at most %.2f of the gap",
				x, failures, largest,
			)
		}
	}
}

// TestGapOverTables checks the level of the gap of kendall and sis over 200 random tables with 200 to 600 records, 6 to 12 columns
// and effects from 0 to large: the best column left out exceeds the worst chosen one by no more than the gap in at least 95% of
// them. With one column chosen, the rounds of kendall have the scores of sis. More than 30 failures have a probability below 1e-6.
func TestGapOverTables(t *testing.T) {
	const tables = 200
	for _, x := range []rater{
		Kendall{K: 1},
		SIS{K: 3, Score: ScoreTau},
	} {
		rng := rand.New(rand.NewPCG(33, 1))
		failures := 0
		largest := 0.
		for range tables {
			v, f, scores := drawRankTable(
				t, rng, 200+rng.IntN(400),
				6+rng.IntN(7),
				1.5*rng.Float64(),
			)
			k := 1
			if sis, ok := x.(SIS); ok {
				k = sis.K
			}
			s := classSession(t, x, 1, f)
			choice, err := x.Choose(context.Background(), s, f, memory.NewRecords(v))
			if err != nil {
				t.Fatal(err)
			}
			c, err := choice.Confidence(context.Background(), k)
			if err != nil {
				t.Fatal(err)
			}
			missed := missedScore(scores, choice.Picked)
			largest = max(largest, missed/c.Gap.Score)
			if missed > c.Gap.Score {
				failures++
			}
		}
		t.Logf("%+v: the gap of level %v holds in %d of %d tables; the largest miss is %.2f of it", x,
			gapLevel, tables-failures, tables, largest)
		if failures > 30 || largest < 1./10 {
			t.Errorf(
				"%+v: %d failures, and at most %.2f of the gap",
				x, failures, largest,
			)
		}
	}
}

// missedScore is the largest score of a column left out less the smallest of a chosen one.
func missedScore(scores []float64, picked []int) float64 {
	best := 0.
	worst := math.Inf(1)
	for j, score := range scores {
		if slices.Contains(picked, j) {
			worst = min(worst, score)
		} else {
			best = max(best, score)
		}
	}
	return best - worst
}

// TestGapOfSets compares the bound by sets, for all sets of 2 of 4 candidates, with a computation by hand: ln(6/.05)
// widths over epsilon, divided by the smaller of the weights. There is no bound for gamma 0.
func TestGapOfSets(t *testing.T) {
	want := 2.5 / .5 * math.Log(6/.05)
	got := setGap(2.5, .5, .5, 4, 2)
	if math.Abs(got-2*want) > 1e-9 {
		t.Errorf("%v, want %v", got, 2*want)
	}
	got = setGap(2.5, .5, .75, 4, 2)
	if math.Abs(got-4*want) > 1e-9 {
		t.Errorf("%v, want %v", got, 4*want)
	}
	got = setGap(2.5, .5, 0, 4, 2)
	if !math.IsInf(got, 1) {
		t.Errorf("%v for gamma 0", got)
	}
	if got, want := roundsGap(2.5, .5, 4, 2), 5*math.Log(8/.05); math.Abs(got-want) > 1e-9 {
		t.Errorf("%v, want %v", got, want)
	}
}

// TestGapOfSelectors checks that kendall and sublasso state a gap for the width and the budget of a draw.
func TestGapOfSelectors(t *testing.T) {
	v, f, _ := rankTable(t, 300, 6)
	f.AtLeast = 250
	for _, tt := range []struct {
		x      rater
		leaf   string
		width  float64
		rounds bool
	}{
		{Kendall{K: 2}, "kendall", 5, true},
		{SubLasso{K: 2, Buckets: 10}, "sublasso", 2, false},
	} {
		s := classSession(t, tt.x, 2, f)
		choice, err := tt.x.Choose(
			context.Background(), s, f,
			memory.NewRecords(v),
		)
		if err != nil {
			t.Fatal(err)
		}
		c, err := choice.Confidence(context.Background(), 2)
		if err != nil || c.Gap == nil {
			t.Fatalf("%+v, %v", c, err)
		}
		want := roundsGap(tt.width, s.Epsilon(tt.leaf), 6, 2)
		if math.Abs(c.Gap.Score-want) > 1e-4*want ||
			c.Gap.Rounds != tt.rounds ||
			c.Gap.Reach == "" ||
			c.Gap.Scores == "" {
			t.Errorf(
				"%s: %+v, want a score of %v",
				tt.x.Name(),
				*c.Gap, want,
			)
		}
	}
}
