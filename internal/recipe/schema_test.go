package recipe

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	generate "github.com/invopop/jsonschema"
	validate "github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/transform"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
)

func instanceOf(t *testing.T, fixture string) any {
	t.Helper()
	root, problems := readYAML(fixture, readFile(t, fixture))
	if problems != nil {
		t.Fatal(problems)
	}
	return root.instance()
}

// compiledSchema is the validator of the whole schema.
var compiledSchema = sync.OnceValue(func() *validate.Schema {
	return compileSchema(schema())
})

// compileSchema compiles a schema, as an editor does.
func compileSchema(s *generate.Schema) *validate.Schema {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	doc, err := validate.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		panic(err)
	}
	const name = "recipe.schema.json"
	c := validate.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		panic(err)
	}
	return c.MustCompile(name)
}

// instance converts the tree to the values that a JSON Schema validator accepts.
func (n *node) instance() any {
	switch n.kind {
	case boolean:
		return n.truth
	case number:
		return n.num
	case text:
		return n.literal
	case list:
		out := make([]any, len(n.kids))
		for i, k := range n.kids {
			out[i] = k.instance()
		}
		return out
	case mapping:
		out := make(map[string]any, len(n.kids))
		for i, k := range n.keys {
			_, again := out[k.literal]
			if !again {
				out[k.literal] = n.kids[i].instance()
			}
		}
		return out
	}
	return nil
}

// comparedWithSchema checks that an editor with the schema and this package agree about a recipe, as far as a schema
// can express the rules: this package must reject a recipe that the schema rejects, and the schema must reject one
// with a wrong structure.
func comparedWithSchema(t reporter, root *node) (refused bool) {
	t.Helper()
	bySchema := compiledSchema().Validate(root.instance())
	spread := root.clone()
	problems := spreadTarget(spread, "r.yml")
	structural := checkStructure(spread, newSource("r.yml", spread))
	_, all := Options{}.build(
		spread, newSource("r.yml", spread),
		thisBuild(),
	)
	switch {
	case bySchema != nil && len(problems) == 0 && len(all) == 0:
		t.Fatalf(
			"the schema refuses a recipe that is accepted: %v\n%s",
			bySchema,
			printTree(root),
		)
	case bySchema == nil &&
		len(structural) == 1 &&
		structural[0].Path == "privacy.epsilon" &&
		root.get("privacy").get("epsilon").kind == text:
		// A schema does not compute logarithms.
	case bySchema == nil && len(structural) > 0:
		t.Fatalf(
			"the schema accepts %q\n%s",
			structural[0].Error(), printTree(root),
		)
	}
	return bySchema != nil
}

// clone copies the tree below n.
func (n *node) clone() *node {
	out := *n
	out.keys = nil
	out.kids = nil
	for _, k := range n.keys {
		out.keys = append(out.keys, k.clone())
	}
	for _, k := range n.kids {
		out.kids = append(out.kids, k.clone())
	}
	return &out
}

// printTree writes a tree as a recipe.
func printTree(n *node) string {
	if n.kind != mapping {
		return n.inline()
	}
	var b strings.Builder
	n.tidy(&b, "")
	return b.String()
}

// TestSchemaAgrees checks recipes that are one or two random changes away from a fixture.
func TestSchemaAgrees(t *testing.T) {
	var roots []*node
	for _, fixture := range slices.Concat(
		fixtureFiles(t, ".good.yml"),
		fixtureFiles(t, ".bad.yml"),
	) {
		root, problems := readYAML(fixture, readFile(t, fixture))
		if problems != nil || root.kind != mapping {
			continue
		}
		roots = append(roots, root)
		comparedWithSchema(t, root)
	}
	refused := 0
	seen := 0
	rapid.Check(t, func(t *rapid.T) {
		root := rapid.SampledFrom(roots).Draw(t, "recipe").clone()
		for range rapid.IntRange(1, 2).Draw(t, "changes") {
			changeTree(t, root)
		}
		seen++
		if comparedWithSchema(t, root) {
			refused++
		}
	})
	if refused == 0 || refused == seen {
		t.Errorf(
			"the schema refuses %d of %d recipes",
			refused, seen,
		)
	}
}

// changeTree sets, adds or removes a key of the tree, or an item of a list.
func changeTree(t *rapid.T, root *node) {
	var places []*node
	var walk func(*node)
	walk = func(n *node) {
		if n.kind == mapping || n.kind == list {
			places = append(places, n)
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(root)
	at := rapid.SampledFrom(places).Draw(t, "place")
	what := rapid.IntRange(0, 3).Draw(t, "what")
	switch {
	case what == 0 && at.kind == mapping:
		at.setKey(
			rapid.SampledFrom(everyKey()).Draw(t, "key"),
			drawValue(t, 2),
		)
	case what == 1 && at.kind == list:
		at.kids = append(at.kids, drawValue(t, 1))
	case len(at.kids) == 0:
	case what == 2:
		i := rapid.IntRange(0, len(at.kids)-1).Draw(t, "removed")
		at.kids = slices.Delete(slices.Clone(at.kids), i, i+1)
		if at.kind == mapping {
			at.keys = slices.Delete(slices.Clone(at.keys), i, i+1)
		}
	default:
		at.kids[rapid.IntRange(0, len(at.kids)-1).Draw(t, "changed")] = drawValue(t, 2)
	}
}

// everyKey lists the keys of all sections, and one that is not in any section.
var everyKey = sync.OnceValue(func() []string {
	var out []string
	for _, k := range AllKeys() {
		out = append(
			out,
			k.Path[strings.LastIndexByte(k.Path, '.')+1:],
		)
	}
	return append(out, "nonsense")
})

// drawValue draws a value of any type.
func drawValue(t *rapid.T, depth int) *node {
	kinds := 4
	if depth > 0 {
		kinds = 6
	}
	switch k := kind(rapid.IntRange(0, kinds-1).Draw(t, "kind")); k {
	case boolean:
		truth := rapid.Bool().Draw(t, "truth")
		return &node{
			kind:    boolean,
			literal: strconv.FormatBool(truth),
			truth:   truth,
		}
	case number:
		x := rapid.SampledFrom([]float64{
			-1, 0, .05, .5, 1,
			1.5, 2, 4, 33, 300, 5000,
		}).Draw(
			t,
			"number",
		)
		return &node{
			kind:    number,
			literal: show(x),
			num:     x,
		}
	case text:
		return textNode(rapid.SampledFrom([]string{
			"", "x", "age", "price", "auto", "none", "fixed", "kendall", "joint-gram", "tukey",
			"boosted-additive", "private", "declared", "indicator", "ln(3)",
			"log", "tight", "regression", "classification", "case", "memory", "2006-01-02",
			"2020-01-01", "target", "days", ";", "tab",
		}).Draw(t, "text"))
	case list:
		out := &node{kind: list}
		for range rapid.IntRange(0, 3).Draw(t, "items") {
			out.kids = append(out.kids, drawValue(t, depth-1))
		}
		return out
	case mapping:
		out := &node{kind: mapping}
		for range rapid.IntRange(0, 2).Draw(t, "keys") {
			out.setKey(
				rapid.SampledFrom(everyKey()).Draw(t, "key"),
				drawValue(t, depth-1),
			)
		}
		return out
	default:
		return &node{kind: null}
	}
}

func TestSchemaAcceptsTheGood(t *testing.T) {
	for _, fixture := range append(
		fixtureFiles(t, ".good.yml"),
		fixtureFiles(t, ".future.yml")...,
	) {
		if err := compiledSchema().Validate(instanceOf(t, fixture)); err != nil {
			t.Errorf("%s: %v", fixture, err)
		}
	}
}

// beyondSchema lists the rejected fixtures that only our own rules can reject, by the part before the dot. All others
// must be rejected by the schema alone, as in an editor.
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
	groups-excluded groups-holdout groups-many groups-numbers groups-private groups-target groups-undeclared groups-unit
	spark-causal spark-wrong`)

func TestSchemaRejectsTheBad(t *testing.T) {
	semantic := map[string]bool{}
	for _, name := range beyondSchema {
		semantic[name] = true
	}
	seen := 0
	for _, fixture := range fixtureFiles(t, ".bad.yml") {
		name := strings.TrimSuffix(filepath.Base(fixture), ".bad.yml")
		if strings.HasPrefix(name, "yaml-") {
			continue // not a tree that a schema can validate
		}
		err := compiledSchema().Validate(instanceOf(t, fixture))
		if semantic[name] {
			seen++
			if err != nil {
				t.Errorf(
					"%s: the schema rejects it too; take it off the list",
					name,
				)
			}
		} else if err == nil {
			t.Errorf("%s: the schema accepts it", name)
		}
	}
	if seen != len(beyondSchema) {
		t.Errorf(
			"%d fixtures beyond the schema, the list has %d",
			seen, len(beyondSchema),
		)
	}
}

// TestSchemaDefaults checks that the defaults shown by editors are the defaults in force.
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
		"version":               float64(d.Version),
		"task":                  d.Task,
		"data.multiline_quotes": d.Data.MultilineQuotes,
		"data.numbers":          numbersLenient,
		"data.undeclared":       undeclaredFound,
		"data.fold":             foldWords[0],
		"data.most_classes":     float64(pipeline.DefaultMostClasses),
		"privacy.delta":         d.Privacy.Delta,
		"privacy.relation":      d.Privacy.Relation,
		"privacy.composition":   d.Privacy.Composition,
		"holdout":               d.Holdout,
		"scaling.method":        d.Scaling.Method,
		"selection.method":      d.Selection.Method,
		"selection.share":       pipeline.DefaultSelectionShare,
		"budget.count":          pipeline.DefaultCountShare,
		"count.failure":         pipeline.DefaultCountFailure,
		"budget.words":          vocabulary.KindShare + vocabulary.WordShare,
		"budget.transform":      transform.DefaultShare,
		"model.method":          d.Model.Method,
		"model.fallback":        d.Model.Fallback,
		"search.runs":           float64(defaultRuns),
		"search.holdout":        defaultScoreShare,
		"causal.method":         causalMethods[0],
		"causal.protect":        causalProtects[0],
		"engine":                engines[0],
		"ledger.path":           DefaultLedger,
		"output.dir":            d.Output.Dir,
	}
	diff := cmp.Diff(want, shown)
	if diff != "" {
		t.Errorf(
			"defaults (-in force +in the schema):\n%s",
			diff,
		)
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

// TestDocumentedKeys checks that the reference names every key of the recipe.
func TestDocumentedKeys(t *testing.T) {
	page := string(readFile(
		t,
		filepath.Join(
			"..", "..", "docs",
			"reference", "recipe.md",
		),
	))
	for _, section := range keysAt(nil) {
		keys := keysAt([]string{section})
		if keys == nil && !strings.Contains(page, "`"+section+"`") {
			t.Errorf(
				"docs/reference/recipe.md does not explain %s",
				section,
			)
		}
		for _, key := range keys {
			if !strings.Contains(page, "`"+section+"."+key+"`") {
				t.Errorf(
					"docs/reference/recipe.md does not explain %s.%s",
					section, key,
				)
			}
		}
	}
	for _, key := range keysOfColumn {
		if !strings.Contains(page, "`"+key+"`") {
			t.Errorf(
				"docs/reference/recipe.md does not explain %s of a column",
				key,
			)
		}
	}
	for _, names := range [][]string{tasks, relations, compositions, scalings, selections, models,
		nonprivate} {
		for _, name := range names {
			if !strings.Contains(page, "`"+name+"`") {
				t.Errorf(
					"docs/reference/recipe.md does not name %s",
					name,
				)
			}
		}
	}
}

// TestSchemaOfKeys checks that every key of the methods, of the budget and of a causal study states in the schema which values it
// takes and what its default is, that each has a refused value among the recipes of testdata, and that the hyper-parameters of
// the papers cite the place.
func TestSchemaOfKeys(t *testing.T) {
	papers := map[string]string{
		"budget.count":              "2023, section",
		"count.failure":             "2023, section",
		"selection.gamma":           "2024, section",
		"selection.max_correlation": "2022, section",
		"model.gram_share":          "2018, algorithm",
		"model.cross_share":         "2018, algorithm",
		"model.eigenvalue_share":    "2018, algorithm",
		"model.rounds":              "algorithm 1 of Tang",
		"model.clip":                "Algorithm 1 of Tang",
		"model.shrinkage":           "section 5",
		"model.check_share":         "2023, section",
		"model.depth_share":         "2023, section",
		"model.weight_lower":        "2023, section",
		"model.weight_upper":        "2023, section",
		"model.intercept":           "2023, section",
		"model.lambda":              "2022, section",
		"causal.lambda":             "2016, figure",
	}
	var refusals strings.Builder
	for _, fixture := range slices.Concat(
		fixtureFiles(t, ".bad.yml"),
		fixtureFiles(t, ".bench.yml"),
	) {
		messages, err := os.ReadFile(strings.TrimSuffix(fixture, ".yml") + ".txt")
		if err == nil {
			refusals.Write(messages)
		}
	}
	root := schema()
	for _, section := range []string{
		"budget", "count", selectionSection, modelSection, "causal",
	} {
		properties := schemaAt(root, section).Properties
		for pair := properties.Oldest(); pair != nil; pair = pair.Next() {
			path := section + "." + pair.Key
			checkKeySchema(t, path, pair.Value, papers[path])
			delete(papers, path)
			if !strings.Contains(refusals.String(), ": "+path+" ") &&
				!strings.Contains(refusals.String(), ": "+path+":") {
				t.Errorf("%s: no recipe with a refused value", path)
			}
		}
	}
	for path := range papers {
		t.Errorf("%s is not a key", path)
	}
}

// checkKeySchema checks the schema of one key. paper is the citation that its description must contain.
func checkKeySchema(t *testing.T, path string, s *generate.Schema, paper string) {
	t.Helper()
	bounded := s.Minimum != "" || s.ExclusiveMinimum != "" || len(s.Enum) > 0 || len(s.AnyOf) > 0 ||
		s.Items != nil || s.AdditionalProperties != nil || s.Type == "boolean"
	if !bounded {
		t.Errorf("%s: the schema has no range", path)
	}
	described := strings.Contains(strings.ToLower(s.Description), "default")
	required := path == "causal.columns"
	if s.Default == nil && !described && !required {
		t.Errorf("%s: the schema has no default", path)
	}
	if !strings.Contains(s.Description, paper) {
		t.Errorf(
			"%s: %q is not in %q",
			path, paper, s.Description,
		)
	}
}
