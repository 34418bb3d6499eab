package ui

import (
	"path/filepath"
	"testing"
)

// TestDraftsAreNotNamed checks that the page shows the name of a draft without its folder, which has a random name.
func TestDraftsAreNotNamed(t *testing.T) {
	s := &Server{
		drafts: filepath.FromSlash("/tmp/dptrain-ui-17"),
		prefix: filepath.FromSlash("tables/"),
	}
	for given, want := range map[string]string{
		"/tmp/dptrain-ui-17/486156639/recipe.yaml:3:11: the target is absent":    "recipe.yaml:3:11: the target is absent",
		"/tmp/dptrain-ui-17/1/recipe.yaml and /tmp/dptrain-ui-17/22/recipe.yaml": "recipe.yaml and recipe.yaml",
		"/tmp/dptrain-ui-17/recipe.yaml":                                         "recipe.yaml",
		"/tmp/dptrain-ui-17/12.csv":                                              "12.csv",
		"tables/houses.csv: ok":                                                  "houses.csv: ok",
		"nothing":                                                                "nothing",
	} {
		got := s.shortenPaths(filepath.FromSlash(given))
		if got != want {
			t.Errorf(
				"%q is shown as %q, want %q",
				given, got, want,
			)
		}
	}
}
