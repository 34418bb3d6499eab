//go:build ignore

// Command typecheck type-checks all packages of this module and of experiments/, and their tests, for one processor. It looks
// for shifts and atomic operations that are wrong there. It compiles nothing, so it takes a fraction of the time of `go vet`:
//
//	go run -modfile=tools.mod scripts/typecheck.go 386
//
// Errors in other modules are ignored: a library of some tests does not compile where int has 32 bits. The exit code is 1 if
// there is a finding.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/passes/atomicalign"
	"golang.org/x/tools/go/analysis/passes/shift"
	"golang.org/x/tools/go/packages"
)

const module = "github.com/dptrain/dptrain"

func main() {
	if len(os.Args) != 2 {
		fail("usage: typecheck GOARCH")
	}
	workspace, err := newWorkspace()
	if err != nil {
		fail(err)
	}
	own, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax,
		Env: append(os.Environ(), "GOARCH="+os.Args[1], "CGO_ENABLED=0", "GOFLAGS=",
			"GOWORK="+workspace),
		Tests: true,
	}, "./...", "./experiments/...")
	os.RemoveAll(filepath.Dir(workspace))
	if err != nil {
		fail(err)
	}
	findings := 0
	packages.Visit(own, nil, func(p *packages.Package) {
		if !strings.HasPrefix(p.PkgPath, module) {
			p.IllTyped = false // a test that uses it is checked as far as its types are known
			return
		}
		for _, problem := range p.Errors {
			if strings.Contains(problem.Msg, "could not import") {
				continue
			}
			fmt.Fprintln(os.Stderr, problem)
			findings++
		}
	})
	analyzers := []*analysis.Analyzer{shift.Analyzer, atomicalign.Analyzer}
	graph, err := checker.Analyze(analyzers, own, nil)
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
	}
	if findings > 0 {
		os.Exit(1)
	}
	fmt.Printf("%d packages and tests hold for %s\n", len(own), os.Args[1])
}

// newWorkspace writes a go.work file with both modules, so that packages of one that the other imports are loaded once.
func newWorkspace() (string, error) {
	root, err := os.Getwd()
	if err != nil {
		return "", err
	}
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
