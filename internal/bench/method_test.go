package bench_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/bench"
)

func TestParseMethod(t *testing.T) {
	for name, want := range map[string]bench.Method{
		"joint-gram": {
			Name:      "joint-gram",
			Selection: "none",
			Model:     "joint-gram",
		},
		"auto": {
			Name:      "auto",
			Selection: "auto",
			Model:     "auto",
		},
		"nonprivate-ols\n": {
			Name:      "nonprivate-ols",
			Selection: "none",
			Model:     "nonprivate-ols",
		},
		"none+joint-gram": {
			Name:      "none+joint-gram",
			Selection: "none",
			Model:     "joint-gram",
		},
		"auto+nonprivate-ols": {
			Name:      "auto+nonprivate-ols",
			Selection: "auto",
			Model:     "nonprivate-ols",
		},
		"none+nonprivate-svm": {
			Name:      "none+nonprivate-svm",
			Selection: "none",
			Model:     "nonprivate-svm",
		},
		"nonprivate-logistic": {
			Name:      "nonprivate-logistic",
			Selection: "none",
			Model:     "nonprivate-logistic",
		},
		"cost-tree:2": {
			Name:      "cost-tree:2",
			Selection: "none",
			Model:     "cost-tree",
			Number:    2,
		},
		"nonprivate-cstc:.5": {
			Name:      "nonprivate-cstc:.5",
			Selection: "none",
			Model:     "nonprivate-cstc",
			Number:    .5,
		},
		"none+cost-tree:3": {
			Name:      "none+cost-tree:3",
			Selection: "none",
			Model:     "cost-tree",
			Number:    3,
		},
		"boosted-adassp:10": {
			Name:      "boosted-adassp:10",
			Selection: "none",
			Model:     "boosted-adassp",
			Number:    10,
		},
		"kendall:5+brc:25": {
			Name:      "kendall:5+brc:25",
			Selection: "kendall",
			K:         5,
			Model:     "brc",
			Number:    25,
		},
		"golearn-knn": {
			Name:      "golearn-knn",
			Selection: "none",
			Model:     "golearn-knn",
		},
		"kendall:10+auto": {
			Name:      "kendall:10+auto",
			Selection: "kendall",
			K:         10,
			Model:     "auto",
		},
	} {
		got, err := bench.ParseMethod(name)
		if err != nil || got != want {
			t.Errorf(
				"%q: %+v, %v",
				name, got, err,
			)
		}
	}
	for name, words := range map[string][]string{
		"": {"empty", "joint-gram"},
		"magic": {`unknown model "magic"`, "auto", "joint-gram",
			"nonprivate-lasso"},
		"magic+joint-gram": {
			`unknown selection "magic"`,
			"SELECTION+MODEL", "none",
		},
		"fixed+joint-gram": {`unknown selection "fixed"`},
		"+joint-gram":      {`unknown selection ""`},
		"none+":            {`unknown model ""`},
		"none+none+auto":   {`unknown model "none+auto"`},
		"kendall:0+auto": {
			`"0" is not a number of columns`,
			"SELECTION:K+MODEL",
		},
		"kendall:+auto": {`"" is not a number of columns`},
		"kendall:5":     {`unknown model "kendall:5"`},
		"joint-gram:2": {
			"joint-gram does not support a number",
			"cost", "rounds",
		},
		"boosted-adassp:2.5": {"whole number above 0", "boosted-adassp:NUMBER"},
		"cost-tree:0":        {"number above 0", "cost-tree:NUMBER"},
		"cost-tree:x":        {"number above 0"},
		"cost-tree:1e10":     {"number above 0"},
		"cost-tree:NaN":      {"number above 0"},
		"magic:5+auto":       {`unknown selection "magic"`, "SELECTION:K+MODEL"},
	} {
		_, err := bench.ParseMethod(name)
		var typed *bench.MethodError
		if !errors.As(err, &typed) {
			t.Errorf("%q: got %v", name, err)
			continue
		}
		for _, w := range words {
			if !strings.Contains(err.Error(), w) {
				t.Errorf(
					"%q: %q lacks %q",
					name, err, w,
				)
			}
		}
	}
}
