package neighbour

import (
	"context"
	"math"
	"sync"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// searchBlock is the number of records, and searchTile that of vectors, whose distances are held at once.
const searchBlock, searchTile = 64, 512

// A Searcher finds the nearest of some vectors exhaustively, in blocks of records. A record's neighbours are the same,
// to the last bit of their distances, alone and in a block.
type Searcher struct {
	refs   Points
	turned []float64 // the vectors as columns, times -2: a matrix for each tile
	length []float64
	rooms  sync.Pool // of *room
}

// A workspace is the working memory for a block of records.
type workspace struct {
	cells []float64
	near  []neighbour
}

// Search prepares refs, which must not be empty.
func Search(refs Points) *Searcher {
	s := &Searcher{
		refs:   refs,
		length: squaredNorms(refs.X, refs.Dim),
	}
	for j := 0; j < refs.Len(); j += searchTile {
		columns := min(searchTile, refs.Len()-j)
		s.turned = append(s.turned,
			transposed(refs.X[j*refs.Dim:(j+columns)*refs.Dim], columns, refs.Dim)...)
	}
	for k := range s.turned {
		s.turned[k] *= -2
	}
	s.rooms.New = func() any { return new(workspace) }
	return s
}

// A Vote is the rule by which neighbours decide on a class.
type Vote struct {
	// K nearest vectors vote, at least one; all if there are fewer. Of equal distances the vector that is
	// listed first is nearer, and of equal votes the class wins whose nearest vector is nearest.
	K int
	// Gamma2 weighs a vote by exp(-γ² d²), d the distance. 0 counts each for one. With all vectors and
	// the γ² of a [Compressed] the votes are the probabilities that its loss is made of.
	Gamma2 float64
}

// Classes returns the class of each vector of p.
func (s *Searcher) Classes(p Points, v Vote) []int32 {
	out := make([]int32, p.Len())
	s.forEachRecord(p, v.K, func(i int, found []neighbour) {
		out[i] = v.decideClass(found, s.refs.Class)
	})
	return out
}

// Class returns the class of the vector x, as Classes does.
func (s *Searcher) Class(x []float64, v Vote) int32 {
	var class int32
	s.searchBlock(x, 1, min(v.K, s.refs.Len()), func(_ int, found []neighbour) {
		class = v.decideClass(found, s.refs.Class)
	})
	return class
}

// nearestDistances returns the squared distance of each vector of p to the nearest one.
func (s *Searcher) nearestDistances(p Points) []float64 {
	out := make([]float64, p.Len())
	length := squaredNorms(p.X, p.Dim)
	s.forEachRecord(
		p,
		1,
		func(i int, found []neighbour) {
			out[i] = found[0].distance + length[i]
		},
	)
	return out
}

// A neighbour is a vector and its squared distance, less the squared length of the one that it is near to.
type neighbour struct {
	distance float64
	row      int
}

// forEachRecord finds the k nearest, or all if there are fewer, of every vector of p, and hands them over,
// nearest first, on any goroutine.
func (s *Searcher) forEachRecord(
	p Points,
	k int,
	found func(i int, near []neighbour),
) {
	k = min(k, s.refs.Len())
	blocks := (p.Len() + searchBlock - 1) / searchBlock
	_ = parallel.ForEach(context.Background(), blocks, parallel.Workers(p.Len()*s.refs.Len()),
		func(b int) {
			first := b * searchBlock
			s.searchBlock(p.X[first*p.Dim:], min(searchBlock, p.Len()-first), k,
				func(i int, near []neighbour) {
					found(first+i, near)
				})
		})
}

// searchBlock is each for the first rows of x, at most searchBlock.
func (s *Searcher) searchBlock(
	x []float64,
	rows, k int,
	found func(i int, near []neighbour),
) {
	r := s.rooms.Get().(*workspace)
	defer s.rooms.Put(r)
	if need := rows * min(searchTile, s.refs.Len()); len(r.cells) < need {
		r.cells = make([]float64, need)
	}
	if len(r.near) < rows*k {
		r.near = make([]neighbour, rows*k)
	}
	counts := 0
	for j := 0; j < s.refs.Len(); j += searchTile {
		columns := min(searchTile, s.refs.Len()-j)
		addProduct(r.cells, x, s.turned[j*s.refs.Dim:], rows, columns, s.refs.Dim)
		for i := range rows {
			near := r.near[i*k : i*k+min(counts, k) : (i+1)*k]
			updateNearest(
				near,
				r.cells[i*columns:(i+1)*columns],
				s.length[j:j+columns],
				j,
			)
		}
		counts += columns
	}
	for i := range rows {
		found(i, r.near[i*k:(i+1)*k])
	}
}

// updateNearest adds the vectors from row first on, with distances cells + length, to the nearest ones so
// far, as many as near has room for.
func updateNearest(near []neighbour, cells, length []float64, first int) {
	bar := math.Inf(1)
	if len(near) == cap(near) {
		bar = near[len(near)-1].distance
	}
	length = length[:len(cells)]
	for j, v := range cells {
		v += length[j]
		if len(near) == cap(near) && !(v < bar) {
			continue
		}
		near = insertSorted(near, neighbour{v, first + j})
		if len(near) == cap(near) {
			bar = near[len(near)-1].distance
		}
	}
}

// insertSorted puts x into a sorted list behind its equals, and drops the last if there is no room.
func insertSorted(near []neighbour, x neighbour) []neighbour {
	if len(near) < cap(near) {
		near = append(near, x)
	} else {
		near[len(near)-1] = x
	}
	for k := len(near) - 1; k > 0 && near[k].distance < near[k-1].distance; k-- {
		near[k], near[k-1] = near[k-1], near[k]
	}
	return near
}

// decideClass returns the class with the most votes of the neighbours, nearest first.
func (v Vote) decideClass(near []neighbour, class []int32) int32 {
	best := class[near[0].row]
	most := -1.
	if len(near) == 1 {
		return best
	}
	for k, x := range near {
		votes := 0.
		for _, y := range near[k:] {
			if class[y.row] == class[x.row] {
				votes += math.Exp(-v.Gamma2 * (y.distance - near[0].distance))
			}
		}
		if votes > most {
			best = class[x.row]
			most = votes
		}
	}
	return best
}
