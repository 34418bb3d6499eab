package report

import (
	"bytes"
	"strings"
	"testing"
)

// groupRecipes are runs with metrics by group: of numbers, by an excluded column, and of two and three classes, by a feature.
func groupRecipes() map[string]string {
	const shared = "privacy: {epsilon: 8}\nevaluate: {by: g}\nmodel: {method: joint-gram}\n"
	const column = "columns: {g: {categories: [a, b]}}}\n"
	const classes = "task: classification\ndata: {path: t.csv, target: y, classes: "
	return map[string]string{
		"numbers": "data: {path: t.csv, target: y, exclude: [g], " + column + shared,
		"classes": classes + "[p, q], " + column + shared,
		"three":   classes + "[p, q, r], " + column + shared,
	}
}

// TestVerifyGroups: verify computes the metrics by group from the released numbers, and finds each number that was
// replaced together with all checksums.
func TestVerifyGroups(t *testing.T) {
	for name, text := range groupRecipes() {
		dir, files := newRelease(t, text, "x", "g", "y")
		g := files.Report.Metrics.Groups
		if g == nil ||
			len(g.Groups) != 3 ||
			g.Column != "g" {
			t.Fatalf(
				"%s: the groups are %+v",
				name, g,
			)
		}
		if out, err := verifyText(t, dir, nil); err != nil ||
			!strings.Contains(out, "groups: the metrics by group") {
			t.Fatalf(
				"%s: %v\n%s",
				name, err, out,
			)
		}
		original, err := readLimited(dir+"/report.json", MaxBytes)
		if err != nil {
			t.Fatal(err)
		}
		for what, edit := range map[string]func(g *Groups){
			"number of records": func(g *Groups) {
				g.Groups[0].Records.Value++
			},
			"metric": func(g *Groups) {
				if g.Groups[0].Accuracy != nil {
					g.Groups[0].Accuracy.Value += .01
				} else {
					g.Groups[0].MAE.Lower *= 1.01
				}
			},
			"released number": func(g *Groups) {
				if len(g.Released.Counts) > 0 {
					g.Released.Counts[0][1]++
				} else {
					g.Released.Sums[0][2]++
				}
			},
			"noise": func(g *Groups) {
				g.Released.Scale *= .9
			},
			"a group": func(g *Groups) {
				g.Groups = g.Groups[1:]
			},
			"the column": func(g *Groups) {
				g.Column = "x"
			},
			"the metric": func(g *Groups) {
				g.Metric = "other"
			},
			"no number": func(g *Groups) {
				g.Released.Counts = nil
				g.Released.Sums = nil
			},
			"reference": func(g *Groups) {
				g.Reference = 7
			},
			"probability": func(g *Groups) {
				g.DifferenceLevel = .5
			},
		} {
			r, err := Decode(bytes.NewReader(original))
			if err != nil {
				t.Fatal(err)
			}
			edit(r.Metrics.Groups)
			putReport(t, dir, r, true)
			if out, err := verifyText(t, dir, nil); err == nil {
				t.Errorf(
					"%s: another %s was not found:\n%s",
					name, what, out,
				)
			}
		}
		r, err := Decode(bytes.NewReader(original))
		if err != nil {
			t.Fatal(err)
		}
		r.Metrics.Groups = nil
		putReport(t, dir, r, true)
		if out, err := verifyText(t, dir, nil); err == nil {
			t.Errorf(
				"%s: missing metrics were not found:\n%s",
				name, out,
			)
		}
	}
}

// TestGroupTexts: every printed form names the groups with their intervals and describes the differences; a group of all other
// values without records is left out.
func TestGroupTexts(t *testing.T) {
	metric := func(value float64) *Share {
		return &Share{
			Value: value,
			Lower: value - .02,
			Upper: value + .02,
			Level: .95,
		}
	}
	s := evilSource(3)
	r := s.Report
	r.Task = "classification"
	r.Metrics = Metrics{
		Accuracy:         metric(.8),
		BalancedAccuracy: metric(.8),
		Groups: &Groups{
			Column:          evil,
			Metric:          accuracyMetric,
			Reference:       0,
			DifferenceLevel: .975,
			JointLevel:      .95,
			Groups: []Group{
				{
					Name:     "first",
					Records:  Count{Value: 1234, Scale: 7},
					Accuracy: metric(.75),
				},
				{
					Name:       "second",
					Records:    Count{Value: 500, Scale: 7},
					Accuracy:   metric(.85),
					Difference: &GroupDifference{.1, .06, .14, true},
				},
				{
					Name:       evil,
					Records:    Count{Value: 500, Scale: 7},
					Accuracy:   metric(.76),
					Difference: &GroupDifference{.01, -.03, .05, false},
				},
				{
					Name:    "tiny",
					Records: Count{Value: 3, Scale: 7},
					TooFew:  true,
				},
				{
					Other:   true,
					Records: Count{Value: -3, Scale: 7},
					TooFew:  true,
				},
			},
		},
	}
	html, markdown := pageOn(t, s)
	var text, summary strings.Builder
	if err := Text(&text, r); err != nil {
		t.Fatal(err)
	}
	if err := Summary(&summary, r, "out", 0); err != nil {
		t.Fatal(err)
	}
	words := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{"first: accuracy 0.750 (0.730 to 0.770)", "about 1,230 records",
		"tiny: too few records", "differs from that of first by +0.100 (+0.060 to +0.140)",
		"a difference of up to 0.050 cannot be excluded"} {
		if !strings.Contains(words, want) {
			t.Errorf(
				"%q is missing in:\n%s",
				want, words,
			)
		}
	}
	if !strings.Contains(summary.String(), "first 0.750 to second 0.850, beyond the noise") {
		t.Errorf(
			"the summary is\n%s",
			summary.String(),
		)
	}
	for what, page := range map[string]string{"html": html, "markdown": markdown} {
		for _, want := range []string{"Quality by group", "0.730", "1,230", "too few",
			"14% of reports with 3 groups"} {
			if !strings.Contains(page, want) {
				t.Errorf("%q is missing in %s", want, what)
			}
		}
		if strings.Contains(page, "other values") {
			t.Errorf("%s has a group without records", what)
		}
	}
}
