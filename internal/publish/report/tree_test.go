package report

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/regression"
)

// costTree buys a at the root, and b above it.
func costTree() *regression.Tree {
	return &regression.Tree{
		Linear: regression.Linear{
			Target: "y",
			Upper:  1,
			Columns: []regression.Column{
				{Name: "a", Upper: 1},
				{
					Name:       "b",
					Type:       regression.Category,
					Categories: []string{"x"},
					Other:      true,
				},
			},
		},
		Costs: []float64{1, 200},
		Nodes: []regression.TreeNode{
			{
				Terms: []regression.Term{{
					Column:      0,
					Coefficient: 2,
					StdError:    .25,
				}},
				Threshold: .125,
				Low:       1,
				High:      2,
			},
			{Intercept: 3},
			{Terms: []regression.Term{
				{
					Column:      1,
					Category:    "x",
					Coefficient: 4,
				},
				{Column: 1, Other: true, Coefficient: -1},
				{Column: 0, Missing: true, Coefficient: 7},
			}},
		},
	}
}

// TestPathCosts checks that every node is listed with its path, its purchases and the cost up to it.
func TestPathCosts(t *testing.T) {
	var b strings.Builder
	if err := PathCosts(&b, costTree()); err != nil {
		t.Fatal(err)
	}
	const want = `Tree       2 leaves; each record pays 1 to 201 for the features on its path
           1. every record: reads a; 1 paid
             2. score of node 1 at most 0.125: adds nothing; 1 paid
             3. score of node 1 above 0.125: adds b; 201 paid
`
	if got := b.String(); got != want {
		t.Errorf(
			"got\n%swant\n%s",
			got, want,
		)
	}
	for _, m := range []regression.Model{
		nil,
		&regression.Linear{},
		&regression.Classifier{
			Classes: []string{"u", "v"},
			Scores:  []regression.Model{&regression.Linear{}},
		},
	} {
		b.Reset()
		err := PathCosts(&b, m)
		if err != nil || b.Len() > 0 {
			t.Errorf(
				"%T: %v, %q",
				m, err, b.String(),
			)
		}
	}
	one := costTree()
	one.Nodes = one.Nodes[1:2]
	err := PathCosts(&b, one)
	if err != nil ||
		!strings.Contains(b.String(), "one node; each record pays 0") {
		t.Errorf(
			"%v, %q",
			err, b.String(),
		)
	}
}

// TestPageOfTree checks that the page lists the nodes and their terms; for a classifier, leaves have one list per
// class.
func TestPageOfTree(t *testing.T) {
	r := &Report{
		Format: Format,
		Training: &Training{
			Task:   regression.TaskClassification,
			Target: "y",
			Model:  Model{"cost-tree", "classifier"},
		},
	}
	c := &regression.Classifier{
		Target:  "y",
		Classes: []string{"u", "v", "w"},
		Scores:  []regression.Model{costTree(), costTree(), costTree()},
	}
	html, markdown := pageOn(t, Source{Report: r, Model: c})
	for _, want := range []string{"What each path costs", "score of node 1 above 0.125",
		"Node 3: score of class w", "b = all others", "a is missing"} {
		if !strings.Contains(html, want) || !strings.Contains(markdown, want) {
			t.Errorf("no %q", want)
		}
	}
	n := strings.Count(markdown, "### Node 1")
	if n != 1 {
		t.Errorf("the root is listed %d times", n)
	}
	wide := costTree()
	wide.Nodes = nil
	for i := range 200 { // a heap
		n := regression.TreeNode{Low: 2*i + 1, High: 2*i + 2}
		if i == 199 {
			n = regression.TreeNode{}
		}
		wide.Nodes = append(wide.Nodes, n)
	}
	for len(wide.Nodes) < 399 {
		wide.Nodes = append(wide.Nodes, regression.TreeNode{})
	}
	if err := wide.Validate(); err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	err := PathCosts(&b, wide)
	if err != nil ||
		!strings.Contains(
			b.String(),
			fmt.Sprintf("and %d more nodes", 399-mostNodes),
		) {
		t.Errorf(
			"%v, %q",
			err, b.String(),
		)
	}
}
