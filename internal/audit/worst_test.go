package audit

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestEveryStatisticHasAPair checks that each constant of the type budget.Statistic in package mechanism, and each
// statistic released alone, is the statistic of exactly one worst pair, and that no pair has another statistic.
func TestEveryStatisticHasAPair(t *testing.T) {
	files, err := filepath.Glob("../mechanism/*.go")
	if err != nil {
		t.Fatal(err)
	}
	var named []budget.Statistic
	for _, file := range files {
		named = append(named, statisticsIn(t, file)...)
	}
	named = append(
		named,
		mechanism.StatAlone(mechanism.StatCount),
		mechanism.StatAlone(mechanism.StatAgreement),
	)
	var paired []budget.Statistic
	for _, x := range WorstPairs() {
		paired = append(paired, x.Statistic)
	}
	slices.Sort(named)
	slices.Sort(paired)
	if !slices.Equal(named, paired) ||
		len(named) != len(slices.Compact(named)) {
		t.Errorf("statistics %q, pairs of %q", named, paired)
	}
	if _, ok := WorstPairOf("no such"); ok {
		t.Error("a pair of a statistic that is not there")
	}
}

// statisticsIn returns the constants of the type budget.Statistic in a file.
func statisticsIn(t *testing.T, file string) []budget.Statistic {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var out []budget.Statistic
	ast.Inspect(parsed, func(n ast.Node) bool {
		spec, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		kind, ok := spec.Type.(*ast.SelectorExpr)
		if !ok || kind.Sel.Name != "Statistic" {
			return true
		}
		for _, v := range spec.Values {
			name, err := strconv.Unquote(v.(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			out = append(out, budget.Statistic(name))
		}
		return true
	})
	return out
}
