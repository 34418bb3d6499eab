package testkit

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// newRepository creates a repository with a nested folder and a data set next to it, and changes into the nested folder.
func newRepository(t *testing.T) (top string) {
	t.Helper()
	top = t.TempDir()
	room := filepath.Join(top, "main", "a", "room")
	data := filepath.Join(top, "shared", "data", "regression")
	for _, dir := range []string{room, data} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err := z.Write([]byte("a,b\n1,\"2,3\"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for path, content := range map[string][]byte{
		filepath.Join(top, "main", "tools.mod"):   nil,
		filepath.Join(top, "main", "a", "go.mod"): nil, // a nested module
		filepath.Join(data, "x.csv.gz"):           packed.Bytes(),
	} {
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(room)
	return top
}

func TestDataSetLines(t *testing.T) {
	top := newRepository(t)
	got := PublicLines(t, "regression", "x.csv.gz")
	if !slices.EqualFunc(got, [][]string{{"a", "b"}, {"1", "2,3"}}, slices.Equal) {
		t.Errorf("%q", got)
	}
	folder := PublicData(t, "regression")
	if !sameFile(t, folder,
		filepath.Join(top, "shared", "data", "regression")) {
		t.Errorf("the folder is %s", folder)
	}
}

// sameFile reports whether two paths lead to the same file or folder.
func sameFile(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(x, y)
}

// A test without its data set is skipped and runs no further.
func TestAbsentDataSetSkipsTest(t *testing.T) {
	newRepository(t)
	skipped := false
	t.Run("absent", func(t *testing.T) {
		defer func() {
			skipped = t.Skipped()
		}()
		PublicLines(t, "regression", "y.csv.gz")
		t.Error("it goes on")
	})
	if !skipped {
		t.Error("it is not skipped")
	}
}
