package columns_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/numeric/columns"
)

func TestClean(t *testing.T) {
	nan := math.NaN()
	inf := math.Inf(1)
	for name, c := range map[string]struct{ in, want []float64 }{
		"plain": {
			[]float64{1, 5, 3},
			[]float64{1, 5, 3},
		},
		"missing": {
			[]float64{1, nan, 3, inf},
			[]float64{1, 2, 3, 2},
		},
		"beyond limits": {
			[]float64{1e300, -1e300},
			[]float64{columns.Limit, -columns.Limit},
		},
		"nothing finite": {[]float64{nan, -inf}, []float64{0, 0}},
		"empty":          {nil, nil},
	} {
		before := slices.Clone(c.in)
		got := columns.Clean(c.in)
		if !slices.Equal(got.Values, c.want) ||
			got.Mean != columns.Mean(c.want) {
			t.Errorf(
				"%s: %+v, want %v",
				name, got, c.want,
			)
		}
		for i := range before {
			if math.Float64bits(before[i]) != math.Float64bits(c.in[i]) {
				t.Errorf("%s: the caller's slice is changed", name)
			}
		}
	}
}

// TestConstantColumnHasNoSpread checks that a column that is constant up to rounding has no spread, and that a common
// offset costs no digits.
func TestConstantColumnHasNoSpread(t *testing.T) {
	if c := columns.Clean([]float64{.1 + .2, .3, .3}); c.Spread != 0 {
		t.Errorf("rounding is a spread of %g", c.Spread)
	}
	c := columns.Clean([]float64{1e15, 1e15 + 2, 1e15 + 4})
	if c.Spread != 2 || c.Mean != 1e15+2 {
		t.Errorf("%+v", c)
	}
}

func TestCheck(t *testing.T) {
	if err := columns.Check([][]float64{{1, 2}, {3, 4}}, 2); err != nil {
		t.Error(err)
	}
	err := columns.Check([][]float64{{1, 2}, {3}}, 2)
	if !errors.Is(err, columns.ErrShape) {
		t.Errorf("%v", err)
	}
}

func TestIntercept(t *testing.T) {
	x := columns.CleanAll([][]float64{{0, 2}, {1, 5}})
	got := columns.Intercept(
		x,
		columns.Clean([]float64{10, 20}),
		[]float64{2, -1},
	)
	if got != 16 {
		t.Errorf(
			"intercept %v, want 15 - 2*1 + 1*3",
			got,
		)
	}
}
