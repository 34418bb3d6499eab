package report

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// lineRecipe is the recipe of lineTable.
const lineRecipe = `data: {path: x.csv, target: y, columns: {x: {lower: 0, upper: 9}}}
privacy: {epsilon: 1}
`

// newRelease writes the release of a run of a recipe on a table of x and y = 2x + 1, where further columns are copies of
// x, and returns its folder and the files.
func newRelease(t testing.TB, text string, header ...string) (string, Files) {
	t.Helper()
	return releaseOf(t, text, func(*pipeline.Pipeline) {}, header...)
}

// releaseOf is like newRelease, for a run modified by change.
func releaseOf(
	t testing.TB,
	text string,
	change func(*pipeline.Pipeline),
	header ...string,
) (string, Files) {
	t.Helper()
	r, problems := recipe.Parse("r.yaml", []byte(text))
	if problems != nil {
		t.Fatal(problems)
	}
	p, err := r.Pipeline(header)
	if err != nil {
		t.Fatal(err)
	}
	change(p)
	rows := 4000 // enough to find the ranges of columns
	if r.Model.Method == "tukey" {
		rows = 400 // too few, so that it abstains
	}
	var data []dataset.ColumnData
	for _, c := range p.Schema.Columns {
		cells := make([]float64, rows)
		codes := make([]int32, rows)
		for i := range rows {
			cells[i] = float64(i % 10)
			codes[i] = int32(i % 2)
			if c.Name == r.Data.Target {
				cells[i] = 2*cells[i] + 1
			}
		}
		if c.Kind == dataset.Category {
			data = append(data, dataset.ColumnData{Codes: codes})
		} else {
			data = append(data, dataset.ColumnData{Floats: cells})
		}
	}
	table, err := dataset.NewTable(p.Schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := p.Fit(context.Background(), table, pipeline.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r.Data.Header = header
	public, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	files := Files{
		Model:  res.Model,
		Report: New(res),
		Recipe: public,
		Run:    NewRun(New(res), res.Curator, nil),
	}
	dir := t.TempDir()
	if err := Write(t.Context(), dir, files, false); err != nil {
		t.Fatal(err)
	}
	return filepath.Join(dir, ReleaseDir), files
}

// verifyText verifies a release and returns the printed result.
func verifyText(t testing.TB, dir string, l *ledger.Ledger) (string, error) {
	t.Helper()
	v, err := Verify(t.Context(), dir, VerifyOptions{Ledger: l})
	if err != nil {
		return "", err
	}
	var b strings.Builder
	if err := v.Text(&b); err != nil {
		t.Fatal(err)
	}
	return b.String(), v.Err()
}

// TestVerify checks that releases with every form of plan are consistent: a choice between branches, a search, sizes,
// classes, basic composition, every relation, a unit.
func TestVerify(t *testing.T) {
	for name, tt := range map[string]struct {
		text   string
		header []string
	}{
		"line":     {lineRecipe, []string{"x", "y"}},
		"order":    {lineRecipe, []string{"y", "x"}},
		"branches": {lineRecipe, strings.Fields("y x a b c d e f")},
		"no metric": {
			lineRecipe + "holdout: 0\n",
			[]string{"x", "y"},
		},
		"basic": {
			strings.Replace(
				lineRecipe,
				"epsilon: 1",
				"epsilon: 1, composition: basic",
				1,
			),
			strings.Fields("x y a b c d e f"),
		},
		"pure": {
			"task: classification\ndata: {path: x, target: y, classes: [no, yes], columns: {x: {lower: 0, upper: 9}}}\nprivacy: {epsilon: 1, delta: 0}\n" +
				"holdout: 0\nscaling: {method: declared}\nmodel: {method: brc, form: laplace}\n",
			[]string{"x", "y"},
		},
		"private": {
			strings.Replace(
				strings.Replace(
					lineRecipe,
					"epsilon: 1",
					"epsilon: 1, relation: substitute-private-columns",
					1,
				),
				"upper: 9",
				"upper: 9, private: true",
				1,
			),
			[]string{"x", "y", "a"},
		},
		"substitute": {
			strings.Replace(
				lineRecipe,
				"epsilon: 1",
				"epsilon: 1, relation: substitute",
				1,
			),
			strings.Fields("x y a b c d e f"),
		},
		"search": {
			lineRecipe +
				"search: {candidates: [{model: {method: joint-gram}}, {selection: {k: 2}}]}\n",
			strings.Fields("x y a b c"),
		},
		"logistic": {
			"task: classification\ndata: {path: x, target: y, classes: [no, yes]}\nprivacy: {epsilon: 1}\nmodel: {method: logistic}\n",
			[]string{"x", "y"},
		},
		"classes": {"task: classification\ndata: {path: x, target: y, classes: [no, yes]}\nprivacy: {epsilon: 1}\n",
			strings.Fields("x y a")},
		"sizes": {
			"task: classification\ndata: {path: x, target: y, classes: [no, yes]}\nprivacy: {epsilon: 4}\nselection: {method: dpfs, sizes: [1, 2]}\n" +
				"model: {method: svm}\n",
			strings.Fields("x y a b"),
		},
		"abstains": {
			lineRecipe + "model: {method: tukey}\n",
			[]string{"x", "y"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir, files := newRelease(t, tt.text, tt.header...)
			got, err := verifyText(t, dir, nil)
			if err != nil ||
				strings.Count(got, "\nok ") < 6 ||
				strings.Count(got, "\nskipped ") != 1 {
				t.Errorf("%v\n%s", err, got)
			}
			if (files.Model == nil) != (name == "abstains") {
				t.Errorf("model %v", files.Model)
			}
			for _, earlier := range []string{format1, format2} {
				if (earlier == format2) == (files.Report.Task == regression.TaskClassification) {
					asEarlier(t, dir, files, earlier)
				}
			}
		})
	}
}

// TestVerifyEarlierPrices checks that releases from before the prices of docs/proofs/prices.md, "What stays as it
// was", are consistent at the price that they state, and not at a lower one.
func TestVerifyEarlierPrices(t *testing.T) {
	earlier := func(p *pipeline.Pipeline) {
		p.Budget.Earlier = true
	}
	for name, text := range map[string]string{
		"coin": lineRecipe,
		"search": lineRecipe +
			"search: {candidates: [{model: {method: joint-gram}}, {selection: {k: 2}}]}\n",
		"choice": strings.Replace(
			lineRecipe,
			"epsilon: 1",
			"epsilon: 1, relation: substitute",
			1,
		),
	} {
		dir, files := releaseOf(t, text, earlier, strings.Fields("x y a b c d e f")...)
		got, err := verifyText(t, dir, nil)
		if err != nil ||
			!strings.Contains(got, "ok       guarantee:") ||
			!strings.Contains(got, "skipped  plan:") {
			t.Errorf(
				"%s: %v\n%s",
				name, err, got,
			)
		}
		less := *files.Report
		mu := *less.Guarantee.Mu * .97
		less.Guarantee.Mu = &mu
		v := (&verifier{report: &less, out: &Verification{}})
		if name != "" {
			v.guarantee()
			if v.before || v.out.Misfits() == 0 {
				t.Errorf("%s: a smaller mu holds together", name)
			}
		}
	}
}

// asEarlier converts a release into one of an earlier version and verifies it.
func asEarlier(t *testing.T, dir string, files Files, format string) {
	t.Helper()
	old := *files.Report
	old.Format = format
	old.Guarantee.Attack = nil
	old.Guarantee.Meaning = ""
	putReport(t, dir, &old, false)
	r, problems := recipe.Parse("recipe.yaml", files.Recipe)
	if problems != nil {
		t.Fatal(problems)
	}
	r.Data.Header = nil
	text, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, "recipe.yaml", text)
	got, err := verifyText(t, dir, nil)
	if err != nil ||
		!strings.Contains(got, "made by an earlier version of dptrain") ||
		strings.Count(got, "does not contain its hash") < 1 {
		t.Errorf("%v\n%s", err, got)
	}
	old.Guarantee.Epsilon /= 2
	putReport(t, dir, &old, false)
	got, err = verifyText(t, dir, nil)
	if !errors.Is(err, ErrBroken) ||
		!strings.Contains(got, "failed   guarantee") {
		t.Errorf(
			"another epsilon: %v\n%s",
			err, got,
		)
	}
}

func putFile(t testing.TB, dir, name string, data []byte) {
	t.Helper()
	err := os.WriteFile(filepath.Join(dir, name), data, 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

// putReport writes a report into a release, with its checksums recomputed if forge is set.
func putReport(t testing.TB, dir string, r *Report, forge bool) {
	t.Helper()
	if forge {
		for name, hash := range map[string]*string{
			"model.json":  &r.Files.Model,
			"recipe.yaml": &r.Files.Recipe,
		} {
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil {
				*hash = hashOf(data)
			}
		}
	}
	var b bytes.Buffer
	s, err := ReadSource(dir)
	if forge && err == nil { // the page too
		s.Report = r
		if err := HTML(&b, s); err != nil {
			t.Fatal(err)
		}
		putFile(t, dir, pageFile, b.Bytes())
		r.Files.Page = hashOf(b.Bytes())
		b.Reset()
	}
	if err := Encode(&b, r); err != nil {
		t.Fatal(err)
	}
	putFile(t, dir, "report.json", b.Bytes())
}

// TestVerifyFindsForgery checks that edits of a release are found even if all checksums were recomputed.
func TestVerifyFindsForgery(t *testing.T) {
	header := strings.Fields("x y a b c d e f")
	dir, files := newRelease(t, lineRecipe, header...)
	for len(files.Report.Features.Selected) == 0 { // noise hid every column, so there is no feature to remove
		dir, files = newRelease(t, lineRecipe, header...)
	}
	original := map[string][]byte{}
	for _, name := range append([]string{ReportFile}, trainingKind.others...) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		original[name] = data
	}
	report := func(edit func(r *Report)) func(string) { // on a copy
		return func(dir string) {
			r, err := Decode(bytes.NewReader(original["report.json"]))
			if err != nil {
				t.Fatal(err)
			}
			edit(r)
			putReport(t, dir, r, true)
		}
	}
	file := func(name, old, new string) func(string) {
		return func(dir string) {
			text := strings.Replace(string(original[name]), old, new, 1)
			if text == string(original[name]) {
				t.Fatalf("%q changes nothing", old)
			}
			putFile(t, dir, name, []byte(text))
			putReport(t, dir, files.Report, true)
		}
	}
	forgeries := map[string]struct {
		edit  func(dir string)
		finds string
	}{
		"epsilon": {
			report(func(r *Report) {
				r.Guarantee.Epsilon = .5
			}),
			"failed guarantee",
		},
		"epsilon, explained": {
			report(func(r *Report) {
				r.Guarantee.Epsilon = .5
				r.Guarantee = r.Guarantee.explained()
			}),
			"failed guarantee",
		},
		"a larger epsilon": {
			report(func(r *Report) {
				r.Guarantee.Epsilon = 1.5
				r.Guarantee = r.Guarantee.explained()
			}),
			"failed plan",
		},
		"delta": {
			report(func(r *Report) {
				r.Guarantee.Delta = 1e-9
				r.Guarantee = r.Guarantee.explained()
			}),
			"failed guarantee",
		},
		"relation": {
			report(func(r *Report) {
				r.Guarantee.Relation = "substitute"
				r.Guarantee = r.Guarantee.explained()
			}),
			"relation is substitute",
		},
		"composition": {
			report(func(r *Report) {
				r.Guarantee.Composition = "basic"
			}),
			"composition is basic",
		},
		"no relation": {
			report(func(r *Report) {
				r.Guarantee.Relation = "none"
			}),
			"failed guarantee",
		},
		"mu": {
			report(func(r *Report) {
				*r.Guarantee.Mu *= .99
				r.Guarantee = r.Guarantee.explained()
			}),
			"mu is",
		},
		"no mu": {
			report(func(r *Report) {
				r.Guarantee.Mu = nil
				r.Guarantee = r.Guarantee.explained()
			}),
			"mu is missing, or stated although the run has none",
		},
		"spent": {report(func(r *Report) {
			r.Guarantee.Spent *= .9
		}), "spent is"},
		"profile": {
			report(func(r *Report) {
				r.Guarantee.Profile[3].Delta /= 2
			}),
			"delta of profile at epsilon 0.5",
		},
		"a shorter profile": {
			report(func(r *Report) {
				r.Guarantee.Profile = r.Guarantee.Profile[1:]
			}),
			"profile has",
		},
		"a point of profile": {
			report(func(r *Report) {
				r.Guarantee.Profile[2].Epsilon = .25
			}),
			"point 3 of profile",
		},
		"unit": {
			report(func(r *Report) {
				r.Guarantee.Unit = &Unit{"who", 2}
				r.Guarantee = r.Guarantee.explained()
			}),
			"the privacy unit differs",
		},
		"attack": {
			report(func(r *Report) {
				r.Guarantee.Attack.Found = .051
			}),
			"attack contradicts",
		},
		"meaning": {
			report(func(r *Report) {
				r.Guarantee.Meaning = "Nobody finds out anything."
			}),
			"meaning contradicts",
		},
		"a step's mu": {
			report(func(r *Report) {
				r.Events[len(r.Events)-1].Mu /= 2
			}),
			"failed steps",
		},
		"a step's mu and scale": {
			report(func(r *Report) {
				e := &r.Events[len(r.Events)-1]
				e.Mu /= 2
				e.Scale *= 2
			}),
			"different noise distribution in the recipe's plan",
		},
		"a step's epsilon": {
			report(func(r *Report) {
				r.Events[0].Epsilon /= 2
				r.Events[0].Scale = 2 * r.Events[0].Scale
			}),
			"different noise distribution in the recipe's plan",
		},
		"a step's law": {
			report(func(r *Report) {
				r.Events[0].Law = "exponential"
			}),
			"different noise distribution in the recipe's plan",
		},
		"no law": {
			report(func(r *Report) {
				r.Events[0].Law = "magic"
			}),
			`unknown noise distribution "magic"`,
		},
		"a step's draws": {
			report(func(r *Report) {
				r.Events[0].Draws = 2
			}),
			"different noise distribution in the recipe's plan",
		},
		"a step's noise": {
			report(func(r *Report) {
				r.Events[0].Scale /= 1.001
			}),
			"the noise scale is",
		},
		"a step's width": {
			report(func(r *Report) {
				r.Events[0].Sensitivity = 2
			}),
			"the noise scale is",
		},
		"a step's records": {
			report(func(r *Report) {
				r.Events[0].Part = "holdout"
			}),
			"its stage or its records",
		},
		"more draws made": {
			report(func(r *Report) {
				r.Events[0].Released = 2
			}),
			"draws were made",
		},
		"no draws made": {
			report(func(r *Report) {
				r.Events[0].Released = 0
			}),
			"nothing was released",
		},
		"a step gone": {
			report(func(r *Report) {
				r.Events = r.Events[1:]
			}),
			"the recipe's plan",
		},
		"a step twice": {
			report(func(r *Report) {
				r.Events = append(r.Events, r.Events[0])
			}),
			"it is listed twice",
		},
		"steps swapped": {
			report(func(r *Report) {
				r.Events[1], r.Events[2] = r.Events[2], r.Events[1]
			}),
			"in the recipe's plan",
		},
		"a branch taken": {
			report(func(r *Report) {
				for i := range r.Events {
					r.Events[i].Taken = nil
				}
			}),
			"training branches",
		},
		"a branch not taken": {
			report(func(r *Report) {
				r.Events[0].Taken = new(bool)
			}),
			"its branch was not taken",
		},
		"method": {
			report(func(r *Report) {
				r.Model.Method = "svm"
			}),
			"method svm",
		},
		"kind": {report(func(r *Report) {
			r.Model.Kind = "votes"
		}), "its kind is"},
		"no model": {report(func(r *Report) {
			r.Model.Kind = ""
		}), "there is one"},
		"target": {report(func(r *Report) {
			r.Target = "x"
		}), "target is x"},
		"considered": {
			report(func(r *Report) {
				r.Features.Considered = r.Features.Considered[1:]
			}),
			"features.considered",
		},
		"selected": {
			report(func(r *Report) {
				r.Features.Selected = []string{}
			}),
			"which features.selected does not contain",
		},
		"unprotected": {
			report(func(r *Report) {
				r.Unprotected = r.Unprotected[:len(r.Unprotected)-1]
			}),
			"unprotected does not match",
		},
		"a declared range": {
			report(func(r *Report) {
				r.Unprotected[len(r.Unprotected)-1].Value = []float64{0, 8}
			}),
			"unprotected does not match",
		},
		"a ledger": {
			report(func(r *Report) {
				r.Ledger = &Ledger{
					Dataset: "d",
					Entry:   3,
					Head:    strings.Repeat("0", 64),
				}
			}),
			"the data set in the ledger",
		},
		"a search": {
			report(func(r *Report) {
				r.Search = &Search{Candidates: []Candidate{}}
			}),
			"whether there was a search",
		},
		"recipe epsilon": {
			file("recipe.yaml", "epsilon: 1", "epsilon: 2"),
			"epsilon is 1 in the report, but 2 in the recipe",
		},
		"recipe range": {
			file("recipe.yaml", "upper: 9", "upper: 8"),
			"unprotected does not match",
		},
		"recipe holdout": {
			file("recipe.yaml", "holdout: 0.2", "holdout: 0.1"),
			"unprotected does not match",
		},
		"recipe columns": {
			file(
				"recipe.yaml",
				"header: [x, y, a",
				"header: [x, y, z",
			),
			"features.considered",
		},
		"recipe model": {
			file(
				"recipe.yaml",
				"model:\n  method: auto",
				"model:\n  method: joint-gram",
			),
			"the recipe's plan",
		},
		"recipe damaged": {
			file("recipe.yaml", "epsilon: 1", "epsilon: one"),
			"it cannot be read",
		},
		"recipe longer": {
			file("recipe.yaml", "version: 1", "version: 1\nextra: 1"),
			"it cannot be read",
		},
		"model epsilon": {
			file(
				"model.json", `"epsilon":1`,
				`"epsilon":0.5`,
			),
			"its guarantee differs from the report",
		},
		"model target": {
			file(
				"model.json",
				`"target": "y"`,
				`"target": "z"`,
			),
			"but a regression of y in the report",
		},
		"intervals": {
			report(func(r *Report) {
				r.Metrics.Intervals = []Interval{{.9, .001}}
			}),
			"its prediction intervals",
		},
		"model damaged": {
			file("model.json", `"terms"`, `"therms"`),
			"it cannot be read",
		},
		"it differs from the file": {
			func(dir string) {
				putFile(t, dir, "notes.txt", []byte("exact counts"))
			},
			"notes.txt does not belong to a release",
		},
		"no recipe": {
			func(dir string) {
				os.Remove(filepath.Join(dir, "recipe.yaml"))
			},
			"recipe.yaml: the file is missing",
		},
		"no model file": {
			func(dir string) {
				os.Remove(filepath.Join(dir, "model.json"))
			},
			"model.json: the file is missing",
		},
		"no hash": {
			func(dir string) {
				r := *files.Report
				r.Files = Hashes{}
				putReport(t, dir, &r, false)
			},
			"there should be none",
		},
	}
	for name, f := range forgeries {
		fresh := t.TempDir()
		for name, data := range original {
			putFile(t, fresh, name, data)
		}
		f.edit(fresh)
		got, err := verifyText(t, fresh, nil)
		words := strings.Join(strings.Fields(got), " ")
		if !errors.Is(err, ErrBroken) || !strings.Contains(words, f.finds) {
			t.Errorf(
				"%s: %v, want %q in\n%s",
				name, err, f.finds, got,
			)
		}
	}
}

// TestVerifyFindsAnotherModel checks that the model of another run with the same guarantee is found by its hash, and
// one with another guarantee even if the hash was recomputed.
func TestVerifyFindsAnotherModel(t *testing.T) {
	dir, files := newRelease(t, lineRecipe, "x", "y")
	for epsilon, forge := range map[string]bool{
		"epsilon: 1":   false,
		"epsilon: 1.5": true,
	} {
		other, _ := newRelease(
			t,
			strings.Replace(lineRecipe, "epsilon: 1", epsilon, 1),
			"x",
			"y",
		)
		data, err := os.ReadFile(filepath.Join(other, "model.json"))
		if err != nil {
			t.Fatal(err)
		}
		putFile(t, dir, "model.json", data)
		if forge {
			r := *files.Report
			r.Files.Recipe = hashOf(files.Recipe)
			putReport(t, dir, &r, true)
		}
		got, err := verifyText(t, dir, nil)
		if !errors.Is(err, ErrBroken) ||
			!strings.Contains(got, "failed   model") {
			t.Errorf(
				"%s: %v\n%s",
				epsilon, err, got,
			)
		}
	}
}

// TestVerifyFindsEdits checks that all of 500 random single edits of the three files are found.
func TestVerifyFindsEdits(t *testing.T) {
	dir, _ := newRelease(
		t,
		strings.Replace(
			lineRecipe,
			"columns: {",
			"columns: {y: {lower: 0, upper: 20}, ",
			1,
		)+
			"model: {method: joint-gram}\nholdout: 0\n",
		"x",
		"y",
	)
	original := map[string][]byte{}
	for _, name := range append([]string{ReportFile}, trainingKind.others...) {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		original[name] = data
	}
	names := slices.Sorted(maps.Keys(original))
	rng := rand.New(rand.NewPCG(11, 7))
	for n := 0; n < 500; {
		name := names[n%len(names)]
		kind, edited := randomEdit(rng, original[name])
		if bytes.Equal(edited, original[name]) {
			continue
		}
		n++
		putFile(t, dir, name, edited)
		if got, err := verifyText(t, dir, nil); err == nil {
			t.Errorf(
				"%s of %s passes:\n%s",
				kind, name, got,
			)
		} else if !errors.Is(err, ErrBroken) &&
			!errors.Is(err, ErrFormat) &&
			!errors.Is(err, ErrContent) {
			t.Errorf(
				"%s of %s: %v",
				kind, name, err,
			)
		}
		putFile(t, dir, name, original[name])
	}
	if got, err := verifyText(t, dir, nil); err != nil {
		t.Errorf(
			"the files put back: %v\n%s",
			err, got,
		)
	}
}

// randomEdit makes one edit of a file and returns its kind.
func randomEdit(rng *rand.Rand, data []byte) (kind string, edited []byte) {
	out := slices.Clone(data)
	lines := bytes.SplitAfter(out, []byte("\n"))
	i := rng.IntN(len(lines))
	j := rng.IntN(len(lines))
	switch rng.IntN(7) {
	case 0:
		out[rng.IntN(len(out))] ^= 1 << rng.IntN(8)
		return "a bit", out
	case 1:
		for at := rng.IntN(len(out)); ; at = (at + 1) % len(out) {
			if out[at] >= '0' && out[at] <= '9' {
				out[at] = '0' + (out[at]-'0'+1+byte(rng.IntN(9)))%10
				return "a digit", out
			}
		}
	case 2:
		return "a line removed", bytes.Join(slices.Delete(lines, i, i+1), nil)
	case 3:
		return "a line twice", bytes.Join(
			slices.Insert(lines, i, lines[i]),
			nil,
		)
	case 4:
		lines[i], lines[j] = lines[j], lines[i]
		return "lines swapped", bytes.Join(lines, nil)
	case 5:
		at := rng.IntN(len(out))
		return "a byte removed", slices.Delete(out, at, at+1)
	}
	return "a space", slices.Insert(out, rng.IntN(len(out)), ' ')
}

// TestVerifyUnreadable checks that a release without a report, or with another file in its place, is a distinct
// error.
func TestVerifyUnreadable(t *testing.T) {
	dir, _ := newRelease(t, lineRecipe, "x", "y")
	putFile(t, dir, "report.json", []byte("{}"))
	_, err := verifyText(t, dir, nil)
	if !errors.Is(err, ErrFormat) {
		t.Errorf("%v", err)
	}
	putFile(
		t, dir, "report.json",
		bytes.Repeat([]byte(" "), MaxBytes+1),
	)
	_, err = verifyText(t, dir, nil)
	if !errors.Is(err, errLarge) {
		t.Errorf("%v", err)
	}
	_, err = verifyText(t, t.TempDir(), nil)
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v", err)
	}
}
