package dptrain

import (
	"context"
	"io"
	"os"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// A Report is what a run publishes about itself: report.json in its folder release. docs/reference/files.md
// explains its keys.
type Report = report.Report

// ReadReport reads a report. It is strict: every key of the format must be there once, and no other.
func ReadReport(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return report.Decode(f)
}

// WriteReport writes what `dptrain report` prints. It returns the errors of w.
func WriteReport(w io.Writer, r *Report) error { return report.Text(w, r) }

// A Verification says of every part of a release whether it fits the others. Its method Err returns an error
// if one does not.
type Verification = report.Verification

// Verify reports whether the release in the folder dir holds together, from public facts alone. l is the ledger
// of the run, or nil if it is not at hand.
func Verify(ctx context.Context, dir string, l *Ledger) (*Verification, error) {
	return report.Verify(ctx, dir, report.VerifyOptions{Ledger: l})
}

// ErrExists is returned for results that are there already: nothing is replaced.
var ErrExists = report.ErrExists
