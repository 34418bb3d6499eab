package dptrain

import (
	"bytes"
	"context"
	"io"
	"os"

	"github.com/dptrain/dptrain/internal/publish/report"
)

// A Report is the published report of a run, with all releases and their prices. All of it is public. Its JSON form
// is the file report.json in the folder release of the run; docs/reference/report.md lists the keys.
type Report struct {
	report *report.Report
}

// ReadReport reads the report in a file. It is strict: every key of the format must occur exactly once, and unknown
// keys are rejected.
func ReadReport(path string) (*Report, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r, err := report.Decode(f)
	if err != nil {
		return nil, err
	}
	return &Report{r}, nil
}

// MarshalJSON returns the report as the JSON of report.json, without insignificant spaces.
func (r *Report) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	if err := report.Encode(&b, r.report); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// WriteText writes the report as `dptrain report` prints it. It returns the errors of w.
func (r *Report) WriteText(w io.Writer) error {
	return report.Text(w, r.report)
}

// A Verification is the result of [Verify].
type Verification struct {
	Checks []Check
}

// A Check is a question about a release with its answer.
type Check struct {
	Name  string // what was compared, such as "model.json"
	State string // "ok", "does not fit" or "not checked"
	// Text describes the result, or why the check was skipped. A check that does not fit has an item per problem.
	Text []string
}

// Verify checks that the release in the folder dir, of a model, a study of causal directions or a description, is
// consistent: it reads public facts only and computes the price and the results anew. l is the ledger of the run, or
// nil if it is not available. The error is that of a report that cannot be read, or of the ledger; a release that is
// not consistent is reported by [Verification.Err].
func Verify(ctx context.Context, dir string, l *Ledger) (*Verification, error) {
	v, err := report.Verify(ctx, dir, report.VerifyOptions{Ledger: l.file()})
	if err != nil {
		return nil, goError(err)
	}
	out := &Verification{}
	for _, c := range v.Checks {
		out.Checks = append(out.Checks, Check{c.Name, string(c.State), c.Text})
	}
	return out, nil
}

// Err returns nil if no check failed, and otherwise an error with the number of failed checks.
func (v *Verification) Err() error {
	inner := &report.Verification{}
	for _, c := range v.Checks {
		inner.Checks = append(inner.Checks, report.Check{
			Name:  c.Name,
			State: report.State(c.State),
			Text:  c.Text,
		})
	}
	return inner.Err()
}

// ErrExists is returned by [Fit.Save] if the folder has results already: they are never overwritten.
var ErrExists = report.ErrExists
