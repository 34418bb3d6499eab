package recipe

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	validate "github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/dptrain/dptrain/internal/train/pipeline"
)

func instanceOf(t *testing.T, fixture string) any {
	t.Helper()
	root, problems := readYAML(fixture, read(t, fixture))
	if problems != nil {
		t.Fatal(problems)
	}
	return root.instance()
}

// compiledSchema is the validator of all of the schema.
var compiledSchema = sync.OnceValue(func() *validate.Schema { return compile(schema()) })

// TestPrunedSchema checks that a recipe loses no finding by what is left out of the schema for it.
func TestPrunedSchema(t *testing.T) {
	found := 0
	for _, fixture := range slices.Concat(files(t, ".good.yml"), files(t, ".future.yml"), files(t, ".bad.yml")) {
		data := read(t, fixture)
		root, problems := readYAML(fixture, data)
		if problems != nil {
			continue
		}
		src := newSource(fixture, root)
		lines := func(found []finding) []string {
			var out []string
			for _, f := range found {
				out = append(out, fmt.Sprintf("%+v", f))
			}
			slices.Sort(out)
			return out
		}
		whole := lines(findings(compiledSchema(), root, src))
		pruned := lines(findings(compiledFor(root), root, src))
		if diff := cmp.Diff(whole, pruned); diff != "" {
			t.Errorf("%s: -whole +pruned\n%s", fixture, diff)
		}
		found += len(whole)
	}
	if found < 150 {
		t.Errorf("%d findings in all recipes that are refused: too few to compare", found)
	}
}

func TestSchemaAcceptsTheGood(t *testing.T) {
	for _, fixture := range append(files(t, ".good.yml"), files(t, ".future.yml")...) {
		if err := compiledSchema().Validate(instanceOf(t, fixture)); err != nil {
			t.Errorf("%s: %v", fixture, err)
		}
	}
}

// beyondSchema lists the rejected fixtures that only our own rules can reject,
// by the part before the dot. All others must fail the schema alone, as an
// editor would see it.
var beyondSchema = strings.Fields(`
	epsilon-ln-one epsilon-ln-negative epsilon-ln-word
	delta-zero delta-tiny
	relation-without-private
	scaling-declared-target
	selection-needs-classes selection-no-effect selection-features-without-fixed selection-own-keys
	model-needs-classes model-nonprivate model-as-published
	fallback-needs-classes fallback-itself fallback-no-effect buckets-no-effect
	costs-no-effect brc-keys-no-effect brc-paper-relation brc-delta-zero
	target-excluded target-private-relation target-categories
	target-in-place-twice transform-classes transform-feature transform-log-lower
	classes-regression classes-kendall classes-auto-k classes-tukey classes-target-range classes-blank
	column-lower-upper column-lower-equals-upper column-range-overflow column-missing-outside
	column-declares-nothing column-categories-empty-name column-categories-repeated
	column-categories-and-range column-private-relation
	column-indicator-brc column-indicator-categories column-indicator-target
	unit-relation unit-target unit-used format-encoding format-thousands format-header
	date-beside date-between date-layout date-private date-target
	search-tukey search-same search-basic
	adassp-shares method-links brc-weights tukey-shares
	budget-sum sizes-basic sizes-method sizes-tukey sizes-number logistic-form control-characters about-lines
	causal-declared causal-private causal-unit
	classes-no-price encode-beyond encode-classes most-classes undeclared-basic undeclared-declared words-basic words-delta-zero words-other words-private-columns words-tukey
	causal-anm-score causal-anm-protect causal-anm-ledger causal-anm-no-effect causal-anm-three
	spark-causal spark-wrong`)

func TestSchemaRejectsTheBad(t *testing.T) {
	semantic := map[string]bool{}
	for _, name := range beyondSchema {
		semantic[name] = true
	}
	seen := 0
	for _, fixture := range files(t, ".bad.yml") {
		name := strings.TrimSuffix(filepath.Base(fixture), ".bad.yml")
		if strings.HasPrefix(name, "yaml-") {
			continue // not a tree that a schema could look at
		}
		err := compiledSchema().Validate(instanceOf(t, fixture))
		if semantic[name] {
			seen++
			if err != nil {
				t.Errorf("%s: the schema rejects it too; take it off the list", name)
			}
		} else if err == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
	if seen != len(beyondSchema) {
		t.Errorf("%d fixtures beyond the schema, the list has %d", seen, len(beyondSchema))
	}
}

// TestSchemaDefaults: the defaults editors show are the defaults in force.
func TestSchemaDefaults(t *testing.T) {
	var schema struct{ Properties map[string]any }
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	shown := map[string]any{}
	var walk func(path string, props map[string]any)
	walk = func(path string, props map[string]any) {
		for key, v := range props {
			s := v.(map[string]any)
			if d, ok := s["default"]; ok {
				shown[child(path, key)] = d
			}
			if s["description"] == nil {
				t.Errorf("%s has no description", child(path, key))
			}
			if inner, ok := s["properties"].(map[string]any); ok {
				if s["additionalProperties"] != false {
					t.Errorf("%s allows unknown keys", child(path, key))
				}
				walk(child(path, key), inner)
			}
		}
	}
	walk("", schema.Properties)
	d := Default()
	want := map[string]any{
		"version": float64(d.Version), "task": d.Task, "data.multiline_quotes": d.Data.MultilineQuotes, "data.numbers": numbersLenient, "data.undeclared": undeclaredFound, "data.fold": foldWords[0], "data.most_classes": float64(pipeline.DefaultMostClasses),
		"privacy.delta": d.Privacy.Delta, "privacy.relation": d.Privacy.Relation, "privacy.composition": d.Privacy.Composition,
		"holdout": d.Holdout, "scaling.method": d.Scaling.Method,
		"selection.method": d.Selection.Method, "selection.share": pipeline.DefaultSelectionShare,
		"budget.count": pipeline.DefaultCountShare, "count.failure": pipeline.DefaultCountFailure, "budget.words": pipeline.KindShare + pipeline.WordShare, "budget.transform": pipeline.DefaultTransformShare,
		"model.method": d.Model.Method, "model.fallback": d.Model.Fallback,
		"search.runs": float64(defaultRuns), "search.holdout": defaultScoreShare,
		"causal.method": causalMethods[0], "causal.protect": causalProtects[0],
		"engine": engines[0], "ledger.path": DefaultLedger, "output.dir": d.Output.Dir,
	}
	if diff := cmp.Diff(want, shown); diff != "" {
		t.Errorf("defaults (-in force +in the schema):\n%s", diff)
	}
}

func TestSchemaIsStable(t *testing.T) {
	if !bytes.Equal(Schema(), Schema()) {
		t.Error("two calls differ")
	}
	if !strings.Contains(string(Schema()), "https://json-schema.org/draft/2020-12/schema") {
		t.Error("the draft is not named")
	}
}

// TestDocumentedKeys: the reference names every key of the recipe.
func TestDocumentedKeys(t *testing.T) {
	page := string(read(t, filepath.Join("..", "..", "docs", "reference", "recipe.md")))
	for _, section := range keysAt(nil) {
		keys := keysAt([]string{section})
		if keys == nil && !strings.Contains(page, "`"+section+"`") {
			t.Errorf("docs/reference/recipe.md does not explain %s", section)
		}
		for _, key := range keys {
			if !strings.Contains(page, "`"+section+"."+key+"`") {
				t.Errorf("docs/reference/recipe.md does not explain %s.%s", section, key)
			}
		}
	}
	for _, key := range keysOfColumn {
		if !strings.Contains(page, "`"+key+"`") {
			t.Errorf("docs/reference/recipe.md does not explain %s of a column", key)
		}
	}
	for _, names := range [][]string{tasks, relations, compositions, scalings, selections, models, nonprivate} {
		for _, name := range names {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf("docs/reference/recipe.md does not name %s", name)
			}
		}
	}
}
