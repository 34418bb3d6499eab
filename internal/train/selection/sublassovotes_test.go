package selection

import (
	"context"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"pgregory.net/rapid"
)

// castOn returns the vote of one bucket.
func castOn(
	t testing.TB,
	schema dataset.Schema,
	data []dataset.ColumnData,
	k int,
	lambda float64,
) []int {
	t.Helper()
	tab, err := dataset.NewTable(schema, data, nil)
	if err != nil {
		t.Fatal(err)
	}
	last := len(schema.Columns) - 1
	vote, err := newBucketVoter(schema.Columns[:last], k, lambda).castVote(
		context.Background(),
		tab.View(),
	)
	if err != nil {
		t.Fatal(err)
	}
	return vote
}

// numericColumns declares numeric columns.
func numericColumns(columns ...[]float64) (s dataset.Schema, data []dataset.ColumnData) {
	for j, c := range columns {
		s.Columns = append(
			s.Columns,
			dataset.Column{Name: string(rune('a' + j))},
		)
		data = append(data, dataset.ColumnData{Floats: c})
	}
	return s, data
}

// TestBallotOrder checks that on orthogonal columns of mean 0 the coefficient on standardised columns is the
// correlation less lambda. With correlations .8, .48, .24 and .2 the votes follow their order in any units, and end
// at k and at lambda.
func TestBallotOrder(t *testing.T) {
	// Rows of a Hadamard matrix without its constant row.
	a := []float64{
		1, -1, 1, -1, 1, -1,
		1, -1,
	}
	b := []float64{
		1, 1, -1, -1, 1, 1,
		-1, -1,
	}
	c := []float64{
		1, -1, -1, 1, 1, -1,
		-1, 1,
	}
	d := []float64{
		1, 1, 1, 1, -1, -1,
		-1, -1,
	}
	y := make([]float64, 8)
	for i := range y {
		y[i] = 7 + 24*a[i] + 80*b[i] - 48*c[i] + 20*d[i]
		a[i] = a[i]*1e-6 + 3
		c[i] *= 1e6
	}
	for _, test := range []struct {
		k      int
		lambda float64
		want   []int
	}{
		{4, .1, []int{1, 2, 0, 3}},
		{3, .1, []int{1, 2, 0}},
		{1, .1, []int{1}},
		{4, .215, []int{1, 2, 0}},
		{4, .3, []int{1, 2}},
		{4, .9, nil},
	} {
		schema, data := numericColumns(a, b, c, d, y)
		got := castOn(t, schema, data, test.k, test.lambda)
		if !slices.Equal(got, test.want) {
			t.Errorf(
				"k %d, lambda %v: votes %v, want %v",
				test.k, test.lambda, got, test.want,
			)
		}
	}
}

// TestBallotCells checks that a missing number is replaced by the mean of its bucket, that a category counts as one
// column with its largest coefficient, that "other" is a level where it is declared, and that a constant column never
// gets a vote.
func TestBallotCells(t *testing.T) {
	nan := math.NaN()
	y := []float64{1, 1, 5, 5, 9, 9}
	schema, data := numericColumns(
		[]float64{1, nan, 5, nan, nan, 9},
		[]float64{4, 4, 4, 4, 4, 4},
		y,
	)
	got := castOn(t, schema, data, 2, .1)
	if !slices.Equal(got, []int{0}) {
		t.Errorf(
			"missing cells and a constant: votes %v, want [0]",
			got,
		)
	}
	category := dataset.Column{
		Name:       "site",
		Kind:       dataset.Category,
		Categories: []string{"u", "v"},
	}
	codes := []int32{0, 0, 1, 1, 2, 2}
	only := []int32{2, 2, 2, 2, 2, 2}
	for _, other := range []bool{false, true} {
		category.Other = other
		second := category
		second.Name = "place"
		schema := dataset.Schema{Columns: []dataset.Column{
			{Name: "x"},
			category,
			second,
			{Name: "y"},
		}}
		data := []dataset.ColumnData{
			{Floats: []float64{1, 2, 2, 1, 2, 1}},
			{Codes: codes},
			{Codes: only},
			{Floats: y},
		}
		got := castOn(t, schema, data, 3, .1)
		if len(got) == 0 ||
			got[0] != 1 ||
			slices.Contains(got, 2) {
			t.Errorf(
				"categories, other %v: votes %v, want 1 first and no 2",
				other, got,
			)
		}
	}
	// Only the rows outside the list differ, so only the level "other" is informative.
	y2 := []float64{1, 2, 1, 2, 9, 8}
	for _, other := range []bool{false, true} {
		category.Other = other
		category.Categories = []string{"never", "neither"}
		schema := dataset.Schema{Columns: []dataset.Column{
			category,
			{Name: "x"},
			{Name: "y"},
		}}
		data := []dataset.ColumnData{
			{Codes: []int32{2, 2, 2, 2, 2, 2}},
			{Floats: []float64{1, 1, 1, 1, 2, 2}},
			{Floats: y2},
		}
		got := castOn(t, schema, data, 2, .1)
		if !slices.Equal(got, []int{1}) {
			t.Errorf(
				"no listed value occurs, other %v: votes %v, want [1]",
				other, got,
			)
		}
	}
}

// TestBallotReuse checks that a ballot reuses its memory, and that its votes depend neither on the tables it read
// before nor on the number of cores.
func TestBallotReuse(t *testing.T) {
	f, tab := noiseTable(300, 6)
	rng := rand.New(rand.NewPCG(3, 3))
	parts := tab.View().Split(9, func(uint64) int {
		return rng.IntN(9)
	})
	parts = append(
		parts, tab.View(),
		tab.Select(nil),
		tab.Select([]int32{5}),
	)
	b := newBucketVoter(f.Columns, 3, .05)
	for range 2 {
		for i, p := range parts {
			got, err := b.castVote(context.Background(), p)
			if err != nil {
				t.Fatal(err)
			}
			fresh, err := newBucketVoter(f.Columns, 3, .05).castVote(
				context.Background(),
				p,
			)
			if err != nil || !slices.Equal(got, fresh) {
				t.Errorf(
					"part %d: %v after others, %v alone, %v",
					i, got, fresh, err,
				)
			}
		}
		slices.Reverse(parts)
	}
}

// TestVotesMoveByOneBucket adds, removes or replaces a record under fixed coins, and checks that the ballots change
// in at most one bucket.
func TestVotesMoveByOneBucket(t *testing.T) {
	moved := 0
	rapid.Check(t, func(t *rapid.T) {
		const m, d, k = 4, 3, 2
		cell := rapid.SampledFrom([]float64{
			-1, 0, 0, 1, 2,
			1e6, math.NaN(),
		})
		rows := rapid.SliceOfN(
			rapid.SliceOfN(cell, d+1, d+1),
			1, 24,
		).Draw(t, "rows")
		coins := rapid.SliceOfN(
			rapid.IntRange(0, m-1), 24,
			24,
		).Draw(t, "coins")
		at := rapid.IntRange(0, len(rows)-1).Draw(t, "at")
		with := rapid.SliceOfN(cell, d+1, d+1).Draw(t, "with")
		replace := rapid.Bool().Draw(t, "replace")
		ballots := func(neighbour bool) [m][]int {
			columns := make([][]float64, d+1)
			ids := []uint64{}
			for i, r := range rows {
				if neighbour && i == at {
					if !replace {
						continue
					}
					r = with
				}
				for j, v := range r {
					columns[j] = append(columns[j], v)
				}
				ids = append(ids, uint64(i))
			}
			schema, data := numericColumns(columns...)
			tab, err := dataset.NewTable(schema, data, ids)
			if err != nil {
				t.Fatal(err)
			}
			var out [m][]int
			b := newBucketVoter(schema.Columns[:d], k, .1)
			for i, p := range tab.View().Split(m, func(id uint64) int {
				return coins[id]
			}) {
				out[i], err = b.castVote(context.Background(), p)
				if err != nil || len(out[i]) > k {
					t.Fatal(out[i], err)
				}
			}
			return out
		}
		before := ballots(false)
		after := ballots(true)
		changed := 0
		for i := range m {
			if !slices.Equal(before[i], after[i]) {
				changed++
				if i != coins[at] {
					t.Fatalf(
						"bucket %d changed, the record is in bucket %d",
						i, coins[at],
					)
				}
			}
		}
		moved += changed
	})
	if moved == 0 {
		t.Error("no record ever moved a vote")
	}
}

// tallyVotes counts the votes of parts one after the other, where they can be read.
func tallyVotes(t testing.TB, f Facts, k int, parts []dataset.View) []int {
	t.Helper()
	counts := make([]int, len(f.Columns))
	b := newBucketVoter(f.Columns, k, defaultLambda)
	for _, p := range parts {
		vote, err := b.castVote(context.Background(), p)
		if err != nil {
			t.Fatal(err)
		}
		for _, j := range vote {
			counts[j]++
		}
	}
	return counts
}

// TestVotesOnAllCores checks that the counts are those of casting one ballot after the other.
func TestVotesOnAllCores(t *testing.T) {
	f, tab := noiseTable(900, 8)
	rng := rand.New(rand.NewPCG(4, 4))
	parts := tab.View().Split(30, func(uint64) int {
		return rng.IntN(30)
	})
	s := anySession(t, 3)
	want := s.NewVotes(8, 3)
	for j, c := range tallyVotes(t, f, 3, parts) {
		for range c {
			want.Add([]int{j})
		}
	}
	for range 3 {
		got := s.NewVotes(8, 3)
		err := (SubLasso{K: 3}).countVotes(
			context.Background(), s, f, parts, got,
		)
		if err != nil || !reflect.DeepEqual(got.Counts(), want.Counts()) {
			t.Fatalf(
				"%v, %v, want %v",
				got, err, want,
			)
		}
	}
}

// anySession opens a session with one leaf for k choices.
func anySession(t testing.TB, k int) *mechanism.Session {
	t.Helper()
	priced, err := budget.Calibrate(
		budget.Sequence(
			"run",
			SubLasso{K: k}.peelingChoice().Plan("sublasso", 1),
		),
		budget.Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		t.Fatal(err)
	}
	s, err := mechanism.NewSession(priced)
	if err != nil {
		t.Fatal(err)
	}
	return s
}
