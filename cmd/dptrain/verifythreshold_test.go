package main

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// TestVerifyThreshold checks that the report contains the threshold for new text categories and that verify
// recomputes it, for records and for units. A lower threshold, different noise or another number of columns is
// rejected, and a report of an earlier version has no threshold.
func TestVerifyThreshold(t *testing.T) {
	chdirTemp(t)
	var b strings.Builder
	b.WriteString("id,a,word,other,y\n")
	for i := range 4000 {
		fmt.Fprintf(
			&b,
			"p%d,%d,%s,%s,%d\n",
			i/2,
			i%17,
			[]string{"red", "green"}[i%2],
			[]string{"u", "v", "w"}[i%3],
			3*(i%17)+i%5,
		)
	}
	writeFile(t, "table.csv", b.String())
	for name, privacy := range map[string]string{
		"records":      "{epsilon: 3}",
		"unit":         "{epsilon: 3, unit: {column: id, max_rows: 2}}",
		"substitution": "{epsilon: 3, relation: substitute}",
	} {
		exclude := "exclude: [id], "
		if name == "unit" {
			exclude = ""
		}
		writeFile(
			t,
			"r.yaml",
			"data: {path: table.csv, target: y, "+exclude+
				"columns: {word: {categories: private}, other: {categories: private}}}\nprivacy: "+
				privacy+"\nmodel: {method: joint-gram}\n",
		)
		out := name
		if r := dptrain(t, "fit", "r.yaml", "--out", out, "--quiet"); r.code != 0 {
			t.Fatalf("%+v", r)
		}
		path := filepath.Join(out, "release", "report.json")
		honest, err := report.Decode(strings.NewReader(readFile(t, path)))
		if err != nil {
			t.Fatal(err)
		}
		k := slices.IndexFunc(honest.Events, func(e report.Event) bool {
			return e.Threshold > 0
		})
		if k < 0 ||
			honest.Events[k].Columns != 2 ||
			honest.Events[k].Delta != 1e-11 {
			t.Fatalf(
				"%s: no step with a threshold: %+v",
				name, honest.Events,
			)
		}
		r := dptrain(t, "verify", out)
		if r.code != 0 || !strings.Contains(r.stdout, "ok       threshold:") {
			t.Errorf("%s: %+v", name, r)
		}
		for what, forge := range map[string]func(e *report.Event){
			"its delta requires at least": func(e *report.Event) {
				e.Threshold *= .9
			},
			"its noise scale differs from that of the counts": func(e *report.Event) {
				e.Scale /= 2
			},
			"it covers 1 columns, but the counts": func(e *report.Event) {
				e.Columns = 1
			},
			"has no threshold for publishing": func(e *report.Event) {
				e.Threshold = 0
			},
			"but pays for no new text category": func(e *report.Event) {
				e.Released = 0
				e.Scale = 0
				e.Sensitivity = 0
			},
		} {
			forged := *honest
			forged.Events = slices.Clone(honest.Events)
			forge(&forged.Events[k])
			var b bytes.Buffer
			if err := report.Encode(&b, &forged); err != nil {
				t.Fatal(err)
			}
			writeFile(t, path, b.String())
			r := dptrain(t, "verify", out)
			if r.code != exitBroken ||
				!strings.Contains(strings.Join(strings.Fields(r.stdout), " "), what) {
				t.Errorf(
					"%s: no %q: %+v",
					name, what, r,
				)
			}
		}
		earlier := *honest
		earlier.Format = "dptrain.report/3"
		var b bytes.Buffer
		if err := report.Encode(&b, &earlier); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, b.String())
		r = dptrain(t, "verify", out)
		if r.code != 0 || !strings.Contains(r.stdout, "skipped  threshold:") {
			t.Errorf(
				"%s, of version 3: %+v",
				name, r,
			)
		}
	}
}
