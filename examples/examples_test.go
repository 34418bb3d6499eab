// Package examples_test checks that every recipe in this folder fits the table
// it names and has a price.
package examples_test

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
)

// wide lists the recipes whose sums are proved for more records than a table in memory may have.
var wide = []string{
	"auto-few-records.yaml", "basic.yaml", "boosted-adassp.yaml", "boosted-additive.yaml",
	"boosted-kernel.yaml", "categories.yaml",
	"classes-additive-substitute.yaml", "classes-few-records.yaml", "classes-three.yaml",
	"classes.yaml", "crfs.yaml", "declared.yaml",
	"dpfsdr.yaml", "fixed.yaml", "found.yaml", "greedy-gram.yaml", "houses.yaml", "logistic.yaml",
	"most-classes.yaml",
	"no-holdout.yaml", "prefix.yaml", "prototypes-substitute.yaml", "prototypes.yaml",
	"substitute.yaml",
	"target-encoding-substitute.yaml", "target-encoding.yaml", "transform-substitute.yaml",
	"transform.yaml", "values.yaml",
	"words-substitute.yaml", "words.yaml",
}

func TestRecipes(t *testing.T) {
	files, err := filepath.Glob("*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) < 6 {
		t.Fatalf("%d recipes, want at least 6", len(files))
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(text), "# ") {
				t.Error("the recipe does not begin with a comment that says what it shows")
			}
			r, err := recipe.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			header, err := dataset.Header(r.Data.Path, dataset.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			p, err := r.Pipeline(header)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := p.Plan()
			if err != nil {
				t.Fatal(err)
			}
			most := plan.MostRecords()
			if slices.Contains(wide, file) != (most > math.MaxInt32) &&
				math.MaxInt > math.MaxInt32 {
				t.Errorf("the plan takes %d records", most)
			}
			// The plan promises the requested budget and uses nearly all of it.
			g := plan.Guarantee()
			if g.Epsilon > r.Privacy.Epsilon || g.Epsilon < .99*r.Privacy.Epsilon {
				t.Errorf("the plan costs epsilon %v of %v", g.Epsilon, r.Privacy.Epsilon)
			}
			if g.Delta != r.Privacy.Delta {
				t.Errorf("the plan has delta %v, want %v", g.Delta, r.Privacy.Delta)
			}
		})
	}
}

// TestStudyRecipes does the same for the recipes that request causal directions.
func TestStudyRecipes(t *testing.T) {
	files, err := filepath.Glob("causal/*.yaml")
	if err != nil || len(files) < 3 {
		t.Fatalf("%d recipes, want at least 3: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(text), "# ") {
				t.Error("the recipe does not begin with a comment that says what it shows")
			}
			r, err := recipe.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			header, err := dataset.Header(r.DataFile(), dataset.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.Study(header)
			if err != nil {
				t.Fatal(err)
			}
			plan, err := s.Plan()
			if err != nil {
				t.Fatal(err)
			}
			g := plan.Guarantee()
			if g.Epsilon != r.Privacy.Epsilon ||
				g.Spent > g.Epsilon ||
				g.Spent < .99*g.Epsilon ||
				g.Delta != r.Privacy.Delta {
				t.Errorf(
					"the plan has epsilon %v of %v, delta %v of %v",
					g.Spent,
					r.Privacy.Epsilon,
					g.Delta,
					r.Privacy.Delta,
				)
			}
		})
	}
}
