package report

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// TestAttack checks values computed by hand. Φ(Φ⁻¹(.05) + mu) is .05 + phi(1.6449) mu + ... = .08153 for mu .25 (that
// is Φ(-1.39485)), and .25951 for mu 1 (Φ(-.64485)); e .05 + 1e-6 is .135915; and for epsilon 4, 1 - e^-4 .95 is
// .98260.
func TestAttack(t *testing.T) {
	mu := func(x float64) *float64 {
		return &x
	}
	for _, tt := range []struct {
		name string
		g    Guarantee
		want float64
	}{
		{
			"a small mu",
			Guarantee{
				Epsilon: 1,
				Delta:   1e-6,
				Mu:      mu(.25),
			},
			.081530,
		},
		{
			"mu 1",
			Guarantee{
				Epsilon: 5,
				Delta:   1e-6,
				Mu:      mu(1),
			},
			.259511,
		},
		{"no privacy lost", Guarantee{Epsilon: 1, Mu: mu(0)}, .05},
		{"epsilon alone", Guarantee{Epsilon: 1, Delta: 1e-6}, .135915},
		{"a large epsilon", Guarantee{Epsilon: 4}, .982600},
		{
			"a point of the profile",
			Guarantee{
				Epsilon: 4,
				Profile: []Point{{0, .3}, {.5, .01}},
			},
			.092436,
		},
		{
			"nothing is promised",
			Guarantee{
				Epsilon: 100,
				Delta:   1e-6,
				Profile: []Point{{0, 1}},
			},
			1,
		},
		{
			"nonsense from a file",
			Guarantee{
				Epsilon: -1,
				Delta:   math.NaN(),
				Mu:      mu(-3),
			},
			1,
		},
	} {
		got := tt.g.AttackOf()
		if got.FalseAlarms != .05 ||
			!(math.Abs(got.Found-tt.want) < 1e-6) {
			t.Errorf(
				"%s: %+v, want %v",
				tt.name, got, tt.want,
			)
		}
	}
}

func TestMeaning(t *testing.T) {
	mu := .2661 // Φ(-1.6449+.2661) = Φ(-1.3788) = .08397
	for relation, want := range map[string]string{
		"add-remove": "An attacker who accepts a 5% false-positive rate detects a given record at most 8.4% of the time (5% without the release), whatever else they know.",
		"substitute": "An attacker who compares two versions of a record, and accepts a 5% false-positive rate, recognises the second at most 8.4% of the time (5% without the release), whatever else they know.",
		"substitute-private-columns": "An attacker who compares two versions of the private columns of a record, and accepts a 5% false-positive rate, " +
			"recognises the second at most 8.4% of the time (5% without the release), whatever else they know.",
		"unit": "An attacker who accepts a 5% false-positive rate detects a given value of the column who, with all its records, at most 8.4% of the time (5% without the release), whatever else they know.",
	} {
		g := Guarantee{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: relation,
			Mu:       &mu,
		}
		if relation == "unit" {
			g.Relation = "add-remove"
			g.Unit = &Unit{"who", 3}
		}
		got := g.explained()
		if got.Meaning != want || got.Attack.Found > .0841 {
			t.Errorf(
				"%s: %q, %+v",
				relation, got.Meaning, got.Attack,
			)
		}
	}
	for relation, want := range map[string]string{ // in reports of earlier versions of the program
		"add-remove": "Who guesses from the release whether a record is in the table, with 5% false alarms, finds one that is at most 8.4% of the time, whatever else is known.",
		"substitute": "Who guesses from the release which of two versions of a record is in the table, and takes the first for the second 5% of the time, recognises the second at most 8.4% of the time, whatever else is known.",
		"substitute-private-columns": "Who guesses from the release which of two versions of the private columns of a record is in the table, and takes the first for the second 5% of the time, " +
			"recognises the second at most 8.4% of the time, whatever else is known.",
		"unit": "Who guesses from the release whether somebody, one value of the column who, is in the table, with 5% false alarms, finds somebody who is at most 8.4% of the time, whatever else is known.",
	} {
		g := Guarantee{
			Epsilon:  1,
			Delta:    1e-6,
			Relation: relation,
			Mu:       &mu,
		}
		if relation == "unit" {
			g.Relation = "add-remove"
			g.Unit = &Unit{"who", 3}
		}
		if got := g.formerMeaningOf(); got != want {
			t.Errorf("%s: %q", relation, got)
		}
	}
	for share, want := range map[string]string{
		percent(.05):      "5%",
		percent(.0500001): "5.1%",
		percent(1):        "100%",
		percent(.999):     "99.9%",
	} {
		if share != want {
			t.Errorf("%s, want %s", share, want)
		}
	}
}

// TestSkippedBranchStepsAreMarked checks that the steps of the branch that a run did not take are marked; for a search,
// only those of the winning try.
func TestSkippedBranchStepsAreMarked(t *testing.T) {
	events := func(paths ...string) []mechanism.Event {
		var out []mechanism.Event
		for _, path := range paths {
			out = append(out, mechanism.Event{Path: path, Place: placeOf(path)})
		}
		return out
	}
	for _, tt := range []struct {
		name   string
		branch string
		search *pipeline.Searched
		path   string
		marked bool
	}{
		{"no choice", "", nil, "fit/train/model/gram", false},
		{
			"the branch taken", "kendall", nil,
			"fit/train/kendall/model/gram", false,
		},
		{
			"the other branch", "kendall", nil,
			"fit/train/all/model/gram", true,
		},
		{"the count", "kendall", nil, "fit/train/count", false},
		{
			"the held-out part", "kendall", nil,
			"fit/holdout/r2/residuals", false,
		},
		{
			"the winner's other branch",
			"all",
			&pipeline.Searched{Chosen: 1},
			"fit/train/candidate-2/train/kendall/model/gram",
			true,
		},
		{
			"a loser's branch",
			"all",
			&pipeline.Searched{Chosen: 1},
			"fit/train/candidate-1/train/kendall/model/gram",
			false,
		},
		{
			"a loser, and the winner chose nothing",
			"",
			&pipeline.Searched{Chosen: 1},
			"fit/train/candidate-1/train/all/model/gram",
			false,
		},
	} {
		r := New(&pipeline.Result{
			Branch: tt.branch,
			Search: tt.search,
			Events: events(tt.path),
		})
		got := r.Events[0].Taken
		if (got != nil) != tt.marked || got != nil && *got {
			t.Errorf(
				"%s: taken is %v",
				tt.name, got,
			)
		}
	}
	r := asVersion3(frozenReport())
	var b bytes.Buffer
	err := Text(&b, r)
	if err != nil ||
		!strings.Contains(b.String(),
			"Skipped    training on all columns (the noisy record count chose the smaller") {
		t.Errorf(
			"%v\n%s",
			err, b.String(),
		)
	}
	got := mechanisms(r.Events)
	if strings.Count(got, "; skipped: ") != 1 {
		t.Errorf("%s", got)
	}
}
