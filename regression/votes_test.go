package regression

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// votesSample is sample with three members: one of every kind of column, one of
// a category, one without terms.
func votesSample() *Votes {
	return &Votes{Linear: *sampleModel(), Members: []Member{
		{
			Weight:    .25,
			Intercept: -40,
			Terms: []Term{
				{Column: 0, Coefficient: 1},
				{
					Column:      1,
					Category:    "inland",
					Coefficient: -7,
				},
				{Column: 1, Other: true, Coefficient: 7},
			},
		},
		{
			Weight:    -1.5,
			Intercept: .5,
			Terms: []Term{{
				Column:      3,
				Category:    "a",
				Coefficient: -1,
			}},
		},
		{Weight: 1e-3, Intercept: -1},
	}}
}

func TestVotesPredictByDefinition(t *testing.T) {
	m := votesSample()
	rows := strangeRows(rand.New(rand.NewPCG(5, 5)), 3000)
	got, err := m.predictWith(nil, rows, 3)
	if err != nil {
		t.Fatal(err)
	}
	free := sampleModel()
	free.Lower = -Unbounded
	free.Upper = Unbounded
	want, err := free.Predict(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range m.Members {
		score, err := (&Linear{
			Columns:   m.Columns,
			Terms:     v.Terms,
			Intercept: v.Intercept,
			Lower:     -Unbounded,
			Upper:     Unbounded,
		}).Predict(nil, rows)
		if err != nil {
			t.Fatal(err)
		}
		above := 0
		for k, x := range score {
			vote := -1.
			if x >= 0 {
				vote = 1
				above++
			}
			want[k] += v.Weight * vote
		}
		if i < 2 && (above == 0 || above == len(score)) {
			t.Errorf(
				"member %d says the same of every row: the test would not see it",
				i,
			)
		}
	}
	for i := range got {
		w := min(max(want[i], m.Lower), m.Upper)
		if math.Abs(got[i]-w) > 1e-9*(1+math.Abs(w)) {
			t.Fatalf(
				"row %d: %v, want %v",
				i, got[i], w,
			)
		}
	}
}

// TestVotesTie checks that a score of exactly 0 votes +1.
func TestVotesTie(t *testing.T) {
	m := &Votes{
		Linear: Linear{
			Columns: []Column{{Name: "x", Upper: 9}},
			Lower:   -9,
			Upper:   9,
		},
		Members: []Member{{
			Weight:    2,
			Intercept: -3,
			Terms:     []Term{{Coefficient: 1}},
		}},
	}
	got, err := m.Predict(
		nil,
		Rows{
			N:       3,
			Numeric: map[string][]float64{"x": {2.9, 3, 3.1}},
		},
	)
	if err != nil ||
		!slices.Equal(got, []float64{-2, 2, 2}) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestVotesPredictIsTotal checks that predictions are finite and within the clamps for any cells and for
// weights of any size.
func TestVotesPredictIsTotal(t *testing.T) {
	m := votesSample()
	m.Members[0].Weight = math.MaxFloat64
	m.Members[1].Weight = math.MaxFloat64
	m.Members[0].Terms[0].Coefficient = math.MaxFloat64
	for _, n := range []int{0, 1, 1000} {
		got, err := m.Predict(
			nil,
			strangeRows(rand.New(rand.NewPCG(6, 6)), n),
		)
		if err != nil {
			t.Fatal(err)
		}
		checkWithin(t, m, got, n)
	}
}

func TestVotesPredictConformance(t *testing.T) {
	checkConformance(t, func(*rapid.T) blockwise {
		return votesSample()
	})
}

func TestVotesContradictions(t *testing.T) {
	checkContradictions(
		t,
		votesSample,
		strangeRows(rand.New(rand.NewPCG(1, 1)), 3),
		append(
			[]contradiction[*Votes]{
				{"members[1].weight", func(m *Votes) {
					m.Members[1].Weight = math.NaN()
				}},
				{
					"members[2].intercept",
					func(m *Votes) {
						m.Members[2].Intercept = math.Inf(1)
					},
				},
				{
					"members[0].terms[1].category",
					func(m *Votes) {
						m.Members[0].Terms[1].Category = "sea"
					},
				},
				{
					"members[0].terms[0].column",
					func(m *Votes) {
						m.Members[0].Terms[0].Column = 8
					},
				},
				{
					"members[0].terms[2]",
					func(m *Votes) {
						m.Members[0].Terms[2] = m.Members[0].Terms[1]
					},
				},
				{
					"members[1].terms[0].std_error",
					func(m *Votes) {
						m.Members[1].Terms[0].StdError = 1
					},
				},
				{"members[1].terms[0].coefficient", func(m *Votes) {
					m.Members[1].Terms[0].Coefficient = math.Inf(-1)
				}},
			},
			embeddedContradictions[*Votes]()...,
		),
	)
}

func TestVotesGolden(t *testing.T) {
	checkReads(t, "testdata/model-1-votes.json", votesSample())
	m := withVersion2(votesSample())
	m.Members[2].Terms = []Term{{Column: 2, Missing: true, Coefficient: 3}}
	checkGolden(t, "testdata/model-2-votes.json", m)
}

func TestVotesDecodeRefuses(t *testing.T) {
	checkDecodeRefuses(t, votesSample(), []refusal{
		{
			`"weight":0.25,`,
			``,
			`model file 21:5: members[0]: key "weight" is absent`,
		},
		{
			`"weight":0.25`,
			`"weight":"big"`,
			`model file 21:15: members[0].weight: must be a number`,
		},
		{
			`"weight":0.25`,
			`"weight":0.25,"x":1`,
			`model file 21:20: members[0]: unknown key "x"`,
		},
		{
			`"intercept":-1,"terms":[]`,
			`"intercept":-1,"terms":{}`,
			`model file 23:44: members[2].terms: must be a list`,
		},
		{
			`[{"column":"kind"`,
			`[{"column":"kinds"`,
			`model file 22:55: members[1].terms[0].column: no column has this name`,
		},
		{
			`"category":"a","coefficient":-1,"std_error":0`,
			`"category":"a","coefficient":-1,"std_error":2`,
			`model file 22:106: members[1].terms[0].std_error: must be 0`,
		},
		{
			`"members": [`,
			`"members": 3, "y": [`,
			`model file 20:14: members: must be a list`,
		},
		{
			`"kind": "votes"`,
			`"kind": "linear"`,
			`model file 20:3: unknown key "members"`,
		},
	})
}

func TestVotesFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Votes{Linear: *drawLinear(t)}
		number := rapid.Float64Range(-1e9, 1e9)
		for range rapid.IntRange(0, 4).Draw(t, "members") {
			v := Member{
				Weight:    number.Draw(t, "weight"),
				Intercept: number.Draw(t, "intercept"),
			}
			for _, term := range m.Terms {
				if rapid.Bool().Draw(t, "in") {
					term.StdError = 0
					term.Coefficient = number.Draw(t, "coefficient")
					v.Terms = append(v.Terms, term)
				}
			}
			m.Members = append(m.Members, v)
		}
		checkRoundTrip(t, m)
	})
}

func BenchmarkVotesPredict(b *testing.B) {
	linear, rows := benchmarkLinear()
	linear.Terms = nil
	m := &Votes{Linear: linear}
	rng := rand.New(rand.NewPCG(2, 2))
	for i := range 100 {
		m.Members = append(
			m.Members,
			Member{
				Weight:    rng.NormFloat64(),
				Intercept: rng.NormFloat64(),
				Terms:     []Term{{Column: i % 20, Coefficient: rng.NormFloat64()}},
			},
		)
	}
	benchmarkPredict(b, m, rows)
}
