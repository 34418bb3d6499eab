package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// TestByGroup: --by shows in the plan and in its explanation at an unchanged price, and fit publishes the metrics of every group.
// The column may be excluded from the features.
func TestByGroup(t *testing.T) {
	chdirTemp(t)
	var rows strings.Builder
	rows.WriteString("x,sex,y\n")
	for i := range 6000 {
		fmt.Fprintf(
			&rows,
			"%d,%s,%d\n",
			i%50,
			[]string{"f", "m", "m"}[i%3],
			2*(i%50)+i%7,
		)
	}
	writeFile(t, "people.csv", rows.String())
	bare := strings.Fields(
		"--data people.csv --target y --epsilon 8 --method joint-gram --exclude sex")
	asked := append(
		append([]string{}, bare...),
		"--by", "sex",
		"--categories", "sex=f,m",
	)
	var prices [2]bill
	for i, args := range [][]string{bare, asked} {
		got := dptrain(t, append([]string{"plan", "--json"}, args...)...)
		err := json.Unmarshal([]byte(got.stdout), &prices[i])
		if err != nil {
			t.Fatalf("%v: %+v", err, got)
		}
	}
	if prices[0].Groups != "" ||
		prices[1].Groups != "sex" ||
		*prices[0].Guarantee.Mu != *prices[1].Guarantee.Mu ||
		len(prices[0].Steps) != len(prices[1].Steps) {
		t.Errorf(
			"the plans are %+v and %+v",
			prices[0], prices[1],
		)
	}
	got := dptrain(t, append([]string{"plan"}, asked...)...)
	if !strings.Contains(got.stdout, "also reported by sex") {
		t.Errorf("the plan is %+v", got)
	}
	got = dptrain(
		t,
		append([]string{"plan", "--explain", "--rows", "60"}, asked...)...,
	)
	if !strings.Contains(
		got.stdout, "metrics by sex") {
		t.Errorf("the explanation is %+v", got)
	}
	got = dptrain(
		t,
		append([]string{"fit", "--out", "out"}, asked...)...,
	)
	if got.code != exitOK || !strings.Contains(got.stdout, "By sex") {
		t.Fatalf("fit: %+v", got)
	}
	got = dptrain(t, "verify", "out")
	if got.code != exitOK ||
		!strings.Contains(got.stdout, "groups: the metrics by group") {
		t.Errorf("verify: %+v", got)
	}
	got = dptrain(t, "report", "out")
	if !strings.Contains(got.stdout, "MAE") ||
		!strings.Contains(got.stdout, "f: R²") {
		t.Errorf("report: %+v", got)
	}
	got = dptrain(t, append([]string{"plan", "--by", "sex"}, bare...)...)
	if got.code == exitOK || !strings.Contains(got.stderr, "--by") {
		t.Errorf("an excluded column without categories: %+v", got)
	}
}
