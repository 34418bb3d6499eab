//go:build ignore

// Command typecheck type-checks all packages of this module and of experiments/, and their tests, for one processor, without
// the tag replay. It looks for shifts, atomic operations and assembly that are wrong there, and with -unused for unused code.
// It also looks for exported functions with results of unexported types, which callers cannot name. It compiles nothing, so
// it takes a fraction of the time of `go vet`:
//
//	go run -modfile=tools.mod scripts/typecheck.go 386
//	go run -modfile=tools.mod scripts/typecheck.go -unused amd64
//
// Errors in other modules are ignored: a library of some tests does not compile where int has 32 bits. The exit code is 1 if
// there is a finding.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/asmdecl"
	"golang.org/x/tools/go/analysis/passes/atomicalign"
	"golang.org/x/tools/go/analysis/passes/framepointer"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/unused"
)

const module = "github.com/dptrain/dptrain"

func main() {
	findUnused := flag.Bool("unused", false, "look for unused code")
	flag.Parse()
	if flag.NArg() != 1 {
		fail("usage: typecheck [-unused] GOARCH")
	}
	own, err := loadOwn(flag.Arg(0))
	if err != nil {
		fail(err)
	}
	findings := reportTypes(own) + reportHiddenResults(own)
	build.Default.GOARCH = flag.Arg(0) // framepointer reads it
	analyzers := []*analysis.Analyzer{shift.Analyzer, atomicalign.Analyzer, asmdecl.Analyzer, framepointer.Analyzer}
	if *findUnused {
		analyzers = append(analyzers, unused.Analyzer.Analyzer)
	}
	graph, err := checker.Analyze(analyzers, withTests(own), nil)
	if err != nil {
		fail(err)
	}
	for _, action := range graph.Roots {
		for _, d := range action.Diagnostics {
			fmt.Fprintf(
				os.Stderr,
				"%s: %s\n",
				action.Package.Fset.Position(d.Pos),
				d.Message,
			)
			findings++
		}
		if result, ok := action.Result.(unused.Result); ok {
			findings += reportUnused(result)
		}
	}
	if findings > 0 {
		os.Exit(1)
	}
	fmt.Printf("%d packages and tests hold for %s\n", len(own), flag.Arg(0))
}

// loadOwn loads the packages of both modules, and everything that they import, from source.
func loadOwn(processor string) ([]*packages.Package, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	workspace, err := newWorkspace(root)
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(filepath.Dir(workspace))
	loaded, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedForTest,
		Env: append(os.Environ(), "GOARCH="+processor, "CGO_ENABLED=0", "GOFLAGS=",
			"GOWORK="+workspace),
		Tests: true,
		ParseFile: func(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
			if strings.HasPrefix(name, root+string(filepath.Separator)) {
				return parser.ParseFile(fset, name, text, parser.AllErrors|parser.ParseComments)
			}
			return parseDeclarations(fset, name, text)
		},
	}, "./...", "./experiments/...")
	return slices.DeleteFunc(loaded, func(p *packages.Package) bool {
		return strings.HasSuffix(p.ID, ".test") // the main package that go test writes
	}), err
}

// parseDeclarations parses a file without the bodies of its functions, which the types of other packages do not need.
func parseDeclarations(fset *token.FileSet, name string, text []byte) (*ast.File, error) {
	file, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if file != nil {
		for _, decl := range file.Decls {
			if f, ok := decl.(*ast.FuncDecl); ok {
				f.Body = nil
			}
		}
	}
	return file, err
}

// reportTypes prints the errors of the own packages and returns their number. It ignores
// errors of the packages they import, which are parsed without bodies and need not compile where int has 32 bits.
func reportTypes(own []*packages.Package) int {
	findings := 0
	packages.Visit(own, nil, func(p *packages.Package) {
		p.IllTyped = false
		if !strings.HasPrefix(p.PkgPath, module) {
			return
		}
		for _, problem := range p.Errors {
			if strings.Contains(problem.Msg, "could not import") {
				continue
			}
			fmt.Fprintln(os.Stderr, problem)
			p.IllTyped = true
			findings++
		}
	})
	return findings
}

// reportHiddenResults prints the exported functions and methods that return an unexported type, and returns their number.
func reportHiddenResults(own []*packages.Package) int {
	findings := 0
	for _, p := range own {
		if p.ForTest != "" || p.Types == nil || p.Types.Name() == "main" {
			continue
		}
		for _, file := range p.Syntax {
			for _, decl := range file.Decls {
				f, ok := decl.(*ast.FuncDecl)
				if !ok || !f.Name.IsExported() {
					continue
				}
				object, ok := p.TypesInfo.Defs[f.Name].(*types.Func)
				if !ok {
					continue
				}
				signature := object.Signature()
				if r := signature.Recv(); r != nil && !isNameable(r.Type()) {
					continue
				}
				for v := range signature.Results().Variables() {
					if !isNameable(v.Type()) {
						fmt.Fprintf(
							os.Stderr,
							"%s: exported %s returns %s, which is not exported\n",
							p.Fset.Position(f.Pos()),
							f.Name.Name,
							v.Type(),
						)
						findings++
					}
				}
			}
		}
	}
	return findings
}

// isNameable reports whether other packages can name a type and its elements.
func isNameable(t types.Type) bool {
	switch t := t.(type) {
	case *types.Alias:
		return t.Obj().Pkg() == nil || t.Obj().Exported()
	case *types.Named:
		return t.Obj().Pkg() == nil || t.Obj().Exported()
	case *types.Map:
		return isNameable(t.Key()) && isNameable(t.Elem())
	case interface{ Elem() types.Type }: // array, slice, pointer, channel
		return isNameable(t.Elem())
	}
	return true
}

// withTests returns the packages but for those that are there a second time together with their tests.
func withTests(own []*packages.Package) []*packages.Package {
	tested := map[string]bool{}
	for _, p := range own {
		if p.ForTest == p.PkgPath {
			tested[p.PkgPath] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(own), func(p *packages.Package) bool {
		return p.ForTest == "" && tested[p.PkgPath]
	})
}

// reportUnused prints the unused code of one package and returns the number of findings.
func reportUnused(result unused.Result) int {
	used := map[token.Position]bool{}
	for _, object := range result.Used {
		used[object.Position] = true
	}
	findings := 0
	for _, object := range result.Unused {
		if object.Kind == "type param" || used[object.Position] {
			continue
		}
		fmt.Fprintf(os.Stderr, "%s: %s %s is unused\n", object.Position, object.Kind, object.Name)
		findings++
	}
	return findings
}

// newWorkspace writes a go.work file with both modules, so that packages of one that the other imports are loaded once.
func newWorkspace(root string) (string, error) {
	folder, err := os.MkdirTemp("", "typecheck")
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf(
		"go 1.26.0\n\nuse (\n\t%q\n\t%q\n)\n",
		root,
		filepath.Join(root, "experiments"),
	)
	name := filepath.Join(folder, "go.work")
	return name, os.WriteFile(name, []byte(text), 0o600)
}

func fail(problem any) {
	fmt.Fprintln(os.Stderr, "typecheck:", problem)
	os.Exit(1)
}
