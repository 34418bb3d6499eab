package bench_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/bench"
)

func TestJSON(t *testing.T) {
	for _, c := range []struct {
		value any
		want  string
	}{
		{bench.Row{Data: "d", Method: "joint-gram", Private: true, Epsilon: 1, Delta: 1e-5, Trial: 3, Metric: "r2", Value: .5, Seconds: .25},
			`{"data":"d","method":"joint-gram","epsilon":1,"delta":0.00001,"trial":3,"metric":"r2","value":0.5,"seconds":0.25}`},
		{bench.Row{Data: "d", Method: "nonprivate-ols", Trial: 1, Metric: "r2", Value: 0},
			`{"data":"d","method":"nonprivate-ols","epsilon":null,"delta":null,"trial":1,"metric":"r2","value":0,"seconds":0}`},
		{bench.Row{Data: "d", Method: "m", Trial: 1, Metric: "r2", Value: math.NaN(), Err: bench.ErrNotFinite},
			`{"data":"d","method":"m","epsilon":null,"delta":null,"trial":1,"metric":"r2","error":"the metric is not a finite number","seconds":0}`},
		{bench.Summary{Data: "d", Method: "m", Private: true, Epsilon: 1, Delta: 0, Metric: "r2", Median: .5, Q25: .25, Q75: .75, Trials: 10, Failed: 1, N: 5, D: 2, Seconds: 1},
			`{"data":"d","method":"m","epsilon":1,"delta":0,"metric":"r2","median":0.5,"q25":0.25,"q75":0.75,"trials":10}`},
		{bench.Summary{Data: "d", Method: "m", Metric: "r2", Median: math.NaN(), Q25: math.NaN(), Q75: math.NaN()},
			`{"data":"d","method":"m","epsilon":null,"delta":null,"metric":"r2","median":null,"q25":null,"q75":null,"trials":0}`},
	} {
		got, err := json.Marshal(c.value)
		if err != nil || string(got) != c.want {
			t.Errorf("%v\n got %s\nwant %s", err, got, c.want)
		}
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	err := bench.WriteTable(&b, []bench.Summary{
		{Data: "houses", Method: "joint-gram", N: 20640, D: 8, Median: .66951, Q25: .6, Q75: .7, Seconds: .0123, Trials: 10},
		{Data: "CASP", Method: "auto", N: 1, D: 9, Median: math.NaN(), Q25: math.NaN(), Q75: math.NaN(), Seconds: math.NaN(), Failed: 10},
	})
	var got []string
	for line := range strings.Lines(b.String()) {
		got = append(got, strings.Join(strings.Fields(line), " "))
	}
	want := []string{
		"data n d method median q25 q75 seconds abstained/failed",
		"houses 20640 8 joint-gram 0.670 0.600 0.700 0.012 0",
		"CASP 1 9 auto - - - - 10",
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("%v\n%s", err, b.String())
	}
}
