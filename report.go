package dptrain

import (
	"context"
	"io"
	"os"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// A Report is the published report of a run: report.json in its folder release. See docs/proofs/formats.md
// for its keys.
type Report = report.Report

// ReadReport reads a report. It is strict: every key of the format must occur exactly once, and unknown keys are rejected.
func ReadReport(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.Decode(f)
}

// WriteReport writes the output of `dptrain report`. It returns the errors of w.
func WriteReport(w io.Writer, r *Report) error {
	return report.Text(w, r)
}

// A Verification reports for every part of a release whether it is consistent with the others. Its method Err
// returns an error if one is not.
type Verification = report.Verification

// Verify checks that the release in the folder dir, of any task, is consistent, using public facts only. l is the ledger of
// the run, or nil if it is not available.
func Verify(ctx context.Context, dir string, l *Ledger) (*Verification, error) {
	return report.Verify(ctx, dir, report.VerifyOptions{Ledger: l})
}

// ErrExists is returned if results exist already: they are never overwritten.
var ErrExists = report.ErrExists
