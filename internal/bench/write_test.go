package bench_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/bench"
)

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{
			bench.Row{
				Data:    "d",
				Method:  "joint-gram",
				Private: true,
				Epsilon: 1,
				Delta:   1e-5,
				Trial:   3,
				Metric:  "r2",
				Value:   .5,
				Seconds: .25,
			},
			`{"data":"d","method":"joint-gram","epsilon":1,"delta":0.00001,"trial":3,"metric":"r2","value":0.5,"seconds":0.25}`,
		},
		{
			bench.Row{
				Data:   "d",
				Method: "nonprivate-ols",
				Trial:  1,
				Metric: "r2",
				Value:  0,
			},
			`{"data":"d","method":"nonprivate-ols","epsilon":null,"delta":null,"trial":1,"metric":"r2","value":0,"seconds":0}`,
		},
		{
			bench.Row{
				Data:   "d",
				Method: "m",
				Trial:  1,
				Metric: "r2",
				Value:  math.NaN(),
				Err:    bench.ErrNotFinite,
			},
			`{"data":"d","method":"m","epsilon":null,"delta":null,"trial":1,"metric":"r2","error":"the metric is not a finite number","seconds":0}`,
		},
		{
			bench.Row{
				Data:     "d",
				Method:   "m",
				Trial:    1,
				Metric:   "accuracy",
				Value:    .75,
				Balanced: 0,
			},
			`{"data":"d","method":"m","epsilon":null,"delta":null,"trial":1,"metric":"accuracy","value":0.75,"balanced_accuracy":0,"seconds":0}`,
		},
		{
			bench.Row{
				Data:   "d",
				Method: "m",
				Trial:  1,
				Metric: "accuracy",
				Err:    bench.ErrNoTestRow,
			},
			`{"data":"d","method":"m","epsilon":null,"delta":null,"trial":1,"metric":"accuracy","error":"no held-out row has a target value","seconds":0}`,
		},
		{
			bench.Summary{
				Data:   "d",
				Method: "m",
				Metric: "accuracy",
				Median: .5,
				Q25:    .25,
				Q75:    .75,
				Balanced: bench.Quartiles{
					Median: .375,
					Q25:    .125,
					Q75:    .625,
				},
				Trials: 10,
			},
			`{"data":"d","method":"m","epsilon":null,"delta":null,"metric":"accuracy","median":0.5,"q25":0.25,"q75":0.75,"balanced_accuracy":{"median":0.375,"q25":0.125,"q75":0.625},"trials":10}`,
		},
		{
			bench.Summary{
				Data:     "d",
				Method:   "m",
				Metric:   "accuracy",
				Median:   math.NaN(),
				Balanced: bench.Quartiles{Median: math.NaN()},
			},
			`{"data":"d","method":"m","epsilon":null,"delta":null,"metric":"accuracy","median":null,"q25":null,"q75":null,"balanced_accuracy":{"median":null,"q25":null,"q75":null},"trials":0}`,
		},
		{
			bench.Summary{
				Data:    "d",
				Method:  "m",
				Private: true,
				Epsilon: 1,
				Delta:   0,
				Metric:  "r2",
				Median:  .5,
				Q25:     .25,
				Q75:     .75,
				Trials:  10,
				Failed:  1,
				N:       5,
				D:       2,
				Seconds: 1,
			},
			`{"data":"d","method":"m","epsilon":1,"delta":0,"metric":"r2","median":0.5,"q25":0.25,"q75":0.75,"trials":10}`,
		},
		{
			bench.Summary{
				Data:   "d",
				Method: "m",
				Metric: "r2",
				Median: math.NaN(),
				Q25:    math.NaN(),
				Q75:    math.NaN(),
			},
			`{"data":"d","method":"m","epsilon":null,"delta":null,"metric":"r2","median":null,"q25":null,"q75":null,"trials":0}`,
		},
	} {
		got, err := json.Marshal(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf(
				"%v\n got %s\nwant %s",
				err, got, c.want,
			)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	err := bench.WriteTable(&b, []bench.Summary{
		{
			Data:    "houses",
			Method:  "joint-gram",
			N:       20640,
			D:       8,
			Median:  .66951,
			Q25:     .6,
			Q75:     .7,
			Seconds: .0123,
			Trials:  10,
		},
		{
			Data:    "CASP",
			Method:  "auto",
			N:       1,
			D:       9,
			Median:  math.NaN(),
			Q25:     math.NaN(),
			Q75:     math.NaN(),
			Seconds: math.NaN(),
			Failed:  10,
			Metric:  bench.MetricR2,
			Err:     bench.ErrNoTestRow,
		},
		{
			Data:      "CASP",
			Method:    "tukey",
			N:         1,
			D:         9,
			Median:    .5,
			Q25:       .5,
			Q75:       .5,
			Seconds:   1,
			Trials:    9,
			Failed:    1,
			Abstained: 1,
			Err:       bench.ErrAbstained,
		},
	})
	var got []string
	for line := range strings.Lines(b.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"data n d method median q25 q75 seconds no value",
		"houses 20640 8 joint-gram 0.670 0.600 0.700 0.012 0",
		"CASP 1 9 auto - - - - 10 failed",
		"CASP 1 9 tukey 0.500 0.500 0.500 1.000 1 abstained",
		"CASP, auto: no held-out row has a target value; if it is text, use --task classification",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf(
			"%v\n%s",
			err, b.String(),
		)
	}
}

func TestTableOfClasses(t *testing.T) {
	var b bytes.Buffer
	err := bench.WriteTable(&b, []bench.Summary{
		{
			Data:     "loans",
			Method:   "logistic",
			N:        5000,
			D:        7,
			Metric:   bench.MetricAccuracy,
			Median:   .8,
			Q25:      .75,
			Q75:      .85,
			Balanced: bench.Quartiles{Median: .7},
			Seconds:  .5,
			Trials:   10,
		},
		{
			Data:    "houses",
			Method:  "auto",
			N:       20640,
			D:       8,
			Metric:  bench.MetricR2,
			Median:  .6,
			Q25:     .5,
			Q75:     .7,
			Seconds: .25,
			Trials:  9,
			Failed:  1,
		},
	})
	var got []string
	for line := range strings.Lines(b.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"data n d method median q25 q75 balanced seconds no value",
		"loans 5000 7 logistic 0.800 0.750 0.850 0.700 0.500 0",
		"houses 20640 8 auto 0.600 0.500 0.700 - 0.250 1 failed",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf(
			"%v\n%s",
			err, b.String(),
		)
	}
}
