package main

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"
)

const goodRecipe = `# a comment
data:
  path: line.csv
  target: y
privacy:
  epsilon: 1
`

func TestCheck(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(3))
	writeFile(t, "repeated.csv", "a,a,y\n1,2,3\n")
	tests := []struct {
		name, recipe string
		code         int
	}{
		{"ok", goodRecipe, exitOK},
		{
			"no-table",
			strings.Replace(goodRecipe, "line.csv", "absent.csv", 1),
			exitOK,
		},
		{
			"rules",
			goodRecipe + "  detla: 0.1\nholdout: 2\nmodel: {method: tukei}\n",
			exitRecipe,
		},
		{
			"header",
			goodRecipe + "selection: {method: fixed, features: [a, bb]}\n",
			exitRecipe,
		},
		{
			"header-repeated",
			strings.Replace(goodRecipe, "line.csv", "repeated.csv", 1),
			exitData,
		},
		{"not-yaml", "a: [", exitRecipe},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			writeFile(t, "recipe.yaml", tt.recipe)
			got := dptrain(t, "check", "recipe.yaml")
			if got.code != tt.code {
				t.Errorf(
					"code %d, want %d",
					got.code, tt.code,
				)
			}
			if (got.stdout == "") == (got.code == exitOK) ||
				(got.stderr == "") != (got.code == exitOK) {
				t.Errorf(
					"results go to stdout, mistakes to stderr: %+v",
					got,
				)
			}
			files.compare(t, "check-"+tt.name, got.stdout+got.stderr)
		})
	}
	got := dptrain(t, "check", "none.yaml")
	if got.code != exitRecipe ||
		got.stderr != "none.yaml: the recipe cannot be read: no such file or directory\n" {
		t.Errorf("%+v", got)
	}
}

func TestInit(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(3))
	got := dptrain(
		t, "init", "line.csv",
		"--target", "a",
	)
	files.compare(t, "init", got.stdout)
	writeFile(t, "recipe.yaml", got.stdout)
	for _, verb := range []string{"check", "plan", "fit"} {
		got := dptrain(t, verb, "recipe.yaml")
		if got.code != exitOK {
			t.Errorf(
				"%s of what init wrote: %+v",
				verb, got,
			)
		}
	}
	got = dptrain(t, "init", "line.csv")
	if !strings.Contains(got.stdout, "target: y\n") {
		t.Errorf("without a target: %+v", got)
	}
	got = dptrain(t, "init", "line.csv", "--target", "z")
	if got.code != exitData ||
		!strings.Contains(got.stderr, "not in the header") {
		t.Errorf("absent target: %+v", got)
	}
	got = dptrain(t, "init", "none.csv")
	if got.code != exitData ||
		got.stderr != "none.csv: cannot be read: no such file or directory; check the path\n" {
		t.Errorf("no table: %+v", got)
	}
}

func TestPlan(t *testing.T) {
	files := goldenFiles(t)
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(3))
	writeFile(t, "recipe.yaml", goodRecipe)
	got := dptrain(t, "plan", "recipe.yaml")
	if got.code != exitOK || got.stderr != "" {
		t.Fatalf("%+v", got)
	}
	files.compare(t, "plan", got.stdout)
	basic := dptrain(t, "plan",
		"--data", "line.csv",
		"--target", "y",
		"--epsilon", "2",
		"--delta", "1e-5",
		"--relation", "substitute",
		"--exclude", "b",
		"--holdout", "0",
	)
	files.compare(t, "plan-flags", basic.stdout+basic.stderr)
	writeFile(t, "basic.yaml", goodRecipe+"  composition: basic\n")
	basic = dptrain(t, "plan", "basic.yaml")
	files.compare(t, "plan-basic", basic.stdout+basic.stderr)
	writeFile(t, "line.csv", "a,b,y\n9,8,7\nbroken,\"\n") // rows do not matter
	again := dptrain(t, "plan", "recipe.yaml")
	if again != got {
		t.Errorf("another price for other rows: %+v", again)
	}
	onlyFiles(t, "basic.yaml", "line.csv", "recipe.yaml")
}

func TestPlanJSON(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(3))
	got := dptrain(t, "plan",
		"--data", "line.csv",
		"--target", "y",
		"--epsilon", "ln(3)",
		"--json",
	)
	var plan struct {
		Format    string `json:"format"`
		Guarantee struct {
			Epsilon float64  `json:"epsilon"`
			Mu      *float64 `json:"mu"`
		} `json:"guarantee"`
		EpsilonAt []struct {
			Delta   float64  `json:"delta"`
			Epsilon *float64 `json:"epsilon"`
		} `json:"epsilon_at"`
		Steps []struct {
			ID    string   `json:"id"`
			Law   string   `json:"law"`
			Share *float64 `json:"share"`
			Part  string   `json:"part"`
		} `json:"steps"`
	}
	err := json.Unmarshal([]byte(got.stdout), &plan)
	if err != nil {
		t.Fatalf("%v: %+v", err, got)
	}
	if plan.Format != planFormat ||
		plan.Guarantee.Epsilon != math.Log(3) ||
		plan.Guarantee.Mu == nil ||
		len(plan.EpsilonAt) != 3 {
		t.Errorf("%+v", plan)
	}
	for i := 1; i < len(plan.EpsilonAt); i++ {
		a := plan.EpsilonAt[i-1]
		b := plan.EpsilonAt[i]
		if a.Delta <= b.Delta || *a.Epsilon >= *b.Epsilon {
			t.Errorf(
				"a smaller delta must cost a larger epsilon: %v",
				plan.EpsilonAt,
			)
		}
	}
	total := map[string]float64{}
	for _, s := range plan.Steps {
		if s.Share == nil && s.Part == "all" { // the price is a fraction of epsilon
			continue
		}
		if !strings.Contains(s.ID, "/undeclared/words/") { // the other branch, for text columns
			total[s.Part] += *s.Share
		}
	}
	for _, part := range []string{"train", "holdout"} {
		if math.Abs(total[part]-1) > 1e-9 {
			t.Errorf(
				"the shares of %s sum to %v",
				part, total[part],
			)
		}
	}
}

// TestFlagsOverRecipe overrides a recipe with flags and checks the published recipe.
func TestFlagsOverRecipe(t *testing.T) {
	chdirTemp(t)
	if err := os.Mkdir("sub", 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, "sub/line.csv", lineCSV(40))
	writeFile(t, "other.csv", lineCSV(60))
	writeFile(t, "sub/recipe.yaml", goodRecipe+"output: {dir: elsewhere}\n")
	if got := dptrain(t, "fit", "sub/recipe.yaml", "-q"); got != (result{}) {
		t.Fatalf(
			"the table is beside the recipe, the output is not: %+v",
			got,
		)
	}
	n := runFile(t, "elsewhere").Rows
	if n != 40 {
		t.Errorf("%d rows of the recipe's own table", n)
	}
	got := dptrain(t, "fit", "sub/recipe.yaml", "-q",
		"--data", "other.csv",
		"--target", "a",
		"--epsilon", "ln(3)",
		"--delta", "1e-5",
		"--relation", "substitute",
		"--exclude", "b",
		"--holdout", "0.25",
		"--out", "mine",
	)
	if got != (result{}) {
		t.Fatalf("%+v", got)
	}
	n = runFile(t, "mine").Rows
	if n != 60 {
		t.Errorf(
			"%d rows of the table given with --data",
			n,
		)
	}
	public := readFile(t, "mine/release/recipe.yaml")
	for _, want := range []string{
		"target: a\n",
		fmt.Sprintf("epsilon: %v\n", math.Log(3)),
		"delta: 1e-05\n",
		"relation: substitute\n",
		"exclude: [b]\n",
		"holdout: 0.25\n",
	} {
		if !strings.Contains(public, want) {
			t.Errorf(
				"the published recipe lacks %q:\n%s",
				want, public,
			)
		}
	}
	if strings.Contains(public, "other.csv") ||
		strings.Contains(public, "mine") ||
		strings.Contains(public, "comment") {
		t.Errorf(
			"the published recipe holds a path or a comment:\n%s",
			public,
		)
	}
}

// TestInvalidFlagIsNamed checks that the message about an invalid flag names the flag.
func TestInvalidFlagIsNamed(t *testing.T) {
	chdirTemp(t)
	writeFile(t, "line.csv", lineCSV(5))
	writeFile(
		t, "recipe.yaml",
		goodRecipe+"selection: {method: fixed, features: [a]}\n",
	)
	tests := []struct {
		args string
		code int
		want string
	}{
		{
			"--data line.csv --epsilon 0", exitRecipe,
			"--target: data.target is required: the name of the column to predict\n--epsilon: must be greater than 0, not 0\n",
		},
		{
			"--data line.csv --target y --epsilon 1 --delta 1", exitRecipe,
			"--delta: must be at least 0 and below 1, not 1 (the default is 1e-6)\n",
		},
		{
			"--data line.csv --target y --epsilon 1 --relation replace --holdout 0.7", exitRecipe,
			"--holdout: must be from 0 to 0.5, not 0.7 (0 means no held-out metric)\n--relation: unknown name \"replace\" (one of add-remove, substitute, substitute-private-columns)\n",
		},
		{
			"--data line.csv --target y --epsilon 1 --exclude a,a", exitRecipe,
			"--exclude: column \"a\" is listed twice (it is already item 1)\n",
		},
		{
			"--data line.csv --target y --epsilon 1 --exclude c", exitData,
			"--exclude: the excluded column \"c\" is not in the header of the table (names must match exactly)\n",
		},
		{
			"--data line.csv --target z --epsilon 1", exitData,
			"--target: the target \"z\" is not in the header of the table (names must match exactly; if the table has no header line, list its columns with --header)\n",
		},
		{"recipe.yaml --epsilon abc", exitRecipe,
			"--epsilon: \"abc\" is not a number or ln(number)\n"},
		{"recipe.yaml --target z", exitData,
			"--target: the target \"z\" is not in the header of the table (names must match exactly)\n"},
		{"recipe.yaml --exclude a", exitRecipe,
			"recipe.yaml:7:39: the feature \"a\" is excluded in data.exclude (remove it from one of the two lists)\n"},
		{"recipe.yaml --data=", exitUsage,
			"dptrain: --data is empty: give a value or omit the flag\n"},
		{"recipe.yaml --task classification --classes p,q --relation substitute-private-columns",
			exitRecipe,
			"--relation: the relation substitute-private-columns needs at least one column with private: true\n"},
		{"recipe.yaml --exclude a,b", exitRecipe,
			"recipe.yaml:7:39: the feature \"a\" is excluded in data.exclude (remove it from one of the two lists)\n"},
	}
	for _, tt := range tests {
		for _, verb := range []string{"fit", "plan"} {
			got := dptrain(t, append([]string{verb}, strings.Fields(tt.args)...)...)
			want := (result{tt.code, "", tt.want})
			if got != want {
				t.Errorf(
					"%s %s:\n got %+v\nwant %+v",
					verb, tt.args, got, want,
				)
			}
		}
	}
	onlyFiles(t, "line.csv", "recipe.yaml")
}

// TestPlanExplainsTheChoice checks that the plan explains which steps are alternatives, since their prices do not
// add up.
func TestPlanExplainsTheChoice(t *testing.T) {
	chdirTemp(t)
	writeFile(
		t, "wide.csv",
		"a,b,c,d,e,f,g,h,y\n",
	)
	got := dptrain(
		t, "plan", "--data",
		"wide.csv", "--target",
		"y", "--epsilon", "1",
	)
	if got.code != exitOK ||
		!strings.Contains(got.stdout, "\nChoice     the noisy number of records determines") {
		t.Errorf("%+v", got)
	}
	got = dptrain(t, "plan",
		"--data", "wide.csv",
		"--target", "y",
		"--epsilon", "1",
		"--exclude", "a,b,c,d,e,f",
	)
	if got.code != exitOK || strings.Contains(got.stdout, "Choice") {
		t.Errorf("%+v", got)
	}
}
