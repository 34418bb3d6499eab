package coverage

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/train/evaluate"
)

// fresh holds records that a run never saw, with its predictions.
type fresh struct {
	y, prediction []float64
}

// measures are exact values for new records, clamped as stated in a release.
type measures struct {
	r2, mae, rmse float64
	// deviation is the standard deviation, per record, of the error of an R² that is measured on such records without
	// noise. For n records it is deviation/sqrt(n) (the delta method).
	deviation float64
}

// clampedMeasures returns the measures of targets and predictions that are clamped to [lower, upper], with each error limited to
// limit. The mean absolute error is that of unclamped targets and predictions.
func (f fresh) clampedMeasures(lower, upper, limit float64) measures {
	var n, mean float64
	for _, y := range f.y {
		if !math.IsNaN(y) {
			n++
			mean += (min(max(y, lower), upper) - mean) / n
		}
	}
	var total, square, size float64
	error := func(i int) float64 {
		return min(
			math.Abs(min(max(f.y[i], lower), upper)-min(max(f.prediction[i], lower), upper)),
			limit,
		)
	}
	around := func(i int) float64 {
		return min(max(f.y[i], lower), upper) - mean
	}
	for i, y := range f.y {
		if math.IsNaN(y) {
			continue
		}
		total += around(i) * around(i)
		square += error(i) * error(i)
		size += min(math.Abs(f.y[i]-f.prediction[i]), limit)
	}
	ratio := square / total
	spread := 0.
	for i, y := range f.y {
		if !math.IsNaN(y) {
			d := error(i)*error(i) - ratio*around(i)*around(i)
			spread += d * d
		}
	}
	return measures{
		max(1-ratio, -1),
		size / n,
		math.Sqrt(square / n),
		math.Sqrt(spread/n) / (total / n),
	}
}

// measuresOf returns the measures that a release estimates.
func (f fresh) measuresOf(r evaluate.R2) measures {
	return f.clampedMeasures(r.TargetLower, r.TargetUpper, r.ErrorLimit)
}

// allErrors returns the R² with unlimited errors, of targets and predictions that are clamped as stated in a release.
func (f fresh) allErrors(r evaluate.R2) float64 {
	return f.clampedMeasures(r.TargetLower, r.TargetUpper, math.Inf(1)).r2
}

// shareWithin returns the share of targets at a distance of at most half from their prediction.
func (f fresh) shareWithin(half float64) float64 {
	n := 0.
	inside := 0.
	for i, y := range f.y {
		if math.IsNaN(y) {
			continue
		}
		n++
		if math.Abs(y-f.prediction[i]) <= half {
			inside++
		}
	}
	return inside / n
}

// drawRecords returns n of the records, drawn with replacement.
func (f fresh) drawRecords(r *rand.Rand, n int) fresh {
	drawn := fresh{make([]float64, n), make([]float64, n)}
	for i := range n {
		k := r.IntN(len(f.y))
		drawn.y[i] = f.y[k]
		drawn.prediction[i] = f.prediction[k]
	}
	return drawn
}

// testPairs returns the records as test records of a model, in the frame of other pairs.
func (f fresh) testPairs(t *testing.T, frame evaluate.Pairs) evaluate.Pairs {
	t.Helper()
	tab, err := dataset.NewTable(
		dataset.Schema{Columns: []dataset.Column{{Name: "y"}}},
		[]dataset.ColumnData{{Floats: f.y}},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	frame.Records = memory.NewRecords(tab.View())
	frame.Model = byPlace(f.prediction)
	return frame
}

// A tally accumulates the runs of a setting.
type tally struct {
	line
	errors, differences, hidden, widths, plain []float64
	squares                                    float64
}

func countHit(q evaluate.Quality, x float64) float64 {
	if x >= q.Lower && x <= q.Upper {
		return 1
	}
	return 0
}

// add adds a release that was made from heldOut records.
func (t *tally) add(r evaluate.R2, f fresh, heldOut float64) {
	stated := f.measuresOf(r)
	all := f.allErrors(r)
	t.Runs++
	t.Covered += countHit(r.Quality, stated.r2)
	t.AllErrors += countHit(evaluate.Quality{Lower: r.AllErrorsLower, Upper: r.Upper}, all)
	t.MAE += countHit(r.MAE, stated.mae)
	t.RMSE += countHit(r.RMSE, stated.rmse)
	if r.Far {
		t.Far++
	}
	if r.Unknown() {
		t.Unreported++
	}
	d := r.Value - stated.r2
	t.errors = append(t.errors, math.Abs(d))
	t.differences = append(t.differences, d)
	t.hidden = append(t.hidden, stated.r2-all)
	t.widths = append(t.widths, r.Upper-r.Lower)
	t.plain = append(
		t.plain,
		2*1.959964*stated.deviation/math.Sqrt(heldOut),
	)
	t.squares += d * d
	for _, w := range r.Intervals {
		if t.Intervals == nil {
			t.Intervals = map[string]mean{}
		}
		level := strconv.FormatFloat(w.Level, 'g', -1, 64)
		m := t.Intervals[level]
		m.Published++
		m.Covered += f.shareWithin(w.HalfWidth)
		t.Intervals[level] = m
	}
}

// result converts sums into shares and medians.
func (t *tally) result() line {
	l := t.line
	n := float64(t.Runs)
	for _, x := range []*float64{
		&l.Covered, &l.AllErrors,
		&l.MAE, &l.RMSE,
		&l.Far, &l.Unreported,
	} {
		*x /= n
	}
	l.Error = median(t.errors)
	l.Bias = median(t.differences)
	l.Hidden = median(t.hidden)
	l.Width = median(t.widths)
	l.Plain = median(t.plain)
	l.RMS = math.Sqrt(t.squares / n)
	for level, m := range l.Intervals {
		l.Intervals[level] = mean{m.Published / n, m.Covered / m.Published}
	}
	return l
}
