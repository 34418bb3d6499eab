package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/audit"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/terminal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

const auditLong = `Try to detect a run that is less private than its plan claims.

Each step of the plan, and the whole run with everything that it publishes, is
repeated many times on generated pairs of tables that differ by one extreme
record. How well the two tables can be distinguished yields a lower bound on
epsilon. If a bound exceeds its claim, dptrain has a bug, and the exit code is
1. The absence of a violation is no proof: it only means that none was found at
this confidence.

Only the header of the table is read, never its rows.

With --own-table the rows are read, too. The whole run is then measured on the
table itself against neighbouring tables: outlying records, and a few others,
are removed or replaced, and extreme ones are added. The result depends on the
records and has no privacy guarantee, so it is written to OUT/curator/audit.json
for the data owner only. The output on the terminal and the exit code do not
depend on the result. A ledger, if there is one, records that this was done.`

// auditFlags are the flags of audit.
type auditFlags struct {
	recipe  recipeFlags
	options audit.Options
	asJSON  bool
	own     bool
	force   bool
}

func auditCommand(a *app) *cobra.Command {
	x := &auditFlags{}
	cmd := &cobra.Command{
		Use:   "audit RECIPE",
		Short: "Test the privacy of a run on generated tables",
		Long:  auditLong,
		Example: `  dptrain audit recipe.yaml
  dptrain audit recipe.yaml --runs 100000 --draws 2000000 --json
  dptrain audit recipe.yaml --own-table --runs 1000`,
		Args: exactly(1, "one recipe"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := x.check(); err != nil {
				return err
			}
			x.recipe.stdin = a.stdin
			x.recipe.notes = a.stderr
			j, err := x.recipe.load(args)
			switch {
			case err != nil:
				return err
			case x.own:
				return a.auditOwn(cmd.Context(), j, x.options, x.force)
			}
			return a.audit(cmd.Context(), j, x.options, x.asJSON)
		},
	}
	f := cmd.Flags()
	o := &x.options
	f.SortFlags = false
	f.IntVar(&o.Runs, "runs", audit.DefaultRuns,
		"`NUMBER` of times to repeat the whole run on each table of a pair")
	f.IntVar(
		&o.Draws,
		"draws",
		audit.DefaultDraws,
		"`NUMBER` of times to repeat each step",
	)
	numberVar(
		f,
		&o.Confidence,
		"confidence",
		audit.DefaultConfidence,
		"joint confidence `LEVEL` of all bounds",
	)
	f.BoolVar(&x.asJSON, "json", false, "print one JSON object")
	f.BoolVar(&x.own, "own-table", false,
		"measure the whole run on the table of the recipe, for the data owner only")
	f.IntVar(&o.Records, "records", audit.DefaultRecords,
		"with --own-table: `NUMBER` of records to remove or replace")
	x.recipe.add(cmd)
	f.BoolVar(
		&x.force,
		"force",
		false,
		"with --own-table: overwrite an existing verdict",
	)
	return cmd
}

// check validates the flags: combinations and ranges of numbers.
func (x *auditFlags) check() error {
	changed := x.recipe.set.Changed
	o := x.options
	switch {
	case x.own && (x.asJSON || changed("draws")):
		return usagef(
			"--json and --draws cannot be combined with --own-table: the verdict goes to a file for the data owner, and steps are measured without the table")
	case !x.own && (x.force || changed("records") || changed("out")):
		return usagef("--records, --out and --force need --own-table")
	case o.Check() != nil || o.Runs == 0 || o.Draws == 0 || o.Records == 0 || o.Confidence == 0:
		return usagef(
			"--runs and --draws must be at least 100, --records from 1 to 1000, and --confidence between 0 and 1")
	}
	return nil
}

// audit audits the plan of a job on generated tables and prints the verdict.
func (a *app) audit(
	ctx context.Context,
	j *job,
	o audit.Options,
	asJSON bool,
) error {
	method, carryOut, err := a.audited(ctx, j)
	if err != nil {
		return err
	}
	meter := a.meter("")
	o.Progress = func(done float64) {
		meter.Show(done, 1, "")
	}
	v, err := carryOut(o)
	meter.Clear()
	if err != nil {
		return err
	}
	return a.showVerdict(newAudited(method, v), v, asJSON)
}

// audited prices what a recipe asks for, and returns the name of its method and its audit.
func (a *app) audited(
	ctx context.Context,
	j *job,
) (string, func(audit.Options) (audit.Verdict, error), error) {
	if j.recipe.Task == recipe.TaskCausal {
		priced := a.causalStudy(j)
		if err := priced.prepare(ctx); err != nil {
			return "", nil, err
		}
		s, err := j.recipe.Study(j.header)
		if err != nil {
			return "", nil, err
		}
		return priced.Method, func(o audit.Options) (audit.Verdict, error) {
			return audit.Study(ctx, s, o)
		}, nil
	}
	p, _, err := j.prepare(ctx)
	if err != nil {
		return "", nil, err
	}
	return methodName(p), func(o audit.Options) (audit.Verdict, error) {
		return audit.Pipeline(ctx, p, o)
	}, nil
}

// methodName returns the name of the training method of a pipeline.
func methodName(p *pipeline.Pipeline) string {
	if p.Search != nil {
		return pipeline.SearchMethod
	}
	return p.ModelName()
}

// auditFormat is the value of the key "format" of `audit --json`.
const auditFormat = "dptrain.audit/1"

// audited is the result of an audit, as printed by `audit --json`.
type audited struct {
	Format     string        `json:"format"`
	Method     string        `json:"method"`
	Relation   string        `json:"relation"`
	Confidence float64       `json:"confidence"` // joint, for all bounds
	Delta      float64       `json:"delta"`      // for all epsilons
	Steps      []auditedStep `json:"steps"`
	Run        auditedRun    `json:"run"`
	Pairs      []string      `json:"pairs"`
	Violations []string      `json:"violations"`
}

// auditedStep is the result for one leaf. Measured numbers are lower bounds; 0 means that there is no bound.
type auditedStep struct {
	ID              string  `json:"id"`
	Law             string  `json:"law"`
	Draws           int     `json:"draws"`
	Statistic       string  `json:"statistic"`
	Epsilon         float64 `json:"epsilon"` // for all draws together
	Mu              float64 `json:"mu,omitempty"`
	MeasuredEpsilon float64 `json:"measured_epsilon"`
	MeasuredMu      float64 `json:"measured_mu"`
	Runs            int     `json:"runs"`
}

type auditedRun struct {
	Epsilon         float64  `json:"epsilon"`
	Mu              *float64 `json:"mu"` // nil if no Gaussian curve covers the run
	MeasuredEpsilon float64  `json:"measured_epsilon"`
	MeasuredMu      float64  `json:"measured_mu"`
	Runs            int      `json:"runs"`
}

func newAudited(method string, v audit.Verdict) *audited {
	g := report.GuaranteeOf(v.Claim)
	out := &audited{
		Format:     auditFormat,
		Method:     method,
		Relation:   g.Relation,
		Confidence: v.Confidence,
		Delta:      g.Delta,
		Pairs:      v.Pairs,
		Run:        auditedRun{g.Epsilon, g.Mu, v.Whole.Epsilon, v.Whole.Mu, v.Whole.Runs},
		Violations: append([]string{}, v.Violations()...),
	}
	for _, l := range v.Leaves {
		out.Steps = append(out.Steps, auditedStep{
			l.Path, l.Law.Kind.String(), l.Law.Draws, l.Statistic, l.Epsilon, l.Mu, l.Measured(),
			l.Measure.Mu, l.Measure.Runs,
		})
	}
	return out
}

// showVerdict prints a verdict and returns an error if the audit found a violation.
func (a *app) showVerdict(v *audited, whole audit.Verdict, asJSON bool) error {
	var err error
	if asJSON {
		err = writeJSON(a.stdout, v)
	} else {
		err = v.text(a.stdout)
	}
	if len(whole.Violations()) > 0 {
		return errors.Join(err,
			fmt.Errorf(
				"the measured privacy loss exceeds the claim, at confidence %v: %s; please report this bug and do not rely on any result of this version",
				v.Confidence, strings.Join(v.Violations, ", ")))
	}
	return err
}

func (v *audited) text(w io.Writer) error {
	t := table.NewWriter()
	t.SetStyle(terminal.PlainTable())
	t.SuppressTrailingSpaces()
	var right []table.ColumnConfig
	for k := 3; k <= 6; k++ {
		right = append(right,
			table.ColumnConfig{
				Number:      k,
				Align:       text.AlignRight,
				AlignHeader: text.AlignRight,
			})
	}
	t.SetColumnConfigs(right)
	t.AppendHeader(
		table.Row{"step", "mechanism", "draws", "claimed", "measured ≥", "ratio", "statistic"})
	var ids []string
	for _, s := range v.Steps {
		claimed := "epsilon " + digits(s.Epsilon)
		measured := digits(s.MeasuredEpsilon)
		ratio := ratioText(s.MeasuredEpsilon, s.Epsilon)
		on := s.Statistic
		if s.Law == budget.Gaussian.String() {
			claimed, measured, ratio = "mu "+digits(s.Mu), digits(s.MeasuredMu),
				ratioText(s.MeasuredMu, s.Mu)
		}
		ids = append(ids, s.ID)
		t.AppendRow(table.Row{"  " + path.Base(s.ID), s.Law, s.Draws, claimed, measured, ratio, on})
	}
	run := v.Run
	t.AppendRow(
		table.Row{"whole run", "", "", "epsilon " + digits(run.Epsilon),
			digits(run.MeasuredEpsilon), ratioText(run.MeasuredEpsilon, run.Epsilon), "the release"})
	if run.Mu != nil {
		t.AppendRow(
			table.Row{"", "", "", "mu " + digits(*run.Mu), digits(run.MeasuredMu),
				ratioText(run.MeasuredMu, *run.Mu), "the release"})
	}
	found := fmt.Sprintf(
		"no violation found at confidence %v (all bounds together), delta %s, relation %s. This is no proof: it is limited to these tables and this number of runs",
		v.Confidence, fault.Readable(v.Delta), v.Relation)
	if len(v.Violations) > 0 {
		found = fmt.Sprintf("the measured privacy loss exceeds the claim, at confidence %v: %s",
			v.Confidence, strings.Join(v.Violations, ", "))
	}
	_, err := fmt.Fprintf(w, "%s\n%s%s", grouped(t.Render(), ids),
		report.Paragraph("Verdict", found),
		report.Paragraph("Tables", "generated: "+strings.Join(v.Pairs, "; ")+". No row was read."))
	return err
}

// ratioText formats the ratio of part to whole.
func ratioText(part, whole float64) string {
	if whole == 0 || math.IsInf(whole, 1) {
		return "-"
	}
	return fmt.Sprintf("%.2f", part/whole)
}
