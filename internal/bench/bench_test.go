package bench_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/bench"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit"
)

// writeFile creates a file in dir and returns its path.
func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	err := os.WriteFile(path, []byte(text), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// lineTable returns a CSV of n rows of y = 2a - b + noise, whose exact R² is about signal/(signal + noise²), with a
// category column named where.
func lineTable(n int, noise float64) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("a,b,where,y\n")
	for range n {
		a := r.Float64()*2 - 1
		c := r.Float64()*2 - 1
		where := r.IntN(3)
		y := 2*a - c + noise*r.NormFloat64() + 3*float64(where%2)
		fmt.Fprintf(
			&b,
			"%.6f,%.6f,w%d,%.6f\n",
			a, c, where, y,
		)
	}
	return b.String()
}

// numbersTable is like lineTable with where encoded as a number.
func numbersTable(n int, noise float64) string {
	return strings.ReplaceAll(lineTable(n, noise), ",w", ",")
}

func collectRows(t *testing.T, c bench.Config) ([]bench.Row, []bench.Summary) {
	t.Helper()
	var rows []bench.Row
	summaries, err := bench.Run(context.Background(), c, func(r bench.Row) {
		rows = append(rows, r)
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows, summaries
}

func TestRefusesDataNotCalledPublic(t *testing.T) {
	path := writeFile(t, t.TempDir(), "line.csv", numbersTable(50, 1))
	summaries, err := bench.Run(
		context.Background(),
		bench.Config{Data: []string{path}},
		func(bench.Row) {
			t.Error("a row was delivered")
		},
	)
	if !errors.Is(err, bench.ErrNotPublic) || summaries != nil {
		t.Fatalf("got %v, %v", summaries, err)
	}
}

func TestLeastSquaresReachesTheKnownR2(t *testing.T) {
	// var(2a - b) = 5/3, and where%2 adds 9 * 2/9 = 2, which a linear model in where (0, 1, 2) cannot explain: R² =
	// (5/3) / (5/3 + 2 + 1/4).
	path := writeFile(
		t, t.TempDir(), "line.csv",
		numbersTable(20000, .5),
	)
	_, summaries := collectRows(
		t,
		bench.Config{
			Public:  true,
			Data:    []string{path},
			Methods: []string{"nonprivate-ols"},
		},
	)
	want := (5. / 3) / (5./3 + 2 + .25)
	got := summaries[0].Median
	if math.Abs(got-want) > .02 {
		t.Errorf(
			"median %.4f, want %.4f",
			got, want,
		)
	}
	s := summaries[0]
	if s.N != 20000 ||
		s.D != 3 ||
		s.Trials != 10 ||
		s.Failed != 0 ||
		!(s.Q25 <= s.Median && s.Median <= s.Q75) {
		t.Errorf("summary %+v", s)
	}
}

// TestBudgetReachesTheMethod checks that more budget gives a better model, and that the smallest budget gives a
// useless one.
func TestBudgetReachesTheMethod(t *testing.T) {
	path := writeFile(
		t, t.TempDir(), "line.csv",
		numbersTable(5000, .5),
	)
	median := func(epsilon float64) float64 {
		_, s := collectRows(
			t,
			bench.Config{
				Public:  true,
				Data:    []string{path},
				Methods: []string{"joint-gram"},
				Trials:  5,
				Budget:  budget.Target{Epsilon: epsilon, Delta: 1e-6},
			},
		)
		if s[0].Epsilon != epsilon ||
			s[0].Delta != 1e-6 ||
			!s[0].Private {
			t.Errorf("summary %+v", s[0])
		}
		return s[0].Median
	}
	little := median(1e-3)
	much := median(5)
	if !(little < much-.1) || much < .35 {
		t.Errorf(
			"median R² %.3f at epsilon 0.001 and %.3f at 5",
			little, much,
		)
	}
}

func TestRowsComeInOrderAndRepeat(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "b.csv", numbersTable(200, 1))
	writeFile(
		t, dir, "a.tsv",
		strings.ReplaceAll(numbersTable(150, 1), ",", "\t"),
	)
	writeFile(t, dir, "readme.txt", "not a table")
	var progress []string
	c := bench.Config{
		Public:  true,
		Data:    []string{dir, filepath.Join(dir, "b.csv")},
		Methods: []string{"nonprivate-ols", "nonprivate-ridge"},
		Trials:  12,
		Progress: func(done, total int) {
			progress = append(progress, fmt.Sprintf("%d/%d", done, total))
		},
	}
	rows, summaries := collectRows(t, c)
	var got, want []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Data, r.Trial, r.Method))
	}
	for _, data := range []string{"a", "b"} {
		for trial := 1; trial <= 12; trial++ {
			for _, m := range c.Methods {
				want = append(want, fmt.Sprint(data, trial, m))
			}
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("order %v", got)
	}
	if len(progress) != 48 || progress[47] != "48/48" {
		t.Errorf("progress %v", progress)
	}
	if len(summaries) != 4 ||
		summaries[1].Data != "a" ||
		summaries[1].Method != "nonprivate-ridge" {
		t.Errorf("summaries %+v", summaries)
	}
	again, _ := collectRows(t, c)
	c.Seed = 1
	other, _ := collectRows(t, c)
	same := true
	for i := range rows {
		if rows[i].Value != again[i].Value {
			t.Errorf("row %d changed from run to run", i)
		}
		same = same && rows[i].Value == other[i].Value
	}
	if same {
		t.Error("another seed gave the same splits")
	}
}

func TestFailuresAreRows(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(
		t, dir, "short.csv",
		"x,y\n1,2\n2,3\n3,5\n4,\n",
	)
	rows, summaries := collectRows(
		t,
		bench.Config{
			Public:  true,
			Data:    []string{path},
			Methods: []string{"nonprivate-ols", "joint-gram"},
		},
	)
	failed := 0
	for _, r := range rows {
		if r.Err != nil {
			failed++
			if !errors.Is(r.Err, bench.ErrNoTestRow) {
				t.Errorf(
					"trial %d: %v",
					r.Trial, r.Err,
				)
			}
		}
	}
	// Four rows fill four of ten folds; one row has no target.
	if len(rows) != 20 ||
		failed != 14 ||
		summaries[0].Trials != 3 ||
		summaries[1].Failed != 7 {
		t.Errorf(
			"%d rows, %d failed, %+v",
			len(rows), failed, summaries,
		)
	}

	// A method that cannot run on one table does not stop the others.
	alone := writeFile(t, dir, "alone.csv", "y\n1\n2\n")
	rows, summaries = collectRows(
		t,
		bench.Config{
			Public:  true,
			Data:    []string{alone, path},
			Methods: []string{"auto", "nonprivate-lasso"},
			Trials:  1,
		},
	)
	if len(rows) != 4 ||
		rows[0].Err == nil ||
		rows[1].Err == nil ||
		rows[2].Err != nil && rows[3].Err == nil {
		t.Errorf("rows %+v", rows)
	}
	if !math.IsNaN(summaries[0].Median) ||
		summaries[0].Failed != 1 ||
		summaries[0].Trials != 0 ||
		summaries[0].Err == nil ||
		summaries[0].Err.Error() != rows[0].Err.Error() {
		t.Errorf("summary %+v", summaries[0])
	}
}

func TestMistakesAreFoundBeforeRows(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(t, dir, "line.csv", numbersTable(20, 1))
	broken := writeFile(
		t, dir, "broken.yaml",
		"privacy: {epsilon: -1}\n",
	)
	plain := writeFile(
		t, dir, "plain.yaml",
		"model: {method: joint-gram}\n",
	)
	empty := filepath.Join(dir, "empty")
	if err := os.Mkdir(empty, 0o700); err != nil {
		t.Fatal(err)
	}
	var method *bench.MethodError
	var problems recipe.Problems
	isMethod := func(err error) bool {
		return errors.As(err, &method)
	}
	is := func(
		target error,
	) func(error) bool {
		return func(err error) bool {
			return errors.Is(err, target)
		}
	}
	ok := []string{path}
	for name, c := range map[string]struct {
		config bench.Config
		want   func(error) bool
	}{
		"method": {
			bench.Config{Data: ok, Methods: []string{"magic"}},
			isMethod,
		},
		"method twice": {
			bench.Config{Data: ok, Methods: []string{"auto", "auto"}},
			isMethod,
		},
		"recipe": {
			bench.Config{
				Data:    ok,
				Recipes: []string{broken},
			},
			func(err error) bool {
				return errors.As(err, &problems)
			},
		},
		"no data": {bench.Config{}, is(bench.ErrNoData)},
		"rows": {
			bench.Config{Data: ok, Rows: -1},
			is(bench.ErrRows),
		},
		"recipe, no data": {
			bench.Config{Recipes: []string{plain}},
			is(bench.ErrNoData),
		},
		"empty folder": {
			bench.Config{Data: []string{empty}},
			is(bench.ErrNoData),
		},
		"absent file": {
			bench.Config{Data: []string{path + "x"}},
			is(dataset.ErrFormat),
		},
		"absent table": {
			bench.Config{Data: []string{filepath.Join(dir, "no.csv")}},
			is(dataset.ErrUnreadable),
		},
		"target": {
			bench.Config{Data: ok, Target: "z"},
			is(dataset.ErrNoColumn),
		},
		"trials": {
			bench.Config{Data: ok, Trials: -1},
			is(bench.ErrTrials),
		},
		"epsilon": {
			bench.Config{Data: ok, Budget: budget.Target{Epsilon: -1}},
			is(budget.ErrTarget),
		},
		"delta of 0": {
			bench.Config{
				Data:    ok,
				Methods: []string{"adassp"},
				Budget:  budget.Target{Epsilon: 1},
			},
			is(budget.ErrNotPure),
		},
		"columns relation": {
			bench.Config{
				Data:   ok,
				Budget: budget.Target{Relation: budget.SubstitutePrivateColumns},
			},
			func(err error) bool {
				return err != nil
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			c.config.Public = true
			_, err := bench.Run(context.Background(), c.config, func(bench.Row) {
				t.Error("a row was delivered")
			})
			if err == nil || !c.want(err) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRecipesAreMethods(t *testing.T) {
	dir := t.TempDir()
	path := writeFile(t, dir, "line.csv", lineTable(4000, .5))
	where := "  columns: {where: {categories: [w0, w1, w2]}}\n"
	private := writeFile(
		t,
		dir,
		"private.yaml",
		"data:\n  path: line.csv\n"+where+"privacy: {epsilon: 20}\nmodel: {method: joint-gram}\n",
	)
	open := writeFile(
		t,
		dir,
		"open.yaml",
		"data:\n  path: line.csv\n  target: y\n"+where+"model: {method: nonprivate-ols}\n",
	)
	fixed := writeFile(
		t,
		dir,
		"fixed.yaml",
		"data: {path: line.csv, exclude: [where]}\nselection: {method: fixed, features: [a]}\nmodel: {method: nonprivate-ols}\n",
	)
	alien := writeFile(
		t, dir, "alien.yaml",
		"data: {path: line.csv, target: elsewhere}\n",
	)

	rows, s := collectRows(
		t,
		bench.Config{
			Public:  true,
			Recipes: []string{private, open, fixed, alien},
			Data:    []string{path},
			Methods: []string{"nonprivate-ols"},
			Trials:  5,
		},
	)
	if len(s) != 5 ||
		s[0].Method != "nonprivate-ols" ||
		s[1].Method != "private" ||
		s[4].Method != "alien" {
		t.Fatalf("summaries %+v", s)
	}
	// With the category, the model explains everything but the noise.
	full := 1 - .25/(5./3+2+.25)
	half := (4. / 3) / (5./3 + 2 + .25)
	if math.Abs(s[2].Median-full) > .02 ||
		math.Abs(s[3].Median-half) > .06 {
		t.Errorf(
			"open %.3f, want %.3f; fixed %.3f, want %.3f",
			s[2].Median,
			full,
			s[3].Median,
			half,
		)
	}
	if s[1].Median < full-.1 ||
		s[1].Epsilon != 20 ||
		s[1].Delta != 1e-5 ||
		s[2].Private {
		t.Errorf("private %+v", s[1])
	}
	if s[2].D != 3 || s[3].D != 2 {
		t.Errorf(
			"features: %d and %d",
			s[2].D, s[3].D,
		)
	}
	var problems recipe.Problems
	last := rows[len(rows)-1]
	if !errors.As(last.Err, &problems) || s[4].Failed != 5 {
		t.Errorf("a recipe for another table: %+v", last)
	}

	// Without tables, recipes run on their own data.
	_, s = collectRows(t, bench.Config{
		Public:  true,
		Recipes: []string{open},
		Trials:  1,
	})
	if len(s) != 1 ||
		s[0].Data != "line" ||
		math.Abs(s[0].Median-full) > .05 {
		t.Errorf("summaries %+v", s)
	}
}

// TestInterruptedKeepsFinishedTrials checks that finished trials are kept when the context ends.
func TestInterruptedKeepsFinishedTrials(t *testing.T) {
	path := writeFile(t, t.TempDir(), "line.csv", numbersTable(300, 1))
	ctx, cancel := context.WithCancel(context.Background())
	var rows []bench.Row
	summaries, err := bench.Run(
		ctx,
		bench.Config{
			Public:  true,
			Data:    []string{path},
			Methods: []string{"nonprivate-ols"},
			Trials:  100000,
		},
		func(r bench.Row) {
			if rows = append(rows, r); len(rows) == 3 {
				cancel()
			}
		},
	)
	if !errors.Is(err, context.Canceled) ||
		len(rows) < 3 ||
		len(rows) == 100000 {
		t.Fatalf(
			"%d rows, error %v",
			len(rows), err,
		)
	}
	if len(summaries) != 1 ||
		summaries[0].Trials != len(rows) ||
		summaries[0].Failed != 0 {
		t.Errorf(
			"%d rows, summaries %+v",
			len(rows), summaries,
		)
	}
	if !slices.IsSortedFunc(rows, func(a, b bench.Row) int { return a.Trial - b.Trial }) {
		t.Error("rows are out of order")
	}
}

// TestDamagedTable checks that a damaged table ends the experiment and that finished trials are kept.
func TestDamagedTable(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.csv", numbersTable(100, 1))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(numbersTable(5000, 1))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	writeFile(
		t, dir, "b.csv.gz",
		packed.String()[:packed.Len()/2],
	)
	rows := 0
	summaries, err := bench.Run(
		context.Background(),
		bench.Config{Public: true, Data: []string{dir}},
		func(bench.Row) {
			rows++
		},
	)
	var file *dataset.FileError
	if !errors.As(err, &file) || !errors.Is(err, dataset.ErrCorrupt) {
		t.Errorf("got %v", err)
	}
	if rows != 10 ||
		len(summaries) != 1 ||
		summaries[0].Data != "a" {
		t.Errorf("%d rows, summaries %+v", rows, summaries)
	}
}

// TestMethodsArePaired checks that methods see the same splits: two names of one deterministic method agree trial by
// trial.
func TestMethodsArePaired(t *testing.T) {
	path := writeFile(t, t.TempDir(), "line.csv", numbersTable(400, 1))
	rows, _ := collectRows(
		t,
		bench.Config{
			Public:  true,
			Data:    []string{path},
			Methods: []string{"nonprivate-ols", "none+nonprivate-ols"},
		},
	)
	for i := 0; i < len(rows); i += 2 {
		if rows[i].Value != rows[i+1].Value {
			t.Errorf(
				"trial %d: %v and %v",
				rows[i].Trial,
				rows[i].Value,
				rows[i+1].Value,
			)
		}
	}
	if rows[0].Value == rows[2].Value {
		t.Error("two trials tested the same rows")
	}
}

func TestTablesOfSameNameAreDistinct(t *testing.T) {
	one := t.TempDir()
	two := t.TempDir()
	paths := []string{
		writeFile(t, one, "line.csv", numbersTable(50, 1)),
		writeFile(t, two, "line.csv", numbersTable(60, 1)),
	}
	_, s := collectRows(
		t,
		bench.Config{
			Public:  true,
			Data:    paths,
			Methods: []string{"nonprivate-ols"},
			Trials:  1,
		},
	)
	if len(s) != 2 ||
		s[0].Data != paths[0] ||
		s[1].Data != paths[1] {
		t.Errorf("summaries %+v", s)
	}
}

// TestPublicTables checks on real tables that accuracies exceed floors well below their usual values.
func TestPublicTables(t *testing.T) {
	dir := testkit.PublicData(t, "regression")
	floors := map[string]float64{
		"uci_power_plant": .9,
		"361078_houses":   .55,
		"uci_kin8nm":      .3,
	}
	var paths []string
	for name := range floors {
		paths = append(paths, filepath.Join(dir, name+".csv.gz"))
	}
	_, summaries := collectRows(
		t,
		bench.Config{
			Public:  true,
			Data:    paths,
			Methods: []string{"joint-gram"},
			Trials:  3,
		},
	)
	for _, s := range summaries {
		floor, ok := floors[s.Data]
		if !ok || s.Failed != 0 || s.Median < floor {
			t.Errorf(
				"%s: median %.3f, floor %.2f, %d failed",
				s.Data,
				s.Median,
				floor,
				s.Failed,
			)
		}
	}
}

// TestSkippedTrialsDoNotRun checks that skipped trials do not run and that the others keep their splits.
func TestSkippedTrialsDoNotRun(t *testing.T) {
	path := writeFile(t, t.TempDir(), "line.csv", numbersTable(200, 1))
	c := bench.Config{
		Public:  true,
		Data:    []string{path},
		Methods: []string{"nonprivate-ols", "nonprivate-ridge"},
		Trials:  4,
	}
	all, _ := collectRows(t, c)
	total := 0
	c.Progress = func(_, n int) {
		total = n
	}
	c.Skip = func(data, method string, trial int) bool {
		return data != "line" || method == "nonprivate-ols" && trial != 3 || trial == 1
	}
	rows, _ := collectRows(t, c)
	var got []string
	for _, r := range rows {
		got = append(got, fmt.Sprint(r.Method, r.Trial))
		i := slices.IndexFunc(all, func(a bench.Row) bool {
			return a.Method == r.Method && a.Trial == r.Trial
		})
		if all[i].Value != r.Value {
			t.Errorf(
				"%s, trial %d: %v alone, %v among all",
				r.Method,
				r.Trial,
				r.Value,
				all[i].Value,
			)
		}
	}
	want := []string{"nonprivate-ridge2", "nonprivate-ols3", "nonprivate-ridge3",
		"nonprivate-ridge4"}
	if !slices.Equal(got, want) || total != 4 {
		t.Errorf("rows %v of %d", got, total)
	}
	c.Skip = func(string, string, int) bool {
		return true
	}
	if rows, _ := collectRows(t, c); len(rows) != 0 {
		t.Errorf("nothing was to do: %v", rows)
	}
}

// TestAbstainedTrialsAreRows checks that a method that abstains yields rows with that status.
func TestAbstainedTrialsAreRows(t *testing.T) {
	path := writeFile(t, t.TempDir(), "line.csv", numbersTable(200, 1))
	rows, summaries := collectRows(
		t,
		bench.Config{
			Public:  true,
			Data:    []string{path},
			Methods: []string{"tukey"},
			Trials:  1,
		},
	)
	if len(rows) != 1 ||
		!errors.Is(rows[0].Err, bench.ErrAbstained) ||
		summaries[0].Failed != 1 {
		t.Errorf("%+v, %+v", rows, summaries)
	}
}
