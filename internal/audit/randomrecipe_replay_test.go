//go:build replay

package audit

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
)

// maker generates random recipes, and tables for them.
type maker struct {
	seed uint64
	*rand.Rand
	names    []string // of the columns, the target last
	lists    map[string][]string
	relation string
	classes  []string
	unit     bool
}

func newMaker(seed uint64) *maker {
	return &maker{
		seed:  seed,
		Rand:  rand.New(rand.NewPCG(seed, 2026)),
		lists: map[string][]string{},
	}
}

func (m *maker) pick(x ...string) string {
	return x[m.IntN(len(x))]
}

func (m *maker) chance(p float64) bool {
	return m.Float64() < p
}

// drawRecipe returns the text of a recipe: method, selection or search, relation, unit, classes, ranges and composition,
// each drawn independently.
func (m *maker) drawRecipe() string {
	return m.withGroups(m.withKeys(m.plainRecipe()))
}

// withGroups asks for metrics by group in some of the recipes with a category column. It depends on the seed alone, so that
// the recipes of the other seeds stay unchanged.
func (m *maker) withGroups(text string) string {
	if m.seed%3 != 1 ||
		len(m.lists) == 0 ||
		strings.Contains(text, "holdout: 0\n") {
		return text
	}
	return text +
		fmt.Sprintf(
			"evaluate: {by: %s}\n",
			slices.Min(slices.Collect(maps.Keys(m.lists))),
		)
}

// withKeys sets keys of methods that have no value by default. It does so under odd seeds only, so that the recipes
// of the other seeds stay unchanged.
func (m *maker) withKeys(text string) string {
	if m.seed%2 == 0 {
		return text
	}
	for method, keys := range map[string]string{
		"{method: svm}":                "{method: svm, lambda: 4}",
		"{method: adassp}":             "{method: adassp, gram_share: 0.6, cross_share: 0.2}",
		"{method: tukey, buckets: 40}": "{method: tukey, buckets: 40, check_share: 0.55}",
		"topk: lipschitz}":             "topk: lipschitz, gamma: 0.9}",
		"topk: lipschitz-exponential}": "topk: lipschitz-exponential, gamma: 0}",
		"{method: brc, form: laplace,": "{method: brc, intercept: exponential, weight_upper: 5, form: laplace,",
		"{method: brc, form: paper,":   "{method: brc, intercept: exponential, weight_lower: 0.1, form: paper,",
		"{method: brc, rounds:":        "{method: brc, intercept: zero, weight_lower: 1, rounds:",
	} {
		text = strings.ReplaceAll(text, method, keys)
	}
	return text
}

func (m *maker) plainRecipe() string {
	m.relation = m.pick(
		"add-remove",
		"add-remove",
		"add-remove",
		"substitute",
		"substitute-private-columns",
	)
	m.unit = m.relation == "add-remove" && m.chance(.35)
	var columns strings.Builder
	for j := range 2 + m.IntN(4) {
		m.writeColumn(&columns, fmt.Sprintf("x%d", j), j == 0)
	}
	m.names = append(m.names, "y")
	var b strings.Builder
	b.WriteString("data:\n  path: t.csv\n  target: y\n")
	if m.chance(.5) {
		m.classes = [][]string{
			{"no", "yes"},
			{"no", "yes"},
			{"u", "v", "w"},
		}[m.IntN(3)]
		fmt.Fprintf(
			&b, "  classes: [%s]\n",
			strings.Join(m.classes, ", "),
		)
	} else if m.chance(.4) {
		fmt.Fprintf(&columns, "    y: {%s}\n", m.drawRange())
	}
	if m.classes == nil { // of the seed, so that other recipes stay as they were
		text := columns.String()
		transform := []string{"", "log", "sqrt"}[m.seed%3]
		if transform != "" && strings.Contains(text, "    y: {") {
			head, _ := strings.CutSuffix(text, "}\n")
			columns.Reset()
			columns.WriteString(head + ", transform: " + transform + "}\n")
		} else if transform != "" {
			fmt.Fprintf(&columns, "    y: {transform: %s}\n", transform)
		}
	}
	if columns.Len() > 0 {
		b.WriteString("  columns:\n" + columns.String())
	}
	if m.classes != nil {
		b.WriteString("task: classification\n")
	}
	composition := m.pick(
		"tight", "tight", "tight",
		"tight", "basic",
	)
	fmt.Fprintf(
		&b,
		"privacy:\n  epsilon: %s\n  delta: %s\n  relation: %s\n  composition: %s\n",
		m.pick(
			"0.3", "1", "3",
			"8", "60",
		),
		m.pick(
			"1e-6", "1e-6",
			"1e-3", "1e-9",
		),
		m.relation,
		composition,
	)
	if m.unit {
		fmt.Fprintf(
			&b,
			"  unit: {column: u, max_rows: %d}\n",
			1+m.IntN(4),
		)
	}
	fmt.Fprintf(
		&b, "holdout: %s\n",
		m.pick(
			"0", "0.1",
			"0.3", "0.5",
		),
	)
	if composition == "tight" && m.chance(.2) {
		fmt.Fprintf(
			&b,
			"search:\n  runs: 3\n  holdout: %s\n  candidates:\n",
			m.pick("0.1", "0.3", "0.5"),
		)
		for range 2 + m.IntN(2) {
			fmt.Fprintf(
				&b,
				"    - {selection: %s, model: %s}\n",
				m.drawSelection(),
				m.drawModel(false),
			)
		}
		return b.String()
	}
	if m.chance(.75) {
		fmt.Fprintf(&b, "selection: %s\n", m.drawSelection())
	}
	if m.chance(.85) {
		fmt.Fprintf(&b, "model: %s\n", m.drawModel(true))
	}
	return b.String()
}

// writeColumn writes the public facts that the recipe declares about a column, if any.
func (m *maker) writeColumn(b *strings.Builder, name string, private bool) {
	m.names = append(m.names, name)
	var facts []string
	switch k := m.IntN(10); {
	case k < 3:
		m.lists[name] = [][]string{
			{"a"},
			{"a", "b"},
			{"a", "b", "c", "d"},
		}[m.IntN(3)]
		facts = append(
			facts,
			"categories: ["+strings.Join(m.lists[name], ", ")+"]",
		)
		if m.chance(.4) {
			facts = append(facts, "other: false")
		}
		if m.seed%4 == 1 { // of the seed, as the transform is
			facts = append(facts, "encode: target")
		}
	case k < 5:
		facts = append(facts, m.drawRange())
	case k < 6:
		facts = append(
			facts,
			m.pick(
				"missing: 0", "missing: -7",
				"missing: 1e300", "missing: indicator",
			),
		)
	}
	if m.relation == "substitute-private-columns" &&
		(private || m.chance(.4)) {
		facts = append(facts, "private: true")
	}
	if len(facts) > 0 {
		fmt.Fprintf(
			b, "    %s: {%s}\n",
			name, strings.Join(facts, ", "),
		)
	}
}

func (m *maker) drawRange() string {
	return m.pick("lower: -10, upper: 10", "lower: 0, upper: 1", "lower: -1e308, upper: 1e308",
		"lower: 5, upper: 5.0000001", "lower: -1e-300, upper: 1e-300",
		"lower: 0, upper: 100, missing: 100", "lower: -3, upper: 40, missing: 0")
}

func (m *maker) drawSelection() string {
	features := len(m.names) - 1
	k := 1 + m.IntN(max(1, features-1))
	out := []string{
		"{method: none}",
		"{method: none}",
		fmt.Sprintf(
			"{method: fixed, features: [%s]}",
			m.names[m.IntN(features)],
		),
	}
	if len(m.classes) != 3 {
		out = append(
			out,
			fmt.Sprintf("{method: kendall, k: %d}", k),
			fmt.Sprintf(
				"{method: sublasso, k: %d, buckets: %d}",
				k, 2+m.IntN(30),
			),
			fmt.Sprintf(
				"{method: sis, k: %d, score: %s, topk: %s}",
				k,
				m.pick("auto", "tau", "product", "correlation"),
				m.pick("one-shot", "peeling", "lipschitz", "lipschitz-exponential"),
			),
		)
	}
	if m.classes != nil {
		method := m.pick("dpfsdr", "dpfs", "crfs")
		out = append(
			out,
			fmt.Sprintf("{method: %s, k: %d}", method, k),
			fmt.Sprintf("{method: %s, sizes: [1, 2]}", method),
		)
	}
	if k < features {
		out = append(
			out,
			fmt.Sprintf("{method: greedy-gram, k: %d}", k),
			fmt.Sprintf(
				"{method: greedy-gram, budget: %d, costs: {%s: %d}}",
				k,
				m.names[m.IntN(features)],
				m.IntN(4),
			),
		)
	}
	return out[m.IntN(len(out))]
}

// drawModel never returns tukey in a search, because it would need thousands of records.
func (m *maker) drawModel(alone bool) string {
	if m.relation == "substitute-private-columns" && m.chance(.3) { // the methods that make use of public columns
		if m.classes != nil {
			return m.pick(
				"{method: joint-gram}",
				fmt.Sprintf(
					"{method: brc, rounds: %d}",
					1+m.IntN(12),
				),
			)
		}
		return "{method: joint-gram}"
	}
	boosted := "{method: boosted-adassp}"
	if m.seed%2 == 1 { // of the seed, so that other recipes stay as they were
		boosted = fmt.Sprintf(
			"{method: boosted-adassp, rounds: %d, clip: 0.5, shrinkage: 0.7, gram_share: 0.2}",
			1+m.seed%7)
	}
	out := []string{"{method: auto}", "{method: joint-gram}", "{method: adassp}", boosted,
		"{method: boosted-additive}"}
	if alone && len(m.classes) != 3 {
		out = append(
			out,
			"{method: tukey, buckets: 40}",
			fmt.Sprintf(
				"{method: tukey, fallback: %s}",
				m.pick("joint-gram", "boosted-additive"),
			),
		)
	}
	out = append(
		out,
		"{method: cost-tree}",
		fmt.Sprintf(
			"{method: cost-tree, depth: %d, budget: %d, soft: %v}",
			1+m.IntN(3),
			1+m.IntN(4),
			m.IntN(2) == 0,
		),
	)
	if m.classes != nil {
		out = append(
			out,
			"{method: svm}",
			"{method: logistic}",
			"{method: prototypes}",
			fmt.Sprintf(
				"{method: brc, form: %s, rounds: %d}",
				m.pick("gaussian", "laplace", "paper"),
				1+m.IntN(12),
			),
		)
	}
	return out[m.IntN(len(out))]
}

// extremes are numbers at which arithmetic may fail.
var extremes = []float64{0, math.Copysign(0, -1), 1, -1, 1e308, -1e308, math.MaxFloat64,
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64,
	0x1p-1022, 1e300, 1e-300, 1 << 53, 16384, 0.99993896484375, math.Inf(1), math.Inf(-1),
	math.NaN()}

// drawCell draws a cell of a column, in most cases an ordinary one unless the record is hostile.
func (m *maker) drawCell(c dataset.Column, hostile bool) cell {
	if c.Kind == dataset.Category {
		if hostile && m.chance(.3) || m.chance(.05) {
			return cell{code: int32(len(c.Categories))}
		}
		return cell{code: int32(m.IntN(len(c.Categories)))}
	}
	switch {
	case hostile && m.chance(.7), m.chance(.03):
		return cell{float: extremes[m.IntN(len(extremes))]}
	case hostile:
		return cell{float: math.Ldexp(m.NormFloat64(), m.IntN(2000)-1000)}
	case m.chance(.3):
		return cell{float: float64(m.IntN(4))}
	}
	return cell{float: 10 * m.NormFloat64()}
}

func (m *maker) drawRecord(s dataset.Schema, hostile bool) []cell {
	out := make([]cell, len(s.Columns))
	for j, c := range s.Columns {
		out[j] = m.drawCell(c, hostile)
	}
	return out
}

// drawTable draws a table of n records, of a few units if the recipe has units.
func (m *maker) drawTable(t *testing.T, s dataset.Schema, n int) *dataset.Table {
	t.Helper()
	columns := make([]dataset.ColumnData, len(s.Columns))
	ids := make([]uint64, n)
	wild := m.chance(.3)
	for i := range n {
		ids[i] = uint64(i)
		if m.unit {
			if ids[i] = uint64(m.IntN(1 + n/2)); m.chance(.05) {
				ids[i] = dataset.NoUnit
			}
		}
		for j, c := range m.drawRecord(s, wild && m.chance(.3)) {
			if s.Columns[j].Kind == dataset.Category {
				columns[j].Codes = append(columns[j].Codes, c.code)
			} else {
				columns[j].Floats = append(columns[j].Floats, c.float)
			}
		}
	}
	tab, err := dataset.NewTable(s, columns, ids)
	if err != nil {
		t.Fatal(err)
	}
	return tab
}
