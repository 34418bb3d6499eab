package regression

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// treeSample is sample with a tree of two levels, in which one child is split again.
func treeSample() *Tree {
	return &Tree{
		Linear: *sampleModel(),
		Costs:  []float64{1, 5, 0, 2.5},
		Nodes: []TreeNode{
			{
				Intercept: -40,
				Terms: []Term{{
					Column:      0,
					Coefficient: 1,
					StdError:    .5,
				}},
				Threshold: .25,
				Low:       1,
				High:      2,
			},
			{
				Intercept: 3,
				Terms: []Term{
					{
						Column:      1,
						Category:    "inland",
						Coefficient: -7,
					},
					{Column: 1, Other: true, Coefficient: 7},
				},
			},
			{
				Terms: []Term{{
					Column:      3,
					Category:    "a",
					Coefficient: 1,
				}},
				Threshold: .5,
				Low:       3,
				High:      4,
			},
			{Intercept: -1},
			{
				Intercept: 1,
				Terms: []Term{
					{Column: 0, Coefficient: 2},
					{
						Column:      1,
						Category:    "inland",
						Coefficient: 9,
					},
				},
			},
		},
	}
}

// walkTree predicts the score of each node by a linear model and follows the thresholds.
func walkTree(
	t *testing.T,
	m *Tree,
	rows Rows,
	row int,
	at int,
) (leaf int, score float64) {
	t.Helper()
	n := m.Nodes[at]
	scores, err := (&Linear{
		Columns:   m.Columns,
		Terms:     n.Terms,
		Intercept: n.Intercept,
		Lower:     -Unbounded,
		Upper:     Unbounded,
	}).Predict(nil, rows)
	switch {
	case err != nil:
		t.Fatal(err)
	case n.Low == 0:
		return at, scores[row]
	case scores[row] <= n.Threshold:
		return walkTree(t, m, rows, row, n.Low)
	}
	return walkTree(t, m, rows, row, n.High)
}

func TestTreePredictByDefinition(t *testing.T) {
	m := treeSample()
	rows := strangeRows(rand.New(rand.NewPCG(5, 5)), 300)
	got, err := m.predictWith(nil, rows, 3)
	if err != nil {
		t.Fatal(err)
	}
	costs, err := m.CostsOf(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	free := sampleModel()
	free.Lower = -Unbounded
	free.Upper = Unbounded
	base, err := free.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	// The linear part reads all columns, so every record pays for each column.
	alone := treeSample()
	alone.Terms = nil
	paths, err := alone.CostsOf(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	paid := []float64{0, 6, 0, 3.5, 8.5}
	seen := map[int]int{}
	for i := range got {
		leaf, score := walkTree(t, m, rows, i, 0)
		seen[leaf]++
		w := min(max(base[i]+score, m.Lower), m.Upper)
		if math.Abs(got[i]-w) > 1e-9*
			(1+math.Abs(w)) {
			t.Fatalf(
				"row %d: %v, want %v",
				i, got[i], w,
			)
		}
		if costs[i] != 8.5 || paths[i] != paid[leaf] {
			t.Fatalf(
				"row %d in leaf %d pays %v, without the linear part %v; want 8.5 and %v",
				i,
				leaf,
				costs[i],
				paths[i],
				paid[leaf],
			)
		}
	}
	if len(seen) != 3 {
		t.Errorf(
			"leaves %v: the test would not see the others",
			seen,
		)
	}
}

// TestTreeTie checks that a score equal to the threshold takes the low branch.
func TestTreeTie(t *testing.T) {
	m := &Tree{
		Linear: Linear{
			Columns: []Column{{Name: "x", Upper: 9}},
			Lower:   -9,
			Upper:   9,
		},
		Costs: []float64{1},
		Nodes: []TreeNode{
			{
				Terms:     []Term{{Coefficient: 1}},
				Threshold: 3,
				Low:       2,
				High:      1,
			},
			{Intercept: 5},
			{Intercept: -5},
		},
	}
	got, err := m.Predict(
		nil,
		Rows{
			N:       3,
			Numeric: map[string][]float64{"x": {2.9, 3, 3.1}},
		},
	)
	if err != nil ||
		!slices.Equal(got, []float64{-5, -5, 5}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestTreePredictIsTotal checks that predictions are finite and within the clamps for any cells and for numbers
// of any size, and that costs are those of a path.
func TestTreePredictIsTotal(t *testing.T) {
	m := treeSample()
	m.Nodes[0].Terms[0].Coefficient = math.MaxFloat64
	m.Nodes[4].Terms[0].Coefficient = -math.MaxFloat64
	m.Terms = nil
	for _, n := range []int{0, 1, 1000} {
		rows := strangeRows(rand.New(rand.NewPCG(6, 6)), n)
		got, err := m.Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		checkWithin(t, m, got, n)
		costs, err := m.CostsOf(nil, rows)
		if err != nil || slices.ContainsFunc(costs, func(c float64) bool {
			return !slices.Contains([]float64{6, 3.5, 8.5}, c)
		}) {
			t.Errorf("costs %v, %v", costs, err)
		}
	}
}

// TestClassifierCosts checks that a record pays once if the scores share the paths of one tree, and that other
// scores have no cost.
func TestClassifierCosts(t *testing.T) {
	score := func() *Tree {
		m := treeSample()
		m.Guarantee = nil
		m.Terms = nil
		return m
	}
	m := &Classifier{
		Target:  "price",
		Classes: []string{"a", "b", "c"},
		Scores:  []Model{score(), score(), score()},
	}
	rows := strangeRows(rand.New(rand.NewPCG(7, 7)), 100)
	want, err := score().CostsOf(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	m.Scores[2].(*Tree).Nodes[4].Terms[0].Coefficient = -3 // of a leaf
	if got, err := m.CostsOf(nil, rows); err != nil || !slices.Equal(got, want) {
		t.Errorf(
			"%v, %v, want %v",
			got, err, want,
		)
	}
	m.Scores[1].(*Tree).Nodes[0].Threshold++
	other := sampleModel()
	other.Guarantee = nil
	for what, c := range map[string]*Classifier{
		"other paths": m,
		"no tree": {
			Target:  "price",
			Classes: []string{"a", "b"},
			Scores:  []Model{other},
		},
		"no score": {},
	} {
		_, err := c.CostsOf(nil, rows)
		if err == nil || !strings.Contains(err.Error(), "scores") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestTreePredictConformance(t *testing.T) {
	checkConformance(t, func(*rapid.T) blockwise {
		return treeSample()
	})
}

func TestTreeContradictions(t *testing.T) {
	checkContradictions(
		t,
		treeSample,
		strangeRows(rand.New(rand.NewPCG(1, 1)), 3),
		append(
			[]contradiction[*Tree]{
				{"costs", func(m *Tree) {
					m.Costs = m.Costs[:3]
				}},
				{"costs[1]", func(m *Tree) {
					m.Costs[1] = -1
				}},
				{"costs[3]", func(m *Tree) {
					m.Costs[3] = math.Inf(1)
				}},
				{"nodes", func(m *Tree) {
					m.Nodes = nil
				}},
				{
					"nodes[2].intercept",
					func(m *Tree) {
						m.Nodes[2].Intercept = math.NaN()
					},
				},
				{
					"nodes[0].intercept",
					func(m *Tree) {
						m.Nodes[0].Threshold = math.Inf(-1)
					},
				},
				{"nodes[1].threshold", func(m *Tree) {
					m.Nodes[1].Threshold = 1
				}},
				{"nodes[0].split", func(m *Tree) {
					m.Nodes[0].Low = 5
				}},
				{"nodes[2].split", func(m *Tree) {
					m.Nodes[2].High = 1
				}},
				{
					"nodes[2].split: a child must be a later node",
					func(m *Tree) {
						m.Nodes[2].Low = 0
					},
				},
				{
					"nodes[2].split: a node is a child twice",
					func(m *Tree) {
						m.Nodes[2].Low = 4
					},
				},
				{"nodes[3]", func(m *Tree) {
					m.Nodes[2] = TreeNode{}
				}},
				{"nodes[1].terms[1].category", func(m *Tree) {
					m.Nodes[1].Terms[1] = Term{Column: 1, Category: "sea"}
				}},
				{
					"nodes[4].terms[0].column",
					func(m *Tree) {
						m.Nodes[4].Terms[0].Column = 8
					},
				},
				{
					"nodes[4].terms[1]",
					func(m *Tree) {
						m.Nodes[4].Terms[1] = m.Nodes[4].Terms[0]
					},
				},
				{"nodes[0].terms[0].coefficient", func(m *Tree) {
					m.Nodes[0].Terms[0].Coefficient = math.Inf(-1)
				}},
				{
					"nodes[0].terms[0].std_error",
					func(m *Tree) {
						m.Nodes[0].Terms[0].StdError = -1
					},
				},
			},
			embeddedContradictions[*Tree]()...,
		),
	)
}

func TestTreeGolden(t *testing.T) {
	m := withVersion2(treeSample())
	m.Nodes[3].Terms = []Term{{Column: 2, Missing: true, Coefficient: 3}}
	checkGolden(t, "testdata/model-2-tree.json", m)
}

func TestTreeDecodeRefuses(t *testing.T) {
	checkDecodeRefuses(t, treeSample(), []refusal{
		{
			`"costs": [1,5,0,2.5]`,
			`"costs": [1,5,0]`,
			`model file 20:12: costs: is not one cost per column`,
		},
		{
			`"costs": [1,5,0,2.5],`,
			``,
			`model file 1:1: key "costs" is absent`,
		},
		{
			`"split":null}`,
			`"split":{"threshold":0,"low":3,"high":4}}`,
			`model file 24:101: nodes[2].split: a node is a child twice`,
		},
		{
			`"split":null}`,
			`"split":{"threshold":0,"low":0,"high":0}}`,
			`model file 23:170: nodes[1].split: a child must be a later node`,
		},
		{
			`"low":1,`,
			`"low":1.5,`,
			`model file 22:113: nodes[0].split.low: must be a whole number`,
		},
		{
			`"low":1,`, ``,
			`model file 22:89: nodes[0].split: key "low" is absent`,
		},
		{
			`"kind": "tree"`,
			`"kind": "votes"`,
			`model file 20:3: unknown key "costs"`,
		},
	})
}

func TestTreeFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Tree{Linear: *drawLinear(t)}
		number := rapid.Float64Range(-1e9, 1e9)
		for range m.Columns {
			m.Costs = append(
				m.Costs,
				rapid.Float64Range(0, 1e6).Draw(t, "cost"),
			)
		}
		splits := rapid.IntRange(0, 4).Draw(t, "splits")
		for i := range 2*splits + 1 {
			n := TreeNode{Intercept: number.Draw(t, "intercept")}
			if i < splits { // a heap
				n.Threshold = number.Draw(t, "threshold")
				n.Low = 2*i + 1
				n.High = 2*i + 2
			}
			for _, term := range m.Terms {
				if rapid.Bool().Draw(t, "in") {
					term.Coefficient = number.Draw(t, "coefficient")
					n.Terms = append(n.Terms, term)
				}
			}
			m.Nodes = append(m.Nodes, n)
		}
		checkRoundTrip(t, m)
	})
}

func BenchmarkTreePredict(b *testing.B) {
	linear, rows := benchmarkLinear()
	terms := linear.Terms
	linear.Terms = nil
	m := &Tree{
		Linear: linear,
		Costs:  make([]float64, len(linear.Columns)),
		Nodes: []TreeNode{
			{
				Terms: terms[:5],
				Low:   1,
				High:  2,
			},
			{Terms: terms[:9]},
			{Terms: terms[3:12]},
		},
	}
	benchmarkPredict(b, m, rows)
}
