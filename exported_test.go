package dptrain_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// mostExported is the maximum number of exported top-level names of the public packages together.
const mostExported = 350

// TestExportedNames checks that the set of names that other modules can use stays small. A name that only this
// module uses belongs below internal/.
func TestExportedNames(t *testing.T) {
	count := map[string]int{}
	err := fs.WalkDir(os.DirFS("."), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." &&
			(slices.Contains([]string{"internal", "experiments", "testdata", "cmd"}, d.Name()) ||
				strings.HasPrefix(d.Name(), ".")):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err == nil && file.Name.Name != "main" {
			count[path.Dir(name)] += len(exported(file))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, n := range count {
		total += n
	}
	for _, dir := range []string{".", "budget", "dataset", "regression", "selection",
		"adapter/golearn"} {
		if count[dir] == 0 {
			t.Errorf("no name of %s was counted", dir)
		}
	}
	if total > mostExported {
		t.Errorf("%d exported names, at most %d", total, mostExported)
		for _, dir := range slices.Sorted(maps.Keys(count)) {
			t.Logf("%4d %s", count[dir], dir)
		}
	}
}

// exported returns the exported top-level names of a file: types, functions, variables and constants.
func exported(file *ast.File) []string {
	var out []string
	add := func(names ...*ast.Ident) {
		for _, n := range names {
			if n.IsExported() {
				out = append(out, n.Name)
			}
		}
	}
	for _, d := range file.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				add(d.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					add(s.Name)
				case *ast.ValueSpec:
					add(s.Names...)
				}
			}
		}
	}
	return out
}

// TestExportedIsCounted checks that every kind of exported name counts once, and that methods, fields and
// unexported names do not count.
func TestExportedIsCounted(t *testing.T) {
	const source = `package p
type A struct{ F int }
type (b int; C = A)
func D() {}
func (A) E() {}
var G, h, I int
const ( J = iota; k; L )
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(exported(file), ""), "ACDGIJL"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
