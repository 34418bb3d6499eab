package recipe

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

func TestTidy(t *testing.T) {
	src := `{"task":"classification","data":{"path":"a b.csv","target":"yes","classes":["no","yes"],"exclude":[],"columns":{"x: y":{"lower":-1e3,"upper":2.50},` +
		`"#":{"categories":"private"}}},"privacy":{"epsilon":"ln(3)","unit":{"column":"née","max_rows":3}},"holdout":0.2}`
	want := `task: classification
data:
  path: a b.csv
  target: yes
  classes: [no, yes]
  exclude: []
  columns:
    "x: y": {lower: -1e3, upper: 2.50}
    "#": {categories: private}
privacy:
  epsilon: "ln(3)"
  unit: {column: née, max_rows: 3}
holdout: 0.2
`
	got, err := Tidy([]byte(src))
	if err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
	r, problems := Parse("", got)
	if len(problems) > 0 ||
		r.Data.Columns["x: y"].Upper == nil {
		t.Error(problems)
	}
	for _, bad := range []string{
		"", "[1]", "{",
		"a: [", `"x"`,
	} {
		if _, err := Tidy([]byte(bad)); err == nil {
			t.Errorf("%q is a recipe", bad)
		}
	}
}

// TestTidyKeepsValues checks that the text has the same values as any JSON sent by a page.
func TestTidyKeepsValues(t *testing.T) {
	name := rapid.OneOf(
		rapid.String(),
		rapid.SampledFrom(
			[]string{"null", "~", "1e3", "yes", "- a", "a: b", "#", "\"", "\\", "\u2028", "0x1",
				"<<", " ", "é\n"}),
	)
	value := rapid.Custom(func(t *rapid.T) any {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			return name.Draw(t, "text")
		case 1:
			return rapid.Float64Range(-1e300, 1e300).Draw(t, "number")
		case 2:
			return rapid.Bool().Draw(t, "truth")
		case 3:
			return map[string]any{name.Draw(t, "key"): name.Draw(t, "inner")}
		}
		return []any{
			name.Draw(t, "item"),
			rapid.Float64Range(-1, 1).Draw(t, "item number"),
		}
	})
	rapid.Check(t, func(t *rapid.T) {
		tree := map[string]any{
			"data": map[string]any{"columns": rapid.MapOfN(name, value, 0, 4).Draw(
				t,
				"columns",
			)},
			"task": value.Draw(t, "task"),
		}
		src, err := json.Marshal(tree)
		if err != nil {
			t.Fatal(err)
		}
		before, problems := readYAML("", src)
		if len(problems) > 0 {
			t.Skip("not YAML")
		}
		text, err := Tidy(src)
		if err != nil {
			t.Fatal(err)
		}
		after, problems := readYAML("", text)
		if len(problems) > 0 {
			t.Fatalf("%v\n%s", problems, text)
		}
		diff := cmp.Diff(
			before.instance(),
			after.instance(),
			cmpopts.EquateApprox(0, math.SmallestNonzeroFloat64),
		)
		if diff != "" {
			t.Fatalf("%s\n%s", text, diff)
		}
	})
}
