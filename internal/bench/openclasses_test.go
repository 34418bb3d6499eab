package bench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/recipe"
)

// TestOpenClassifiersRun runs the classifiers on two and on three classes, with categories, after a selection, and
// from a recipe with fixed columns. Neither classifier claims a guarantee.
func TestOpenClassifiersRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "fixed.yaml")
	text := "task: classification\ndata: {target: rating, classes: [weak, fair, very good]}\nselection: {method: fixed, features: [income, debt]}\nmodel: {method: nonprivate-svm}\n"
	err := os.WriteFile(path, []byte(text), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	for target, least := range map[string]float64{"repaid": .8, "rating": .5} {
		c := Config{
			Public:     true,
			Data:       []string{loans},
			Task:       "classification",
			Target:     target,
			Categories: true,
			Trials:     3,
			Methods:    []string{"nonprivate-logistic", "none+nonprivate-svm"},
		}
		if target == "rating" {
			c.Recipes = []string{path}
		}
		summaries, err := Run(context.Background(), c, func(r Row) {
			if r.Private || r.Epsilon != 0 || r.Err != nil {
				t.Errorf("%+v", r)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range summaries {
			if s.Trials != 3 || s.Median < least || s.Private {
				t.Errorf("%s: %+v", target, s)
			}
		}
	}
}

// TestClassMethodsNeedClasses checks that a method that needs classes is refused for a numeric target before a table
// is opened, by name and in a recipe.
func TestClassMethodsNeedClasses(t *testing.T) {
	for _, name := range []string{"nonprivate-logistic", "none+nonprivate-svm", "logistic",
		"dpfsdr+auto", "golearn-id3", "none+golearn-forest"} {
		var mistake *MethodError
		_, err := Run(
			context.Background(),
			Config{
				Public:  true,
				Data:    []string{"absent.csv"},
				Methods: []string{name},
			},
			nil,
		)
		if !errors.As(err, &mistake) ||
			!strings.Contains(err.Error(), "needs classes") {
			t.Errorf("%s: %v", name, err)
		}
	}
	path := filepath.Join(t.TempDir(), "r.yaml")
	err := os.WriteFile(
		path,
		[]byte("data: {target: debt}\nmodel: {method: nonprivate-svm}\n"),
		0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
	var problems recipe.Problems
	_, err = Run(
		context.Background(),
		Config{
			Public:  true,
			Data:    []string{loans},
			Recipes: []string{path},
		},
		nil,
	)
	if !errors.As(err, &problems) ||
		!strings.Contains(err.Error(), "nonprivate-svm needs classes") {
		t.Errorf("recipe: %v", err)
	}
}

// TestOpenClassifierAfterPrivateSelection checks that a private selection cannot be followed by a classifier without
// privacy.
func TestOpenClassifierAfterPrivateSelection(t *testing.T) {
	_, err := Run(
		context.Background(),
		Config{
			Public:  true,
			Data:    []string{loans},
			Task:    "classification",
			Target:  "repaid",
			Trials:  1,
			Methods: []string{"dpfsdr+nonprivate-logistic"},
		},
		func(r Row) {
			if !errors.Is(r.Err, errPrivateSelection) {
				t.Error(fmt.Sprint(r.Err))
			}
		},
	)
	if err != nil {
		t.Fatal(err)
	}
}
