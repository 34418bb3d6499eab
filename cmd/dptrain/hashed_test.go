package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"
)

// TestHashedColumnIsLearned checks that a column that is hashed to buckets explains a target that depends on it: in
// the held-out R² and in the predictions. The noise leaves R² above 0.99, so the bounds fail with a probability far
// below 1e-9.
func TestHashedColumnIsLearned(t *testing.T) {
	chdirTemp(t)
	names := []string{
		"anna", "bert", "carl", "dora",
		"emil", "fritz", "gina", "hans",
	}
	var table strings.Builder
	table.WriteString("who,x,y\n")
	for i := range 3000 {
		k := i * 7 % len(names)
		fmt.Fprintf(
			&table,
			"%s,%d,%d\n",
			names[k], i%5,
			10*k+i%3,
		)
	}
	writeFile(t, "t.csv", table.String())
	for name, flags := range map[string][]string{
		"default": {"--hash", "who=64"},
		"linear": {
			"--hash", "who=64",
			"--method", "joint-gram",
		},
		"additive": {
			"--hash", "who=64",
			"--method", "boosted-additive",
		},
		"encoded": {
			"--hash", "who=64",
			"--encode", "who",
		},
	} {
		out := "out-" + name
		r := dptrain(t, append(
			[]string{
				"fit",
				"--data", "t.csv",
				"--target", "y",
				"--epsilon", "20",
				"--out", out,
				"--quiet",
			},
			flags...,
		)...)
		if r.code != 0 {
			t.Fatalf("%s: %+v", name, r)
		}
		var report struct {
			Metrics struct {
				R2 struct{ Value *float64 }
			}
		}
		if err := json.Unmarshal([]byte(readFile(t, out+"/release/report.json")), &report); err != nil {
			t.Fatal(err)
		}
		v := report.Metrics.R2.Value
		if v == nil || *v < .8 {
			t.Errorf(
				"%s: the held-out R² is below 0.8: %v",
				name, v,
			)
		}
		r = dptrain(
			t, "predict",
			out+"/release/model.json",
			"t.csv", "--append",
		)
		rows, err := csv.NewReader(strings.NewReader(r.stdout)).ReadAll()
		if r.code != 0 || err != nil || len(rows) != 3001 {
			t.Fatalf(
				"%s: %d records, %v, %s",
				name, len(rows), err, r.stderr,
			)
		}
		sum := 0.
		for _, row := range rows[1:] {
			want, _ := strconv.ParseFloat(row[2], 64)
			got, err := strconv.ParseFloat(row[3], 64)
			if err != nil {
				t.Fatal(err)
			}
			sum += math.Abs(got - want)
		}
		if mean := sum / 3000; mean > 5 {
			t.Errorf(
				"%s: the mean error of predictions is %v",
				name, mean,
			)
		}
	}
}

// TestFlagsOfColumnsWithMarksOfEquality checks that flags end the name of a column at the last mark of equality, where
// the value cannot have one, and that two flags for one key are refused.
func TestFlagsOfColumnsWithMarksOfEquality(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "t.csv",
		"c=d,x,y\nu,2024-01-02,1\nv,2024-01-03,2\n",
	)
	base := []string{
		"plan", "--data", "t.csv",
		"--target", "y", "--epsilon",
		"1",
	}
	for _, flags := range [][]string{
		{"--hash", "c=d=8"},
		{"--prefix", "c=d=1"},
		{"--range", "c=d=0:8"},
		{"--date", "c=d=auto"},
		{"--date", "x=2006-01-02"},
		{
			"--set",
			`data.columns["c=d"].categories=[u, v]`,
		},
	} {
		r := dptrain(t, append(base, flags...)...)
		if r.code != 0 {
			t.Errorf("%q: %+v", flags, r)
		}
	}
	for _, flags := range [][]string{
		{"--set", "privacy.epsilon=2"},
		{"--set", "data.target=x"},
		{
			"--range",
			"x=0:1",
			"--set",
			"data.columns.x.lower=2",
		},
		{
			"--set",
			"holdout=0.1",
			"--set",
			"holdout=0.2",
		},
	} {
		r := dptrain(t, append(base, flags...)...)
		if r.code != 3 ||
			!strings.Contains(r.stderr, "would have no effect") {
			t.Errorf("%q: %+v", flags, r)
		}
	}
}
