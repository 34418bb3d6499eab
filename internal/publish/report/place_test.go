package report

import (
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/recipe"
)

// TestPlaceOf checks that the place parsed from the id of a step is that of its leaf in the plan.
func TestPlaceOf(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no example recipes: %v", err)
	}
	seen := map[string]bool{}
	for _, file := range files {
		r, err := recipe.Load(file)
		if err != nil {
			t.Fatal(err)
		}
		header, err := dataset.Header(r.DataFile(), dataset.ReadOptions{})
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
		for _, l := range plan.Leaves() {
			got := placeOf(l.Path)
			if got != l.Place {
				t.Errorf(
					"%s: %s is read as %+v, the plan says %+v",
					file,
					l.Path,
					got,
					l.Place,
				)
			}
			for kind, name := range map[string]string{
				"candidate": l.Place.Candidate,
				"branch":    l.Place.Branch,
				"size":      l.Place.Size,
			} {
				seen[kind] = seen[kind] || name != ""
			}
		}
	}
	if len(seen) != 3 ||
		!seen["candidate"] ||
		!seen["branch"] ||
		!seen["size"] {
		t.Errorf("no example has them all: %v", seen)
	}
}
