package main

import (
	"math"
	"strconv"
	"strings"
	"testing"
)

// chanceModel returns a model of two classes with the score a, in [-2, 2], and the probability 1/(1 + exp(-2 a)) of
// the second class. more is inserted before its guarantee.
func chanceModel(more string) string {
	return `{"format": "dptrain.model/2", "kind": "classifier", "task": "classification", "target": "repaid",
		"classes": ["no", "yes, late"], "cutoff": 0.5, "scores": [{"kind": "linear",
		"columns": [{"name":"a","type":"numeric","lower":-2,"upper":2,"missing":0}], "terms": [{"column":"a","coefficient":1,"std_error":0}],
		"intercept": {"coefficient":0,"std_error":0}, "prediction": {"lower":-2,"upper":2}}], ` + more + `"guarantee": null}`
}

// TestPredictProbability checks the column of probabilities, a threshold instead of the cutoff, and both together.
func TestPredictProbability(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t,
		"model.json",
		chanceModel(`"probability": {"intercept": 0, "slope": 2}, `),
	)
	const table = "a\n0\n-2\n1\nx\n0.25\n"
	for args, want := range map[string]string{
		"":                 "repaid\nno\nno\n\"yes, late\"\nno\nno\n",
		"--threshold 0.5":  "repaid\n\"yes, late\"\nno\n\"yes, late\"\n\"yes, late\"\n\"yes, late\"\n",
		"--threshold 0.95": "repaid\nno\nno\nno\nno\nno\n",
		"--probability":    "repaid,\"probability of yes, late\"\nno,0.5\nno,0.01798620996209156\n\"yes, late\",0.8807970779778823\nno,0.5\nno,0.6224593312018546\n",
	} {
		line := append([]string{"predict", "model.json", "-"}, strings.Fields(args)...)
		got := dptrainIn(t, table, line...)
		if got != (result{0, want, ""}) {
			t.Errorf(
				"%s: %+v, want %q",
				args, got, want,
			)
		}
	}
	got := dptrainIn(t, "a,b\n1,7\n", "predict", "model.json", "-",
		"--append",
		"--probability",
		"--threshold", "0.9",
	)
	if got != (result{0, "a,b,repaid,\"probability of yes, late\"\n1,7,no,0.8807970779778823\n",
		""}) {
		t.Errorf("%+v", got)
	}
}

// TestPredictEachProbability checks that each of three classes with the log probabilities a, 0 and -a, up to a
// constant, has a column.
func TestPredictEachProbability(t *testing.T) {
	chdirTemp(t)
	var scores []string
	for _, slope := range []string{"1", "0", "-1"} {
		scores = append(
			scores,
			`{"kind": "prototypes", "columns": [{"name":"a","type":"numeric","lower":-2,"upper":2,"missing":0}], "terms": [],
			"intercept": {"coefficient":0,"std_error":0}, "prediction": {"lower":-9,"upper":9},
			"prototypes": [{"intercept": 0, "terms": [{"column":"a","center":0,"coefficient":`+slope+`}]}]}`,
		)
	}
	writeFile(
		t,
		"three.json",
		`{"format": "dptrain.model/2", "kind": "classifier", "task": "classification", "target": "grade",
		"classes": ["good", "so, so", "bad"], "cutoff": 0, "scores": [`+strings.Join(scores, ",")+`], "guarantee": null}`,
	)
	got := dptrainIn(
		t,
		"a\n2\n0\n-1\n",
		"predict", "three.json", "-",
		"--probability",
	)
	lines := strings.Split(got.stdout, "\n")
	if got.code != 0 ||
		len(lines) != 5 ||
		lines[0] != `grade,probability of good,"probability of so, so",probability of bad` {
		t.Fatalf("%+v", got)
	}
	for i, a := range []float64{2, 0, -1} {
		line := strings.Replace(
			lines[i+1],
			`"so, so"`, "so", 1,
		)
		cells := strings.Split(line, ",")
		want := []string{"good", "good", "bad"}[i]
		if cells[0] != want {
			t.Errorf(
				"%s: the class of a = %v, want %s",
				line, a, want,
			)
		}
		all := math.Exp(a) + 1 + math.Exp(-a)
		for c, want := range []float64{
			math.Exp(a) / all,
			1 / all,
			math.Exp(-a) / all,
		} {
			p, err := strconv.ParseFloat(cells[1+c], 64)
			if err != nil || math.Abs(p-want) > 1e-12 {
				t.Errorf(
					"%s: the probability of class %d is %v, want %v",
					line, c, p, want,
				)
			}
		}
	}
}

// TestPredictProbabilityMistakes checks that the error for a model without probabilities contains the reason.
func TestPredictProbabilityMistakes(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "plain.json", chanceModel(""))
	writeFile(
		t,
		"model.json",
		chanceModel(`"probability": {"intercept": 0, "slope": 2}, `),
	)
	score := strings.TrimSuffix(
		strings.Split(chanceModel(""), `"scores": [`)[1],
		`], "guarantee": null}`,
	)
	writeFile(
		t,
		"three.json",
		`{"format": "dptrain.model/2", "kind": "classifier", "task": "classification", "target": "repaid",
		"classes": ["a", "b", "c"], "cutoff": 0, "scores": [`+score+`,`+score+`,`+score+`], "guarantee": null}`,
	)
	writeFile(t, "t.csv", classCSV(60))
	got := dptrain(t, "fit",
		"--data", "t.csv",
		"--target", "b",
		"--epsilon", "1",
		"-q",
	)
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	for args, says := range map[string]string{
		"plain.json - --probability":                  "there were too few training records",
		"plain.json - --threshold 0.3":                "the model has no probabilities",
		"three.json - --probability":                  "with more than two classes, only prototypes has them",
		"three.json - --threshold 0.3":                "--threshold needs a model with two classes; this one has 3",
		"model.json - --threshold 0":                  "above 0 and below 1",
		"model.json - --threshold 1":                  "above 0 and below 1",
		"model.json - --threshold NaN":                `"NaN" is not a number`,
		"out/release/model.json - --probability":      "this model predicts numbers",
		"out/release/model.json - --threshold 0.0001": "this model predicts numbers",
	} {
		got := dptrainIn(
			t,
			"a\n1\n",
			append([]string{"predict"}, strings.Fields(args)...)...,
		)
		if got.code != exitUsage ||
			got.stdout != "" ||
			!strings.Contains(got.stderr, says) {
			t.Errorf("%s: %+v", args, got)
		}
	}
}

// TestReportScores checks that the score metrics released by fit are printed from the report.
func TestReportScores(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "t.csv", classCSV(20000))
	got := dptrain(t, "fit",
		"--data", "t.csv",
		"--target", "income",
		"--task", "classification",
		"--classes", "under 50 K,over 50 K",
		"--epsilon", "3",
		"--verbose",
	)
	for _, want := range []string{
		"AUC ", "log loss 0.", "true class",
		"recall", "other label",
	} {
		if got.code != 0 || !strings.Contains(got.stdout, want) {
			t.Errorf("no %q in %+v", want, got)
		}
	}
	shown := dptrain(t, "report", "out", "--scores")
	if shown.code != 0 ||
		!strings.Contains(shown.stdout, "precision") ||
		!strings.Contains(shown.stdout, "model says") {
		t.Errorf("%+v", shown)
	}
	// The boundary between the classes is at the middle of a, which agrees with the probabilities.
	chance := dptrainIn(t, "a,b\n0,1\n100,1\n", "predict", "out/release/model.json", "-",
		"--probability")
	lines := strings.Split(chance.stdout, "\n")
	if chance.code != 0 || len(lines) != 4 {
		t.Fatalf("%+v", chance)
	}
	for i, want := range []string{"under 50 K", "over 50 K"} {
		class, text, _ := strings.Cut(lines[i+1], ",")
		p, err := strconv.ParseFloat(text, 64)
		if err != nil ||
			class != want ||
			math.Abs(p-float64(i)) > .1 {
			t.Errorf(
				"%q, want %s",
				lines[i+1], want,
			)
		}
	}
}
