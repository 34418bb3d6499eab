package main

import (
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/terminal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
)

const planLong = `Print the privacy price of a run: for each step its mechanism, number of draws,
privacy loss per draw and share of the budget, and the guarantee of the whole.

With --explain, print instead the accuracy to expect at several values of
epsilon, so that you can choose epsilon before the data is touched: the whole
run is simulated on synthetic tables with your columns.

Only the header of the table is read, never its rows. A published recipe (the
recipe.yaml of a release) lists the columns, so it needs no table.`

func planCommand(a *app) *cobra.Command {
	flags := recipeFlags{stdin: a.stdin, notes: a.stderr}
	var explain explainFlags
	var asJSON bool
	var runs int
	var connect string
	cmd := &cobra.Command{
		Use:   "plan [RECIPE]",
		Short: "Show the privacy price of every step; no row is read",
		Long:  planLong,
		Example: `  dptrain plan recipe.yaml
  dptrain plan --data houses.csv --target price --epsilon 'ln(3)' --json
  dptrain plan recipe.yaml --explain --rows 2000,20000
  dptrain plan recipe.yaml --dataset houses-2026 --runs 12`,
		Args: between(0, 1, "at most one recipe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 && cmd.Flags().NFlag() == 0 {
				return usagef(
					"nothing to plan: give a recipe, or --data, --target and --epsilon; see `dptrain plan --help`")
			}
			if err := explain.check(cmd.Flags().Changed); err != nil {
				return err
			}
			j, err := flags.load(args)
			if err != nil {
				return err
			}
			if j.connect = connect; connect != "" && !j.onSpark() {
				return usagef(
					"--connect needs data.spark in the recipe")
			}
			var equal *int
			if cmd.Flags().Changed("runs") {
				equal = &runs
			}
			if j.recipe.Task == recipe.TaskCausal {
				return a.causalPlan(cmd.Context(), j, cmd.Flags().Changed, equal, asJSON)
			}
			p, plan, err := j.prepare(cmd.Context())
			if err != nil {
				return err
			}
			if explain.explain {
				return a.explain(cmd.Context(), p, plan, &explain, asJSON)
			}
			return a.printBill(cmd.Context(), j, entry.RunOf(p, plan), newBill(p, plan), equal,
				asJSON)
		},
	}
	flags.add(cmd)
	explain.add(cmd.Flags())
	cmd.Flags().IntVar(&runs, "runs", 0,
		"also print the epsilon at which `NUMBER` equal runs fit in the ledger")
	cmd.Flags().StringVar(&connect, "connect", "",
		"`ADDRESS` of the cluster that holds the rows of data.spark: sc://HOST:PORT")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object")
	return cmd
}

// withoutLedger prints a note that the effect of the run on its ledger is not shown.
func (a *app) withoutLedger(j *job) error {
	if j.without == "" {
		return nil
	}
	_, err := io.WriteString(a.stdout,
		report.Paragraph("Ledger",
			fmt.Sprintf(
				"data set %s; the effect on the ledger is unknown because there is no ledger next to the recipe: name it with --ledger",
				printable(j.recipe.Ledger.Dataset))))
	return err
}

// planFormat is the value of the key "format" of `plan --json`.
const planFormat = "dptrain.plan/1"

// bill is the price of a run, as printed by `plan --json`.
type bill struct {
	Format    string           `json:"format"`
	Target    string           `json:"target"`
	Method    string           `json:"method"`
	Features  []string         `json:"features"` // candidate features
	Guarantee report.Guarantee `json:"guarantee"`
	// Attack and Meaning describe how much an attacker can learn despite the guarantee.
	Attack    report.Attack `json:"attack"`
	Meaning   string        `json:"meaning"`
	EpsilonAt []bound       `json:"epsilon_at"`
	// Records is the number of rows at which a method that may abstain returns a model in 95% of runs; absent for
	// methods that always return one.
	Records int        `json:"records,omitempty"`
	Steps   []billStep `json:"steps"`
	// Divisions are the shares of the stages of the training part, for each branch.
	Divisions []billDivision `json:"divisions,omitempty"`
	// Raised holds the factor by which the mu and epsilon of each step of a part exceed the budget of that part on
	// its own. Parts with factor 1 are absent.
	Raised map[string]float64 `json:"raised,omitempty"`
	// Groups names the column by whose values the held-out metric is also given; absent without one.
	Groups string `json:"groups,omitempty"`
	// Search is the price of a search; absent for a run without a search.
	Search *billSearch `json:"search,omitempty"`
	// Sizes is the price of choosing the number of features; absent for a run without a list of sizes.
	Sizes *billSizes `json:"sizes,omitempty"`
	// Ledger is the effect on the ledger; absent for a run without a ledger.
	Ledger *billLedger `json:"ledger,omitempty"`
	// Ranges describes the requirements of private ranges; absent except for a study of causal directions.
	Ranges *billRanges `json:"ranges,omitempty"`
	// Protected is "test" for a study that protects only its test records, and absent otherwise.
	Protected string `json:"protected,omitempty"`
	// Exact lists what is computed without noise from public columns; absent unless listed columns are protected.
	Exact  []string `json:"exact,omitempty"`
	run    string   // what is run
	advice string   // a last paragraph
	asked  pipeline.Shares
	texts  []string // columns that are read as text, each with the reason
}

// A bound is an epsilon that holds at delta, or nil if there is no finite one.
type bound struct {
	Delta   float64  `json:"delta"`
	Epsilon *float64 `json:"epsilon"`
}

// billStep is the price of one leaf of the plan.
type billStep struct {
	ID      string   `json:"id"`
	Law     string   `json:"law"`
	Draws   int      `json:"draws"`
	Mu      float64  `json:"mu,omitempty"` // per draw
	Epsilon float64  `json:"epsilon,omitempty"`
	Delta   float64  `json:"delta,omitempty"`
	Share   *float64 `json:"share"` // of the budget of its part; nil for a fixed noise distribution
	Part    string   `json:"part"`

	branch string
	stage  string
}

func newBill(p *pipeline.Pipeline, plan *pipeline.Plan) *bill {
	b := pricedBill(plan.Priced)
	b.Target, b.Method, b.Features, b.Records = p.Target, plan.Method(), plan.Columns(),
		plan.Records()
	b.run = b.Method + ", " + plural(len(b.Features), "candidate feature", "candidate features")
	b.Groups = p.Groups
	for _, c := range p.Schema.Columns {
		if key := p.ReadAsText(c.Name); key != "" {
			b.texts = append(b.texts, fmt.Sprintf("%s for %s", printable(c.Name), key))
		}
	}
	b.Search, b.Sizes = newBillSearch(p, plan), newBillSizes(plan)
	b.asked, b.Divisions = p.Shares, divisionsOf(plan.Priced)
	b.Exact = p.ExactParts()
	return b
}

// pricedBill returns the fields that the bills of all runs have.
func pricedBill(plan *budget.Priced) *bill {
	b := &bill{
		Format:    planFormat,
		Guarantee: report.GuaranteeOf(plan.Guarantee()),
		Steps:     []billStep{},
	}
	b.Attack, b.Meaning = b.Guarantee.AttackOf(), b.Guarantee.MeaningOf()
	for _, delta := range []float64{1e-5, 1e-6, 1e-9} {
		at := bound{Delta: delta}
		if e := plan.Epsilon(delta); !math.IsInf(e, 1) {
			at.Epsilon = &e
		}
		b.EpsilonAt = append(b.EpsilonAt, at)
	}
	leaves := plan.Leaves()
	for i, share := range leafShares(leaves) {
		b.Steps = append(b.Steps, newBillStep(leaves[i], share))
	}
	b.Raised = raised(plan)
	return b
}

// raised returns the factors above 1 by which the budgets of parts of the plan are raised.
func raised(plan *budget.Priced) map[string]float64 {
	out := map[string]float64{}
	tree := plan.Tree()
	factors := plan.RaiseFactors()
	kids := tree.Kids
	if tree.Lead {
		kids = kids[1:]
	}
	for i := range min(len(kids), len(factors)) {
		if factors[i] > 1.0005 {
			out[kids[i].Name] = factors[i]
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}

// raisedText describes the factors by which sampling and branches raise the budget of each part.
func (b *bill) raisedText() string {
	times := func(part string) string {
		return strconv.FormatFloat(b.Raised[part], 'f', 2, 64)
	}
	_, train := b.Raised[pipeline.TrainName]
	switch _, held := b.Raised[pipeline.HoldoutName]; {
	case held:
		return report.Paragraph("Split",
			fmt.Sprintf(
				"the train/test split is secret, so each part may use more budget (amplification by sampling): mu (or epsilon) of each step is %s times as large in training and %s times as large in the test part",
				times(pipeline.TrainName), times(pipeline.HoldoutName)))
	case train:
		return report.Paragraph("Gain",
			fmt.Sprintf(
				"the noisy counts and the branches that they select are priced together, so mu (or epsilon) of each training step is %s times as large as under simple addition of their epsilons",
				times(pipeline.TrainName)))
	}
	return ""
}

func newBillStep(l budget.PricedLeaf, share float64) billStep {
	s := billStep{
		ID:      l.Path,
		Law:     l.Law.Kind.String(),
		Draws:   l.Law.Draws,
		Part:    l.Place.Part,
		branch:  l.Place.Branch,
		stage:   l.Place.Stage,
		Mu:      l.Law.Mu,
		Epsilon: l.Law.Epsilon,
		Delta:   l.Law.Delta,
	}
	if share >= 0 {
		s.Share = &share
	}
	return s
}

func (b *bill) text(w io.Writer) error {
	of := "mu²"
	if b.Guarantee.Composition == budget.Basic.String() {
		of = "epsilon"
	}
	t := table.NewWriter()
	t.SetStyle(terminal.PlainTable())
	t.SuppressTrailingSpaces()
	t.SetColumnConfigs([]table.ColumnConfig{
		{
			Number:      4,
			Align:       text.AlignRight,
			AlignHeader: text.AlignRight,
		},
		{
			Number:      6,
			Align:       text.AlignRight,
			AlignHeader: text.AlignRight,
		},
	})
	t.AppendHeader(
		table.Row{"step", "records", "mechanism", "draws", "per draw", "share of " + of})
	var ids []string
	for _, s := range b.Steps {
		share := -1.
		if s.Share != nil {
			share = *s.Share
		}
		ids = append(ids, s.ID)
		t.AppendRow(
			table.Row{"  " + path.Base(s.ID), s.Part, s.Law, s.Draws, s.loss(), percent(share)})
	}
	shares := ""
	if len(b.Divisions) > 0 {
		shares = b.sharesText()
	}
	_, err := fmt.Fprintf(w, "%s\n%s%s", grouped(t.Render(), ids), shares, b.total())
	return err
}

// grouped replaces repeated node names in a rendered table of steps by a line above the steps of each node, so that
// the table fits a terminal. ids are the step names in the first rows of the table.
func grouped(rendered string, ids []string) string {
	const head = 2 // the header and the line below it
	lines := strings.Split(rendered, "\n")
	width := 0
	for i, line := range lines {
		if i != head-1 {
			width = max(width, utf8.RuneCountInString(line))
		}
	}
	lines[head-1] = strings.Repeat("-", width)
	var out strings.Builder
	node := ""
	for i, line := range lines {
		if row := i - head; row >= 0 && row < len(ids) && path.Dir(ids[row]) != node {
			node = path.Dir(ids[row])
			out.WriteString(node + "\n")
		}
		out.WriteString(line + "\n")
	}
	return out.String()
}

// loss formats the privacy loss of one draw.
func (s billStep) loss() string {
	switch {
	case s.Mu > 0:
		return "mu " + digits(s.Mu)
	case s.Delta > 0:
		return "epsilon " + digits(s.Epsilon) + ", delta " + digits(s.Delta)
	}
	return "epsilon " + digits(s.Epsilon)
}

// total describes the guarantee of the run.
func (b *bill) total() string {
	g := b.Guarantee
	total := fmt.Sprintf("epsilon %v, delta %s", g.Epsilon, fault.Readable(g.Delta))
	if g.Mu != nil {
		total += ", mu " + digits(*g.Mu)
	}
	at := ""
	for i, bound := range b.EpsilonAt {
		if i > 0 {
			at += ", "
		}
		e := "no finite bound"
		if bound.Epsilon != nil {
			e = digits(*bound.Epsilon)
		}
		at += fmt.Sprintf("%s at delta %s", e, fault.Readable(bound.Delta))
	}
	records := "No row was read."
	if slices.ContainsFunc(b.Steps, func(s billStep) bool {
		return s.Part == pipeline.HoldoutName
	}) {
		parts := "train and holdout"
		if b.Search != nil {
			parts = "train, score and holdout"
		}
		records = parts +
			" are disjoint: each record is in only one of them, so it pays for that part and for the steps on all records. " +
			records
	}
	needs := ""
	if b.Records > 0 {
		needs = report.Paragraph("Needs",
			fmt.Sprintf(
				"about %s rows (including the held-out part) for %s to return a model 95%% of the time; with fewer rows it abstains more often, and always if they do not fill its buckets",
				report.FormatCount(b.Records), b.Method))
	}
	unit := ""
	if u := g.Unit; u != nil {
		unit = report.Paragraph("Unit",
			fmt.Sprintf(
				"each value of column %s is protected as one unit with all its rows; at most %d rows per unit are used, and prices are per unit",
				printable(u.Column), u.MaxRows))
	}
	return report.Paragraph("Run", b.run) + needs + unit +
		report.Paragraph("Total",
			fmt.Sprintf("%s (relation %s, composition %s)", total, g.Relation, g.Composition)) +
		report.Paragraph("Meaning", b.Meaning) +
		report.Paragraph("Epsilon", at) +
		b.Search.text() + b.Sizes.text() + branches(b.Steps) + b.raisedText() + b.groupsText() + b.readText() +
		b.exactText() + report.Paragraph("Records", records) + b.Ranges.text() + b.protectedText() +
		b.Ledger.text() + b.advice
}

// groupsText describes metrics by group.
func (b *bill) groupsText() string {
	if b.Groups == "" {
		return ""
	}
	return report.Paragraph("Groups",
		fmt.Sprintf(
			"the held-out metric is also reported by %s, at no extra cost, because each record is in one group",
			printable(b.Groups)))
}

// readText lists the columns that are read as text even if they hold numbers.
func (b *bill) readText() string {
	if len(b.texts) == 0 {
		return ""
	}
	return report.Paragraph("Text",
		"read as text categories, also if the values are numbers: "+strings.Join(b.texts, ", "))
}

// exactText lists the results that cost no budget because they depend only on public columns.
func (b *bill) exactText() string {
	if len(b.Exact) == 0 {
		return ""
	}
	return report.Paragraph("Exact",
		"computed without noise or cost, from public columns only: "+strings.Join(b.Exact, "; "))
}

// branches explains the steps of a run, or of a try, that chooses between training branches.
func branches(steps []billStep) string {
	reads := false
	ways := []string{}
	counts := []string{}
	for _, s := range steps {
		for _, name := range strings.Split(s.branch, "/") {
			switch {
			case vocabulary.IsBranch(name):
				reads = true
			case pipeline.IsNumberOfClasses(name):
				if !slices.Contains(counts, name) {
					counts = append(counts, name)
				}
			case name != "" && !slices.Contains(ways, name):
				ways = append(ways, name)
			}
		}
	}
	out := ""
	if len(counts) > 0 {
		out = report.Paragraph("Classes",
			"the number of classes found determines which of the branches "+
				strings.Join(counts, ", ")+" runs; every branch fits the budget")
	}
	if reads {
		out += report.Paragraph("Words",
			"noisy counts of text cells determine which branch runs: undeclared/"+vocabulary.WordsBranch+
				" if an undeclared column contains text, undeclared/"+vocabulary.NumbersBranch+
				" otherwise; either branch fits the budget")
	}
	if len(ways) != 2 {
		return out
	}
	count := "the public number of records"
	if slices.ContainsFunc(steps, func(s billStep) bool {
		return s.stage == pipeline.CountName
	}) {
		count = "the noisy number of records"
	}
	above := pipeline.TrainName
	if len(counts) > 0 {
		above = counts[0]
	}
	return out +
		report.Paragraph("Choice",
			fmt.Sprintf(
				"%s determines whether branch %s/%s or %s/%s runs; either branch fits the budget",
				count, above, ways[0], above, ways[1]))
}

// digits formats x with four significant digits.
func digits(x float64) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 4, 64), 64)
	if err != nil { // cannot happen
		rounded = x
	}
	return fault.Readable(rounded)
}
