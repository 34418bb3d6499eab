package recipe_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/dptrain/dptrain/internal/recipe"
)

func ExampleParse() {
	r, problems := recipe.Parse("recipe.yaml", []byte(`
data: {path: houses.csv, target: price}
privacy: {epsilon: ln(3)}
`))
	fmt.Println(
		problems == nil,
		r.Data.Target,
		r.Privacy.Delta,
		r.Privacy.Relation,
		r.Holdout,
	)

	_, problems = recipe.Parse("recipe.yaml", []byte(`
data: {path: houses.csv, target: price}
privacy: {epsilon: 0, detla: 1e-6}
`))
	fmt.Println(problems)
	// Output:
	// true price 1e-06 add-remove 0.2
	// recipe.yaml:3:20: privacy.epsilon must be greater than 0, not 0
	// recipe.yaml:3:23: unknown key "detla" (did you mean delta?)
}

func ExampleLoad() {
	_, err := recipe.Load("testdata/holdout-high.bad.yml")
	var problems recipe.Problems
	if errors.As(err, &problems) {
		for _, p := range problems {
			fmt.Println(p.Line, p.Column, p.Path, "-", p.Msg)
		}
	}
	// Output:
	// 3 10 holdout - holdout must be from 0 to 0.5, not 0.6
}

func ExampleOptions_Parse() {
	r, problems := recipe.Options{Bench: true}.Parse(
		"bench.yaml",
		[]byte("model: {method: nonprivate-ols}\n"),
	)
	fmt.Println(problems == nil, r.Model.Method, r.Privacy.Delta)
	// Output:
	// true nonprivate-ols 1e-05
}

func ExampleOptions_FromSettings() {
	_, problems := recipe.Options{
		Set: []recipe.Setting{
			recipe.SetText("--data", "data.path", "houses.csv"),
			recipe.SetNumber("--epsilon", "privacy.epsilon", "-1"),
		},
		Flags: map[string]string{"data.target": "--target"},
	}.FromSettings()
	fmt.Println(problems)
	// Output:
	// --target: data.target is required: the name of the column to predict
	// --epsilon: must be greater than 0, not -1
}

func ExampleRecipe_Validate() {
	r, _ := recipe.Options{Set: []recipe.Setting{
		recipe.SetText("--data", "data.path", "houses.csv"),
		recipe.SetText("--target", "data.target", "price"),
		recipe.SetNumber("--epsilon", "privacy.epsilon", "1"),
	}}.FromSettings()
	fmt.Println(r.Validate([]string{"rooms", "age", "price"}) == nil)
	fmt.Println(r.Validate([]string{"rooms", "age", "Price"}))
	// Output:
	// true
	// --target: the target "price" is not in the header of the table ("Price" differs only in case)
}

func ExampleRecipe_Public() {
	r, _ := recipe.Parse("recipe.yaml", []byte(`
data:
  path: /home/ada/houses.csv
  target: price
  columns:
    ocean: {categories: [no, near]}
privacy: {epsilon: 1}   # a comment
`))
	public, err := r.Public()
	if err != nil {
		fmt.Println(err)
		return
	}
	os.Stdout.Write(public)
	// Output:
	// version: 1
	// task: regression
	// data:
	//   target: price
	//   multiline_quotes: false
	//   undeclared: found
	//   columns:
	//     ocean: {categories: [no, near], other: true}
	// privacy:
	//   epsilon: 1
	//   delta: 1e-06
	//   relation: add-remove
	//   composition: tight
	// holdout: 0.2
	// scaling:
	//   method: private
	// selection:
	//   method: auto
	// model:
	//   method: auto
	//   fallback: none
}

func ExampleInit() {
	starter, err := recipe.Init(
		[]string{"rooms", "near bay", "price"},
		"houses.csv",
		"price",
		recipe.Names{},
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	r, problems := recipe.Parse("recipe.yaml", starter)
	fmt.Println(problems == nil, r.Data.Path, r.Data.Target, r.Privacy.Epsilon)
	// Output:
	// true houses.csv price 1
}

func ExampleParseEpsilon() {
	for _, text := range []string{"1", "ln(3)", "low"} {
		epsilon, err := recipe.ParseEpsilon(text)
		fmt.Printf("%.4f %v\n", epsilon, err)
	}
	// Output:
	// 1.0000 <nil>
	// 1.0986 <nil>
	// 0.0000 "low" is not a number or ln(number)
}

func ExampleAvailable() {
	selection, model := recipe.Available()
	fmt.Println(selection, model)
	fmt.Println(recipe.AvailableInBench())
	// Output:
	// [none fixed kendall sublasso sis dpfsdr dpfs crfs greedy-gram auto] [joint-gram adassp boosted-adassp tukey boosted-additive boosted-kernel brc svm logistic cost-tree prototypes auto]
	// [nonprivate-ols nonprivate-ridge nonprivate-lasso nonprivate-logistic nonprivate-svm nonprivate-cost-tree nonprivate-cost-tree-soft nonprivate-cstc nonprivate-cost-logistic golearn-knn golearn-id3 golearn-forest as-published-kendall as-published-lipschitz as-published-sis as-published-tukey]
}

func ExampleNeedsClasses() {
	fmt.Println(
		recipe.NeedsClasses("nonprivate-logistic"),
		recipe.NeedsClasses("nonprivate-ols"),
	)
	// Output: true false
}

func ExampleSchema() {
	var schema struct {
		Title    string   `json:"title"`
		Required []string `json:"required"`
	}
	if err := json.Unmarshal(recipe.Schema(), &schema); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(schema.Title, schema.Required)
	// Output:
	// dptrain recipe [data privacy]
}

func ExampleDefault() {
	d := recipe.Default()
	fmt.Println(
		d.Task,
		d.Privacy.Delta,
		d.Privacy.Relation,
		d.Holdout,
		d.Model.Method,
		d.Output.Dir,
	)
	// Output:
	// regression 1e-06 add-remove 0.2 auto out
}
