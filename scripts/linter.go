//go:build ignore

// Command linter builds the golangci-lint of tools.mod for .ci/run: with the linters and formatters that .golangci.yml
// enables and the commands run and cache. The rest is half of the packages to compile:
//
//	go run scripts/linter.go FILE
//
// A linter that .golangci.yml enables and that is not built in is an error of golangci-lint itself.
//
// Runs of the built program for several modules and build tags share one cache. See [shareCache].
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
	module     = "github.com/golangci/golangci-lint/v2"
	builders   = "pkg/lint/lintersdb/builder_linter.go"
	formatters = "pkg/goformatters"
	commands   = "pkg/commands"
)

// keptCommands are the constructors of the commands that .ci/run needs.
var keptCommands = []string{"newRunCommand", "newCacheCommand"}

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
	names := words.FindAllString(string(config), -1)
	for _, edit := range []func() error{
		func() error { return keepLinters(filepath.Join(source, builders), names) },
		func() error { return keepFormatters(filepath.Join(source, formatters), names) },
		func() error { return keepCommands(filepath.Join(source, commands)) },
		func() error { return os.Remove(filepath.Join(source, "pkg/logutils/mock.go")) },
		func() error { return shareCache(source) },
	} {
		if err := edit(); err != nil {
			return err
		}
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
	kept := 0
	err = rewriteFile(name, func(fset *token.FileSet, n ast.Node) bool {
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
	if err == nil && kept == 0 {
		return fmt.Errorf("%s constructs no linters", builders)
	}
	return err
}

// keepFormatters reduces every formatter that is not among the names to its name, and removes the statements that
// construct it.
func keepFormatters(folder string, names []string) error {
	dropped := map[string]bool{}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := e.Name()
		if !e.IsDir() || name == "internal" || slices.Contains(names, name) {
			continue
		}
		dropped[name] = true
		inside := filepath.Join(folder, name)
		stub := fmt.Sprintf("package %s\n\nconst Name = %q\n", name, name)
		if err := errors.Join(
			os.RemoveAll(inside),
			os.Mkdir(inside, 0o700),
			os.WriteFile(filepath.Join(inside, name+".go"), []byte(stub), 0o600),
		); err != nil {
			return err
		}
	}
	removed := 0
	err = rewriteFile(filepath.Join(folder, "meta_formatter.go"), func(_ *token.FileSet, n ast.Node) bool {
		if block, ok := n.(*ast.BlockStmt); ok {
			before := len(block.List)
			block.List = slices.DeleteFunc(block.List, func(s ast.Stmt) bool {
				_, conditional := s.(*ast.IfStmt)
				return conditional && constructsOneOf(s, dropped)
			})
			removed += before - len(block.List)
		}
		return true
	})
	if err == nil && removed != len(dropped) {
		return fmt.Errorf("%s constructs %d of %d formatters to be removed", formatters, removed, len(dropped))
	}
	return err
}

// constructsOneOf reports whether a statement calls New of one of the packages.
func constructsOneOf(s ast.Stmt, packages map[string]bool) bool {
	found := false
	ast.Inspect(s, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && s.Sel.Name == "New" {
			x, ok := s.X.(*ast.Ident)
			found = found || ok && packages[x.Name]
		}
		return true
	})
	return found
}

// keepCommands removes the commands that are not among [keptCommands] and are large.
func keepCommands(folder string) error {
	for _, name := range []string{"config.go", "config_verify.go", "custom.go", "fmt.go", "migrate.go"} {
		if err := os.Remove(filepath.Join(folder, name)); err != nil {
			return err
		}
	}
	kept := 0
	err := rewriteFile(filepath.Join(folder, "root.go"), func(_ *token.FileSet, n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok {
			return true
		}
		if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "AddCommand" {
			return true
		}
		call.Args = slices.DeleteFunc(call.Args, func(e ast.Expr) bool { return !isKeptCommand(e) })
		kept += len(call.Args)
		return false
	})
	if err == nil && kept != len(keptCommands) {
		return fmt.Errorf("%s/root.go adds %d of %d commands", commands, kept, len(keptCommands))
	}
	return err
}

// isKeptCommand reports whether an expression selects a field of the result of one of [keptCommands].
func isKeptCommand(e ast.Expr) bool {
	field, ok := e.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	call, ok := field.X.(*ast.CallExpr)
	if !ok {
		return false
	}
	f, ok := call.Fun.(*ast.Ident)
	return ok && slices.Contains(keptCommands, f.Name)
}

// shareCache lets runs for several modules and build tags share findings and facts of packages that are the same in
// them, such as those of the standard library. The keys of golangci-lint contain the tags and the go.mod of the folder of
// the run, which make every key another one. The files of a package and of its imports are part of its key anyway. Tags
// decide which of them are compiled, and go.mod decides the version of the language, so the key gets these instead.
func shareCache(source string) error {
	for _, edit := range []struct{ file, old, new string }{
		{
			"pkg/commands/run.go",
			`"\nbuild-tags=" + strings.Join(cfg.Run.BuildTags, ",")`,
			`strings.Join([]string{"\ngo", cfg.Run.Go}, "=")`,
		},
		{
			"pkg/commands/run.go",
			"b.WriteString(goModSalt)",
			"_ = goModSalt",
		},
		{
			"internal/cache/cache.go",
			"hashRes := hashResults{}\n",
			`hashRes := hashResults{}
	fmt.Fprintf(key, "%d files are compiled\n", len(pkg.CompiledGoFiles))
	if pkg.Module != nil {
		fmt.Fprintf(key, "go %s\n", pkg.Module.GoVersion)
	}
`,
		},
	} {
		name := filepath.Join(source, edit.file)
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if strings.Count(string(text), edit.old) != 1 {
			return fmt.Errorf("%s does not contain %q once", edit.file, edit.old)
		}
		if err := os.WriteFile(name, []byte(strings.Replace(string(text), edit.old, edit.new, 1)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// rewriteFile parses a file, lets edit change its nodes, as [ast.Inspect] does, and writes it without the imports that are
// no longer used.
func rewriteFile(name string, edit func(fset *token.FileSet, n ast.Node) bool) error {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	ast.Inspect(file, func(n ast.Node) bool { return edit(fset, n) })
	packages := map[string]bool{}
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
