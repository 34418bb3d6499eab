package coverage

import (
	"math"
	"strconv"

	"github.com/dptrain/dptrain/internal/evaluate"
)

// fresh are records that a run never saw, with its predictions.
type fresh struct {
	y, prediction []float64
}

// measures are exact numbers about fresh records, of targets cut to an interval.
type measures struct{ r2, mae, rmse float64 }

func (f fresh) cut(lower, upper float64) measures {
	var n, m, total, square, size float64
	for i, y := range f.y {
		if math.IsNaN(y) {
			continue
		}
		y = min(max(y, lower), upper)
		n++
		d := y - m
		m += d / n
		total += d * (y - m)
		square += (y - f.prediction[i]) * (y - f.prediction[i])
		size += math.Abs(y - f.prediction[i])
	}
	return measures{max(1-square/total, -1), size / n, math.Sqrt(square / n)}
}

// within returns the share of targets at most so far from their prediction.
func (f fresh) within(half float64) float64 {
	n, inside := 0., 0.
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

// A tally adds up the runs of a setting.
type tally struct {
	line
	errors, differences, raw, widths []float64
	notFar                           float64
	squares                          float64
}

func hit(q evaluate.Quality, x float64) float64 {
	if x >= q.Lower && x <= q.Upper {
		return 1
	}
	return 0
}

func (t *tally) add(r evaluate.R2, f fresh) {
	stated, raw := f.cut(r.TargetLower, r.TargetUpper), f.cut(math.Inf(-1), math.Inf(1))
	t.Runs++
	t.Covered += hit(r.Quality, stated.r2)
	t.Raw += hit(r.Quality, raw.r2)
	t.MAE += hit(r.MAE, stated.mae)
	t.RMSE += hit(r.RMSE, stated.rmse)
	if r.Far {
		t.Far++
	} else {
		t.notFar++
		t.NotFar += hit(r.Quality, raw.r2)
	}
	if r.Few {
		t.Few++
	}
	d := r.Value - stated.r2
	t.errors, t.differences, t.raw = append(t.errors, math.Abs(d)), append(t.differences, d), append(t.raw, r.Value-raw.r2)
	t.widths = append(t.widths, r.Upper-r.Lower)
	t.squares += d * d
	for _, w := range r.Intervals {
		if t.Intervals == nil {
			t.Intervals = map[string]mean{}
		}
		level := strconv.FormatFloat(w.Level, 'g', -1, 64)
		m := t.Intervals[level]
		m.Published++
		m.Covered += f.within(w.HalfWidth)
		t.Intervals[level] = m
	}
}

// result turns sums into shares and medians.
func (t *tally) result() line {
	l, n := t.line, float64(t.Runs)
	for _, x := range []*float64{&l.Covered, &l.Raw, &l.MAE, &l.RMSE, &l.Far, &l.Few} {
		*x /= n
	}
	if t.notFar > 0 {
		l.NotFar /= t.notFar
	}
	l.Error, l.Bias, l.RawBias, l.Width = median(t.errors), median(t.differences), median(t.raw), median(t.widths)
	l.RMS = math.Sqrt(t.squares / n)
	for level, m := range l.Intervals {
		l.Intervals[level] = mean{m.Published / n, m.Covered / m.Published}
	}
	return l
}
