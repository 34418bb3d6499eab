//go:build ignore

// Command linter builds the golangci-lint of tools.mod with the linters that .golangci.yml enables. The hundred others are a
// third of the packages to compile:
//
//	go run scripts/linter.go FILE
//
// A linter that .golangci.yml enables and that is not built in is an error of golangci-lint itself.
package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

const (
	module   = "github.com/golangci/golangci-lint/v2"
	builders = "pkg/lint/lintersdb/builder_linter.go"
)

var words = regexp.MustCompile(`\w+`)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: linter FILE")
		os.Exit(2)
	}
	if err := buildLinter(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "linter:", err)
		os.Exit(1)
	}
}

// buildLinter builds the program from a copy of the module.
func buildLinter(out string) error {
	folder, err := os.MkdirTemp("", "linter")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	if err := run("go", "mod", "download", "-modfile=tools.mod", module); err != nil {
		return err
	}
	original, err := exec.Command("go", "list", "-modfile=tools.mod", "-m", "-f", "{{.Dir}}", module).Output()
	if err != nil {
		return err
	}
	source := filepath.Join(folder, "source")
	if err := os.CopyFS(source, os.DirFS(strings.TrimSpace(string(original)))); err != nil {
		return err
	}
	config, err := os.ReadFile(".golangci.yml")
	if err != nil {
		return err
	}
	if err := keepLinters(filepath.Join(source, builders), words.FindAllString(string(config), -1)); err != nil {
		return err
	}
	modfile, err := writeModfile(folder, source)
	if err != nil {
		return err
	}
	return run("go", "build", "-modfile="+modfile, "-o", out, module+"/cmd/golangci-lint")
}

// writeModfile writes tools.mod with the module replaced by source, and the hashes next to it.
func writeModfile(folder, source string) (string, error) {
	text, err := os.ReadFile("tools.mod")
	if err != nil {
		return "", err
	}
	sums, err := os.ReadFile("tools.sum")
	if err != nil {
		return "", err
	}
	text = fmt.Appendf(text, "\nreplace %s => %q\n", module, source)
	name := filepath.Join(folder, "linter.mod")
	return name, errors.Join(os.WriteFile(name, text, 0o600),
		os.WriteFile(filepath.Join(folder, "linter.sum"), sums, 0o600))
}

// keepLinters rewrites the file that constructs all linters. It keeps those with one of the names, those that are on by
// default, and those that belong to the program.
func keepLinters(name string, names []string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	kept := 0
	packages := map[string]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		list, ok := n.(*ast.CompositeLit)
		if !ok {
			return true
		}
		list.Elts = slices.DeleteFunc(list.Elts, func(e ast.Expr) bool {
			at := fset.Position(e.Pos()).Offset
			entry := string(text[at:fset.Position(e.End()).Offset])
			return !strings.Contains(entry, "GroupStandard") && !strings.Contains(entry, "WithInternal()") &&
				!slices.ContainsFunc(names, func(name string) bool {
					return strings.HasPrefix(entry, "linter.NewConfig("+name+".New(")
				})
		})
		kept += len(list.Elts)
		return false
	})
	if kept == 0 {
		return fmt.Errorf("%s constructs no linters", builders)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if x, ok := s.X.(*ast.Ident); ok {
				packages[x.Name] = true
			}
		}
		return true
	})
	for _, decl := range file.Decls {
		if imports, ok := decl.(*ast.GenDecl); ok && imports.Tok == token.IMPORT {
			imports.Specs = slices.DeleteFunc(imports.Specs, func(s ast.Spec) bool {
				imported, _ := strconv.Unquote(s.(*ast.ImportSpec).Path.Value)
				return !packages[path.Base(imported)]
			})
		}
	}
	var b bytes.Buffer
	if err := format.Node(&b, fset, file); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o600)
}

func run(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stdout = os.Stderr
	cmd.Stderr = os.Stderr
	return cmd.Run()
}
