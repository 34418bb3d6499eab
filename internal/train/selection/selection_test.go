package selection

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
)

func numericFacts(names ...string) Facts {
	f := Facts{Target: dataset.Column{Name: "y"}}
	for _, n := range names {
		f.Columns = append(f.Columns, dataset.Column{Name: n})
	}
	return f
}

func ExampleFixed() {
	f := Facts{Columns: []dataset.Column{
		{Name: "age"},
		{Name: "dose"},
		{Name: "site"},
	}}
	chosen, err := Fixed{Features: []string{"site", "age"}}.Select(
		context.Background(),
		nil,
		f,
		memory.NewRecords(dataset.View{}),
	)
	fmt.Println(chosen, err)
	// Output: [0 2] <nil>
}

func ExampleNone() {
	f := Facts{Columns: []dataset.Column{{Name: "age"}, {Name: "dose"}}}
	chosen, err := None{}.Select(
		context.Background(),
		nil,
		f,
		memory.NewRecords(dataset.View{}),
	)
	fmt.Println(chosen, err)
	// Output: [0 1] <nil>
}

// TestFreeSelectors checks that neither free selector releases a value, and that an invalid list is refused at plan
// time.
func TestFreeSelectors(t *testing.T) {
	f := numericFacts("a", "b", "c")
	for _, s := range []Selector{
		None{},
		Fixed{Features: []string{"c", "a"}},
	} {
		_, private, err := s.Plan(f)
		if private || err != nil {
			t.Errorf(
				"%s: private %v, %v",
				s.Name(), private, err,
			)
		}
	}
	for name, list := range map[string][]string{
		"unknown": {"d"},
		"twice":   {"a", "a"},
		"target":  {"y"},
	} {
		_, _, err := (Fixed{Features: list}).Plan(f)
		if !errors.Is(err, ErrFeature) {
			t.Errorf("%s: %v", name, err)
		}
	}
	got, err := (Fixed{}).Select(
		context.Background(),
		nil,
		f,
		memory.NewRecords(dataset.View{}),
	)
	if err != nil || !slices.Equal(got, nil) {
		t.Errorf(
			"an empty list selects %v, %v",
			got, err,
		)
	}
}

// TestWidest checks that a value reserved for "other" counts at any position in the list.
func TestWidest(t *testing.T) {
	abc := []string{"a", "b", "c"}
	f := Facts{Columns: []dataset.Column{
		{
			Name:       "p",
			Kind:       dataset.Category,
			Categories: abc,
		},
		{Name: "x"},
		{
			Name:       "q",
			Kind:       dataset.Category,
			Categories: abc,
			Other:      true,
		},
		{
			Name:       "r",
			Kind:       dataset.Category,
			Categories: abc[:1],
			Other:      true,
		},
	}}
	for _, x := range []Selector{
		Kendall{K: 3},
		SIS{K: 3},
		SubLasso{K: 3},
	} {
		var names []string
		for _, c := range x.Widest(f) {
			names = append(names, c.Name)
		}
		if !slices.Equal(names, []string{"q", "p", "r"}) {
			t.Errorf(
				"%s: %v",
				x.Name(), names,
			)
		}
	}
}
