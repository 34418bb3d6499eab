package recipe

import (
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// TestDescribe checks that a description has the requested columns of the header, with their declarations.
func TestDescribe(t *testing.T) {
	header := []string{
		"id", "age", "born", "ward",
		"cost",
	}
	build := func(d Description, change func(*Recipe)) *Recipe {
		r, problems := buildDescription(typed{Data: "t.csv", Epsilon: "1"}, d)
		if len(problems) > 0 {
			t.Fatal(problems)
		}
		if change != nil {
			change(r)
		}
		return r
	}
	one := 1.
	two := 2.
	for _, c := range []struct {
		name   string
		asked  Description
		change func(*Recipe)
		want   string
	}{
		{"all", Description{}, nil, "id age born ward cost"},
		{
			"excluded",
			Description{By: "ward"},
			func(r *Recipe) {
				r.Data.Exclude = []string{"id", "born"}
			},
			"age ward* cost",
		},
		{
			"asked for",
			Description{Columns: []string{"cost"}, By: "ward"},
			nil,
			"ward* cost",
		},
		{
			"a unit",
			Description{},
			func(r *Recipe) {
				r.Privacy.Unit = &Unit{"id", 3}
			},
			"age born ward cost",
		},
		{
			"declared",
			Description{By: "ward"},
			func(r *Recipe) {
				r.Data.Exclude = []string{"id"}
				r.Data.Columns = map[string]Column{
					"ward": {Categories: Names{List: []string{"a", "b"}}},
					"cost": {Lower: &one, Upper: &two},
					"born": {Date: "2006-01-02"},
				}
			},
			"age born.days born.month! born.weekday! ward* cost!",
		},
		{
			"a date",
			Description{Columns: []string{"born"}},
			func(r *Recipe) {
				r.Data.Columns = map[string]Column{"born": {
					Date:  "auto",
					Parts: []string{"days"},
				}}
			},
			"born.days",
		},
	} {
		r := build(c.asked, c.change)
		problems := r.Check()
		if len(problems) > 0 {
			t.Fatal(c.name, problems)
		}
		s, err := r.Describe(header)
		if err != nil {
			t.Fatal(c.name, err)
		}
		var got []string
		for _, x := range s.Schema.Columns {
			name := x.Name
			if x.Kind == dataset.Category {
				name += "*"
			}
			if x.Ranged {
				name += "!"
			}
			got = append(got, name)
		}
		text := strings.Join(got, " ")
		if text != c.want || s.By != c.asked.By {
			t.Errorf(
				"%s: %q, want %q",
				c.name, text, c.want,
			)
		}
	}
	for want, x := range map[string]func() Problems{
		"is excluded": func() Problems {
			return build(Description{Columns: []string{"age"}}, func(r *Recipe) {
				r.Data.Exclude = []string{"age"}
			}).Check()
		},
		"defines the groups, is excluded": func() Problems {
			return build(Description{By: "age"}, func(r *Recipe) {
				r.Data.Exclude = []string{"age"}
			}).Check()
		},
		"is not in the header": func() Problems {
			return build(Description{Columns: []string{"wrad"}}, nil).Validate(header)
		},
		"the column of groups": func() Problems {
			return build(Description{By: "wrad"}, nil).Validate(header)
		},
		"epsilon is required": func() Problems {
			_, problems := buildDescription(typed{Data: "t.csv"}, Description{})
			return problems
		},
		"a table is required": func() Problems {
			_, problems := buildDescription(typed{Epsilon: "1"}, Description{})
			return problems
		},
		"greater than 0": func() Problems {
			_, problems := buildDescription(
				typed{Data: "t.csv", Epsilon: "-1"},
				Description{},
			)
			return problems
		},
	} {
		problems := x()
		if !slices.ContainsFunc(problems, func(p Problem) bool {
			return strings.Contains(p.Error(), want)
		}) {
			t.Errorf("%q: %v", want, problems)
		}
	}
}

// buildDescription builds the recipe of a description.
func buildDescription(f typed, d Description) (*Recipe, Problems) {
	o := f.commandOptions()
	o.Description = &d
	return o.FromSettings()
}
