package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestMissingShareCovers checks the intervals of the share of missing cells over 400 noisy releases of five columns
// with 3,000 records: at least 92% must contain the true share, and all must end within [0, 1]. The intervals have
// confidence 95%, at which fewer than 368 of 400 succeed with probability .004. The seed is fixed.
func TestMissingShareCovers(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 8))
	const records, scale, fine, bins, runs = 3000., 60., 40., 32, 400
	for _, share := range []float64{.4, .1, 0} {
		held := map[string]int{}
		for range runs {
			kinds := make([]CardKinds, 5)
			for j := range kinds {
				kinds[j] = CardKinds{
					Column:  string(rune('a' + j)),
					Numbers: records + scale*draw.NormFloat64(),
					Text:    scale * draw.NormFloat64(),
					Missing: scale * draw.NormFloat64(),
					Scale:   scale,
				}
			}
			kinds[0].Numbers -= share * records
			kinds[0].Missing += share * records
			c := CardColumn{
				Column: "a",
				Lower:  0,
				Upper:  1,
				Scale:  fine,
			}
			for range bins {
				c.Counts = append(
					c.Counts,
					records*(1-share)/bins+fine*draw.NormFloat64(),
				)
			}
			for name, e := range map[string]estimate{
				"numbers": missingShare(kinds[0], &c, kinds),
				"text":    missingShare(kinds[0], nil, kinds),
			} {
				if e.lower < 0 ||
					e.upper > 1 ||
					e.lower > e.value ||
					e.value > e.upper {
					t.Fatalf("%s: %+v", name, e)
				}
				if e.lower <= share && share <= e.upper {
					held[name]++
				}
			}
		}
		for _, name := range []string{"numbers", "text"} {
			if held[name] < 368 {
				t.Errorf(
					"%g, %s: the interval held in %d of %d",
					share,
					name,
					held[name],
					runs,
				)
			}
		}
	}
}

// TestMissingShareWithoutNoise checks exact counts, and counts below their noise.
func TestMissingShareWithoutNoise(t *testing.T) {
	exact := []CardKinds{
		{
			Column:  "a",
			Numbers: 75,
			Text:    5,
			Missing: 20,
		},
		{Column: "b", Text: 100},
	}
	e := missingShare(exact[0], nil, exact)
	if e != (estimate{.2, .2, .2}) {
		t.Errorf("%+v", e)
	}
	c := CardColumn{
		Lower:  0,
		Upper:  1,
		Counts: []float64{70, 5},
	}
	e = missingShare(exact[0], &c, exact)
	if e != (estimate{.25, .25, .25}) {
		t.Errorf("%+v", e)
	}
	faint := []CardKinds{{
		Column:  "a",
		Numbers: 7,
		Text:    5,
		Missing: 3,
		Scale:   20,
	}}
	got := missingShare(faint[0], nil, faint).shareText()
	if got != "unknown" {
		t.Error(got)
	}
}

// TestCardTexts checks that the values of a text column are drawn by their numbers, without a lower end near the
// threshold, and that malformed counts are not drawn.
func TestCardTexts(t *testing.T) {
	c := CardText{
		Column: "<i>ward",
		Values: []string{"<b>day", "night", "rare"},
		Counts: []float64{400, 3000, 130},
		Scale:  20,
		Least:  100,
	}
	for k, want := range []estimate{
		{400, 400 - 20*cardZ, 400 + 20*cardZ},
		{3000, 3000 - 20*cardZ, 3000 + 20*cardZ},
		{130, 0, 130 + 20*cardZ},
	} {
		got := c.count(k)
		if got != want {
			t.Errorf("%+v, want %+v", got, want)
		}
	}
	bars, table := c.bars()
	if len(bars) != 3 ||
		bars[0].Label != "night" ||
		table.Rows[2][0] != "rare" {
		t.Errorf("%+v %+v", bars, table)
	}
	s := evilSource(7)
	s.Report.Texts = []CardText{c}
	s.Report.Kinds = []CardKinds{{
		Column:  "<i>ward",
		Numbers: 0,
		Text:    900,
		Missing: 100,
	}}
	html, markdown := pageOn(t, s)
	for _, want := range []string{"The training data", "&lt;b&gt;day", "&lt;i&gt;ward",
		"10.0%<small>(10.0% to 10.0%)</small>"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if !strings.Contains(markdown, "3,000") {
		t.Error("the number of records is missing")
	}
	for _, bad := range []CardText{
		{Column: "x"},
		{Column: "x", Values: []string{"a"}},
		{
			Column: "x",
			Values: []string{"a"},
			Counts: []float64{1},
			Scale:  -1,
		},
	} {
		s.Report.Texts = []CardText{bad}
		html, _ := pageOn(t, s)
		if strings.Contains(html, "The training data") {
			t.Errorf("%+v is drawn", bad)
		}
	}
}

// TestCardCountsAreVerified checks that counts which state other noise than their step are found.
func TestCardCountsAreVerified(t *testing.T) {
	events := []Event{
		{
			ID:       "fit/train/vocabulary/kinds",
			Released: 1,
			Scale:    30,
		},
		{
			ID:       "fit/train/vocabulary/counts",
			Released: 1,
			Scale:    20,
		},
	}
	kinds := []CardKinds{{
		Column:  "a",
		Numbers: 5,
		Scale:   30,
	}}
	texts := []CardText{{
		Column: "b",
		Values: []string{"x"},
		Counts: []float64{200},
		Scale:  20,
	}}
	for name, x := range map[string]struct {
		change func(t *Training, events []Event)
		want   int
	}{
		"as released": {func(*Training, []Event) {}, 0},
		"other kinds": {func(t *Training, _ []Event) {
			t.Kinds[0].Scale = 29
		}, 1},
		"other counts": {func(t *Training, _ []Event) {
			t.Texts[0].Scale = 0
		}, 1},
		"nothing spent": {
			func(_ *Training, e []Event) {
				e[0].Released = 0
				e[1].Released = 0
			},
			2,
		},
		"a missing count": {func(t *Training, _ []Event) {
			t.Texts[0].Counts = nil
		}, 1},
	} {
		training := &Training{Kinds: slices.Clone(kinds), Texts: slices.Clone(texts)}
		steps := slices.Clone(events)
		x.change(training, steps)
		v := &verifier{
			report: &Report{Training: training, Events: steps},
			out:    &Verification{},
		}
		v.card()
		checks := v.out.Checks
		if len(checks) != 1 ||
			(checks[0].State == Misfit) != (x.want > 0) ||
			x.want > 0 && len(checks[0].Text) != x.want {
			t.Errorf(
				"%s: %+v",
				name, v.out.Checks,
			)
		}
	}
}
