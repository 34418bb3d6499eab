package dptrain_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/costtree"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/logistic"
	"github.com/dptrain/dptrain/prototypes"
	"github.com/dptrain/dptrain/selection"
	"github.com/dptrain/dptrain/svm"
	"github.com/dptrain/dptrain/tukey"
)

var update = flag.Bool("update", false, "write testdata/pure-matrix.txt")

// TestPureMatrix trains every selector with every model at delta 0, on a number and on two classes, with a held-out part. It
// compares the list of the runs that train and of the reasons of all others with testdata/pure-matrix.txt.
func TestPureMatrix(t *testing.T) {
	selectors := []selection.Selector{
		selection.None{}, selection.Fixed{Features: []string{"x0", "x2"}}, selection.Kendall{K: 2},
		selection.SubLasso{K: 2}, selection.SIS{K: 2}, selection.GreedyGram{K: 2},
		selection.DPFSDR{K: 2}, selection.DPFS{K: 2}, selection.CRFS{K: 2},
	}
	models := []dptrain.Trainer{
		adassp.JointGram{}, adassp.AdaSSP{}, boosting.BoostedAdaSSP{}, boosting.Additive{},
		boosting.Kernel{}, boosting.BRC{}, costtree.CostTree{}, logistic.Logistic{},
		prototypes.Prototypes{}, svm.SVM{}, tukey.Tukey{},
	}
	var list strings.Builder
	for _, classes := range []bool{false, true} {
		table := dptrain.Hold(pureTable(t, classes))
		for _, s := range selectors {
			for _, m := range models {
				run := dptrain.Run{
					Target:   "y",
					Epsilon:  4,
					Delta:    dptrain.None,
					Selector: s,
					Model:    m,
				}
				target := "number"
				if classes {
					target = "classes"
				}
				fmt.Fprintf(&list, "%s: %s and %s: %s\n", target, s.Name(), m.Name(),
					strings.ReplaceAll(pureOutcome(t, run, table), "\n", " "))
			}
		}
	}
	const path = "testdata/pure-matrix.txt"
	if *update {
		check(os.WriteFile(path, []byte(list.String()), 0o644))
	}
	want := must(os.ReadFile(path))
	if string(want) != list.String() {
		t.Errorf(
			"%s differs from\n%s",
			path, list.String(),
		)
	}
}

// pureOutcome trains a run and returns "trains", or the message with which its plan is refused.
func pureOutcome(t *testing.T, run dptrain.Run, table *dptrain.Table) string {
	t.Helper()
	plan, err := run.Plan(table)
	if err != nil {
		return err.Error()
	}
	fit, err := plan.Fit(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	g := plan.Guarantee()
	if g.Delta != 0 || g.Epsilon > 4*(1+1e-9) || fit.Model == nil ||
		fit.R2 == nil && fit.Confusion == nil {
		t.Errorf(
			"%+v: guarantee %v, model %v, no metric",
			run, g, fit.Model,
		)
	}
	return "trains"
}

// pureTable returns 400 records of four numbers within [-1, 1] and a target.
func pureTable(t *testing.T, classes bool) *dataset.Table {
	t.Helper()
	const columns = 4
	rng := rand.New(rand.NewPCG(6, 6))
	var s dataset.Schema
	data := make([]dataset.ColumnData, columns+1)
	for j := range columns {
		s.Columns = append(s.Columns, dataset.Column{
			Name: fmt.Sprint("x", j), Ranged: true, Lower: -1, Upper: 1,
		})
	}
	target := dataset.Column{
		Name:   "y",
		Ranged: true,
		Lower:  -2,
		Upper:  2,
	}
	if classes {
		target = dataset.Column{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: []string{"no", "yes"},
		}
	}
	s.Columns = append(s.Columns, target)
	for range 400 {
		sum := 0.
		for j := range columns {
			x := 2*rng.Float64() - 1
			data[j].Floats = append(data[j].Floats, x)
			sum += x * float64(j) / 4
		}
		code := int32(0)
		if sum > 0 {
			code = 1
		}
		if classes {
			data[columns].Codes = append(data[columns].Codes, code)
		} else {
			data[columns].Floats = append(data[columns].Floats, sum)
		}
	}
	return must(dataset.NewTable(s, data, nil))
}
