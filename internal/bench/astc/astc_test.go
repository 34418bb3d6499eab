package astc

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"
)

// sineTable returns D(n, d): x_ij = sin(1.7 i + 2.3 j + .5 i j), i = 1..n, j = 1..d, with the target and the costs for
// which the reference values were computed.
func sineTable(n, d int) Table {
	t := Table{Cost: []float64{1, 1, 2, 2, 5, 5}}
	for j := range d {
		t.Group = append(t.Group, j)
	}
	for i := range n {
		var r []float64
		for j := range d {
			a := float64(i + 1)
			b := float64(j + 1)
			r = append(
				r,
				math.Sin(1.7*a+2.3*b+.5*a*b),
			)
		}
		t.Rows = append(t.Rows, r)
		t.Y = append(
			t.Y,
			r[0]+.5*r[1]-.8*r[4]+.3*r[2]*r[3],
		)
	}
	return t
}

func checkNear(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-6) {
		t.Errorf(
			"%s is %.9f, want %.9f",
			what, got, want,
		)
	}
}

// TestTreeMatchesSpecification reproduces a tree that was computed beforehand in another language.
func TestTreeMatchesSpecification(t *testing.T) {
	x := sineTable(40, 6)
	f, err := Fit(context.Background(), x, Options{Depth: 2, Budget: 4})
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Nodes) != 3 {
		t.Fatalf("%d nodes", len(f.Nodes))
	}
	checkNear(t, "threshold", f.Nodes[0].Threshold, .002935429)
	rss := map[*Node]float64{}
	records := map[*Node]int{}
	for i, r := range x.Rows {
		n := f.Leaf(r)
		e := x.Y[i] - dotProduct(n.Theta, r)
		rss[n] += e * e
		records[n]++
	}
	for _, tt := range []struct {
		at    int
		order []int
		rss   float64
		theta []float64
	}{
		{
			1,
			[]int{0, 2, 1, 4, 3},
			6.216222955,
			[]float64{-.184602632, .314346871, .530107734, .050685542, -.177457457},
		},
		{
			2,
			[]int{0, 2, 1, 4, 3},
			5.009995459,
			[]float64{.007024672, .594663023, .773084993, .056393885, .171653647},
		},
	} {
		n := &f.Nodes[tt.at]
		if !slices.Equal(n.Entries, tt.order) || records[n] != 20 {
			t.Errorf(
				"node %d: entries %v, %d records",
				tt.at, n.Entries, records[n],
			)
			continue
		}
		checkNear(t, "paid", n.Paid, 6)
		checkNear(t, "squared error", rss[n], tt.rss)
		for i, e := range n.Entries {
			checkNear(t, "coefficient", n.Theta[e], tt.theta[i])
		}
	}
	// A tree for another budget of the leaves is derived from their matrices.
	again, err := Fit(context.Background(), x, Options{Depth: 2, Budget: 4})
	if err != nil {
		t.Fatal(err)
	}
	for _, budget := range []float64{0, 1, 2, 4, 10} {
		g := again.WithBudget(budget)
		for at := 1; at < 3; at++ {
			spent := g.Nodes[at].Paid - f.Nodes[0].Paid
			if spent > budget ||
				budget == 4 && !slices.Equal(
					g.Nodes[at].Theta,
					f.Nodes[at].Theta,
				) {
				t.Errorf(
					"budget %v: node %d spends %v",
					budget, at, spent,
				)
			}
		}
	}
}

// TestScoreCanBeNegative checks that without a constant in the node the explained share of the variance of a child of
// centred columns is negative, and that with it the share is not.
func TestScoreCanBeNegative(t *testing.T) {
	x := []float64{-2, -1.9, -2.1, -2}
	y := []float64{5, 5.1, 5.2, 4.9}
	xy := 0.
	xx := 0.
	sum := 0.
	square := 0.
	for i := range x {
		xy += x[i] * y[i]
		xx += x[i] * x[i]
		sum += y[i]
	}
	left := 0.
	variance := 0.
	for i := range x {
		left += (y[i] - xy/xx*x[i]) * (y[i] - xy/xx*x[i])
		variance += (y[i] - sum/4) * (y[i] - sum/4)
	}
	z := (variance - left) / variance
	if math.Abs(z+1.538) > 1e-3 {
		t.Errorf("z is %v", z)
	}
	tab := Table{
		Y:     y,
		Group: []int{0},
		Cost:  []float64{1},
	}
	for _, v := range x {
		tab.Rows = append(tab.Rows, []float64{v})
	}
	f, err := Fit(context.Background(), tab, Options{Depth: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range tab.Rows {
		e := y[i] - dotProduct(f.Nodes[0].Theta, r)
		square += e * e
	}
	if square > variance {
		t.Errorf(
			"with the constant %v is left of %v",
			square, variance,
		)
	}
}

// TestSoftTreeTrainsOnAllRecords checks that each node of a soft tree is trained on all records and that prediction
// follows a single path as in a hard tree.
func TestSoftTreeTrainsOnAllRecords(t *testing.T) {
	x := sineTable(400, 6)
	soft, err := Fit(context.Background(), x, Options{
		Depth:  3,
		Budget: 2,
		Soft:   true,
	})
	if err != nil {
		t.Fatal(err)
	}
	n := soft.Nodes[0]
	if n.Low == 0 ||
		math.Abs(soft.Nodes[n.Low].Records+soft.Nodes[n.High].Records-400) > 1e-9 {
		t.Errorf(
			"the children have %v and %v of 400 records",
			soft.Nodes[n.Low].Records,
			soft.Nodes[n.High].Records,
		)
	}
	_, paid := soft.Predict(x.Rows)
	low := slices.Min(paid)
	high := slices.Max(paid)
	if low < 1 || high > 6 {
		t.Errorf("records pay %v to %v", low, high)
	}
}

// TestInconsistentTablesAreRefused checks that inconsistent parts are refused.
func TestInconsistentTablesAreRefused(t *testing.T) {
	good := sineTable(30, 6)
	for what, spoil := range map[string]func(*Table){
		"empty": func(x *Table) {
			x.Rows = nil
			x.Y = nil
		},
		"targets": func(x *Table) {
			x.Y = x.Y[1:]
		},
		"entries": func(x *Table) {
			x.Group = x.Group[1:]
		},
		"groups": func(x *Table) {
			x.Cost = x.Cost[1:]
		},
	} {
		bad := good
		spoil(&bad)
		_, err := Fit(context.Background(), bad, Options{Depth: 2})
		_, cstc := CSTC(context.Background(), bad, CSTCOptions{Depth: 2})
		_, logistic := Logistic(context.Background(), bad, 1, nil)
		if !errors.Is(err, ErrTable) ||
			!errors.Is(cstc, ErrTable) ||
			!errors.Is(logistic, ErrTable) {
			t.Errorf(
				"%s: %v, %v, %v",
				what, err, cstc, logistic,
			)
		}
	}
}

// TestCSTCGradient compares the gradient of the objective with central differences.
func TestCSTCGradient(t *testing.T) {
	x := sineTable(60, 6)
	start, err := Fit(context.Background(), x, Options{Depth: 2})
	if err != nil {
		t.Fatal(err)
	}
	c := newCSTC(x, start, CSTCOptions{Depth: 2, Rho: .3, Lambda: .05})
	at := c.startVector()
	for i := range at {
		at[i] += .1 * math.Sin(float64(3*i))
	}
	grad := make([]float64, len(at))
	value := c.objectiveAt(at, grad)
	plain := c.objectiveAt(at, nil)
	if plain != value {
		t.Errorf(
			"%v with a gradient, %v without",
			value, plain,
		)
	}
	for i := range at {
		const h = 1e-5
		up := slices.Clone(at)
		down := slices.Clone(at)
		up[i] += h
		down[i] -= h
		want := (c.objectiveAt(up, nil) - c.objectiveAt(down, nil)) /
			(2 * h)
		if math.Abs(grad[i]-want) > 1e-4*(1+math.Abs(want)) {
			t.Errorf(
				"entry %d: %v, by differences %v",
				i, grad[i], want,
			)
		}
	}
}

// TestCSTC checks that a higher price buys fewer features, and that without a price the tree fits about as well as
// its start.
func TestCSTC(t *testing.T) {
	x := sineTable(300, 6)
	paid := func(lambda float64) (mean, loss float64) {
		f, err := CSTC(context.Background(), x, CSTCOptions{Depth: 2, Lambda: lambda})
		if err != nil {
			t.Fatal(err)
		}
		scores, costs := f.Predict(x.Rows)
		for i, s := range scores {
			mean += costs[i] / 300
			loss += (s - x.Y[i]) * (s - x.Y[i]) / 300
		}
		return mean, loss
	}
	all, fit := paid(0)
	some, _ := paid(.05)
	none, worse := paid(5)
	if !(math.Abs(all-16) < 1e-9 && some < all && none < some && fit < worse) {
		t.Errorf(
			"costs %v, %v, %v, errors %v and %v",
			all, some, none, fit, worse,
		)
	}
}

// TestLogisticConstant checks that a penalty of 1 on the constant equals that of a column of ones, and that an
// infinite penalty removes the constant.
func TestLogisticConstant(t *testing.T) {
	x := sineTable(200, 6)
	for i, y := range x.Y {
		x.Y[i] = -1
		if y > -.5 {
			x.Y[i] = 1
		}
	}
	x.Constant = math.Inf(1)
	none, err := Logistic(context.Background(), x, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	wide := Table{
		Y:        x.Y,
		Group:    []int{0, 1, 2, 3, 4, 5, 6},
		Cost:     append(slices.Clone(x.Cost), 1),
		Constant: math.Inf(1),
	}
	for _, r := range x.Rows {
		wide.Rows = append(wide.Rows, append(slices.Clone(r), 1))
	}
	column, err := Logistic(context.Background(), wide, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	x.Constant = 1
	same, err := Logistic(context.Background(), x, 2, nil)
	if err != nil {
		t.Fatal(err)
	}
	if none[0] != 0 ||
		column[0] != 0 ||
		same[0] == 0 {
		t.Errorf(
			"constants %v, %v, %v",
			none[0], column[0],
			same[0],
		)
	}
	for j, want := range append([]float64{column[7]}, column[1:7]...) {
		if math.Abs(same[j]-want) > 1e-4 {
			t.Errorf(
				"weight %d is %v, with a column of ones %v",
				j, same[j], want,
			)
		}
	}
}

// TestLogistic checks the optimality conditions of the penalty, and that with a high penalty only the constant
// remains.
func TestLogistic(t *testing.T) {
	x := sineTable(200, 6)
	for i, y := range x.Y {
		x.Y[i] = -1
		if y > 0 {
			x.Y[i] = 1
		}
	}
	for _, lambda := range []float64{.1, 2, 1e3} {
		beta, err := Logistic(context.Background(), x, lambda, nil)
		if err != nil {
			t.Fatal(err)
		}
		gradient := make([]float64, 7)
		for i, r := range x.Rows {
			p := -x.Y[i] / (1 + math.Exp(x.Y[i]*dotProduct(beta, r)))
			gradient[0] += p
			for j, v := range r {
				gradient[j+1] += p * v
			}
		}
		for j, g := range gradient {
			limit := 0.
			if j > 0 {
				limit = lambda * x.Cost[j-1]
			}
			switch {
			case beta[j] == 0 && j > 0:
				if math.Abs(g) > limit+1e-3 {
					t.Errorf(
						"lambda %v: entry %d is 0 with the slope %v of %v",
						lambda,
						j,
						g,
						limit,
					)
				}
			case math.Abs(g+math.Copysign(limit, beta[j])) > 1e-3:
				t.Errorf(
					"lambda %v: entry %d, weight %v, slope %v of %v",
					lambda,
					j,
					beta[j],
					g,
					limit,
				)
			}
		}
		zeros := len(slices.DeleteFunc(slices.Clone(beta[1:]), func(b float64) bool {
			return b != 0
		}))
		if lambda > 100 && zeros != 6 {
			t.Errorf("lambda %v: %v", lambda, beta)
		}
	}
}
