package neighbour

import (
	"math"
	"testing"
)

// sinePoints returns n vectors of dim numbers in five classes, made by sineTable.
func sinePoints(n, dim int) Points {
	p := Points{Dim: dim, X: sineTable(n, dim)}
	for i := range n {
		p.Class = append(p.Class, int32(i*i%5))
	}
	return p
}

// classifyBySorting classifies by sorting all distances.
func classifyBySorting(refs, p Points, k int) []int32 {
	out := make([]int32, p.Len())
	for i := range out {
		var all []neighbour
		for j := range refs.Len() {
			all = append(
				all,
				neighbour{squaredDistance(p.Row(i), refs.Row(j)), j},
			)
			for q := j; q > 0 && all[q].distance < all[q-1].distance; q-- {
				all[q], all[q-1] = all[q-1], all[q]
			}
		}
		out[i] = Vote{K: k}.decideClass(
			all[:min(k, len(all))],
			refs.Class,
		)
	}
	return out
}

// TestSearch compares exhaustive search and both trees with the definition.
func TestSearch(t *testing.T) {
	for _, dim := range []int{1, 3, 25} {
		for _, size := range []int{1, 7, 600} {
			refs := sinePoints(size, dim)
			p := Points{
				Dim:   dim,
				X:     sineTable(200, dim)[:150*dim],
				Class: make([]int32, 150),
			}
			for k := range p.X {
				p.X[k] += .013 // makes all distances different
			}
			tree, err := NewTree(refs)
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []int{1, 3, 10} {
				want := classifyBySorting(refs, p, k)
				got := Search(refs).Classes(p, Vote{K: k})
				byTree, distances := tree.Classes(p, Vote{K: k})
				for i := range want {
					if got[i] != want[i] || byTree[i] != want[i] {
						t.Fatalf(
							"dim %d, %d vectors, k %d, row %d: exhaustive %d, by tree %d, want %d",
							dim,
							size,
							k,
							i,
							got[i],
							byTree[i],
							want[i],
						)
					}
				}
				if dim == 3 && size == 600 && k == 1 && distances > 150*200 {
					t.Errorf(
						"the tree measured %d distances of %d",
						distances, 150*600,
					)
				}
			}
		}
	}
}

// TestSearchTies checks that the first vector wins among equal distances, and the class of the nearest vector among
// equal votes.
func TestSearchTies(t *testing.T) {
	refs := Points{
		Dim:   1,
		X:     []float64{1, -1, 3, -3},
		Class: []int32{2, 1, 1, 2},
	}
	p := Points{
		Dim:   1,
		X:     []float64{0, 0.5},
		Class: []int32{0, 0},
	}
	for k, want := range map[int][]int32{
		1: {2, 2},
		2: {2, 2},
		3: {1, 1},
		4: {2, 2},
		9: {2, 2},
	} {
		for i, c := range Search(refs).Classes(p, Vote{K: k}) {
			if c != want[i] {
				t.Errorf(
					"k %d, row %d: class %d, want %d",
					k, i, c, want[i],
				)
			}
		}
	}
}

// TestVoteWeighs checks that with all vectors and γ² the votes are the probabilities of the loss, so the class of a
// record is the most probable one.
func TestVoteWeighs(t *testing.T) {
	for _, dim := range []int{2, 25} {
		refs := sinePoints(40, dim)
		p := Points{
			Dim:   dim,
			X:     sineTable(200, dim)[:150*dim],
			Class: make([]int32, 150),
		}
		for k := range p.X {
			p.X[k] += .013
		}
		tree, err := NewTree(refs)
		if err != nil {
			t.Fatal(err)
		}
		v := Vote{K: 40, Gamma2: .7}
		got := Search(refs).Classes(p, v)
		byTree, _ := tree.Classes(p, v)
		other := 0
		for i := range got {
			var votes [5]float64
			for j := range refs.Len() {
				votes[refs.Class[j]] += math.Exp(-.7 * squaredDistance(p.Row(i), refs.Row(j)))
			}
			want := int32(0)
			for c, w := range votes {
				if w > votes[want] {
					want = int32(c)
				}
			}
			if got[i] != want || byTree[i] != want {
				t.Fatalf(
					"row %d: class %d, by tree %d, want %d",
					i, got[i], byTree[i], want,
				)
			}
			nearest := Search(refs).Class(p.Row(i), Vote{K: 1})
			if nearest != want {
				other++
			}
		}
		if other == 0 {
			t.Error("the nearest vector always has the class with the most votes: nothing is tested")
		}
	}
}
