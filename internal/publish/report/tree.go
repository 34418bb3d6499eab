package report

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/document"
	"github.com/dptrain/dptrain/regression"
)

// This file describes the routes through a tree whose features have a cost, and the cost of a record along its route.

// mostNodes is the number of nodes listed.
const mostNodes = 63

// A visit is a node as it is reached by a record.
type visit struct {
	node  int    // from 1
	depth int    // 0 for the root
	when  string // condition for a record to reach the node
	buys  []string
	paid  float64 // cost up to this node
	leaf  bool
}

// treesOf returns the trees of a model, with the class of each for a classifier; nil for a model that is not a tree.
func treesOf(m regression.Model) (trees []*regression.Tree, classes []string) {
	switch m := m.(type) {
	case *regression.Tree:
		return []*regression.Tree{m}, []string{""}
	case *regression.Classifier:
		for i, score := range m.Scores {
			t, ok := score.(*regression.Tree)
			if !ok {
				return nil, nil
			}
			trees = append(trees, t)
			classes = append(classes, m.Classes[len(m.Classes)-len(m.Scores)+i])
		}
	}
	return trees, classes
}

// visits lists the nodes of a tree, parents before their children.
func visits(m *regression.Tree) []visit {
	out := make([]visit, len(m.Nodes))
	out[0].when = "every record"
	paths := m.Paths()
	for i := range m.Nodes {
		n, v := &m.Nodes[i], &out[i]
		v.node = i + 1
		v.leaf = n.Low == 0
		for _, j := range paths[i] {
			v.paid += m.Costs[j]
		}
		v.buys = newColumns(m, paths, i)
		for child, side := range map[int]string{
			n.Low:  "at most",
			n.High: "above",
		} {
			if child > 0 {
				out[child].when = fmt.Sprintf("score of node %d %s %s", i+1, side,
					short(n.Threshold))
				out[child].depth = v.depth + 1
			}
		}
	}
	return out
}

// newColumns lists the columns that a node reads and its ancestors do not.
func newColumns(m *regression.Tree, paths [][]int, i int) []string {
	before := map[int]bool{}
	for k := range m.Nodes {
		if m.Nodes[k].Low == i && i > 0 || m.Nodes[k].High == i && i > 0 {
			for _, j := range paths[k] {
				before[j] = true
			}
		}
	}
	var out []string
	for _, j := range paths[i] {
		if !before[j] {
			out = append(out, printableName(m.Columns[j].Name))
		}
	}
	return out
}

// purchases prints the columns that a node buys.
func (v visit) purchases() string {
	switch n := len(v.buys); {
	case n == 0:
		return "nothing"
	case n > mostNames:
		return fmt.Sprintf(
			"%s and %d more",
			strings.Join(v.buys[:mostNames], ", "),
			n-mostNames,
		)
	}
	return strings.Join(v.buys, ", ")
}

// PathCosts prints the costs of records in a model that is a tree, node by node; for other models the output is
// empty. It returns the errors of w.
func PathCosts(w io.Writer, m regression.Model) error {
	trees, _ := treesOf(m)
	if len(trees) == 0 {
		return nil
	}
	list := visits(trees[0])
	var b strings.Builder
	b.WriteString(Paragraph("Tree", treeText(list)))
	for _, v := range list[:min(len(list), mostNodes)] {
		verb := "reads"
		if v.depth > 0 {
			verb = "adds"
		}
		line := fmt.Sprintf("%d. %s: %s %s; %s paid", v.node, v.when, verb, v.purchases(),
			number(v.paid))
		b.WriteString(paragraph("", line, labelWidth+2*v.depth))
	}
	if more := len(list) - mostNodes; more > 0 {
		b.WriteString(
			Paragraph("", fmt.Sprintf("and %d more nodes, listed in the model file", more)))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func treeText(list []visit) string {
	leaves := 0
	least := 0.
	most := 0.
	for _, v := range list {
		if !v.leaf {
			continue
		}
		if leaves++; leaves == 1 {
			least = v.paid
			most = v.paid
		}
		least = min(least, v.paid)
		most = max(most, v.paid)
	}
	pays := number(most)
	if least < most {
		pays = number(least) + " to " + number(most)
	}
	if leaves == 1 {
		return "one node; each record pays " + pays
	}
	return fmt.Sprintf(
		"%d leaves; each record pays %s for the features on its path",
		leaves,
		pays,
	)
}

// treeBlocks lists the nodes of a tree and their scores.
func treeBlocks(s Source) []document.Block {
	trees, classes := treesOf(s.Model)
	if len(trees) == 0 {
		return nil
	}
	list := visits(trees[0])
	g := &document.Table{Head: []string{"node", "records", "features added here", "paid"}}
	for _, v := range list[:min(len(list), mostNodes)] {
		where := v.when
		if v.leaf {
			where += " (leaf)"
		}
		g.Rows = append(g.Rows,
			[]string{strconv.Itoa(v.node), where, v.purchases(), number(v.paid)})
	}
	out := []document.Block{prose("The tree has " + treeText(list) +
		". Features that were paid for once are free further down."), {Table: g}}
	for _, v := range list[:min(len(list), mostNodes)] {
		for t, m := range trees {
			if n := &m.Nodes[v.node-1]; v.leaf || t == 0 {
				out = append(out, nodeTable(m, n, v, classes[t]))
			}
		}
	}
	return out
}

// nodeTable lists the coefficients of a node.
func nodeTable(
	m *regression.Tree,
	n *regression.TreeNode,
	v visit,
	class string,
) document.Block {
	title := fmt.Sprintf("Node %d: score", v.node)
	if class != "" && v.leaf {
		title += " of class " + printableName(class)
	}
	g := &document.Table{
		Head: []string{"term", "coefficient", "standard error"},
		Rows: [][]string{{"(constant)", short(n.Intercept), ""}},
	}
	for _, t := range n.Terms {
		name := printableName(m.Columns[t.Column].Name)
		switch {
		case t.Missing:
			name += " is missing"
		case t.Other:
			name += " = all others"
		case m.Columns[t.Column].Type == regression.Category:
			name += " = " + printableName(t.Category)
		}
		g.Rows = append(g.Rows, []string{name, short(t.Coefficient), short(t.StdError)})
	}
	return document.Block{Table: g, Fold: title}
}
