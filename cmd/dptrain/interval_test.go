package main

import (
	"strings"
	"testing"
)

// TestPredictInterval checks that predict adds columns with the bounds of the prediction interval at a level of the
// model, by default the highest.
func TestPredictInterval(t *testing.T) {
	chdirTemp(t)
	const intervals = "  \"interval\": [\n    {\"level\":0.9,\"half_width\":2.5},\n    {\"level\":0.95,\"half_width\":4}\n  ],\n"
	model := strings.Replace(
		strings.Replace(modelJSON, "model/1", "model/2", 1),
		"  \"guarantee\"",
		intervals+"  \"guarantee\"",
		1,
	)
	writeFile(t, "model.json", model)
	writeFile(t, "none.json", modelJSON)
	writeFile(
		t,
		"classes.json",
		`{"format": "dptrain.model/2", "kind": "classifier", "task": "classification", "target": "who", "classes": ["a", "b"], "cutoff": 0,
"scores": [{"kind": "linear", "columns": [], "terms": [], "intercept": {"coefficient": 1, "std_error": 0}, "prediction": {"lower": -2, "upper": 2}}], "guarantee": null}`,
	)
	writeFile(
		t,
		"large.json",
		strings.NewReplacer("[-1000", "[-1000", `"coefficient":10,`, `"coefficient":1.7e308,`,
			`"upper":1000}`, `"upper":1.7e308}`, `"half_width":4`,
			`"half_width":1e308`).Replace(model),
	)
	writeFile(t, "new.csv", "b,a\nnorth,1\nsouth,\n")
	writeFile(t, "taken.csv", "b,a,lower\nnorth,1,3\n")
	const ninety, highest = "prediction,lower,upper\n112,109.5,114.5\n-80,-82.5,-77.5\n", "prediction,lower,upper\n112,108,116\n-80,-84,-76\n"
	for args, want := range map[string]result{
		"model.json new.csv --interval":      {0, highest, ""},
		"--interval model.json new.csv":      {0, highest, ""},
		"model.json new.csv --interval=0.95": {0, highest, ""},
		"model.json new.csv --interval 0.90": {0, ninety, ""},
		"model.json --interval .9 new.csv":   {0, ninety, ""},
		"model.json new.csv --interval --append": {
			0,
			"b,a,prediction,lower,upper\nnorth,1,112,108,116\nsouth,,-80,-84,-76\n",
			"",
		},
		"model.json new.csv --interval=0.8": {
			exitData,
			"",
			"model.json: this model has prediction intervals at 0.9 and 0.95, not at 0.8\n",
		},
		"model.json new.csv --interval=1": {
			exitUsage,
			"",
			"dptrain: --interval needs a level above 0 and below 1, such as 0.9\n",
		},
		"model.json new.csv --interval 2": {
			exitUsage,
			"",
			"dptrain: --interval needs a level above 0 and below 1, such as 0.9\n",
		},
		"model.json new.csv --interval=wide": {
			exitUsage,
			"",
			"dptrain: --interval needs a level above 0 and below 1, such as 0.9\n",
		},
		"none.json new.csv --interval": {
			exitData,
			"",
			"none.json: this model has no prediction interval because too few records were held out to measure one\n",
		},
		"classes.json new.csv --interval": {
			exitData,
			"",
			"classes.json: --interval needs a model that predicts numbers; this one predicts classes\n",
		},
		"model.json taken.csv --append --interval": {
			exitUsage,
			"",
			"dptrain: taken.csv already has a column named lower; rename it, or predict without --append\n",
		},
		"large.json new.csv --interval": {
			0,
			"prediction,lower,upper\n1.7e+308,6.999999999999999e+307,1.7976931348623157e+308\n1.7e+308,6.999999999999999e+307,1.7976931348623157e+308\n",
			"",
		},
		"model.json new.csv 0.9": {
			exitUsage,
			"",
			"dptrain: dptrain predict takes a model and a table (- for standard input); see `dptrain predict --help`\n",
		},
		"model.json new.csv new.csv --interval": {
			exitUsage,
			"",
			"dptrain: dptrain predict takes a model and a table (- for standard input); see `dptrain predict --help`\n",
		},
		"model.json new.csv --interval 0.9 --bad-one": {
			exitUsage,
			"",
			"dptrain: unknown flag: --bad-one; see `dptrain predict --help`\n",
		},
	} {
		got := dptrain(t, append([]string{"predict"}, strings.Fields(args)...)...)
		if got != want {
			t.Errorf(
				"%s:\n got %+v\nwant %+v",
				args, got, want,
			)
		}
	}
}
