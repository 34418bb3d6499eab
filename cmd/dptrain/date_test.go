package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/dataset"
)

// TestFitDates checks that a model with date columns reads new tables, and that the plan lists the parts of the
// dates.
func TestFitDates(t *testing.T) {
	chdirTemp(t)
	var b strings.Builder
	b.WriteString("admitted;stay\n")
	day := time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range 3000 {
		at := day.AddDate(0, 0, i%1000)
		fmt.Fprintf(
			&b,
			"%s;%d,5\n",
			at.Format("02.01.2006"),
			int(at.Month()),
		)
	}
	writeFile(t, "t.csv", b.String())
	writeFile(t, "recipe.yaml", `data:
  path: t.csv
  target: stay
  format: {separator: ";", decimal: ","}
  columns: {admitted: {date: "2.1.2006", between: ["2020-01-01", "2022-12-31"]}, stay: {lower: 0, upper: 14}}
privacy: {epsilon: 10}
model: {method: joint-gram}
`)
	if got := dptrain(t, "fit", "recipe.yaml", "--quiet"); got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	model := readFile(t, "out/release/model.json")
	for _, name := range []string{
		"admitted.days", "admitted.month",
		"admitted.weekday",
	} {
		if !strings.Contains(model, name) {
			t.Errorf("the model lacks %s", name)
		}
	}
	got := dptrainIn(
		t,
		"admitted;x\n05.12.2021;1\n05.01.2021;1\n\n",
		"predict",
		"out/release/model.json",
		"-",
	)
	var winter, summer float64
	n, err := fmt.Sscanf(
		got.stdout,
		"prediction\n%g\n%g\n",
		&winter, &summer,
	)
	if n != 2 ||
		winter < 11 ||
		winter > 14 ||
		summer > 3 ||
		summer < 0 {
		t.Errorf("%+v, %v", got, err)
	}
	got = dptrainIn(
		t,
		"day;x\n",
		"predict",
		"out/release/model.json",
		"-",
	)
	if got.code != exitData ||
		!strings.Contains(got.stderr, `there is no column "admitted"`) {
		t.Errorf("%+v", got)
	}
	h, err := dataset.ReadHeading("t.csv", dataset.ReadOptions{})
	if err != nil || len(h.Notes) == 0 {
		t.Errorf(
			"semicolons are not noticed: %+v, %v",
			h, err,
		)
	}
}
