package main

import (
	"strings"
	"testing"
)

// treeModel sends records with a above 1 to a node that also reads b, at a cost of 5.
const treeModel = `{"format": "dptrain.model/2", "kind": "tree", "task": "regression", "target": "y",
	"columns": [{"name":"a","type":"numeric","lower":0,"upper":9,"missing":0}, {"name":"b","type":"numeric","lower":0,"upper":9,"missing":0}],
	"terms": [], "intercept": {"coefficient":0,"std_error":0}, "costs": [1, 5],
	"nodes": [{"intercept":0,"terms":[{"column":"a","coefficient":1,"std_error":0}],"split":{"threshold":1,"low":1,"high":2}},
		{"intercept":3,"terms":[],"split":null}, {"intercept":0,"terms":[{"column":"b","coefficient":2,"std_error":0}],"split":null}],
	"prediction": {"lower":-100,"upper":100}, "guarantee": null}`

// TestPredictCost checks that the cost of a record is that of the features on its path.
func TestPredictCost(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "model.json", treeModel)
	for args, want := range map[string]string{
		"":                "prediction\n3\n14\n",
		"--cost":          "prediction,cost\n3,1\n14,6\n",
		"--cost --append": "b,a,prediction,cost\n7,1,3,1\n7,2,14,6\n",
	} {
		line := append([]string{"predict", "model.json", "-"}, strings.Fields(args)...)
		got := dptrainIn(t, "b,a\n7,1\n7,2\n", line...)
		if got != (result{0, want, ""}) {
			t.Errorf(
				"%s: %+v, want %q",
				args, got, want,
			)
		}
	}
}

// TestPredictCostOfClasses checks that the cost follows the class and its probability, with and without a threshold.
func TestPredictCostOfClasses(t *testing.T) {
	chdirTemp(t)
	score := strings.NewReplacer(
		`"format": "dptrain.model/2", `,
		"",
		`"task": "regression", "target": "y",`,
		"",
		`, "guarantee": null`,
		"",
	).Replace(treeModel)
	writeFile(
		t,
		"model.json",
		`{"format": "dptrain.model/2", "kind": "classifier", "task": "classification", "target": "y", "classes": ["no", "yes"], "cutoff": 5,
		"scores": [`+score+`], "probability": {"intercept": 0, "slope": 0}, "guarantee": null}`,
	)
	for args, want := range map[string]string{
		"--cost":                               "y,cost\nno,1\nyes,6\n",
		"--cost --threshold 0.4":               "y,cost\nyes,1\nyes,6\n",
		"--cost --threshold 0.6 --probability": "y,probability of yes,cost\nno,0.5,1\nno,0.5,6\n",
	} {
		line := append([]string{"predict", "model.json", "-"}, strings.Fields(args)...)
		got := dptrainIn(t, "b,a\n7,1\n7,2\n", line...)
		if got != (result{0, want, ""}) {
			t.Errorf(
				"%s: %+v, want %q",
				args, got, want,
			)
		}
	}
}

// TestPredictCostMistakes checks the error for a model without costs.
func TestPredictCostMistakes(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "linear.json", modelJSON)
	writeFile(t, "classes.json", chanceModel(""))
	for _, file := range []string{"linear.json", "classes.json"} {
		got := dptrainIn(
			t, "a,b\n1,north\n",
			"predict", file, "-",
			"--cost",
		)
		if got.code != exitUsage ||
			got.stdout != "" ||
			!strings.Contains(got.stderr, "--cost needs a cost-tree model") {
			t.Errorf("%s: %+v", file, got)
		}
	}
}
