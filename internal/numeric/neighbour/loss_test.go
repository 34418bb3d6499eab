package neighbour

import (
	"math"
	"testing"
)

// sineTable returns the table of the specification: x_ij = sin(1.7 i + 2.3 j + .5 i j), from 1.
func sineTable(n, d int) []float64 {
	x := make([]float64, 0, n*d)
	for i := 1; i <= n; i++ {
		for j := 1; j <= d; j++ {
			x = append(
				x,
				math.Sin(1.7*float64(i)+2.3*float64(j)+.5*float64(i*j)),
			)
		}
	}
	return x
}

// threeClasses returns the records of the specification and the rows it starts from.
func threeClasses() (Points, []int) {
	p := Points{Dim: 3, X: sineTable(60, 3)}
	for i := range 60 {
		x := p.X[3*i : 3*i+3]
		scores := [...]float64{
			x[0] + x[1],
			2 * x[1] * x[2],
			-x[0],
		}
		best := int32(0)
		for c, s := range scores {
			if s > scores[best] {
				best = int32(c)
			}
		}
		p.Class = append(p.Class, best)
	}
	return p, []int{1, 2, 4, 5, 0, 3}
}

func lossOf(p Points, class []int32, classes int) *loss {
	return &loss{
		u:     p.X,
		dim:   p.Dim,
		x:     p.X,
		xdim:  p.Dim,
		class: p.Class,
		from:  classBounds(class, classes),
	}
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

func euclideanNorm(x []float64) float64 {
	sum := 0.
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

// TestLossMatchesSpecification compares loss, gradient and twenty steps of descent with numbers that were computed
// beforehand.
func TestLossMatchesSpecification(t *testing.T) {
	p, start := threeClasses()
	count := [3]int{}
	for _, c := range p.Class {
		count[c]++
	}
	if count != [3]int{21, 18, 21} {
		t.Fatalf("classes of %v records", count)
	}
	z := p.Subset(start)
	l := lossOf(p, z.Class, 3)
	evaluate := func() (float64, []float64) {
		s, err := l.sumLoss(t.Context(), z.X, 1)
		if err != nil {
			t.Fatal(err)
		}
		return s.value, s.gradient(z.X, 3, 1)
	}
	value, g := evaluate()
	checkNear(t, "L", value, 38.661033393)
	checkNear(t, "|G|", euclideanNorm(g), 23.521455902)
	for k, want := range []float64{-10.221681708, -4.452334482, -1.724587357} {
		checkNear(t, "G[0]", g[k], want)
	}
	for range 20 {
		_, g = evaluate()
		for k := range z.X {
			z.X[k] -= .01 * g[k]
		}
	}
	value, g = evaluate()
	checkNear(t, "L after 20 steps", value, 15.387576804)
	checkNear(t, "|G| after 20 steps", euclideanNorm(g), 5.129731047)
	for k, want := range []float64{1.414259689, -.101747898, .762508622} {
		checkNear(t, "Z[0]", z.X[k], want)
	}
	wrong := 0
	for i, c := range Search(z).Classes(p, Vote{K: 1}) {
		if c != p.Class[i] {
			wrong++
		}
	}
	if wrong != 2 {
		t.Errorf("%d errors, want 2", wrong)
	}
}

func TestSpecificationTiny(t *testing.T) {
	p := Points{
		Dim: 2,
		X: []float64{
			0, 0, 1, 0, 0, 1, 2, 2,
			3, 2, 2, 3,
		},
		Class: []int32{0, 0, 0, 1, 1, 1},
	}
	z := []float64{.5, .5, 2, 1}
	s, err := lossOf(p, []int32{0, 1}, 2).sumLoss(t.Context(), z, .5)
	if err != nil {
		t.Fatal(err)
	}
	checkNear(t, "L", s.value, .945773797)
	for k, want := range []float64{.419699894, .650496574, -.844941514, -.792243781} {
		checkNear(t, "G", s.gradient(z, 2, .5)[k], want)
		s, _ = lossOf(p, []int32{0, 1}, 2).sumLoss(t.Context(), z, .5)
	}
	// The vectors are (.5,.5) and (3,3) of class 0, and (0,1.5) and (2,1) of class 1.
	z = []float64{.5, .5, 3, 3, 0, 1.5, 2, 1}
	s, err = lossOf(p, []int32{0, 0, 1, 1}, 2).sumLoss(t.Context(), z, .5)
	if err != nil {
		t.Fatal(err)
	}
	checkNear(t, "L", s.value, 4.769413172)
}
