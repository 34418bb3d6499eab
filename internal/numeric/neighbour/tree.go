package neighbour

import (
	"cmp"
	"context"
	"math"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"

	"gonum.org/v1/gonum/spatial/kdtree"
	"gonum.org/v1/gonum/spatial/vptree"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// planes is the largest number of columns for which a k-d tree is taken; more are too many for
// planes to part, and a vantage-point tree does not need them.
const planes = 20

// A Tree finds the nearest of some vectors without visiting all of them: a k-d tree for few columns, else a
// vantage-point tree. It returns the same result as [Searcher], except that among equal distances it may return any.
type Tree struct {
	class   []int32
	find    func(q treePoint, k int) []neighbour
	measure atomic.Int64
}

// NewTree prepares refs, which must not be empty. It returns an error if a coordinate is NaN.
func NewTree(refs Points) (*Tree, error) {
	t := &Tree{class: refs.Class}
	list := make(treePoints, refs.Len())
	for i := range list {
		list[i] = treePoint{refs.Row(i), i, &t.measure}
	}
	if refs.Dim <= planes {
		tree := kdtree.New(list, false)
		t.find = func(q treePoint, k int) []neighbour {
			keep := kdtree.NewNKeeper(k)
			tree.NearestSet(keep, q)
			found := make([]neighbour, 0, k)
			for _, x := range keep.Heap {
				if x.Comparable != nil {
					found = insertSorted(found, neighbour{x.Dist, x.Comparable.(treePoint).row})
				}
			}
			return found
		}
		return t, nil
	}
	balls := make([]vptree.Comparable, len(list))
	for i, p := range list {
		balls[i] = ball{p}
	}
	const effort = 10 // candidates for a vantage point
	source := fixedSource(1)
	tree, err := vptree.New(balls, effort, &source)
	if err != nil {
		return nil, err
	}
	t.find = func(q treePoint, k int) []neighbour {
		keep := vptree.NewNKeeper(k)
		tree.NearestSet(keep, ball{q})
		found := make([]neighbour, 0, k)
		for _, x := range keep.Heap {
			if x.Comparable != nil {
				found = insertSorted(found, neighbour{x.Dist * x.Dist, x.Comparable.(ball).row})
			}
		}
		return found
	}
	return t, nil
}

// Classes returns the class of each vector of p, and how many distances were computed.
func (t *Tree) Classes(p Points, v Vote) (classes []int32, distances int64) {
	t.measure.Store(0)
	out := make([]int32, p.Len())
	blocks := (p.Len() + searchBlock - 1) / searchBlock
	_ = parallel.ForEach(context.Background(), blocks, runtime.GOMAXPROCS(0), func(b int) {
		measured := new(atomic.Int64)
		for i := b * searchBlock; i < min((b+1)*searchBlock, p.Len()); i++ {
			out[i] = v.decideClass(
				t.find(treePoint{p.Row(i), -1, measured}, min(v.K, len(t.class))), t.class)
		}
		t.measure.Add(measured.Load())
	})
	return out, t.measure.Load()
}

// A treePoint counts the distances that are measured from it.
type treePoint struct {
	x        []float64
	row      int
	measured *atomic.Int64
}

func (p treePoint) Dims() int {
	return len(p.x)
}

func (p treePoint) Compare(c kdtree.Comparable, d kdtree.Dim) float64 {
	return p.x[d] - c.(treePoint).x[d]
}

func (p treePoint) Distance(c kdtree.Comparable) float64 {
	p.measured.Add(1)
	return squaredDistance(p.x, c.(treePoint).x)
}

// A ball is a treePoint in a metric: the distance itself.
type ball struct{ treePoint }

func (p ball) Distance(c vptree.Comparable) float64 {
	p.measured.Add(1)
	return math.Sqrt(squaredDistance(p.x, c.(ball).x))
}

// treePoints is the list that a k-d tree sorts.
type treePoints []treePoint

func (p treePoints) Index(i int) kdtree.Comparable {
	return p[i]
}
func (p treePoints) Len() int {
	return len(p)
}
func (p treePoints) Slice(start, end int) kdtree.Interface {
	return p[start:end]
}

// Pivot parts the points at their median along a column. It sorts them, where the medians of
// package kdtree would draw at random.
func (p treePoints) Pivot(d kdtree.Dim) int {
	slices.SortFunc(p, func(a, b treePoint) int {
		if c := cmp.Compare(a.x[d], b.x[d]); c != 0 {
			return c
		}
		return a.row - b.row
	})
	return len(p) / 2
}

// fixedSource is splitmix64 (Steele, Lea, Flood, 2014). It makes public choices, of vantage points and of the
// order of public records, and has no part in any noise.
type fixedSource uint64

func (s *fixedSource) Uint64() uint64 {
	*s += 0x9e3779b97f4a7c15
	z := uint64(*s)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// shuffle brings x into a new order.
func (s *fixedSource) shuffle(x []int) {
	for i := range x {
		j, _ := bits.Mul64(s.Uint64(), uint64(i)+1) // its bias, at most len(x)/2^64, does not matter
		x[i], x[j] = x[j], x[i]
	}
}

// uniform returns a number in [0, 1).
func (s *fixedSource) uniform() float64 {
	return float64(s.Uint64()>>11) / (1 << 53)
}
