package suite

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/bench"
)

func TestCopiesTable(t *testing.T) {
	for _, data := range []string{exactCopies, nearCopies} {
		s := copiesCell(data, "kendall", 500, 3).Setting
		table := newCopiesTable(data, s, newGenerator("test", 0, 1))
		groups := map[int][]int{}
		for j, g := range table.group {
			groups[g] = append(groups[g], j)
		}
		if len(table.x) != copiesColumns ||
			len(groups) != copiesInformative+1 ||
			len(groups[-1]) != copiesColumns-4*copiesInformative {
			t.Fatalf("%s: groups %v", data, groups)
		}
		rest := slices.Clone(table.y) // the remainder is noise if copies are exact
		for g := range copiesInformative {
			columns := groups[g]
			if len(columns) != 4 {
				t.Errorf(
					"%s: group %d has %d columns",
					data, g, len(columns),
				)
			}
			for _, j := range columns[1:] {
				c := correlationScores(
					[][]float64{table.x[j]},
					table.x[columns[0]],
				)[0]
				if data == exactCopies && !almostEqual(c, 1) ||
					data == nearCopies && (c < .97 || c > .995) {
					t.Errorf(
						"%s: two copies correlate by %v",
						data, c,
					)
				}
			}
			for i := range rest {
				rest[i] -= table.x[columns[0]][i]
			}
		}
		d := deviation(rest)
		if data == exactCopies && math.Abs(d-math.Sqrt(copiesNoise)) > .2 {
			t.Errorf("%s: noise of %v", data, d)
		}
	}
}

func TestCopiesOutcomes(t *testing.T) {
	table := copiesTable{group: []int{0, 0, 1, 2, 3, 4, -1}}
	for _, c := range []struct {
		picked        []int
		right, groups float64
	}{
		{[]int{1, 2, 3, 4, 5}, 1, 1},
		{[]int{0, 1, 2, 3, 4}, 0, .8},
		{[]int{2, 3, 4, 5, 6}, 0, .8},
		{[]int{0, 1, 2, 3, 4, 5}, 0, 1},
		{[]int{6}, 0, 0},
	} {
		got := table.compareGroups(c.picked)
		if got[metricRight] != c.right || got[metricGroups] != c.groups {
			t.Errorf("%v: %v", c.picked, got)
		}
	}
}

// TestCopiesRun checks that with many rows Kendall finds the groups, and that the tables do not depend on the method.
func TestCopiesRun(t *testing.T) {
	got := newCopiesTable(
		nearCopies,
		Setting{K: 5, N: 10},
		newGenerator("a", 1, 1),
	)
	if !slices.Equal(got.y,
		newCopiesTable(
			nearCopies, Setting{K: 5, N: 10},
			newGenerator("a", 1, 1),
		).y) {
		t.Error("the same seed gave another table")
	}
	var keys []Key
	for _, m := range copiesSelectors() {
		keys = append(keys, Key{copiesCell(nearCopies, m.name, 4000, 2), 1})
	}
	keys = append(keys, Key{copiesCell(nearCopies, "magic", 100, 2), 1})
	var records []Record
	err := copiesRun(0)(t.Context(), keys, func(k Key, o Outcome) {
		records = append(records, Record{k, o})
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range records {
		switch r.Method {
		case "magic":
			if r.Status != Unavailable {
				t.Errorf("%+v", r)
			}
		case "kendall":
			if r.Values[metricRight] != 1 {
				t.Errorf("%+v", r)
			}
		case "sis-tau": // five of fifteen about equally good columns, three a group
			if r.Status != OK || r.Values[metricGroups] < .4 {
				t.Errorf("%+v", r)
			}
		}
		if r.Method != "magic" && len(r.Picked) != 5 {
			t.Errorf("%+v", r)
		}
	}
	text := checkPage(t, copiesPage(records))
	if len(text) < 10000 {
		t.Errorf("the page has %d bytes", len(text))
	}
}

func TestCopiesPlan(t *testing.T) {
	p, err := NewPlan(Copies, Options{Public: true, Trials: 2, Seed: 9})
	if err != nil ||
		p.Header != (Header{Copies, resultsVersion, 9}) ||
		len(p.Tasks) != 2 {
		t.Fatalf("%+v, %v", p, err)
	}
	for _, task := range p.Tasks {
		// There are six numbers of copies and five more of rows, with three methods.
		if len(task.Cells) != 33 || task.Trials != 2 {
			t.Errorf(
				"%d cells, %d trials",
				len(task.Cells), task.Trials,
			)
		}
		for i, c := range task.Cells {
			if slices.Contains(task.Cells[:i], c) {
				t.Errorf("%+v is there twice", c)
			}
			n := (1 + c.Setting.Copies) * c.Setting.K
			if n > copiesColumns {
				t.Errorf("%+v needs %d columns", c, n)
			}
		}
	}
	if _, err := NewPlan(Copies, Options{}); !errors.Is(err, bench.ErrNotPublic) {
		t.Errorf("without consent: %v", err)
	}
	_, err = NewPlan(Copies, Options{Public: true, Trials: -1})
	if !errors.Is(err, bench.ErrTrials) {
		t.Errorf("-1 trials: %v", err)
	}
}
