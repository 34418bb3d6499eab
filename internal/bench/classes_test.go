package bench

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/adapter/golearn"
	"github.com/dptrain/dptrain/budget"
)

const loans = "../../testdata/loans.csv"

// TestRunClasses checks that classes and categories are taken from the public table, that the metric is the accuracy,
// and that every method beats the largest class, which has .72 of the rows of one target and .36 of the rows of
// the other.
func TestRunClasses(t *testing.T) {
	for target, least := range map[string]float64{"repaid": .75, "rating": .5} {
		summaries, err := Run(
			context.Background(),
			Config{
				Public:     true,
				Data:       []string{loans},
				Task:       "classification",
				Target:     target,
				Categories: true,
				Trials:     3,
				Methods:    []string{"joint-gram", "boosted-additive", "nonprivate-ols"},
				Budget:     budget.Target{Epsilon: 2, Delta: 1e-5},
			},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range summaries {
			b := s.Balanced
			if s.Metric != MetricAccuracy ||
				s.Trials != 3 ||
				s.Median < least ||
				s.D != 7 ||
				!(b.Q25 <= b.Median && b.Median <= b.Q75 && b.Q75 <= 1) ||
				b.Median < .4 {
				t.Errorf("%s: %+v", target, s)
			}
		}
	}
}

// TestClassificationRecipe checks that a recipe specifies its own task and classes.
func TestClassificationRecipe(t *testing.T) {
	summaries, err := Run(
		context.Background(),
		Config{
			Public: true,
			Recipes: []string{
				"../../examples/classes-three.yaml",
				"../../examples/basic.yaml",
			},
			Trials: 1,
		},
		nil,
	)
	if err != nil {
		t.Fatal(err)
	}
	if len(summaries) != 2 ||
		summaries[0].Metric != MetricAccuracy ||
		summaries[0].Median < .5 ||
		summaries[1].Metric != MetricR2 {
		t.Errorf("%+v", summaries)
	}
}

func TestClassesRefused(t *testing.T) {
	dir := t.TempDir()
	write := func(name, content string) string {
		path := filepath.Join(dir, name)
		err := os.WriteFile(path, []byte(content), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	one := write(
		"one.csv",
		"a,y\n1,x\n2,x\n3,?\n",
	)
	for name, c := range map[string]struct {
		config Config
		want   error
	}{
		"unknown task": {
			Config{Data: []string{loans}, Task: "ranking"},
			ErrTask,
		},
		"classes of a number": {
			Config{
				Data:    []string{loans},
				Classes: []string{"no", "yes"},
			},
			ErrTask,
		},
		"one value": {
			Config{Data: []string{one}, Task: "classification"},
			ErrNoClasses,
		},
		"a number with too many values": {
			Config{
				Data:   []string{loans},
				Task:   "classification",
				Target: "income",
			},
			ErrNoClasses,
		},
	} {
		c.config.Public = true
		_, err := Run(context.Background(), c.config, nil)
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%s: %v, want %v",
				name, err, c.want,
			)
		}
	}
}

// TestReadLevels checks that numbers are sorted by size and text alphabetically, and that a missing cell is not a
// level.
func TestReadLevels(t *testing.T) {
	path := filepath.Join(t.TempDir(), "t.tsv")
	if err := os.WriteFile(path,
		[]byte("\uFEFFa\tb\tc\n10\tx \t\n9\t\"q\"\tNA\n9\ty\n2\tx\t5\t6\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	levels, err := readLevels(
		t.Context(), path,
		[]string{"a", "b", "c"},
	)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range [][]string{
		{"2", "9", "10"},
		{"q", "x", "y"},
		{"5"},
	} {
		got := levels[j].sortedValues()
		if !slices.Equal(got, want) ||
			levels[j].text != (j == 1) {
			t.Errorf(
				"column %d: %q, text %v",
				j, got, levels[j].text,
			)
		}
	}
}

// TestScoreClasses checks that rows in no class are not scored, that a class without rows is ignored in the balanced
// accuracy, and that a class that is never predicted is not. golearn computes the same scores.
func TestScoreClasses(t *testing.T) {
	classes := []string{"a", "b", "c"}
	for name, c := range map[string]struct {
		truth, predicted []int32
		want             ClassScore
	}{
		"unequal": {
			[]int32{0, 0, 0, 0, 1, 1},
			[]int32{0, 0, 0, 0, 1, 0},
			ClassScore{5. / 6, 3. / 4},
		},
		"in no class": {
			[]int32{0, 0, 1, 3, -1},
			[]int32{0, 1, 1, 0, 0},
			ClassScore{2. / 3, 3. / 4},
		},
		"never": {
			[]int32{0, 0, 0, 2},
			[]int32{0, 0, 0, 0},
			ClassScore{3. / 4, 1. / 2},
		},
		"no row of b": {
			[]int32{0, 2, 2},
			[]int32{1, 2, 2},
			ClassScore{2. / 3, 1. / 2},
		},
		"odd guess": {
			[]int32{0, 1},
			[]int32{7, 1},
			ClassScore{1. / 2, 1. / 2},
		},
	} {
		got, err := ScoreClasses(classes, c.truth, c.predicted)
		if err != nil ||
			math.Abs(got.Accuracy-c.want.Accuracy) > 1e-15 ||
			math.Abs(got.Balanced-c.want.Balanced) > 1e-15 {
			t.Errorf(
				"%s: %+v, %v",
				name, got, err,
			)
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		truth := make([]int32, 1+rng.IntN(20))
		predicted := make([]int32, 0, 20)
		for i := range truth {
			truth[i] = rng.Int32N(3)
			predicted = append(predicted, rng.Int32N(5)-1)
		}
		matrix, err := golearn.ConfusionOfCodes(classes, truth, predicted)
		got, scoreErr := ScoreClasses(classes, truth, predicted)
		if err := errors.Join(err, scoreErr); err != nil {
			t.Fatal(err)
		}
		if math.Abs(got.Accuracy-golearn.Accuracy(matrix)) > 1e-15 ||
			math.Abs(got.Balanced-golearn.BalancedAccuracy(matrix)) > 1e-15 {
			t.Errorf(
				"%v, %v: %+v; golearn has %v and %v",
				truth,
				predicted,
				got,
				golearn.Accuracy(matrix),
				golearn.BalancedAccuracy(matrix),
			)
		}
	}
	_, err := ScoreClasses(classes, []int32{3}, []int32{1})
	if !errors.Is(err, ErrNoTestRow) {
		t.Errorf("no row in a class: %v", err)
	}
	if _, err := ScoreClasses(classes, []int32{0}, nil); !errors.Is(err, ErrRowCount) {
		t.Errorf("no prediction: %v", err)
	}
}
