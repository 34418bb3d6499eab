package recipe

import (
	"bytes"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

func TestParseEpsilon(t *testing.T) {
	good := map[string]float64{
		"1":         1,
		" 0.5 ":     0.5,
		"1e-2":      0.01,
		"ln(3)":     math.Log(3),
		"ln( 2.5 )": math.Log(2.5),
		" ln (3) ":  math.Log(3),
		"ln(1)":     0,
		"-1":        -1,
	}
	for text, want := range good {
		got, err := ParseEpsilon(text)
		if err != nil || got != want {
			t.Errorf(
				"%q: %v, %v; want %v",
				text, got, err, want,
			)
		}
	}
	for _, text := range []string{"", "ln", "ln3", "ln()", "ln(3", "ln(3))", "ln(ln(3))", "ln(0)",
		"ln(-1)", "ln(inf)", "log(3)", "inf", "NaN", "1e999", "ln(1e999)", "1,5", "one", "()"} {
		if got, err := ParseEpsilon(text); err == nil {
			t.Errorf("%q: accepted as %v", text, got)
		}
	}
}

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		p := filepath.Join(dir, name)
		err := os.WriteFile(p, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	good := write(
		"good.yaml",
		"data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\n",
	)
	r, err := Load(good)
	if err != nil ||
		r.DataFile() != filepath.Join(dir, "a.csv") {
		t.Errorf("%v, %v", r, err)
	}
	large := write(
		"large.yaml",
		strings.Repeat("#", MaxSize)+"\n",
	)
	table := write("people.csv", "data,privacy\nAda,36\n")
	for name, path := range map[string]string{
		"absent": filepath.Join(dir, "absent.yaml"),
		"folder": dir,
		"large":  large,
		"table":  table,
		"bad": write(
			"bad.yaml",
			"data: {path: a.csv}\n",
		),
	} {
		r, err := Load(path)
		var problems Problems
		if r != nil ||
			!errors.As(err, &problems) ||
			len(problems) == 0 ||
			problems[0].File != path {
			t.Errorf(
				"%s: %v, %v",
				name, r, err,
			)
		}
		got := errors.Is(err, fs.ErrNotExist)
		if got != (name == "absent") {
			t.Errorf(
				"%s: errors.Is(err, fs.ErrNotExist) = %v",
				name, got,
			)
		}
		if strings.Contains(err.Error(), "Ada") {
			t.Errorf("a cell in a message: %v", err)
		}
	}
}

// TestTableIsNotRepeated checks that messages never quote a text that is not a recipe, whatever its name.
func TestTableIsNotRepeated(t *testing.T) {
	for _, text := range []string{
		"name,note\nAda,secret\n", "name: secret\nname: secret\n", "secret: *secret\n",
		"secret: !secret x\n",
		"secret: {a: b\nx", "secret\t: x\n\tsecret: y", "\"\\secret\": 1\n", "? [secret]\n: x\n",
		"%secret\n", "secret: x\n---\nsecret: y\n", "&secret a: *b\n",
	} {
		r, problems := Parse("x", []byte(text))
		if r != nil || len(problems) == 0 {
			t.Errorf("%q accepted", text)
		}
		if strings.Contains(problems.Error(), "secret") {
			t.Errorf(
				"%q is repeated:\n%v",
				text, problems,
			)
		}
	}
}

// typed has the values of the flags of a run as they are typed; empty ones are absent.
type typed struct{ Data, Target, Epsilon, Delta, Out string }

// commandOptions returns the options of a command line.
func (f typed) commandOptions() Options {
	o := Options{Flags: map[string]string{}}
	for _, x := range []struct {
		flag, path, value string
		set               func(flag, path, value string) Setting
	}{
		{"--data", "data.path", f.Data, SetText},
		{"--target", "data.target", f.Target, SetText},
		{"--epsilon", "privacy.epsilon", f.Epsilon, SetNumber},
		{"--delta", "privacy.delta", f.Delta, SetNumber},
		{"--out", "output.dir", f.Out, SetText},
	} {
		o.Flags[x.path] = x.flag
		if x.value != "" {
			o.Set = append(
				o.Set,
				x.set(x.flag, x.path, x.value),
			)
		}
	}
	return o
}

func TestFromSettings(t *testing.T) {
	r, problems := typed{
		Data:    "houses.csv",
		Target:  "price",
		Epsilon: "ln(3)",
		Delta:   "1e-5",
		Out:     "results",
	}.commandOptions().FromSettings()
	if problems != nil {
		t.Fatal(problems)
	}
	want := Default()
	want.Data.Path = "houses.csv"
	want.Data.Target = "price"
	want.Output.Dir = "results"
	want.Privacy.Epsilon = math.Log(3)
	want.Privacy.Delta = 1e-5
	got, _ := r.Public()
	expected, _ := want.Public()
	if !bytes.Equal(got, expected) ||
		r.DataFile() != "houses.csv" ||
		r.Output.Dir != "results" {
		t.Errorf(
			"got\n%s\nwant\n%s",
			got, expected,
		)
	}
	roundTrip(t, r, Options{}, thisBuild())

	for _, c := range []struct {
		flags typed
		want  []string
	}{
		{
			typed{},
			[]string{"--data: ", "--target: ", "--epsilon: "},
		},
		{
			typed{
				Data:    "a",
				Target:  "y",
				Epsilon: "-1",
			},
			[]string{"--epsilon: must be greater than 0, not -1"},
		},
		{
			typed{
				Data:    "a",
				Target:  "y",
				Epsilon: "0",
			},
			[]string{"--epsilon: must be greater than 0, not 0"},
		},
		{
			typed{
				Data:    "a",
				Target:  "y",
				Epsilon: "inf",
			},
			[]string{"--epsilon: "},
		},
		{
			typed{
				Data:    "a",
				Target:  "y",
				Epsilon: "nan",
			},
			[]string{"--epsilon: "},
		},
		{
			typed{
				Data:    "a",
				Target:  "y",
				Epsilon: "1\nmodel: x",
			},
			[]string{`--epsilon: "1\nmodel: x" is not a number or ln(number)`},
		},
		{
			typed{
				Data:    "a",
				Target:  "y",
				Epsilon: "1",
				Delta:   "1",
			},
			[]string{"--delta: must be at least 0 and below 1, not 1"},
		},
		{
			typed{
				Data:    "a",
				Target:  "y",
				Epsilon: "1",
				Delta:   "-1",
			},
			[]string{"--delta: must be at least 0 and below 1, not -1"},
		},
		{
			typed{
				Data:    "a",
				Target:  "y",
				Epsilon: "1",
				Delta:   "x",
			},
			[]string{`--delta: must be a number, not the text "x"`},
		},
		{
			typed{
				Data:    "a",
				Target:  "\xff",
				Epsilon: "1",
			},
			[]string{"--target: is not UTF-8 text"},
		},
	} {
		r, problems := c.flags.commandOptions().FromSettings()
		if r != nil || len(problems) != len(c.want) {
			t.Errorf(
				"%+v: %v, %v",
				c.flags, r, problems,
			)
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(problems.Error(), want) {
				t.Errorf(
					"%+v: no %q in:\n%v",
					c.flags, want, problems,
				)
			}
		}
	}
	// Header problems name the flag too.
	if got := r.Validate([]string{"a", "b"}).Error(); !strings.HasPrefix(got,
		`--target: the target "price" is not in the header`) {
		t.Error(got)
	}
}

func TestInit(t *testing.T) {
	header := []string{"id", "near bay", "12", "p: q", "# odd", "tab\there", "line\nbreak", "null",
		"öre", "\u2028", "\ufeffbom", "emoji \U0001F600", `back\slash "quoted"`, " padded ",
		"price"}
	for _, target := range []string{
		"", "price", "null",
		"line\nbreak",
	} {
		src, err := Init(header, "my table.csv", target, Names{})
		if err != nil {
			t.Fatal(err)
		}
		r, problems := Parse("recipe.yaml", src)
		if problems != nil {
			t.Fatalf(
				"the starter is refused:\n%v\n%s",
				problems, src,
			)
		}
		want := target
		if want == "" {
			want = "price"
		}
		if r.Data.Target != want ||
			r.Data.Path != "my table.csv" ||
			r.Privacy.Epsilon != 1 {
			t.Errorf("decoded: %+v", r.Data)
		}
		if problems := r.Validate(header); problems != nil {
			t.Error(problems)
		}
		for _, name := range header {
			if !strings.Contains(string(src), "\n  #   "+yamlWord(name)+": {") {
				t.Errorf(
					"column %q is not in the starter:\n%s",
					name, src,
				)
			}
		}
		everyLineIsUsable(t, src, header)
	}
}

// TestInitClasses checks that a starter recipe for classification can be parsed with its classes.
func TestInitClasses(t *testing.T) {
	classes := []string{
		"<=50K",
		"over: 50 K",
		`"#1"`, "null",
	}
	src, err := Init(
		[]string{"age", "income"},
		"adult.csv",
		"income",
		Names{List: classes},
	)
	if err != nil {
		t.Fatal(err)
	}
	r, problems := Parse("recipe.yaml", src)
	if problems != nil {
		t.Fatalf("%v\n%s", problems, src)
	}
	if r.Task != "classification" ||
		!slices.Equal(r.Data.Classes.List, classes) ||
		strings.Contains(string(src), "# the target") {
		t.Errorf(
			"%s %q\n%s",
			r.Task, r.Data.Classes.List, src,
		)
	}
	everyLineIsUsable(t, src, []string{"age"})
}

// everyLineIsUsable removes the comment signs from the columns and fills in the ranges: the result must declare every
// column by its name.
func everyLineIsUsable(t *testing.T, src []byte, header []string) {
	t.Helper()
	text := strings.ReplaceAll(
		string(src), "\n  # columns:",
		"\n  columns:",
	)
	text = strings.ReplaceAll(text, "\n  #   ", "\n    ")
	text = strings.ReplaceAll(
		text,
		"    near: {categories: [inland, bay, ocean]}\n",
		"",
	)
	if _, problems := Parse("recipe.yaml", []byte(text)); len(problems) == 0 {
		t.Error("the placeholders LOW and HIGH were accepted as numbers")
	}
	text = strings.ReplaceAll(
		strings.ReplaceAll(text, "LOW", "0"),
		"HIGH", "1",
	)
	r, problems := Parse("recipe.yaml", []byte(text))
	if problems != nil {
		t.Fatalf("%v\n%s", problems, text)
	}
	for _, name := range header {
		if r.Data.Columns[name].Upper == nil {
			t.Errorf("column %q is not declared by its line", name)
		}
	}
}

func TestInitRefuses(t *testing.T) {
	for _, c := range []struct {
		header []string
		target string
		want   error
	}{
		{nil, "", ErrHeader},
		{[]string{"a", ""}, "", ErrHeader},
		{[]string{"secret", "secret"}, "", ErrHeader},
		{[]string{"a\xff"}, "", ErrHeader},
		{[]string{"secret"}, "y", ErrTargetAbsent},
	} {
		_, err := Init(c.header, "a.csv", c.target, Names{})
		if !errors.Is(err, c.want) ||
			strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", c.header, err)
		}
	}
}

// TestPublicRoundTrip checks that the published recipe reads back as the same recipe, for any names in it.
func TestPublicRoundTrip(t *testing.T) {
	name := rapid.StringMatching(
		`[\x20-\x7eäß\t\n#:'"{}\[\]&*!|>%@\-?\x{1F600}\x{2028}\x{FEFF}\x{85}\x{0}]{1,8}`)
	rapid.Check(t, func(t *rapid.T) {
		r := Default()
		r.Data.Path = "a.csv"
		r.Data.Target = name.Draw(t, "target")
		r.Privacy.Epsilon = rapid.Float64Range(1e-9, 1e9).Draw(t, "epsilon")
		r.Privacy.Delta = rapid.Float64Range(budget.MinDelta, 0.99).Draw(t, "delta")
		r.Data.Columns = map[string]Column{}
		yes := true
		for _, n := range rapid.SliceOfN(name, 0, 3).Draw(t, "columns") {
			lo := rapid.Float64Range(-1e300, 1e300).Draw(t, "lower")
			hi := lo + 1 + math.Abs(lo)
			if rapid.Bool().Draw(t, "categorical") &&
				n != r.Data.Target {
				text := name.Filter(func(s string) bool {
					return cell.Normal(s) != ""
				})
				categories := rapid.SliceOfNDistinct(text, 1, 3, cell.Normal).Draw(
					t,
					"categories",
				)
				r.Data.Columns[n] = Column{
					Categories: Names{List: categories},
					Other:      &yes,
				}
			} else {
				r.Data.Columns[n] = Column{Lower: &lo, Upper: &hi}
			}
		}
		roundTrip(t, &r, Options{}, thisBuild())
	})
}

// TestSelectionRules checks the rules about feature selection, for a build that supports it.
func TestSelectionRules(t *testing.T) {
	for line, want := range map[string]string{
		"{method: kendall, k: 1e300}":               "r.yml:3:33: selection.k must be at most 1000000",
		"{method: kendall, k: 2, share: .5}":        "",
		"{k: 2}":                                    "",
		"{method: none, k: 2}":                      "r.yml:3:30: selection.k has no effect with method none (remove it, or choose another method)",
		"{method: kendall, k: 1, features: [a, b]}": "r.yml:3:46: selection.features has no effect with method kendall (use method fixed, or remove it)",
	} {
		src := "data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\nselection: " + line + "\n"
		r, problems := Options{}.parse(
			"r.yml", []byte(src),
			fullAvailability(),
		)
		if problems.Error() != want {
			t.Errorf(
				"%s: %v, want %s",
				line, problems, want,
			)
		}
		if want == "" && r.Selection.Share() == 0 {
			t.Errorf("%s: no share", line)
		}
	}
}

// TestDefaultShares checks the default share of a selection against the documentation, also in the published recipe.
func TestDefaultShares(t *testing.T) {
	for method, want := range map[string]float64{
		"kendall":  pipeline.DefaultSelectionShare,
		"sis":      pipeline.DefaultSelectionShare,
		"sublasso": pipeline.DefaultSelectionShare,
		"dpfsdr":   pipeline.ClassedSelectionShare,
		"dpfs":     pipeline.ClassedSelectionShare,
		"crfs":     pipeline.ClassedSelectionShare,
	} {
		for _, k := range []string{"", ", k: 2"} {
			r, problems := Parse(
				"r.yml",
				[]byte("task: classification\ndata: {path: a.csv, target: y, classes: [u, v]}\nprivacy: {epsilon: 1}\nselection: {method: "+
					method+k+"}\n"),
			)
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			if r.Selection.Share() != want {
				t.Errorf(
					"%s%s: share %v, want %v",
					method, k, r.Selection.Share(), want,
				)
			}
			p, err := r.Pipeline([]string{
				"a", "b", "c", "d",
				"e", "f", "g", "y",
			})
			if err != nil || p.SelectionShare != want {
				t.Errorf(
					"%s%s: the run spends %v, want %v (%v)",
					method,
					k,
					p.SelectionShare,
					want,
					err,
				)
			}
		}
	}
}

// TestLargeFilesAreBounded checks that a file at the size limit with mistakes only is validated, and that the message
// stays short.
func TestLargeFilesAreBounded(t *testing.T) {
	const head = "data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\n"
	fill := func(prefix, unit, suffix string) []byte {
		n := (MaxSize - len(head) - len(prefix) - len(suffix)) / len(unit)
		return []byte(head + prefix + strings.Repeat(unit, n/8) + suffix)
	}
	var keys strings.Builder
	for i := range 10_000 {
		keys.WriteString(strings.Repeat("k", 1+i%7) + yamlWord(show(float64(i))) + ": 1\n")
	}
	for name, src := range map[string][]byte{
		"nulls": fill(
			"selection: {method: fixed, features: [",
			"~,", "]}\n",
		),
		"repeats": fill(
			"selection: {method: fixed, features: [",
			"a,", "]}\n",
		),
		"keys":     []byte(head + keys.String()),
		"long key": []byte(head + strings.Repeat("k", 100_000) + ": 1\n"),
	} {
		r, problems := Parse("r.yml", src)
		if r != nil || len(problems) == 0 {
			t.Errorf("%s: accepted", name)
		}
		n := len(problems.Error())
		if n > 20_000 {
			t.Errorf(
				"%s: a message of %d bytes",
				name, n,
			)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, suffix := range []string{".bad.yml", ".good.yml", ".future.yml", ".bench.yml",
		".header.yml"} {
		for _, name := range fixtureFiles(f, suffix) {
			f.Add(readFile(f, name))
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, o := range []Options{{}, {Bench: true}} {
			r, problems := o.Parse("r.yml", src)
			if (r == nil) == (len(problems) == 0) {
				t.Fatalf("recipe %v with problems %v", r, problems)
			}
			_ = problems.Error()
			if r == nil {
				continue
			}
			roundTrip(t, r, o, thisBuild())
			_ = r.Validate([]string{"a", r.Data.Target}).Error()
		}
	})
}

func TestNearest(t *testing.T) {
	names := []string{"Income", "debt", "y"}
	for word, want := range map[string]string{
		"incmoe":  "Income",
		" INCOME": "Income",
		"dept":    "debt",
		"salary":  "",
		"z":       "",
		"Y":       "y",
	} {
		got, ok := Nearest(word, names)
		if got != want || ok != (want != "") {
			t.Errorf(
				"%q: %q, %v",
				word, got, ok,
			)
		}
	}
}

// TestPlace checks that a problem caused by a change is reported at the position of its key.
func TestPlace(t *testing.T) {
	r, problems := Parse(
		"r.yaml",
		[]byte("data:\n  path: t.csv\n  target: y\nprivacy: {epsilon: 1}\n"),
	)
	if problems != nil {
		t.Fatal(problems)
	}
	for path, want := range map[string]string{
		"data.target":   "r.yaml:3:11: no",
		"privacy.delta": "r.yaml:4:1: no",
	} {
		got := r.Place(Problem{
			Path: path,
			Msg:  "no",
			Line: 99,
		}).Error()
		if got != want {
			t.Errorf(
				"%s: %s, want %s",
				path, got, want,
			)
		}
	}
	got := new(Recipe).Place(
		Problem{
			Path: "data.target",
			Msg:  "no",
			Line: 99,
		}).Error()
	if got != "no" {
		t.Error(got)
	}
}
