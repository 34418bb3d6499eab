package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/entry"
	"github.com/dptrain/dptrain/internal/publish/report"
)

const ledgerCommitLong = `Record the end of a run whose ledger could not be written at the time, and
publish its results. fit keeps such results in OUT/pending: they are complete
and paid for, but not published.

If another process is using the ledger, the command waits until it is free.`

func ledgerCommit(a *app) *cobra.Command {
	var path string
	var force, asJSON bool
	cmd := &cobra.Command{
		Use:     "commit OUT",
		Short:   "Record and publish a run whose ledger could not be written",
		Long:    ledgerCommitLong,
		Example: "  dptrain ledger commit out",
		Args:    exactly(1, "one output folder"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.ledgerCommit(cmd.Context(), args[0], path, force, asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().StringVar(&path, "ledger", "", "ledger `FILE`, if it has moved")
	cmd.Flags().BoolVar(&force, "force", false, "overwrite existing results")
	jsonFlag(cmd, &asJSON, oneObject)
	return cmd
}

func (a *app) ledgerCommit(
	ctx context.Context,
	out, path string,
	force, asJSON bool,
) error {
	kept, err := report.OpenKept(out)
	if err != nil {
		return err
	}
	if path == "" {
		path = kept.Path
	}
	head, err := ledger.ParseHead(ledger.Head{
		Sequence: kept.Entry,
		Hash:     kept.Head,
	}.String())
	if err != nil {
		return ledger.InFile(path, err)
	}
	claim, err := report.KeptClaim(out, kept)
	if err != nil {
		return err
	}
	stopped, err := report.KeptStopped(out)
	if err != nil {
		return err
	}
	l := a.openLedger(path)
	if err := entry.CheckReplaced(ctx, l, out, claim.Head); force && err != nil {
		return err
	}
	end := l.Commit
	if stopped {
		end = l.Stop
	}
	err = end(ctx, head, claim.Release)
	if err != nil && !errors.Is(err, ledger.ErrCommitted) { // if committed, the entry was made before the interruption
		return err
	}
	if err := report.PlaceKept(ctx, out, force); err != nil {
		return err
	}
	if asJSON {
		return writeJSON(a.stdout,
			entered{
				Format:  enteredFormat,
				Ledger:  path,
				Entry:   head.Sequence,
				Head:    head.String(),
				Release: filepath.Join(out, report.ReleaseDir),
			})
	}
	_, err = fmt.Fprint(a.stdout,
		report.Paragraph("Recorded",
			fmt.Sprintf("the end of the run of entry %d in %s", head.Sequence, printable(path))),
		pointer(out, modelContents))
	return err
}
