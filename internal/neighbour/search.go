package neighbour

import (
	"context"
	"math"
	"runtime"

	"github.com/dptrain/dptrain/internal/carry"
)

// searchBlock is the number of records, and searchTile that of vectors, whose distances are held at once.
const searchBlock, searchTile = 64, 512

// A Searcher finds the nearest of some vectors by looking at all of them, in blocks of records.
type Searcher struct {
	refs   Points
	turned []float64 // the vectors as columns, times -2: a matrix for each tile
	length []float64
}

// Search prepares refs, of which there is at least one.
func Search(refs Points) *Searcher {
	s := &Searcher{refs: refs, length: norms(refs.X, refs.Dim)}
	for j := 0; j < refs.Len(); j += searchTile {
		columns := min(searchTile, refs.Len()-j)
		s.turned = append(s.turned, transposed(refs.X[j*refs.Dim:(j+columns)*refs.Dim], columns, refs.Dim)...)
	}
	for k := range s.turned {
		s.turned[k] *= -2
	}
	return s
}

// Classes returns the class of each vector of p by the majority of its k nearest. Of equal
// distances the vector that is listed first is nearer, and of equal majorities the class wins whose
// nearest vector is nearest.
func (s *Searcher) Classes(p Points, k int) []int32 {
	out := make([]int32, p.Len())
	s.each(p, k, func(i int, found []neighbour, _ float64) { out[i] = majority(found, s.refs.Class) })
	return out
}

// nearest returns the squared distance of each vector of p to the nearest one.
func (s *Searcher) nearest(p Points) []float64 {
	out := make([]float64, p.Len())
	s.each(p, 1, func(i int, found []neighbour, length float64) { out[i] = found[0].distance + length })
	return out
}

// A neighbour is a vector and its squared distance, less the squared length of the one that it is near to.
type neighbour struct {
	distance float64
	row      int
}

// each finds the k nearest, or all if there are fewer, of every vector of p, and hands them over
// with the vector's squared length: nearest first, on any goroutine.
func (s *Searcher) each(p Points, k int, found func(i int, near []neighbour, length float64)) {
	k = min(k, s.refs.Len())
	blocks := (p.Len() + searchBlock - 1) / searchBlock
	workers := 1
	if p.Len()*s.refs.Len() > 1<<18 {
		workers = runtime.GOMAXPROCS(0)
	}
	_ = carry.ForEach(context.Background(), blocks, workers, func(b int) {
		first := b * searchBlock
		rows := min(searchBlock, p.Len()-first)
		near := make([][]neighbour, rows)
		for i := range near {
			near[i] = make([]neighbour, 0, k)
		}
		cells := make([]float64, searchBlock*searchTile)
		for j := 0; j < s.refs.Len(); j += searchTile {
			columns := min(searchTile, s.refs.Len()-j)
			times(cells, p.X[first*p.Dim:], s.turned[j*p.Dim:], rows, columns, p.Dim)
			for i := range rows {
				near[i] = closest(near[i], cells[i*columns:(i+1)*columns], s.length[j:j+columns], j)
			}
		}
		for i, list := range near {
			found(first+i, list, squared(p.Row(first+i), make([]float64, p.Dim)))
		}
	})
}

// closest adds the vectors from row first on, with distances cells + length, to the nearest ones so
// far, as many as near has room for.
func closest(near []neighbour, cells, length []float64, first int) []neighbour {
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
		near = insert(near, neighbour{v, first + j})
		if len(near) == cap(near) {
			bar = near[len(near)-1].distance
		}
	}
	return near
}

// insert puts x into a sorted list behind its equals, and drops the last if there is no room.
func insert(near []neighbour, x neighbour) []neighbour {
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

// majority returns the class that most of the neighbours have, of equal ones that of the nearest.
func majority(near []neighbour, class []int32) int32 {
	best, most := class[near[0].row], 0
	for k, x := range near {
		votes := 0
		for _, y := range near[k:] {
			if class[y.row] == class[x.row] {
				votes++
			}
		}
		if votes > most {
			best, most = class[x.row], votes
		}
	}
	return best
}
