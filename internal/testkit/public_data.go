package testkit

import (
	"compress/gzip"
	"encoding/csv"
	"os"
	"path/filepath"
	"testing"
)

// The public data sets are not part of the repository: they are expected next to it, in ../shared/data, and a test that
// needs one is skipped if it is absent.

// PublicData returns the path of a file or folder of the data sets, given by its path elements below ../shared/data, such
// as "regression", "361078_houses.csv.gz". It skips the test if the path does not exist.
func PublicData(t testing.TB, place ...string) string {
	t.Helper()
	root, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(root, "tools.mod")); err == nil {
			break
		}
		above := filepath.Dir(root)
		if above == root {
			t.Fatal("the tests do not run in the repository")
		}
		root = above
	}
	below := filepath.Join(place...)
	path := filepath.Join(filepath.Dir(root), "shared", "data", below)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("the public data set %s is not beside the repository, in ../shared/data", below)
	}
	return path
}

// PublicLines returns the cells of a compressed CSV file of the public data sets, the header first.
func PublicLines(t testing.TB, place ...string) [][]string {
	t.Helper()
	f, err := os.Open(PublicData(t, place...))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(z).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	return lines
}
