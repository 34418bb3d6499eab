package recipe

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/dptrain/dptrain/internal/train/method"
)

var update = flag.Bool("update", false, "rewrite the expected messages in testdata")

var sameRecipe = cmp.Options{cmpopts.IgnoreUnexported(Recipe{}), cmpopts.EquateEmpty()}

// fullAvailability returns a build that supports every name of the closed lists.
func fullAvailability() availability {
	return availability{
		tasks:        tasks,
		relations:    relations,
		compositions: compositions,
		scalings:     scalings,
		selections:   selections,
		models:       models,
		benchModels:  nonprivate,
		fallbacks:    fallbacks(),
	}
}

// fixtureFiles returns the fixtures with a suffix, at least one.
func fixtureFiles(t testing.TB, suffix string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", "*"+suffix))
	if err != nil || len(names) == 0 {
		t.Fatalf(
			"no fixtures testdata/*%s: %v",
			suffix, err,
		)
	}
	return names
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// compareGolden compares problems with the text next to a fixture.
func compareGolden(t *testing.T, fixture string, problems Problems) {
	t.Helper()
	if len(problems) == 0 {
		t.Fatal("accepted")
	}
	got := problems.Error() + "\n"
	name := strings.TrimSuffix(fixture, ".yml") + ".txt"
	if *update {
		err := os.WriteFile(name, []byte(got), 0o644)
		if err != nil {
			t.Fatal(err)
		}
	}
	diff := cmp.Diff(string(readFile(t, name)), got)
	if diff != "" {
		t.Errorf(
			"messages (-want +got):\n%s",
			diff,
		)
	}
}

func TestRejected(t *testing.T) {
	for _, fixture := range fixtureFiles(t, ".bad.yml") {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			r, problems := Parse(filepath.Base(fixture), readFile(t, fixture))
			if r != nil {
				t.Error("a recipe came back with the problems")
			}
			compareGolden(t, fixture, problems)
			for _, p := range problems {
				if p.Line < 1 || p.Column < 1 || p.File == "" {
					t.Errorf("no position: %+v", p)
				}
			}
		})
	}
}

func TestRejectedWithHeader(t *testing.T) {
	for _, fixture := range fixtureFiles(t, ".header.yml") {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			src := readFile(t, fixture)
			first, _, _ := strings.Cut(string(src), "\n")
			header := strings.Split(strings.TrimPrefix(first, "# header: "), ", ")
			r, problems := Options{}.parse(filepath.Base(fixture), src, fullAvailability())
			if problems != nil {
				t.Fatal(problems)
			}
			compareGolden(t, fixture, r.Validate(header))
		})
	}
}

func TestHeaderThatFits(t *testing.T) {
	r, problems := Parse(
		"full.good.yml",
		readFile(t, "testdata/full.good.yml"),
	)
	if problems != nil {
		t.Fatal(problems)
	}
	header := []string{
		"id", "ocean", "age", "heating",
		"a.b [c]", "rooms",
		"öl\tx", "price",
	}
	if problems := r.Validate(header); problems != nil {
		t.Error(problems)
	}
	r.Selection.Set("k", 5)
	if problems := r.Validate(header); problems != nil {
		t.Errorf("k below the number of candidates: %v", problems)
	}
	for _, k := range []int{6, 7} {
		r.Selection.Set("k", k)
		problems := r.Validate(header)
		if len(problems) != 1 || problems[0].Path != "selection.k" {
			t.Errorf(
				"k = %d of 6 candidates: %v",
				k, problems,
			)
		}
	}
	for _, odd := range [][]string{
		nil, {""},
		{"price", "price"},
		{"\xff", "price"},
	} {
		r.Validate(odd) // must not panic
	}
}

// TestHeaderIsNotRepeated passes the first record of a table without a header as the header. Messages must not quote
// its cells.
func TestHeaderIsNotRepeated(t *testing.T) {
	for _, method := range []string{"private", "declared"} {
		r := Default()
		r.Data.Target = "price"
		r.Data.Exclude = []string{"id"}
		r.Scaling.Method = method
		r.Selection.Set("k", 9)
		text := r.Validate([]string{"secret1", "prices", "ids"}).Error()
		for _, cell := range []string{"secret1", "prices", "ids"} {
			if strings.Contains(text, cell) {
				t.Errorf(
					"cell %q in:\n%s",
					cell, text,
				)
			}
		}
	}
}

func TestAccepted(t *testing.T) {
	var all []*Recipe
	check := func(fixture string, o Options, can availability) {
		t.Run(filepath.Base(fixture), func(t *testing.T) {
			r, problems := o.parse(filepath.Base(fixture), readFile(t, fixture), can)
			if problems != nil {
				t.Fatal(problems)
			}
			roundTrip(t, r, o, can)
			all = append(all, r)
		})
	}
	for _, f := range fixtureFiles(t, ".good.yml") {
		check(f, Options{}, thisBuild())
	}
	for _, f := range fixtureFiles(t, ".bench.yml") {
		check(f, Options{Bench: true}, thisBuild())
	}
	for _, f := range fixtureFiles(t, ".future.yml") {
		check(f, Options{}, fullAvailability())
	}
	if len(all) < 10 {
		t.Errorf("only %d recipes checked", len(all))
	}
}

// reporter is the part of a test that helpers need, for Go's tests and rapid's.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// roundTrip publishes r, adds the path, and checks that the result is r.
func roundTrip(t reporter, r *Recipe, o Options, can availability) {
	t.Helper()
	pub, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	src := pub
	if r.Data.Path != "" {
		src = bytes.Replace(
			pub,
			[]byte("\ndata:\n"),
			[]byte("\ndata:\n  path: "+yamlWord(r.Data.Path)+"\n"),
			1,
		)
	}
	if r.Data.Spark != "" {
		src = bytes.Replace(
			pub,
			[]byte("\ndata:\n"),
			[]byte("\ndata:\n  spark: "+yamlWord(r.Data.Spark)+"\n"),
			1,
		)
	}
	back, problems := o.parse("public.yml", src, can)
	if problems != nil {
		t.Fatalf(
			"the published recipe is refused:\n%v\n%s",
			problems, src,
		)
	}
	want := *r
	want.Output = Default().Output
	want.Engine = ""
	if r.Task != TaskCausal { // the published recipe states these defaults
		want.Data.Undeclared = r.Undeclared()
		want.Data.Classes = r.Classes()
		if want.Data.Classes.Found {
			want.Data.MostClasses = r.mostClasses()
		}
	}
	if r.Ledger != nil {
		want.Ledger = &Ledger{Path: DefaultLedger, Dataset: r.Ledger.Dataset}
	}
	diff := cmp.Diff(want, *back, sameRecipe)
	if diff != "" {
		t.Errorf(
			"round trip (-want +got):\n%s\n%s",
			diff, pub,
		)
	}
	again, err := back.Public()
	if err != nil || !bytes.Equal(pub, again) {
		t.Errorf(
			"publishing twice differs: %v\n%s\n%s",
			err, pub, again,
		)
	}
}

func TestPublicKeepsPathsOut(t *testing.T) {
	src := `# a comment
data: {path: secret-dir/houses.csv, target: price}
privacy: {epsilon: 1}   # another comment
ledger: {path: secret-dir/ledger, dataset: houses}
output: {dir: secret-dir/out}
engine: stream
`
	r, problems := Options{}.parse(
		"r.yml", []byte(src),
		fullAvailability(),
	)
	if problems != nil {
		t.Fatal(problems)
	}
	pub, err := r.Public()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range []string{
		"secret-dir", "path", "output",
		"engine", "comment", "#",
	} {
		if strings.Contains(string(pub), word) {
			t.Errorf(
				"%q in the published recipe:\n%s",
				word, pub,
			)
		}
	}
	for _, line := range []string{"delta: 1e-06", "relation: add-remove", "composition: tight",
		"holdout: 0.2", "multiline_quotes: false", "fallback: none", "dataset: houses"} {
		if !strings.Contains(string(pub), line) {
			t.Errorf(
				"no %q in the published recipe:\n%s",
				line, pub,
			)
		}
	}
}

func TestDecodedValues(t *testing.T) {
	r, problems := Parse(
		"full.good.yml",
		readFile(t, "testdata/full.good.yml"),
	)
	if problems != nil {
		t.Fatal(problems)
	}
	num := func(x float64) *float64 {
		return &x
	}
	yes := true
	no := false
	want := Recipe{
		Version: 1,
		Task:    "regression",
		Data: Data{
			Path:            "houses.csv",
			Target:          "price",
			Exclude:         []string{"id"},
			MultilineQuotes: true,
			Columns: map[string]Column{
				"ocean": {
					Categories: Names{List: []string{"inland", "near bay", "near ocean"}},
					Other:      &no,
				},
				"age": {
					Lower:   num(0),
					Upper:   num(120),
					Missing: &Missing{Number: 40},
				},
				"heating": {
					Categories: Names{List: []string{
						"no", "yes", "1",
						"1.0x", "null",
					}},
					Other: &yes,
				},
				"a.b [c]": {
					Lower: num(-1.5),
					Upper: num(1000),
				},
				"rooms": {Missing: &Missing{}},
				"öl\tx": {Lower: num(0), Upper: num(1)},
			},
		},
		Privacy: Privacy{
			Epsilon:     0.5,
			Delta:       1e-5,
			Relation:    "substitute",
			Composition: "basic",
		},
		Scaling:   Scaling{Method: "private"},
		Selection: Selection{Method: "auto"},
		Model:     Model{Method: "joint-gram", Fallback: "none"},
		Output:    Output{Dir: "results"},
	}
	diff := cmp.Diff(want, *r, sameRecipe)
	if diff != "" {
		t.Errorf(
			"(-want +got):\n%s",
			diff,
		)
	}
	fixed, problems := Parse(
		"fixed.good.yml",
		readFile(t, "testdata/fixed.good.yml"),
	)
	if problems != nil {
		t.Fatal(problems)
	}
	if got, want := fixed.Selection,
		(Selection{
			Method: "fixed",
			Keys:   method.Values{"features": []string{"age", "2nd", "7", "yes"}},
		}); !cmp.Equal(got, want) {
		t.Errorf("names are not as written: %+v", got)
	}
}

func TestDataPathIsRelativeToRecipe(t *testing.T) {
	src := []byte(
		"data: {path: ../t/houses.csv, target: y}\nprivacy: {epsilon: 1}\nledger: {dataset: d}\n")
	r, problems := Options{}.parse(
		filepath.Join("a", "b", "r.yml"),
		src,
		fullAvailability(),
	)
	if problems != nil {
		t.Fatal(problems)
	}
	got := r.DataFile()
	want := filepath.Join("a", "t", "houses.csv")
	if got != want {
		t.Errorf("DataFile: %s, want %s", got, want)
	}
	got = r.LedgerFile()
	want = filepath.Join("a", "b", "dptrain.ledger")
	if got != want {
		t.Errorf("LedgerFile: %s, want %s", got, want)
	}
	r.Data.Path = filepath.Join(t.TempDir(), "x.csv")
	if r.DataFile() != r.Data.Path {
		t.Error("an absolute path was moved")
	}
	if (&Recipe{}).DataFile() != "" ||
		(&Recipe{}).LedgerFile() != "" {
		t.Error("an absent path became a path")
	}
}

// TestAvailableIsPartOfTheClosedLists checks the only place that lists the features of this build.
func TestAvailableIsPartOfTheClosedLists(t *testing.T) {
	can := thisBuild()
	all := fullAvailability()
	for _, pair := range [][2][]string{
		{can.tasks, all.tasks},
		{can.relations, all.relations},
		{can.compositions, all.compositions},
		{can.scalings, all.scalings},
		{can.selections, all.selections},
		{can.models, all.models},
		{can.benchModels, all.benchModels},
		{can.fallbacks, all.fallbacks},
	} {
		if len(pair[0]) == 0 {
			t.Error("nothing is available")
		}
		for _, name := range pair[0] {
			if !slices.Contains(pair[1], name) && !strings.HasPrefix(name, asPublished) { // an open list, for bench
				t.Errorf("%s is not on its closed list", name)
			}
		}
	}
	selection, model := Available()
	selection[0] = "changed"
	model[0] = "changed"
	s, m := Available()
	if s[0] == "changed" || m[0] == "changed" {
		t.Error("the caller can change the list")
	}
	for _, m := range AvailableInBench() {
		if slices.Contains(models, m) {
			t.Errorf("%s is private", m)
		}
	}
}

// TestAvailableNamesAreAccepted checks that each name of a closed list is accepted exactly if it is available.
func TestAvailableNamesAreAccepted(t *testing.T) {
	const base = "data: {path: a.csv, target: y}\nprivacy: {epsilon: 1}\n"
	const classes = "task: classification\ndata: {path: a.csv, target: y, classes: [no, yes]}\nprivacy: {epsilon: 1}\n"
	accepts := func(o Options, name, line string) bool {
		text := base
		if NeedsClasses(name) {
			text = classes
		}
		r, _ := o.Parse(
			"r.yml",
			[]byte(text+line+"\n"),
		)
		return r != nil
	}
	can := thisBuild()
	for _, m := range append(slices.Clone(models), nonprivate...) {
		line := "model: {method: " + m + "}"
		got := accepts(Options{}, m, line)
		want := slices.Contains(can.models, m)
		if got != want {
			t.Errorf(
				"%s: accepted %v, want %v",
				m, got, want,
			)
		}
		if got, want := accepts(Options{Bench: true}, m, line),
			slices.Contains(can.models, m) ||
				slices.Contains(can.benchModels, m); got != want {
			t.Errorf(
				"bench %s: accepted %v, want %v",
				m, got, want,
			)
		}
	}
	for _, s := range selections {
		line := "selection: {method: " + s + "}"
		if s == "fixed" {
			line = "selection: {method: fixed, features: [a]}"
		}
		if got, want := accepts(Options{}, s, line),
			slices.Contains(can.selections, s); got != want {
			t.Errorf(
				"%s: accepted %v, want %v",
				s, got, want,
			)
		}
	}
	for name, want := range map[string]bool{
		asPublished + "tukey":  true,
		asPublished + "adassp": false,
	} {
		line := "model: {method: " + name + "}"
		if accepts(Options{}, name, line) {
			t.Errorf("%s was accepted outside bench", name)
		}
		got := accepts(Options{Bench: true}, name, line)
		if got != want {
			t.Errorf(
				"bench %s: accepted %v, want %v",
				name, got, want,
			)
		}
	}
}
