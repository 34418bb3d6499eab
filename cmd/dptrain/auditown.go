package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/dptrain/dptrain/internal/audit"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// auditOwn audits the table of a job for its owner only. In the order of fit, it prepares the output folder,
// computes the price, writes to the ledger and then reads the rows. Its output and its error do not depend on any
// record.
func (a *app) auditOwn(
	ctx context.Context,
	j *job,
	o audit.Options,
	force bool,
) error {
	if err := j.needsTable(); err != nil {
		return err
	}
	out := j.recipe.Output.Dir
	file, err := report.PrepareAudit(out, force)
	if err != nil {
		return err
	}
	defer file.Close()
	p, plan, err := j.prepare(ctx)
	if err != nil {
		return err
	}
	if err := j.checkMemory(p, 2); err != nil {
		return err
	}
	if err := a.noteAudit(ctx, j, p, plan); err != nil {
		return err
	}
	a.stage("read")
	table, _, err := j.read(ctx, p.Schema)
	if err != nil {
		return err
	}
	a.stage("audit")
	v, err := a.ownTable(ctx, p, table, o) // no progress: it would reveal facts about the records
	if err != nil {
		return err
	}
	a.stage("write")
	if err := file.Commit(ctx, newOwnAudit(j, p, v).encode); err != nil {
		return err
	}
	_, err = fmt.Fprint(a.stdout,
		report.Paragraph("Private",
			fmt.Sprintf(
				"%s holds the measurements on the table. It depends on the records without any privacy guarantee: "+
					"it is for the data owner only, and it is no proof of privacy. This text and the exit code do not depend on its content.",
				filepath.Join(out, report.CuratorDir, report.AuditFile))))
	return err
}

// stage announces the start of a stage in an audit of the owner's table.
func (a *app) stage(name string) {
	if a.terminal {
		fmt.Fprintln(a.stderr, "dptrain: "+name)
	}
	if a.onStage != nil {
		a.onStage(name)
	}
}

// noteAudit records the audit in the ledger of the recipe before a row is read. The entry has price 0, since no
// guarantee covers results that only the owner receives.
func (a *app) noteAudit(
	ctx context.Context,
	j *job,
	p *pipeline.Pipeline,
	plan *pipeline.Plan,
) error {
	if j.ledger == "" {
		return nil
	}
	_, err := a.openLedger(j.ledger).Note(ctx, ledger.Note{
		Dataset: j.recipe.Ledger.Dataset,
		Table:   entry.RealPath(j.ledgerPath()),
		Method:  plan.Method(),
		What:    ledger.NoteAudit,
	})
	if err != nil {
		return entry.Hint(ctx, err, j.ledger, entry.RunOf(p, plan))
	}
	return nil
}

// ownAuditFormat is the value of the key "format" of curator/audit.json.
const ownAuditFormat = "dptrain.own-audit/1"

// ownNotice is the notice at the top of curator/audit.json.
const ownNotice = "Measured on the records themselves, without any privacy guarantee. Do not publish or share this file, and do not change the recipe because of it: " +
	"its content reveals facts about the records that no budget covers. It is no proof of privacy: a bound below the claim is limited to these neighbours and this number of runs."

// ownAudit is the verdict on the owner's table, as written to curator/audit.json.
type ownAudit struct {
	Format     string      `json:"format"`
	Notice     string      `json:"notice"`
	Date       string      `json:"date"` // RFC 3339
	Tool       report.Tool `json:"tool"`
	Data       string      `json:"data"` // path of the table, as given
	Method     string      `json:"method"`
	Relation   string      `json:"relation"`
	Confidence float64     `json:"confidence"` // joint, for both bounds
	Delta      float64     `json:"delta"`      // for epsilon
	Run        auditedRun  `json:"run"`
	Pairs      []string    `json:"pairs"` // how the neighbours differ from the table
	Violations []string    `json:"violations"`
	Verdict    string      `json:"verdict"`
}

func newOwnAudit(j *job, p *pipeline.Pipeline, v audit.Verdict) *ownAudit {
	x := newAudited(methodName(p), v)
	tool := thisVersion()
	out := &ownAudit{
		Format: ownAuditFormat,
		Notice: ownNotice,
		Date:   time.Now().UTC().Format(time.RFC3339),
		Tool: report.Tool{
			Version: tool.Version,
			Commit:  tool.Commit,
			Go:      tool.Go,
		},
		Data:       j.tableName(),
		Method:     x.Method,
		Relation:   x.Relation,
		Confidence: x.Confidence,
		Delta:      x.Delta,
		Run:        x.Run,
		Pairs:      x.Pairs,
		Violations: x.Violations,
	}
	switch {
	case len(x.Violations) > 0:
		out.Verdict = fmt.Sprintf(
			"the measured privacy loss exceeds the claim, at confidence %v: %s; dptrain has a bug: do not rely on any result of this version, and report it without this file",
			x.Confidence, strings.Join(x.Violations, ", "))
	case len(x.Pairs) == 0:
		out.Verdict = "not measured: an empty table has no neighbours under this relation"
	default:
		out.Verdict = fmt.Sprintf("no violation found at confidence %v; this is no proof",
			x.Confidence)
	}
	return out
}

func (o *ownAudit) encode(w io.Writer) error {
	return writeJSON(w, o)
}
