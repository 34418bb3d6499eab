// Package examples_test checks that every recipe in this folder fits the table
// it names and has a price.
package examples_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
)

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
			// What is priced is what was asked for, and nearly all of it is used.
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

// TestStudies does the same for the recipes that ask for causal directions.
func TestStudies(t *testing.T) {
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
			if g.Epsilon != r.Privacy.Epsilon || g.Spent > g.Epsilon || g.Spent < .99*g.Epsilon || g.Delta != r.Privacy.Delta {
				t.Errorf("the plan has epsilon %v of %v, delta %v of %v", g.Spent, r.Privacy.Epsilon, g.Delta, r.Privacy.Delta)
			}
		})
	}
}
