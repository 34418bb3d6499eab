package mechanism

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"pgregory.net/rapid"
)

// ballots are the votes that a bucket of records may cast in the searches below. They cover any function of the
// records' values: every value represents a ballot, and a bucket takes the ballot of the sum of its records.
var ballots = [][]int{
	{}, {0},
	{1, 0}, {2, 3},
	{3, 1},
	{0, 2, 1, 3},
	{4, -1, 2, 2, 0},
}

// votesOf assigns records to three buckets by position, as coins of their identities would, and lets every bucket
// vote.
func votesOf(s *Session, k int, rows []int) *Votes {
	const buckets = 3
	v := s.NewVotes(4, k)
	for b := range buckets {
		sum := 0
		size := 0
		for i, r := range rows {
			if i*i%buckets == b {
				sum += r
				size++
			}
		}
		if size == 0 {
			v.Add(nil)
		} else {
			v.Add(ballots[sum%len(ballots)])
		}
	}
	return v
}

// TestVotesSensitivity checks over all neighbours of tables of up to three records that the width of the scores is 2
// and the length of the counts' change sqrt(min(2k, d)), and that both are attained.
func TestVotesSensitivity(t *testing.T) {
	for _, k := range []int{1, 2, 3} {
		searchNeighbours(t, 3, len(ballots), 1, func(s *Session, rows []int) Bounded[Vector] {
			return votesOf(s, k, rows).Scores([]int{0, 1, 2, 3})
		})
		if k < 3 {
			searchNeighbours(t, 3, len(ballots), 1-1e-12, func(s *Session, rows []int) Bounded[Vector] {
				return votesOf(s, k, rows).Counts()
			})
		}
	}
	s := testSession(t, budget.AddRemove, 1)
	for k, want := range map[int]float64{
		1:  math.Sqrt2,
		2:  2,
		3:  2,
		4:  2,
		9:  2,
		0:  0,
		-1: 0,
	} {
		got := s.NewVotes(4, k).Counts().Sensitivity()
		if math.Abs(got-want) > 1e-12 {
			t.Errorf(
				"k = %d of 4: sensitivity %v, want %v",
				k, got, want,
			)
		}
	}
	// {0, 1, 2} against its complement and one more: all four counts move.
	a := s.NewVotes(4, 3)
	b := s.NewVotes(4, 3)
	a.Add([]int{0, 1, 2})
	b.Add([]int{3})
	got := changeNorm(a.Counts(), b.Counts()) * countUnit
	if got != 2 {
		t.Errorf("complements are %v apart, want 2", got)
	}
}

// TestVotesOneBucket checks that a record added, removed or replaced under coins moves the votes of one bucket only.
func TestVotesOneBucket(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		priced, err := budget.Calibrate(
			budget.Sequence("run", budget.ExponentialLeaf("pick", 1, 1)),
			budget.Target{Epsilon: 1, Delta: 1e-6},
		)
		if err != nil {
			t.Fatal(err)
		}
		s, err := NewSession(priced)
		if err != nil {
			t.Fatal(err)
		}
		const m = 5
		coins := s.Coins("buckets")
		deal := func(rows map[uint64]int) [m][]int {
			var out [m][]int
			for id := range uint64(20) {
				if r, ok := rows[id]; ok {
					b := coins.Uniform(id, m)
					out[b] = append(out[b], r)
				}
			}
			return out
		}
		rows := rapid.MapOfN(
			rapid.Uint64Range(0, 19),
			rapid.IntRange(0, 9), 1, 20,
		).Draw(
			t,
			"rows",
		)
		id := rapid.SampledFrom(slices.Sorted(maps.Keys(rows))).Draw(t, "record")
		before := deal(rows)
		if rapid.Bool().Draw(t, "replace") {
			rows[id]++
		} else {
			delete(rows, id)
		}
		changed := 0
		for b, bucket := range deal(rows) {
			if !slices.Equal(bucket, before[b]) {
				changed++
			}
		}
		if changed != 1 {
			t.Fatalf("%d buckets changed", changed)
		}
	})
}

func TestVotesAdd(t *testing.T) {
	s := testSession(t, budget.AddRemove, 1)
	v := s.NewVotes(3, 2)
	v.Add([]int{2, 2, 7, -1, 1, 0}) // 2 and 1
	v.Add([]int{2, 0, 1})           // 2 and 0
	v.Add(nil)
	o := s.NewVotes(3, 2)
	o.Add([]int{0})
	v.Merge(o)
	got := v.Scores([]int{2, 0, 1}).value
	if !slices.Equal(got, Vector{2, 2, 1}) {
		t.Errorf("counts %v, want [2 2 1]", got)
	}
	empty := s.NewVotes(-1, 4)
	empty.Add([]int{0})
	if got := empty.Counts(); len(got.value) != 0 || got.sens != 0 {
		t.Errorf("no candidates: %+v", got)
	}
}

// TestVotesRelease checks that both releases of the counts run, and that they name the winner under a large budget.
func TestVotesRelease(t *testing.T) {
	priced, err := budget.Calibrate(
		budget.Sequence("run",
			budget.ExponentialLeaf("pick", 1, 1),
			budget.GaussianLeaf("counts", 1, 1),
		),
		budget.Target{Epsilon: 40, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	s, err := NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	v := s.NewVotes(4, 1)
	for range 200 {
		v.Add([]int{2})
	}
	pick, err := Choose(
		s, "pick", 0,
		v.Scores([]int{3, 2, 0}),
	)
	if err != nil || pick.Value() != 1 {
		t.Errorf(
			"chose %v, %v",
			pick.Value(), err,
		)
	}
	counts, err := Gaussian(s, "counts", v.Counts())
	if err != nil ||
		math.Abs(counts.Value()[2]-200) > 20 ||
		math.Abs(counts.Value()[0]) > 20 {
		t.Errorf(
			"noisy counts %v, %v",
			counts.Value(), err,
		)
	}
	law, ok := s.Law("pick")
	if !ok || law.Kind != budget.Exponential || law.Draws != 1 {
		t.Errorf(
			"law of the leaf: %+v, %v",
			law, ok,
		)
	}
	if _, ok := s.Law("absent"); ok {
		t.Error("a leaf that is not planned has a law")
	}
}

func ExampleVotes() {
	priced, err := budget.Calibrate(
		budget.Sequence("run", budget.ExponentialLeaf("pick", 1, 2)),
		budget.Target{Epsilon: 50, Delta: 1e-6},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := NewSession(priced)
	if err != nil {
		fmt.Println(err)
		return
	}
	votes := s.NewVotes(3, 2)
	for range 100 { // one call a bucket
		votes.Add([]int{2, 0})
	}
	left := []int{0, 1, 2}
	for round := range 2 {
		choice, err := Choose(s, "pick", round, votes.Scores(left))
		if err != nil {
			fmt.Println(err)
			return
		}
		left = append(left[:choice.Value()], left[choice.Value()+1:]...)
	}
	fmt.Println("not chosen:", left)
	// Output: not chosen: [1]
}
