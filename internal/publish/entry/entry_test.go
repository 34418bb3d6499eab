package entry

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/train/adassp"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

func must[T any](x T, err error) T {
	if err != nil {
		panic(err)
	}
	return x
}

// run is a run on a data set of a ledger in a separate folder.
type run struct {
	Request
	Pipeline *pipeline.Pipeline
	Plan     *pipeline.Plan // of Pipeline
	dir      string
}

// aRun returns a run with this budget, on a data set with the total epsilon 3.
func aRun(t *testing.T, target budget.Target, private ...string) *run {
	t.Helper()
	dir := t.TempDir()
	r := &run{dir: dir}
	r.Ledger = ledger.New(
		filepath.Join(dir, "l"),
		ledger.Options{Wait: -1},
	)
	r.Dataset = "doses"
	r.Note = "a note"
	total := budget.Total{
		Epsilon:  3,
		Delta:    1e-5,
		Relation: target.Relation,
	}
	must(r.Ledger.Register(t.Context(), r.Dataset, total, private...))
	r.Table = filepath.Join(dir, "absent.csv")
	r.Header = []string{"dose", "response"}
	r.planAgain(target)
	return r
}

// planAgain plans the run again under another budget.
func (r *run) planAgain(target budget.Target) {
	private := target.Relation == budget.SubstitutePrivateColumns
	r.Pipeline = &pipeline.Pipeline{
		Schema: dataset.Schema{Columns: []dataset.Column{
			{
				Name:    "dose",
				Ranged:  true,
				Upper:   10,
				Private: private,
			},
			{
				Name:   "response",
				Ranged: true,
				Upper:  10,
			},
		}},
		Target: "response",
		Budget: target,
		Model:  adassp.JointGram{},
	}
	r.Plan = must(r.Pipeline.Plan())
	r.Run = RunOf(r.Pipeline, r.Plan)
}

// readAccount returns the account in the ledger.
func (r *run) readAccount() *ledger.Account {
	return must(must(r.Ledger.Read(context.Background())).Account(r.Dataset))
}

// moveLedger moves the ledger away and returns a function that moves it back.
func (r *run) moveLedger(t *testing.T) (back func()) {
	t.Helper()
	path := r.Ledger.Path()
	move := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	move(path, path+".away")
	return func() {
		move(path+".away", path)
	}
}

// trainFiles trains and returns the files to publish.
func (r *run) trainFiles(t *testing.T) report.Files {
	t.Helper()
	x := make([]float64, 500)
	for i := range x {
		x[i] = float64(i%100) / 10
	}
	table := must(
		dataset.NewTable(
			r.Pipeline.Schema,
			[]dataset.ColumnData{{Floats: x}, {Floats: x}},
			nil,
		))
	res := must(r.Pipeline.FitPlan(
		t.Context(), r.Plan, table,
		pipeline.Options{},
	))
	return report.Collect(
		report.New(res), res.Model,
		res.Curator, nil, nil, r.Table,
	)
}

var oneEpsilon = budget.Target{Epsilon: 1, Delta: 1e-6}

// TestReserve checks that only the price is recorded, before there is a table.
func TestReserve(t *testing.T) {
	r := aRun(t, oneEpsilon)
	e, err := Reserve(t.Context(), r.Request)
	if err != nil || e == nil {
		t.Fatal(err)
	}
	a := r.readAccount()
	if len(a.Runs) != 1 ||
		a.Committed != (budget.Charge{}) ||
		a.Reserved != must(a.Price(r.Plan.Priced)) ||
		a.Reserved.Cost == 0 {
		t.Fatalf("%+v", a)
	}
	got := a.Runs[0]
	if got.Committed ||
		got.Table != RealPath(r.Table) ||
		got.Method != "joint-gram" ||
		got.Target != "response" ||
		got.Note != "a note" ||
		got.Records != ledger.RecordsLines ||
		!got.CuratorNotes ||
		got.Epsilon != 1 ||
		got.Public != nil {
		t.Errorf("%+v", got.Run)
	}
}

// TestReserveRefuses checks that the refusal of a run contains the reason and a hint, and that it leaves no entry.
func TestReserveRefuses(t *testing.T) {
	for name, x := range map[string]struct {
		change func(*run)
		is     error
		says   string
	}{
		"over the total": {
			func(r *run) {
				r.planAgain(budget.Target{Epsilon: 9, Delta: 1e-6})
			},
			ledger.ErrSpent,
			"with delta 1e-6 the largest epsilon that fits is 3.",
		},
		"another name": {
			func(r *run) {
				r.Dataset = "does"
			},
			ledger.ErrUnknown,
			"dptrain ledger init",
		},
		"no ledger": {
			func(r *run) {
				r.Ledger = ledger.New(
					filepath.Join(r.dir, "none"),
					ledger.Options{},
				)
			},
			ledger.ErrUnreadable,
			"dptrain ledger init",
		},
		"another relation": {
			func(r *run) {
				r.planAgain(budget.Target{
					Epsilon:  1,
					Delta:    1e-6,
					Relation: budget.Substitute,
				})
			},
			ledger.ErrRelation,
			"change privacy.relation",
		},
		"a note of a page": {
			func(r *run) {
				r.Note = strings.Repeat("note ", 1000)
			},
			ledger.ErrInvalid,
			"note",
		},
		"units of a column": {
			func(r *run) {
				r.planUnits("person")
			},
			ledger.ErrUnit,
			"change privacy.unit",
		},
		"an unusable ledger": {
			func(r *run) {
				writeFile(r.Ledger.Path(), "no ledger")
			},
			ledger.ErrFormat,
			"not a ledger",
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := aRun(t, oneEpsilon)
			before := r.readAccount()
			x.change(r)
			e, err := Reserve(t.Context(), r.Request)
			if e != nil ||
				!errors.Is(err, x.is) ||
				!strings.Contains(err.Error(), x.says) {
				t.Errorf(
					"%v, want %v with %q",
					err, x.is, x.says,
				)
			}
			if x.is == ledger.ErrFormat {
				return
			}
			after := must(
				must(ledger.New(filepath.Join(r.dir, "l"), ledger.Options{}).Read(t.Context())).Account("doses"))
			if after.Spent() != before.Spent() || len(after.Runs) > 0 {
				t.Errorf("entered: %+v", after)
			}
		})
	}
}

// planUnits plans the run again for units of a column.
func (r *run) planUnits(column string) {
	r.Pipeline.Schema.Unit = column
	r.Pipeline.Budget.Unit = budget.Unit{Column: column, MaxRows: 2}
	r.Plan = must(r.Pipeline.Plan())
	r.Run = RunOf(r.Pipeline, r.Plan)
}

func writeFile(path, text string) {
	err := os.WriteFile(path, []byte(text), 0o600)
	if err != nil {
		panic(err)
	}
}

// TestReserveRecords checks that a run that reads other records from the table than the first run is refused.
func TestReserveRecords(t *testing.T) {
	r := aRun(t, oneEpsilon)
	must(Reserve(t.Context(), r.Request))
	r.Format.MultilineQuotes = true
	r.planAgain(oneEpsilon)
	_, err := Reserve(t.Context(), r.Request)
	if !errors.Is(err, ledger.ErrRecords) ||
		!strings.Contains(err.Error(), "data.multiline_quotes") {
		t.Errorf("%v", err)
	}
	r.Table = "doses.parquet"
	if _, err := Reserve(t.Context(), r.Request); err != nil {
		t.Errorf(
			"of a Parquet file, where that is no choice: %v",
			err,
		)
	}
}

// TestReserveProtected checks that a run may not use a protected column as public, even under a similar name, and
// that the report mentions a protected column that is missing from the table.
func TestReserveProtected(t *testing.T) {
	target := budget.Target{
		Epsilon:  1,
		Delta:    1e-6,
		Relation: budget.SubstitutePrivateColumns,
	}
	r := aRun(t, target, "dose", "weight")
	e, err := Reserve(t.Context(), r.Request)
	if err != nil {
		t.Fatal(err)
	}
	var page report.Report
	e.Enter(&page)
	if len(page.Warnings) != 1 ||
		page.Warnings[0].Code != "protected-absent" ||
		!strings.Contains(page.Warnings[0].Text, `"weight"`) {
		t.Errorf("%+v", page.Warnings)
	}
	for private, says := range map[string]string{
		"response": "mark it with private: true",
		"respons":  `protects column "respons"`,
	} {
		other := aRun(t, target, "dose", private)
		_, err := Reserve(t.Context(), other.Request)
		if !errors.Is(err, ledger.ErrPublic) ||
			!strings.Contains(err.Error(), says) {
			t.Errorf("%s is protected: %v", private, err)
		}
		a := other.readAccount()
		if len(a.Runs) > 0 {
			t.Errorf("%s: entered", private)
		}
	}
}

// TestReserveInterrupted checks that a run interrupted before its reservation spends no budget.
func TestReserveInterrupted(t *testing.T) {
	r := aRun(t, oneEpsilon)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e, err := Reserve(ctx, r.Request)
	if e != nil || !errors.Is(err, context.Canceled) {
		t.Errorf("%v, %v", e, err)
	}
	a := r.readAccount()
	if a.Spent() != (budget.Charge{}) {
		t.Errorf("%+v", a)
	}
}

// TestEnter checks that the report names the reservation, which the ledger then contains, and no longer warns about a
// missing ledger.
func TestEnter(t *testing.T) {
	r := aRun(t, oneEpsilon)
	e := must(Reserve(t.Context(), r.Request))
	files := r.trainFiles(t)
	warned := func(code string) bool {
		for _, w := range files.Report.Warnings {
			if w.Code == code {
				return true
			}
		}
		return false
	}
	if !warned("no-ledger") {
		t.Fatal("a run without a ledger does not say so")
	}
	e.Enter(files.Report)
	l := files.Report.Ledger
	if warned("no-ledger") ||
		l == nil ||
		l.Dataset != "doses" ||
		l.Entry != 3 {
		t.Fatalf(
			"%+v, %+v",
			l, files.Report.Warnings,
		)
	}
	head := must(
		ledger.ParseHead(fmt.Sprintf(
			"%d:%s",
			files.Report.Ledger.Entry,
			files.Report.Ledger.Head,
		)))
	_, err := r.Ledger.Verify(t.Context(), head)
	if err != nil {
		t.Errorf("the head of the report: %v", err)
	}
	// The same table under another name.
	must(r.Ledger.Register(
		t.Context(), "copies",
		budget.Total{Epsilon: 3, Delta: 1e-5},
	))
	r.Dataset = "copies"
	r.planAgain(oneEpsilon)
	var page report.Report
	must(Reserve(t.Context(), r.Request)).Enter(&page)
	if len(page.Warnings) != 1 ||
		page.Warnings[0].Code != "several-names" ||
		!strings.Contains(page.Warnings[0].Text, `under other names: "doses"`) {
		t.Errorf("%+v", page.Warnings)
	}
}

// aRelease is the checksum of a release.
const aRelease = "6c1a0c2c9d2a8d1f0f4e5b7a3f9c8e7d6b5a49382716f5e4d3c2b1a09f8e7d6c"

// TestCommit checks that a run is committed once, by any process, and that a commit can be repeated after an error.
func TestCommit(t *testing.T) {
	r := aRun(t, oneEpsilon)
	e := must(Reserve(t.Context(), r.Request))
	back := r.moveLedger(t)
	if err := e.Commit(t.Context(), aRelease); !errors.Is(err, ledger.ErrUnreadable) {
		t.Errorf("without the file: %v", err)
	}
	back()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	err := e.Commit(ctx, aRelease)
	if !errors.Is(err, context.Canceled) ||
		r.readAccount().Runs[0].Committed {
		t.Errorf("interrupted: %v", err)
	}
	for range 2 {
		err := e.Commit(t.Context(), aRelease)
		if err != nil || !r.readAccount().Runs[0].Committed {
			t.Errorf("%v", err)
		}
	}
	err = e.Commit(t.Context(), strings.Repeat("0", 64))
	if !errors.Is(err, ErrChanged) {
		t.Errorf("with another release: %v", err)
	}
	entries := must(r.Ledger.Read(t.Context())).Head().Sequence
	r.planAgain(oneEpsilon)
	other := must(Reserve(t.Context(), r.Request))
	err = r.Ledger.Commit(t.Context(), other.reservation.Head, aRelease)
	if err != nil { // as an interrupted call may have done
		t.Fatal(err)
	}
	if err := other.Commit(t.Context(), aRelease); err != nil {
		t.Errorf("entered before: %v", err)
	}
	now := must(r.Ledger.Read(t.Context())).Head().Sequence
	if now != entries+2 {
		t.Errorf(
			"%d entries for a reservation and its end",
			now-entries,
		)
	}
}

// listFiles lists the files below a folder.
func listFiles(t *testing.T, dir string) string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, filepath.ToSlash(must(filepath.Rel(dir, path))))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(out, " ")
}

// TestPublish checks that results are put in place only after the commit. If the commit fails, they are kept and can
// be published later, with the same bytes.
func TestPublish(t *testing.T) {
	for _, name := range []string{"at once", "later", "interrupted"} {
		t.Run(name, func(t *testing.T) {
			r := aRun(t, oneEpsilon)
			e := must(Reserve(t.Context(), r.Request))
			files := r.trainFiles(t)
			e.Enter(files.Report)
			out := filepath.Join(r.dir, "out")
			folder := must(report.Prepare(out, false))
			defer folder.Close()
			if err := folder.Stage(t.Context(), files); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(" "+listFiles(t, out), " release/") {
				t.Errorf(
					"before the end: %s",
					listFiles(t, out),
				)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			back := func() {}
			switch name {
			case "later":
				back = r.moveLedger(t)
			case "interrupted":
				cancel()
			}
			err := e.Publish(ctx, folder, out)
			if name == "at once" {
				if err != nil ||
					!r.readAccount().Runs[0].Committed ||
					!strings.Contains(listFiles(t, out), "release/model.json") {
					t.Fatalf(
						"%v, %s",
						err, listFiles(t, out),
					)
				}
				return
			}
			checkKept(t, e, err, out)
			back()
			kept := must(report.OpenKept(out))
			head := must(ledger.ParseHead(fmt.Sprintf(
				"%d:%s", kept.Entry,
				kept.Head,
			)))
			claim := must(report.KeptClaim(out, kept))
			if claim.Head != head || claim.Nonce == "" {
				t.Errorf("%+v", claim)
			}
			err = ledger.New(kept.Path, ledger.Options{}).Commit(
				t.Context(),
				head,
				claim.Release,
			)
			if err != nil {
				t.Fatal(err)
			}
			staged := must(
				os.ReadFile(filepath.Join(
					out,
					report.KeptDir,
					report.ReleaseDir,
					"report.json",
				)))
			if err := report.PlaceKept(t.Context(), out, false); err != nil {
				t.Fatal(err)
			}
			published := must(
				os.ReadFile(filepath.Join(out, report.ReleaseDir, "report.json")))
			if !bytes.Equal(
				staged, published) {
				t.Error("another report is published than was kept")
			}
			v := must(
				report.Verify(
					t.Context(),
					filepath.Join(out, report.ReleaseDir),
					report.VerifyOptions{Ledger: r.Ledger},
				))
			if v.Err() != nil {
				t.Errorf("%+v", v)
			}
		})
	}
}

// checkKept checks that the results are not published, and that the error names their place and the next step.
func checkKept(t *testing.T, e *Entry, err error, out string) {
	t.Helper()
	var kept *KeptError
	if !errors.As(err, &kept) ||
		strings.Contains(" "+listFiles(t, out), " release/") {
		t.Fatalf(
			"%v, %s",
			err, listFiles(t, out),
		)
	}
	if !strings.Contains(listFiles(t, out), "pending/release/model.json") {
		t.Errorf("kept: %s", listFiles(t, out))
	}
	spent := e.Spent(err)
	for _, want := range []string{
		"remains spent in " + e.request.Ledger.Path(),
		"are kept in " + filepath.Join(out, report.KeptDir),
		"`dptrain ledger commit " + out + "`",
	} {
		if !strings.Contains(spent.Error(), want) {
			t.Errorf("%q is not in: %v", want, spent)
		}
	}
	if !errors.Is(spent, errors.Unwrap(kept)) {
		t.Errorf("%v does not wrap why", spent)
	}
}

// TestSpent checks that the error of a run that was paid for states this, and wraps the cause.
func TestSpent(t *testing.T) {
	r := aRun(t, oneEpsilon)
	e := must(Reserve(t.Context(), r.Request))
	err := e.Spent(fmt.Errorf("training: %w", context.Canceled))
	var spent *SpentError
	if !errors.As(err, &spent) ||
		!errors.Is(err, context.Canceled) ||
		err.Error() != "training: context canceled; the price of this run remains spent in "+
			r.Ledger.Path() {
		t.Errorf("%v", err)
	}
	if e.Spent(nil) != nil {
		t.Error("an error of nothing")
	}
}

// TestRunWithoutLedgerIsNotRecorded checks that a run without a ledger is neither recorded nor spent.
func TestRunWithoutLedgerIsNotRecorded(t *testing.T) {
	var e *Entry
	page := report.Report{Warnings: []pipeline.Warning{{Code: "no-ledger"}}}
	e.Enter(&page)
	err := e.Commit(t.Context(), aRelease)
	if err != nil || page.Ledger != nil || len(page.Warnings) != 1 {
		t.Errorf("%v, %+v", err, page)
	}
	if err := e.Spent(context.Canceled); err != context.Canceled { //nolint:errorlint // the error itself
		t.Errorf("%v", err)
	}
}

// TestLargestEpsilon checks that the suggested epsilon fits for the requested number of runs, and that 1% more does
// not.
func TestLargestEpsilon(t *testing.T) {
	r := aRun(t, oneEpsilon)
	must(Reserve(t.Context(), r.Request))
	for _, runs := range []int{1, 2, 7, 1000} {
		e := must(LargestEpsilon(t.Context(), r.readAccount(), r.Run, runs))
		fits := func(epsilon float64) bool {
			q := *r.Pipeline
			q.Budget.Epsilon = epsilon
			a := r.readAccount()
			price := must(a.Price(must(q.Plan()).Priced))
			sum := a.Spent()
			for range runs {
				sum = sum.Plus(price)
			}
			return sum.FitsIn(a.Limit)
		}
		if e <= 0 || !fits(e) || fits(e*1.01) {
			t.Errorf(
				"%d runs of epsilon %v fit: %v, of 1%% more: %v",
				runs,
				e,
				fits(e),
				fits(e*1.01),
			)
		}
		digits := fmt.Sprintf("%.3g", e)
		if digits != fmt.Sprint(e) {
			t.Errorf("%v has more than three digits", e)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := LargestEpsilon(ctx, r.readAccount(), r.Run, 1)
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// TestTimes checks that the sum of equal prices is their multiple.
func TestTimes(t *testing.T) {
	c := budget.Charge{Cost: 3, Delta: 5}
	for _, n := range []int{1, 2, 3, 10, 1023} {
		got := times(c, n)
		if got != (budget.Charge{Cost: 3 * int64(n), Delta: 5 * int64(n)}) {
			t.Errorf("%d times: %v", n, got)
		}
	}
}

// TestSmallerDelta checks that the suggested delta has two digits, fits, and is omitted if delta is not the reason
// for the refusal.
func TestSmallerDelta(t *testing.T) {
	black := func(delta float64) budget.Charge {
		return budget.BlackBoxCharge(budget.ZCDP, 1, delta)
	}
	limit := budget.Charge{Cost: math.MaxInt64 / 4, Delta: black(1e-6).Delta}
	over := &ledger.SpentError{
		Limit:  limit,
		Spent:  black(4e-7),
		Charge: black(1e-6),
	}
	got := smallerDelta(over, 1e-6)
	if got < 5.8e-7 ||
		got > 6e-7 ||
		fmt.Sprintf("%.2g", got) != fmt.Sprint(got) {
		t.Errorf("%v of 6e-7 that are left", got)
	}
	got = smallerDelta(
		&ledger.SpentError{Limit: limit, Charge: black(1e-7)},
		1e-7,
	)
	if got != 0 {
		t.Errorf("%v where delta fits", got)
	}
	got = smallerDelta(
		&ledger.SpentError{
			Limit:  limit,
			Spent:  limit,
			Charge: black(1e-6),
		},
		1e-6,
	)
	if got != 0 {
		t.Errorf("%v where none is left", got)
	}
}

// TestRecordsOfTables checks that the definition of a record can be chosen for lines of text alone.
func TestRecordsOfTables(t *testing.T) {
	for _, x := range []struct {
		table  string
		quotes bool
		want   ledger.Records
	}{
		{"t.csv", false, ledger.RecordsLines},
		{"t.tsv.gz", true, ledger.RecordsQuoted},
		{"t.parquet", true, ledger.RecordsUnstated},
		{"-", false, ledger.RecordsLines},
		{"-.arrows", false, ledger.RecordsLines},
		{"", true, ledger.RecordsUnstated},
	} {
		got := Records(x.table, dataset.Format{MultilineQuotes: x.quotes})
		if got != x.want {
			t.Errorf(
				"%q, %v: %q",
				x.table, x.quotes, got,
			)
		}
	}
	dir := t.TempDir()
	writeFile(filepath.Join(dir, "t.csv"), "a\n")
	err := os.Symlink("t.csv", filepath.Join(dir, "link.csv"))
	if err == nil &&
		RealPath(filepath.Join(dir, "link.csv")) != RealPath(filepath.Join(dir, "t.csv")) {
		t.Error("a link has another path than its table")
	}
	if RealPath("") != "" ||
		!filepath.IsAbs(RealPath("t.csv")) {
		t.Errorf(
			"%q, %q",
			RealPath(""),
			RealPath("t.csv"),
		)
	}
}
