package stream

import (
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// names is a state that stores the identity of each record in lists of every kind.
type names struct{ wide bool } // wide: in list 0 a number, else a short

func (*names) Steps() int {
	return 0
}
func (n *names) Begin(b dataset.Block) mechanism.Kept {
	return n.BeginStorable(b)
}
func (n *names) BeginStorable(b dataset.Block) mechanism.StorableBlock {
	return &namesKept{
		names: n,
		ids:   idsOf(b),
		begun: true,
	}
}
func (n *names) Open(_, _ int, from mechanism.ColumnStore) mechanism.StorableBlock {
	var out []uint64
	if n.wide {
		for _, x := range from.Floats(0) {
			out = append(out, uint64(x))
		}
		for i, x := range from.Bytes(1) {
			if uint64(x) != out[i]&math.MaxUint8 {
				out[i] = 0
			}
		}
	} else {
		for _, x := range from.Shorts(0) {
			out = append(out, uint64(x))
		}
	}
	return &namesKept{names: n, ids: out}
}

type namesKept struct {
	*names
	ids   []uint64
	begun bool
}

func (*namesKept) Take(int, dataset.Block) {}

func (k *namesKept) Store(to mechanism.ColumnStore) {
	if !k.begun {
		return
	}
	var floats []float64
	var bytes []uint8
	var shorts []int16
	for _, id := range k.ids {
		floats = append(floats, float64(id))
		bytes = append(bytes, uint8(id))
		shorts = append(shorts, int16(id))
	}
	if k.wide {
		to.PutFloats(0, floats)
		to.PutBytes(1, bytes)
	} else {
		to.PutShorts(0, shorts)
	}
}

func idsOf(b dataset.Block) (out []uint64) {
	for k := range b.Len() {
		out = append(out, b.ID(k))
	}
	return out
}

// TestColumnStore checks that stored columns are read back unchanged, for parts of any share and for alternating
// states. They take little more space than the records of the part if coins alone select the part. Otherwise, and in
// the last chunk, they take that of a whole chunk.
func TestColumnStore(t *testing.T) {
	const chunk = 800
	_, e := spillTable(t, 5*chunk+17, chunk)
	coins := testCoins(5)
	for _, tt := range []struct {
		cuts     []mechanism.Cut
		of, most int // records that lists of a chunk have space for
	}{
		{nil, chunk, chunk},
		{
			[]mechanism.Cut{{
				Coin:  &coins,
				Share: .1,
				Heads: true,
			}},
			chunk / sizeClasses,
			2 * chunk / sizeClasses,
		},
		{
			[]mechanism.Cut{{Coin: &coins, Share: .1}},
			7 * chunk / sizeClasses, chunk,
		},
		{
			[]mechanism.Cut{
				{
					Coin:  &coins,
					Share: .1,
					Heads: true,
				},
				{Known: 0},
			},
			chunk,
			chunk,
		},
	} {
		p := mechanism.Part{Columns: []int{0}, Cuts: tt.cuts}
		r := e.acquireReader()
		states := []*names{{wide: true}, {wide: false}}
		for pass := range 3 {
			for i := range e.chunks {
				v, err := r.readPart(t.Context(), p, i)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range states {
					kept, flush := r.store.blockStates(
						s,
						e.storedState(s, i),
						r.stateRows(p, i, v.Len()),
					)
					b := v.Block(0, v.Len())
					got := kept(0, b).(*namesKept)
					if got.begun != (pass == 0) ||
						!slices.Equal(got.ids, idsOf(b)) {
						t.Fatalf(
							"%+v, pass %d, chunk %d: other records than were put there",
							tt,
							pass,
							i,
						)
					}
					if err := flush(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		for i, c := range e.states[states[0]] {
			last := i == len(e.chunks)-1
			if last && c.rows != chunk ||
				!last && (c.rows < tt.of || c.rows > tt.most) {
				t.Errorf(
					"%+v: space for %d records in chunk %d",
					tt, c.rows, i,
				)
			}
			before := e.file.Size()
			if e.file.Reserve(8 * c.rows); e.file.Size() == before {
				t.Errorf("%+v: a place was free", tt)
			}
			e.file.Release(c.columns[0])
			if e.file.Reserve(8 * c.rows); e.file.Size() != before+
				int64(8*c.rows+scratch.Overhead) {
				t.Errorf(
					"%+v: the list of chunk %d has another size than its space",
					tt, i,
				)
			}
		}
	}
}
