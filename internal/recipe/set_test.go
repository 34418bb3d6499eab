package recipe

import (
	"reflect"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestPathSteps checks that paths of keys are read in the form used by problems.
func TestPathSteps(t *testing.T) {
	for path, want := range map[string][]string{
		"holdout":                               {"holdout"},
		"model.rounds":                          {"model", "rounds"},
		`data.columns["blood pressure"].lower`:  {"data", "columns", "blood pressure", "lower"},
		`data.columns["a\"b"].lower`:            {"data", "columns", `a"b`, "lower"},
		`data.columns["a.b"]`:                   {"data", "columns", "a.b"},
		"":                                      nil,
		".model":                                nil,
		"model..rounds":                         nil,
		"model.":                                nil,
		"search.candidates[0].selection.method": nil,
		`data.columns["a`:                       nil,
	} {
		steps, ok := pathSteps(path)
		if ok != (want != nil) || ok && !reflect.DeepEqual(steps, want) {
			t.Errorf(
				"%s: %q, %v",
				path, steps, ok,
			)
		}
		if ok && joined(steps) != path {
			t.Errorf(
				"%s is written as %s",
				path, joined(steps),
			)
		}
	}
}

// TestSettingReplacesText checks that a setting replaces the value in the text, and that setting a method removes the
// keys of the previous one.
func TestSettingReplacesText(t *testing.T) {
	const text = "data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\nselection: {method: sis, k: 3, score: tau}\nmodel: {method: joint-gram}\n"
	parse := func(settings ...Setting) *Recipe {
		t.Helper()
		r, problems := Options{Set: settings}.Parse(
			"r.yml", []byte(text),
		)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		return r
	}
	if r := parse(Setting{Path: "selection.k", Value: "2"}); r.Selection.K() != 2 ||
		r.Selection.Keys.Word("score") != "tau" {
		t.Errorf("k: %+v", r.Selection)
	}
	r := parse(
		Setting{Path: "selection.method", Value: "kendall"},
		Setting{Path: "selection.k", Value: "4"},
	)
	if r.Selection.Method != "kendall" ||
		r.Selection.K() != 4 ||
		r.Selection.Keys["score"] != nil {
		t.Errorf("method: %+v", r.Selection)
	}
	r = parse(
		Setting{
			Path:  `data.columns["blood pressure"]`,
			Value: "{lower: 50, upper: 250}",
		},
		Setting{Path: "data.exclude", Value: "[id]"},
	)
	c := r.Data.Columns["blood pressure"]
	if c.Lower == nil ||
		*c.Upper != 250 ||
		len(r.Data.Exclude) != 1 {
		t.Errorf("columns: %+v", r.Data)
	}
	r = parse(
		Setting{Path: "budget.selection", Value: "0.3"})
	if r.Budget.shares().Selection != .3 ||
		r.Selection.Share() != 0 {
		t.Errorf(
			"budget: %+v %+v",
			r.Budget, r.Selection,
		)
	}
}

// TestSettingsRefused checks that a problem of a key given by a setting names the flag instead of a line.
func TestSettingsRefused(t *testing.T) {
	const text = "data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\n"
	for _, c := range []struct {
		setting Setting
		want    string
	}{
		{
			Setting{Path: "holdout", Value: ".6"},
			"--set holdout: holdout must be from 0 to 0.5, not 0.6",
		},
		{
			SetNumber("--k", "selection.k", "none"),
			`--k: must be a whole number, not the text "none"`,
		},
		{
			Setting{Path: "model.nonsense", Value: "1"},
			`--set model.nonsense: unknown key "nonsense"`,
		},
		{
			Setting{Path: "nonsense.k", Value: "1"},
			`--set nonsense.k: unknown key "nonsense"`,
		},
		{
			Setting{Path: "data.columns.x.lower", Value: "1"},
			"--set data.columns.x.lower: data.columns.x: lower needs upper",
		},
		{
			Setting{Path: "privacy.epsilon", Value: "[1"},
			`--set privacy.epsilon: the value cannot be read: "[1"`,
		},
		{
			Setting{Path: ".x", Value: "1"},
			"--set .x: this is not a recipe key",
		},
	} {
		_, problems := Options{Set: []Setting{c.setting}}.Parse("r.yml", []byte(text))
		if len(problems) == 0 ||
			!strings.HasPrefix(problems[0].Error(), c.want) {
			t.Errorf("%+v: %v", c.setting, problems)
		}
	}
}

// TestShareOfSelection checks that with a model with a fixed noise distribution selection.share is converted to
// budget.selection, and published in this form, and that a recipe published by an earlier version keeps its plan.
func TestShareOfSelection(t *testing.T) {
	const text = "data: {path: a.csv, target: y}\nprivacy: {epsilon: 3}\nselection: {method: kendall, k: 2, share: .4}\nmodel: {method: tukey}\n"
	header := []string{"a", "b", "c", "y"}
	r, problems := Parse("r.yml", []byte(text))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	p, err := r.Pipeline(header)
	if err != nil ||
		p.Shares != (pipeline.Shares{Selection: .4}) ||
		p.SelectionShare != 0 ||
		len(r.Notes()) != 1 {
		t.Errorf(
			"%+v %v %v %v",
			p.Shares, p.SelectionShare, err,
			r.Notes(),
		)
	}
	public, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	again, problems := Parse(
		"release.yml",
		append(
			[]byte(strings.Replace(
				string(public),
				"data:\n",
				"data:\n  path: a.csv\n",
				1,
			)),
			'\n',
		),
	)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	q, err := again.Pipeline(header)
	if err != nil || q.Shares != p.Shares || q.SelectionShare != 0 {
		t.Errorf(
			"the published recipe has the shares %+v, %v (%v)\n%s",
			q.Shares,
			q.SelectionShare,
			err,
			public,
		)
	}
	earlier := strings.Replace(
		string(public),
		"budget:\n  selection: 0.4\n",
		"", 1,
	)
	earlier = strings.Replace(
		strings.Replace(
			earlier, "  k: 2\n",
			"  k: 2\n  share: 0.4\n",
			1,
		),
		"data:\n",
		"data:\n  path: a.csv\n",
		1,
	)
	old, problems := Parse("earlier.yml", []byte(earlier))
	if len(problems) > 0 {
		t.Fatalf("%v\n%s", problems, earlier)
	}
	q, err = old.Pipeline(header)
	if err != nil ||
		q.Shares != (pipeline.Shares{}) ||
		q.SelectionShare != .4 ||
		len(old.Notes()) != 1 {
		t.Errorf(
			"%+v %v %v\n%s",
			q.Shares, q.SelectionShare, err, earlier,
		)
	}
	rewritten, err := old.Public()
	if err != nil ||
		!strings.Contains(string(rewritten), "share: 0.4") {
		t.Errorf(
			"the recipe of an earlier version is published as\n%s (%v)",
			rewritten, err,
		)
	}
}
