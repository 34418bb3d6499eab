package costtree

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/greedy"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/testkit/testrows"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// A record is one row of the test table.
type record struct {
	a, b, c float64
	k, code int32
	y       float64
}

// columnsOf declares three numbers, the last with an indicator, a category, and a target: a number, or the given
// number of classes.
func columnsOf(classes int) ([]dataset.Column, []scaling.Range) {
	target := dataset.Column{
		Name:   "y",
		Ranged: true,
		Lower:  -4,
		Upper:  4,
	}
	r := scaling.Range{
		Lower:    -4,
		Upper:    4,
		Declared: true,
	}
	if classes > 0 {
		target = dataset.Column{
			Name:       "y",
			Kind:       dataset.Category,
			Categories: []string{"u", "v", "w"}[:classes],
		}
		r = scaling.Range{}
	}
	return []dataset.Column{
			{
				Name:   "a",
				Ranged: true,
				Lower:  -1,
				Upper:  1,
			},
			{
				Name:   "b",
				Ranged: true,
				Lower:  100,
				Upper:  300,
			},
			{
				Name:      "c",
				Ranged:    true,
				Lower:     -1,
				Upper:     1,
				Indicator: true,
			},
			{
				Name:       "k",
				Kind:       dataset.Category,
				Categories: []string{"x", "z"},
				Other:      true,
			},
			target,
		}, []scaling.Range{
			{Lower: -1, Upper: 1, Declared: true},
			{Lower: 100, Upper: 300, Declared: true},
			{Lower: -1, Upper: 1, Declared: true},
			{},
			r,
		}
}

// treeRecords returns n records. The target depends on b if a is above 0 and on the category otherwise, which a tree can
// represent and a linear model cannot.
func treeRecords(n int) []record {
	p := testrows.Points(3)
	out := make([]record, n)
	for i := range out {
		r := record{
			a: p.Next(),
			b: 200 + 100*p.Next(),
			c: p.Next(),
			k: int32(1.5 + 1.4999*p.Next()),
		}
		if i%7 == 0 {
			r.c = math.NaN()
		}
		r.y = 2 * r.a
		if r.a > 0 {
			r.y += (r.b - 200) / 100
		} else if r.k == 0 {
			r.y--
		}
		switch {
		case r.y > 1:
			r.code = 2
		case r.y > -.5:
			r.code = 1
		}
		out[i] = r
	}
	return out
}

func tableOf(
	t testing.TB,
	columns []dataset.Column,
	rows []record,
	ids []uint64,
) *dataset.Table {
	t.Helper()
	data := make([]dataset.ColumnData, 5)
	for j := range 3 {
		data[j].Floats = []float64{}
	}
	data[3].Codes = []int32{}
	for _, r := range rows {
		data[0].Floats = append(data[0].Floats, r.a)
		data[1].Floats = append(data[1].Floats, r.b)
		data[2].Floats = append(data[2].Floats, r.c)
		data[3].Codes = append(data[3].Codes, r.k)
	}
	if columns[4].Kind == dataset.Category {
		data[4].Codes = []int32{}
		for _, r := range rows {
			data[4].Codes = append(data[4].Codes, r.code)
		}
	} else {
		data[4].Floats = []float64{}
		for _, r := range rows {
			data[4].Floats = append(data[4].Floats, r.y)
		}
	}
	tab, err := dataset.NewTable(dataset.Schema{Columns: columns}, data, ids)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// plans caches the priced plans by their parameters, since pricing takes longer than training.
var plans sync.Map

// pricedPlan returns a plan for one run.
func pricedPlan(
	t testing.TB,
	tr CostTree,
	columns []dataset.Column,
	epsilon float64,
	rel budget.Relation,
) *budget.Priced {
	t.Helper()
	type key struct {
		levels  int
		epsilon float64
		rel     budget.Relation
	}
	p, ok := plans.Load(key{tr.maxLevels(), epsilon, rel})
	if !ok {
		p = calibratePlan(t, tr, columns, epsilon, rel)
		plans.Store(key{tr.maxLevels(), epsilon, rel}, p)
	}
	return p.(*budget.Priced).Again()
}

func calibratePlan(
	t testing.TB,
	tr CostTree,
	columns []dataset.Column,
	epsilon float64,
	rel budget.Relation,
) *budget.Priced {
	t.Helper()
	node, err := tr.Plan(method.Facts{Columns: columns, Relation: rel})
	if err != nil {
		t.Fatal(err)
	}
	p, err := budget.Calibrate(
		budget.Sequence("run", node),
		budget.Target{
			Epsilon:  epsilon,
			Delta:    1e-6,
			Relation: rel,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func dataOf(v dataset.View, ranges []scaling.Range) method.Data {
	return method.Data{
		Facts:   method.Facts{Columns: v.Schema().Columns},
		Records: memory.NewRecords(v),
		Ranges:  ranges,
	}
}

// trainTree fits at an epsilon. It also returns the session.
func trainTree(
	t testing.TB, tr CostTree, classes, n int, epsilon float64,
) (*method.Fit, *mechanism.Session) {
	t.Helper()
	columns, ranges := columnsOf(classes)
	s, err := mechanism.NewSession(pricedPlan(t, tr, columns, epsilon, budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	fit, err := tr.Fit(
		context.Background(),
		s,
		dataOf(tableOf(t, columns, treeRecords(n), nil).View(), ranges),
	)
	if err != nil {
		t.Fatal(err)
	}
	if err := fit.Model.Validate(); err != nil {
		t.Fatal(err)
	}
	return fit, s
}

func treesOf(m regression.Model) []*regression.Tree {
	if c, ok := m.(*regression.Classifier); ok {
		var out []*regression.Tree
		for _, s := range c.Scores {
			out = append(out, s.(*regression.Tree))
		}
		return out
	}
	return []*regression.Tree{m.(*regression.Tree)}
}

// rowsOf returns the features of records as a model reads them.
func rowsOf(rows []record) regression.Rows {
	out := regression.Rows{
		N:       len(rows),
		Numeric: map[string][]float64{},
		Codes:   map[string]regression.Codes{"k": {Categories: []string{"x", "z"}}},
	}
	codes := out.Codes["k"]
	for _, r := range rows {
		for name, v := range map[string]float64{
			"a": r.a,
			"b": r.b,
			"c": r.c,
		} {
			out.Numeric[name] = append(out.Numeric[name], v)
		}
		codes.Values = append(codes.Values, r.k)
	}
	out.Codes["k"] = codes
	return out
}

// TestTreeBeatsTheLine checks that with negligible noise a tree of two levels, hard or soft, halves the squared error
// of one level and classifies three classes more accurately.
func TestTreeBeatsTheLine(t *testing.T) {
	rows := treeRecords(6000)
	x := rowsOf(rows)
	loss := func(tr CostTree) float64 {
		fit, _ := trainTree(t, tr, 0, len(rows), 1e4)
		got, err := fit.Model.Predict(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.
		for i, v := range got {
			sum += (v - rows[i].y) * (v - rows[i].y)
		}
		return sum / float64(len(rows))
	}
	wrong := func(tr CostTree) float64 {
		fit, _ := trainTree(t, tr, 3, len(rows), 1e4)
		got, err := fit.Model.Predict(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		n := 0.
		for i, v := range got {
			if int32(v) != rows[i].code {
				n++
			}
		}
		return n / float64(len(rows))
	}
	line := loss(CostTree{Depth: 1})
	hard := loss(CostTree{Depth: 2})
	soft := loss(CostTree{Depth: 2, Soft: true})
	if !(hard < line/2 && soft < line) {
		t.Errorf(
			"squared errors: line %v, tree %v, soft tree %v",
			line, hard, soft,
		)
	}
	one := wrong(CostTree{Depth: 1})
	two := wrong(CostTree{Depth: 2})
	if !(two < one-.02) {
		t.Errorf(
			"wrong classes: one level %v, two %v",
			one, two,
		)
	}
}

// TestExactLimit checks that with negligible noise the root buys the same features as the greedy rule on the exact
// matrix of the limited rows, with the same coefficients.
func TestExactLimit(t *testing.T) {
	columns, ranges := columnsOf(0)
	tab := tableOf(t, columns, treeRecords(3000), nil)
	fit, _ := trainTree(t, CostTree{Depth: 1, Budget: 2}, 0, 3000, 1e9)
	m := fit.Model.(*regression.Tree)
	exact := greedy.Released{Packed: exactMatrix(t, tab, columns, ranges), Sigma: 0}
	f := newFrame(columns, ranges)
	exact.Side = f.side
	exact.First = f.first
	g := &grower{
		CostTree: CostTree{Budget: 2},
		frame:    f,
		costs:    []float64{1, 1, 1, 1},
	}
	n := g.learnNode(exact, nil)
	intercept, coefficients := f.originalUnits(n.theta[0], 0, 4)
	var want []float64
	for _, e := range n.used {
		if e < f.first {
			want = append(want, coefficients[e])
		}
	}
	got := m.Nodes[0]
	if len(m.Columns) != 2 ||
		len(got.Terms) != len(want) ||
		math.Abs(got.Intercept-intercept) > 1e-3 {
		t.Fatalf(
			"%+v, want intercept %v and %v",
			got, intercept, want,
		)
	}
	for i, w := range want {
		if math.Abs(got.Terms[i].Coefficient-w) > 1e-3*(1+math.Abs(w)) {
			t.Errorf(
				"term %d: %v, want %v",
				i, got.Terms[i].Coefficient, w,
			)
		}
	}
}

// exactMatrix sums the encoded rows of the statistic without noise.
func exactMatrix(
	t *testing.T,
	tab *dataset.Table,
	columns []dataset.Column,
	ranges []scaling.Range,
) []float64 {
	t.Helper()
	f := newFrame(columns, ranges)
	r := newRows(f)
	r.Encode(tab.View().Block(0, tab.Len()))
	limit := f.enc.NormLimit(.5)
	var out []float64
	for i := range f.side {
		for j := i; j < f.side; j++ {
			sum := 0.
			for k := range r.X[i] {
				n2 := 0.
				for _, c := range r.X {
					v := float64(c[k]) / mechanism.FixedOne
					n2 += v * v
				}
				sum += float64(r.X[i][k]) * float64(r.X[j][k]) /
					(mechanism.FixedOne * mechanism.FixedOne) * min(1, limit/n2)
			}
			out = append(out, sum)
		}
	}
	return out
}

// TestBudgetHolds checks for any noise that no node spends more than its budget on columns that were not bought above
// it, that free columns do not count, and that each record pays the price of its path.
func TestBudgetHolds(t *testing.T) {
	rows := treeRecords(200)
	rapid.Check(t, func(rt *rapid.T) {
		tr := CostTree{
			Depth:  rapid.IntRange(0, 4).Draw(rt, "depth"),
			Budget: rapid.Float64Range(.5, 12).Draw(rt, "budget"),
			Soft:   rapid.Bool().Draw(rt, "soft"),
			Costs: map[string]float64{
				"a": rapid.SampledFrom([]float64{0, 1, 5}).Draw(rt, "a"),
				"b": 3,
				"k": rapid.Float64Range(0, 9).Draw(rt, "k"),
			},
		}
		classes := rapid.SampledFrom([]int{0, 3}).Draw(rt, "classes")
		fit, _ := trainTree(
			t,
			tr,
			classes,
			len(rows)*rapid.SampledFrom([]int{0, 1, 40}).Draw(rt, "times"),
			rapid.SampledFrom([]float64{.1, 1, 100}).Draw(rt, "epsilon"),
		)
		for _, m := range treesOf(fit.Model) {
			paths := m.Paths()
			for i, n := range m.Nodes {
				for _, child := range []int{n.Low, n.High} {
					if n.Low == 0 {
						continue
					}
					spent := costOf(m, paths[child]) - costOf(m, paths[i])
					if spent > tr.Budget+
						1e-6 {
						rt.Fatalf("node %d spends %v of %v", child, spent, tr.Budget)
					}
				}
			}
			spent := costOf(m, paths[0])
			if spent > tr.Budget+1e-6 {
				rt.Fatalf("the root spends %v of %v", spent, tr.Budget)
			}
			for j, c := range m.Columns {
				want, ok := tr.Costs[c.Name]
				if !ok {
					want = 1
				}
				if m.Costs[j] != want {
					rt.Fatalf(
						"%s costs %v, want %v",
						c.Name, m.Costs[j], want,
					)
				}
			}
			costs, err := m.CostsOf(nil, rowsOf(rows))
			if err != nil {
				rt.Fatal(err)
			}
			possible := make([]float64, len(paths))
			for i, p := range paths {
				possible[i] = costOf(m, p)
			}
			for _, c := range costs {
				if !slices.Contains(possible, c) {
					rt.Fatalf("a record pays %v, paths cost %v", c, possible)
				}
			}
		}
	})
}

func costOf(m *regression.Tree, columns []int) float64 {
	sum := 0.
	for _, j := range columns {
		sum += m.Costs[j]
	}
	return sum
}

// TestDefaultDepth checks that the default is two levels if there are many records, and one level with all draws of
// the matrix if there are few.
func TestDefaultDepth(t *testing.T) {
	many, _ := trainTree(t, CostTree{}, 0, 20000, 3)
	n := len(many.Model.(*regression.Tree).Nodes)
	if n != 3 {
		t.Errorf("%d nodes for many records", n)
	}
	few, s := trainTree(t, CostTree{}, 0, 300, 1)
	n = len(few.Model.(*regression.Tree).Nodes)
	if n != 1 {
		t.Errorf("%d nodes for few records", n)
	}
	for _, e := range s.Events() {
		want := map[string]int{
			"run/cost-tree/grams":   2,
			"run/cost-tree/medians": 1,
		}[e.Path]
		if e.Released != want {
			t.Errorf(
				"%s: %d draws, want %d",
				e.Path, e.Released, want,
			)
		}
	}
}

// TestDrawsDependOnDepthOnly checks that a tree of depth D makes D draws of matrices and D-1 of medians, independently
// of the number of its nodes.
func TestDrawsDependOnDepthOnly(t *testing.T) {
	for depth := 1; depth <= maxDepth; depth++ {
		fit, s := trainTree(t, CostTree{Depth: depth}, 0, testkit.Size(12000, 40000), 1000)
		n := len(fit.Model.(*regression.Tree).Nodes)
		if n != 1<<depth-1 {
			t.Errorf("depth %d: %d nodes", depth, n)
		}
		_, few := trainTree(t, CostTree{Depth: depth}, 0, 500, 10) // not every node is split
		for i, e := range few.Events() {
			if e.Released != s.Events()[i].Released {
				t.Errorf(
					"depth %d: %s has %d draws with few records",
					depth,
					e.Path,
					e.Released,
				)
			}
		}
		for _, e := range s.Events() {
			want := map[string]int{
				"run/cost-tree/grams":   depth,
				"run/cost-tree/medians": depth - 1,
			}[e.Path]
			if e.Released != want || e.Law.Draws != want {
				t.Errorf(
					"depth %d: %s has %d draws of %d, want %d",
					depth,
					e.Path,
					e.Released,
					e.Law.Draws,
					want,
				)
			}
		}
	}
}

// TestRoutesAreThoseOfTheModel checks that training routes a record as the model does, except for records within the
// grid of a threshold.
func TestRoutesAreThoseOfTheModel(t *testing.T) {
	columns, ranges := columnsOf(0)
	rows := treeRecords(4000)
	tr := CostTree{Depth: 3, Budget: 2}
	s, err := mechanism.NewSession(pricedPlan(t, tr, columns, 100, budget.AddRemove))
	if err != nil {
		t.Fatal(err)
	}
	tab := tableOf(t, columns, rows, nil)
	g := &grower{
		CostTree: tr,
		frame:    newFrame(columns, ranges),
		session:  s.Sub(treeNode),
		data:     dataOf(tab.View(), ranges),
		costs:    []float64{1, 1, 1, 1},
	}
	if err := g.growTree(context.Background()); err != nil {
		t.Fatal(err)
	}
	m := g.newFit().Model.(*regression.Tree)
	if len(m.Nodes) != 7 {
		t.Fatalf("%d nodes", len(m.Nodes))
	}
	r := newRows(g.frame)
	r.Encode(tab.View().Block(0, tab.Len()))
	weights := (&router{routes: g.routes}).nodeWeights(&r)
	got, err := m.Predict(nil, rowsOf(rows))
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for i := range rows {
		for k, at := range g.routes.Open {
			if weights[k][i] == 0 {
				continue
			}
			score := make([]float64, len(rows))
			r.scoreInto(score, g.nodes[at].theta[0])
			if math.Abs(min(max(4*score[i], -4), 4)-got[i]) < 1e-2 {
				same++
			}
		}
	}
	if same < len(rows)*99/100 {
		t.Errorf(
			"%d of %d records end where the model ends",
			same, len(rows),
		)
	}
}

// TestRecordWeightsSumToOne checks that a record has weight 1 in one open node of a hard tree, and weights that sum to
// 1 in a soft tree.
func TestRecordWeightsSumToOne(t *testing.T) {
	columns, ranges := columnsOf(0)
	f := newFrame(columns, ranges)
	r := newRows(f)
	tab := tableOf(t, columns, treeRecords(500), nil)
	r.Encode(tab.View().Block(0, tab.Len()))
	weights := make([]float64, f.first+1)
	weights[0] = 1
	weights[f.first] = .1
	for _, soft := range []bool{false, true} {
		to := routes{
			Soft: soft,
			Open: []int{3, 4, 2},
			Nodes: []route{
				{weights, .2, 1, 2},
				{weights, -.3, 3, 4},
				{}, {}, {},
			},
		}
		for i := range tab.Len() {
			sum := 0.
			ones := 0
			for _, w := range (&router{routes: to}).nodeWeights(&r) {
				sum += w[i]
				if w[i] == 1 {
					ones++
				}
			}
			if math.Abs(sum-1) > 1e-12 || !soft && ones != 1 {
				t.Fatalf(
					"soft %v, record %d: weights add up to %v, %d are 1",
					soft,
					i,
					sum,
					ones,
				)
			}
		}
	}
}

// TestRoute checks that with several targets records are routed by the combination of scores with the largest
// variance, with a sign that does not depend on the decomposition.
func TestRoute(t *testing.T) {
	columns, ranges := columnsOf(3)
	f := newFrame(columns, ranges)
	r := greedy.Released{
		Side:  f.side,
		First: f.first,
		Packed: exactMatrix(
			t,
			tableOf(t, columns, treeRecords(2000), nil),
			columns,
			ranges,
		),
	}
	p := r.Problem()
	theta := [][]float64{make([]float64, f.first+1), make([]float64, f.first+1),
		make([]float64, f.first+1)}
	theta[0][0] = 2
	theta[1][0] = -4
	theta[2][1] = .01
	got := routeOf(p, theta)
	want := 10 / math.Sqrt(5) * -1
	if math.Abs(got[0]-want) > 1e-3 &&
		math.Abs(got[0]+want) > 1e-3 {
		t.Errorf(
			"%v, want %v in the first entry",
			got, want,
		)
	}
	if got[0] > 0 { // the largest part, that of the second target, has the sign +
		t.Errorf(
			"%v: the sign is not that of the largest part",
			got,
		)
	}
}

// TestInvalidSettingsFailAtPlan checks that settings out of range are errors at plan time.
func TestInvalidSettingsFailAtPlan(t *testing.T) {
	columns, _ := columnsOf(0)
	for _, tr := range []CostTree{
		{Depth: -1},
		{Depth: 6},
		{Budget: -1},
		{Budget: math.NaN()},
		{Budget: 1e10},
		{Costs: map[string]float64{"a": -1}},
		{Costs: map[string]float64{"a": math.Inf(1)}},
	} {
		_, err := tr.Plan(method.Facts{Columns: columns})
		if !errors.Is(err, ErrSettings) {
			t.Errorf("%+v: %v", tr, err)
		}
	}
}

func BenchmarkCostTree(b *testing.B) {
	columns, ranges := columnsOf(0)
	tab := tableOf(b, columns, treeRecords(100_000), nil)
	for b.Loop() {
		b.StopTimer()
		tr := CostTree{Depth: 3}
		s, err := mechanism.NewSession(pricedPlan(b, tr, columns, 1, budget.AddRemove))
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		_, err = tr.Fit(
			context.Background(), s,
			dataOf(tab.View(), ranges),
		)
		if err != nil {
			b.Fatal(err)
		}
	}
}
