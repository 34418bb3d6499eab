package report

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// releaseWithLedger writes the release of a run with a ledger, and returns both.
func releaseWithLedger(
	t *testing.T, path string, total float64, commit bool,
) (string, Files, *ledger.Ledger) {
	t.Helper()
	text := lineRecipe + "ledger: {dataset: lines}\n"
	dir, files := newRelease(t, text, "x", "y")
	r, problems := recipe.Parse("recipe.yaml", files.Recipe)
	if problems != nil {
		t.Fatal(problems)
	}
	p, err := r.Pipeline(r.Data.Header)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	l := ledger.New(path, ledger.Options{})
	for _, name := range []string{"lines", "others"} {
		_, err := l.Register(
			t.Context(),
			name,
			budget.Total{
				Epsilon:  total,
				Delta:    1e-5,
				BlackBox: 1e-6,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"others", "lines"} {
		run, err := l.Reserve(
			t.Context(),
			ledger.Request{
				Dataset: name,
				Plan:    plan.Priced,
				Method:  plan.Method(),
				Target:  "y",
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		files.Report.Enter(
			Ledger{
				Dataset: name,
				Entry:   run.Head.Sequence,
				Head:    run.Head.Hash,
				Nonce:   run.Nonce,
			})
		putReport(t, dir, files.Report, true)
		if commit {
			claim, _, err := ReadClaim(filepath.Join(dir, ReportFile))
			if err != nil {
				t.Fatal(err)
			}
			if err := run.Commit(t.Context(), claim.Release); err != nil {
				t.Fatal(err)
			}
		}
	}
	return dir, files, l
}

func TestVerifyWithLedger(t *testing.T) {
	folder := t.TempDir()
	dir, files, l := releaseWithLedger(
		t,
		filepath.Join(folder, "a.ledger"),
		9, true,
	)
	if got, err := verifyText(t, dir, l); err != nil ||
		strings.Contains(got, string(NotChecked)) ||
		!strings.Contains(got, "for data set lines is this run") {
		t.Errorf("%v\n%s", err, got)
	}
	if got, err := verifyText(t, dir, nil); err != nil ||
		!strings.Contains(got, "skipped  ledger") {
		t.Errorf("%v\n%s", err, got)
	}
	_, _, other := releaseWithLedger(
		t,
		filepath.Join(folder, "b.ledger"),
		8, true,
	)
	if got, err := verifyText(t, dir, other); !errors.Is(err, ErrBroken) ||
		!strings.Contains(got, "with the head in the") {
		t.Errorf(
			"another ledger: %v\n%s",
			err, got,
		)
	}
	if _, err := verifyText(t, dir,
		ledger.New(
			filepath.Join(folder, "none.ledger"),
			ledger.Options{},
		)); !errors.Is(err, ledger.ErrUnreadable) {
		t.Errorf("no ledger: %v", err)
	}

	original := *files.Report.Ledger
	book, err := l.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	others, err := book.Account("others")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		edit  func(l *Ledger)
		finds string
	}{
		"head": {
			func(l *Ledger) {
				l.Head = strings.Repeat("0", 64)
			},
			"with the head in the report",
		},
		"entry": {func(l *Ledger) {
			l.Entry++
		}, "with the head in the report"},
		"no entry": {func(l *Ledger) {
			l.Entry = 1 << 40
		}, "with the head in the report"},
		"nonce": {
			func(l *Ledger) {
				l.Nonce = strings.Repeat("0", 32)
			},
			"does not match the release",
		},
		"release": {func(*Ledger) {}, "was committed by another release"},
		"data set": {
			func(l *Ledger) {
				l.Dataset = "others"
			},
			"is not a run on data set others",
		},
		"a new one": {
			func(l *Ledger) {
				l.Dataset = "none"
			},
			"does not contain data set none",
		},
		"another run": {
			func(l *Ledger) {
				head := headAt(t, book, others.Runs[0].Sequence)
				l.Dataset = "others"
				l.Entry = head.Sequence
				l.Head = head.Hash
			},
			"the data set in the ledger is others in the report, but lines in the recipe",
		},
	} {
		forged := original
		tt.edit(&forged)
		r := *files.Report
		r.Ledger = &forged
		r.Warnings = append(
			slices.Clone(r.Warnings),
			pipeline.Warning{
				Code:     "no-signal",
				Severity: pipeline.Negligible,
				Text:     "made up",
			},
		)
		putReport(t, dir, &r, true)
		got, err := verifyText(t, dir, l)
		if !errors.Is(err, ErrBroken) ||
			!strings.Contains(strings.Join(strings.Fields(got), " "), tt.finds) {
			t.Errorf(
				"%s: %v\n%s",
				name, err, got,
			)
		}
	}

	dir, _, l = releaseWithLedger(
		t,
		filepath.Join(folder, "c.ledger"),
		9, false,
	)
	got, err := verifyText(t, dir, l)
	if !errors.Is(err, ErrBroken) ||
		!strings.Contains(got, "never committed") {
		t.Errorf(
			"a run that did not end: %v\n%s",
			err, got,
		)
	}
}

// headAt returns the head of a chain right after an entry.
func headAt(t *testing.T, book *ledger.Book, sequence int64) ledger.Head {
	t.Helper()
	for _, e := range book.Entries {
		if e.Sequence == sequence+1 {
			return ledger.Head{Sequence: sequence, Hash: e.Previous}
		}
	}
	t.Fatal("no entry after it")
	return ledger.Head{}
}

// TestVerifyOtherEntry checks that a ledger entry with another price, target or guarantee does not match the report.
func TestVerifyOtherEntry(t *testing.T) {
	dir, files := newRelease(
		t,
		lineRecipe+"ledger: {dataset: lines}\n",
		"x", "y",
	)
	other, problems := recipe.Parse(
		"r.yaml",
		[]byte(strings.Replace(
			lineRecipe, "epsilon: 1",
			"epsilon: .5", 1,
		)),
	)
	if problems != nil {
		t.Fatal(problems)
	}
	p, err := other.Pipeline([]string{"x", "y"})
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.Plan()
	if err != nil {
		t.Fatal(err)
	}
	l := ledger.New(
		filepath.Join(t.TempDir(), "a.ledger"),
		ledger.Options{},
	)
	_, err = l.Register(
		t.Context(),
		"lines",
		budget.Total{
			Epsilon:  9,
			Delta:    1e-5,
			BlackBox: 1e-6,
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	run, err := l.Reserve(
		t.Context(),
		ledger.Request{
			Dataset: "lines",
			Plan:    plan.Priced,
			Method:  plan.Method(),
			Target:  "z",
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	files.Report.Enter(
		Ledger{
			Dataset: "lines",
			Entry:   run.Head.Sequence,
			Head:    run.Head.Hash,
			Nonce:   run.Nonce,
		})
	putReport(t, dir, files.Report, true)
	got, err := verifyText(t, dir, l)
	for _, want := range []string{"the guarantee in the entry", "a different target",
		"the steps of the entry differ", "charged less than its steps cost"} {
		if !errors.Is(err, ErrBroken) ||
			!strings.Contains(strings.Join(strings.Fields(got), " "), want) {
			t.Errorf(
				"%v, want %q in\n%s",
				err, want, got,
			)
		}
	}
}
