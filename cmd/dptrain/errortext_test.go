package main

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// sourceFiles parses every non-test file of the module.
func sourceFiles(t *testing.T) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || d.Name() == ".git"):
			return filepath.SkipDir
		case d.IsDir() ||
			filepath.Ext(path) != ".go" ||
			strings.HasSuffix(path, "_test.go"):
			return nil
		}
		files[path], err = parser.ParseFile(
			token.NewFileSet(),
			path,
			nil,
			parser.SkipObjectResolution,
		)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// errorTexts returns the string literals in a file that become parts of error messages.
func errorTexts(file *ast.File) []string {
	makers := map[string]bool{
		"errors.New":  true,
		"fmt.Errorf":  true,
		"fault.New":   true,
		"usagef":      true,
		"fmt.Sprintf": true,
	}
	var out []string
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if ok && nameOf(call.Fun) == "panic" { // its text is never printed
			return false
		}
		if !ok || !makers[nameOf(call.Fun)] {
			return true
		}
		for _, arg := range call.Args {
			lit, ok := arg.(*ast.BasicLit)
			if ok && lit.Kind == token.STRING {
				if text, err := strconv.Unquote(lit.Value); err == nil {
					out = append(out, text)
				}
				break
			}
		}
		return true
	})
	return out
}

func nameOf(f ast.Expr) string {
	switch f := f.(type) {
	case *ast.Ident:
		return f.Name
	case *ast.SelectorExpr:
		if x, ok := f.X.(*ast.Ident); ok {
			return x.Name + "." + f.Sel.Name
		}
	}
	return ""
}

// TestErrorsNameNoPackage checks that the error messages of all packages do not start with the name of a package.
// Stages of a run with the same name as a package are named differently in messages.
func TestErrorsNameNoPackage(t *testing.T) {
	files := sourceFiles(t)
	packages := map[string]bool{}
	stages := map[string]bool{"selection": true, "scaling": true}
	for _, file := range files {
		packages[file.Name.Name] = true
	}
	seen := 0
	for path, file := range files {
		for _, text := range errorTexts(file) {
			seen++
			word, rest, _ := strings.Cut(
				strings.TrimPrefix(message(errors.New(text)), "dptrain: "),
				": ",
			)
			if word == "dptrain" &&
				(file.Name.Name == "main" || file.Name.Name == "terminal") { // a line that starts with the program name
				continue
			}
			if rest != "" &&
				packages[word] &&
				(word == file.Name.Name || !stages[word]) {
				t.Errorf("%s: %q", path, text)
			}
		}
	}
	if seen < 500 || !packages["adassp"] {
		t.Errorf(
			"%d texts of errors in %d files: the test does not look everywhere",
			seen,
			len(files),
		)
	}
}
