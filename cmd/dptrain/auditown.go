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
func (a *app) auditOwn(ctx context.Context, j *job, o audit.Options, force bool) error {
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
	if err := j.holdable(p, 2); err != nil {
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
				"%s holds what was measured on the table. It depends on the records and no guarantee covers it: "+
					"it is for the owner of the data only. It certifies nothing. This text and the exit code are the same whatever it says.",
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
	ctx context.Context, j *job, p *pipeline.Pipeline, plan *pipeline.Plan,
) error {
	if j.ledger == "" {
		return nil
	}
	_, err := a.openLedger(j.ledger).Note(ctx, ledger.Note{
		Dataset: j.recipe.Ledger.Dataset, Table: entry.RealPath(j.filed()), Method: plan.Method(),
		What: ledger.NoteAudit,
	})
	if err != nil {
		return entry.Hint(ctx, err, j.ledger, entry.RunOf(p, plan))
	}
	return nil
}

// ownAuditFormat is the value of the key "format" of curator/audit.json.
const ownAuditFormat = "dptrain.own-audit/1"

// ownNotice is the notice at the top of curator/audit.json.
const ownNotice = "Measured on the records themselves, by runs that no guarantee covers. Do not publish it, do not tell anybody of it, and do not change the recipe because of it: " +
	"whoever reads it learns about the records what no budget pays for. It certifies nothing: a bound below the claim says only what these neighbours and this many runs could show."

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
	x, tool := newAudited(methodName(p), v), thisVersion()
	out := &ownAudit{
		Format: ownAuditFormat, Notice: ownNotice, Date: time.Now().UTC().Format(time.RFC3339),
		Tool: report.Tool{Version: tool.Version, Commit: tool.Commit, Go: tool.Go}, Data: j.shown(),
		Method: x.Method, Relation: x.Relation, Confidence: x.Confidence, Delta: x.Delta,
		Run: x.Run, Pairs: x.Pairs, Violations: x.Violations,
	}
	switch {
	case len(x.Violations) > 0:
		out.Verdict = fmt.Sprintf(
			"more was measured than is claimed, at confidence %v: %s; dptrain has a fault, rely on no result of this version and report it, without this file",
			x.Confidence, strings.Join(x.Violations, ", "))
	case len(x.Pairs) == 0:
		out.Verdict = "nothing was measured: an empty table has no neighbours under this relation"
	default:
		out.Verdict = fmt.Sprintf("no violation found at confidence %v; this certifies nothing",
			x.Confidence)
	}
	return out
}

func (o *ownAudit) encode(w io.Writer) error {
	return writeJSON(w, o)
}
