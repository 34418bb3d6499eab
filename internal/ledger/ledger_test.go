package ledger

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/budget"
	"github.com/google/go-cmp/cmp"
	bolt "go.etcd.io/bbolt"
)

// testTotal returns a total that is sufficient for a few hundred small runs.
func testTotal(c budget.Currency) budget.Total {
	return budget.Total{
		Epsilon:  3,
		Delta:    1e-5,
		BlackBox: 5e-6,
		Currency: c,
	}
}

// gaussianPlan returns a plan of one Gaussian step with this mu.
func gaussianPlan(t testing.TB, mu float64, r budget.Relation) *budget.Priced {
	t.Helper()
	p, err := budget.Calibrate(
		budget.FixedLeaf("fit", budget.Law{
			Kind:  budget.Gaussian,
			Mu:    mu,
			Draws: 1,
		}),
		budget.Target{
			Epsilon:  20,
			Delta:    1e-6,
			Relation: r,
		})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// aRelease is the checksum of a release.
const aRelease = "6c1a0c2c9d2a8d1f0f4e5b7a3f9c8e7d6b5a49382716f5e4d3c2b1a09f8e7d6c"

func newRequest(t testing.TB, mu float64) Request {
	return Request{
		Dataset:      "houses",
		Plan:         gaussianPlan(t, mu, budget.AddRemove),
		Table:        "/data/houses.csv",
		Method:       "joint-gram",
		Target:       "price",
		CuratorNotes: true,
	}
}

// newLedger returns a ledger with one data set.
func newLedger(t testing.TB, c budget.Currency) *Ledger {
	t.Helper()
	l := New(
		filepath.Join(t.TempDir(), "my.ledger"),
		Options{Wait: 5 * time.Second},
	)
	_, err := l.Register(t.Context(), "houses", testTotal(c))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func mustRead(t testing.TB, l *Ledger) *Book {
	t.Helper()
	b, err := l.Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func readAccount(t testing.TB, l *Ledger, name string) *Account {
	t.Helper()
	a, err := mustRead(t, l).Account(name)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestReserveAndCommit(t *testing.T) {
	for _, c := range []budget.Currency{budget.ZCDP, budget.GDP} {
		l := newLedger(t, c)
		first, err := l.Reserve(t.Context(), newRequest(t, .2))
		if err != nil {
			t.Fatal(err)
		}
		want := map[budget.Currency]float64{budget.ZCDP: .02, budget.GDP: .04}[c]
		cost, delta := first.Charge.Value()
		if cost < want || cost > want+1e-11 || delta != 0 {
			t.Errorf(
				"%v: charge %v, %v",
				c, cost, delta,
			)
		}
		a := readAccount(t, l, "houses")
		if a.Reserved != first.Charge ||
			a.Committed != (budget.Charge{}) ||
			len(a.Runs) != 1 ||
			a.Runs[0].Committed ||
			!a.Runs[0].CuratorNotes {
			t.Errorf("after reserving: %+v", a)
		}
		if err := first.Commit(t.Context(), aRelease); err != nil {
			t.Fatal(err)
		}
		if err := first.Commit(t.Context(), aRelease); !errors.Is(err, ErrCommitted) {
			t.Errorf("committed twice: %v", err)
		}
		a = readAccount(t, l, "houses")
		if a.Committed != first.Charge ||
			a.Reserved != (budget.Charge{}) ||
			!a.Runs[0].Committed {
			t.Errorf("after committing: %+v", a)
		}
		book, err := l.Verify(t.Context(), first.Head)
		if err != nil || book.Head().Sequence != 4 {
			t.Errorf(
				"%v, %v",
				book.Head(), err,
			)
		}
		if info, err := os.Stat(l.path); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf(
				"mode %v, %v",
				info.Mode(), err,
			)
		}
		if left, err := os.ReadDir(filepath.Dir(l.path)); err != nil || len(left) != 1 {
			t.Errorf(
				"left in the folder: %v, %v",
				left, err,
			)
		}
	}
}

// TestNeverAboveTotal reserves until the ledger refuses, and checks that the sum stays within the total, that the
// next run would have exceeded it, and that smaller runs still fit.
func TestNeverAboveTotal(t *testing.T) {
	l := newLedger(t, budget.GDP)
	r := newRequest(t, .2)
	var err error
	n := 0
	for ; err == nil; n++ {
		_, err = l.Reserve(t.Context(), r)
	}
	var spent *SpentError
	if !errors.As(err, &spent) || !errors.Is(err, ErrSpent) {
		t.Fatalf("after %d runs: %v", n, err)
	}
	a := readAccount(t, l, "houses")
	if !a.Spent().FitsIn(a.Limit) ||
		a.Fits(spent.Charge) ||
		a.Left() != spent.Limit.Left(spent.Spent) {
		t.Errorf("%+v, %+v", a, spent)
	}
	// The total (3, 5e-6) is mu² = .4835.
	if n-1 != 12 {
		t.Errorf(
			"%d runs of mu² .04 within %+v",
			n-1, a.Limit,
		)
	}
	want := `the run costs mu² 0.04, but data set "houses" (total epsilon 3, delta 1e-5) has only 0.003549 left`
	if !strings.Contains(
		err.Error(),
		want) {
		t.Errorf("%v", err)
	}
	if _, err := l.Reserve(t.Context(), newRequest(t, .05)); err != nil {
		t.Errorf("a smaller run: %v", err)
	}
}

func TestBlackBoxDelta(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	box := func(delta float64) Request {
		p, err := budget.Calibrate(
			budget.FixedLeaf(
				"fit",
				budget.Law{
					Kind:    budget.Approximate,
					Epsilon: .1,
					Delta:   delta,
					Draws:   1,
				},
			),
			budget.Target{Epsilon: 1, Delta: 1e-5})
		if err != nil {
			t.Fatal(err)
		}
		return Request{
			Dataset: "houses",
			Plan:    p,
			Method:  "tukey",
		}
	}
	if _, err := l.Reserve(t.Context(), box(4e-6)); err != nil {
		t.Fatal(err)
	}
	_, err := l.Reserve(t.Context(), box(2e-6))
	if !errors.Is(err, ErrSpent) ||
		!strings.Contains(err.Error(), "black boxes of the run cost delta 2e-6") {
		t.Errorf("%v", err)
	}
	if _, err := l.Reserve(t.Context(), box(9e-7)); err != nil {
		t.Errorf("%v", err)
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRefusals(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	before, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	other := newRequest(t, .1)
	other.Dataset = "trees"
	mixed := newRequest(t, .1)
	mixed.Plan = gaussianPlan(t, .1, budget.Substitute)
	people := newRequest(t, .1)
	var err2 error
	people.Plan, err2 = budget.Calibrate(
		people.Plan.Tree(),
		budget.Target{
			Epsilon: 20,
			Delta:   1e-6,
			Unit:    budget.Unit{Column: "who", MaxRows: 2},
		},
	)
	if err2 != nil {
		t.Fatal(err2)
	}
	_, errUnit := l.Reserve(t.Context(), people)
	_, errOther := l.Reserve(t.Context(), other)
	_, errMixed := l.Reserve(t.Context(), mixed)
	_, errTwice := l.Register(t.Context(), "houses", testTotal(budget.GDP))
	_, errName := l.Register(
		t.Context(), " houses\x1b",
		testTotal(budget.GDP),
	)
	_, errTotal := l.Register(
		t.Context(), "trees",
		budget.Total{Epsilon: 1},
	)
	for _, v := range []struct{ got, want error }{
		{errOther, ErrUnknown},
		{errMixed, ErrRelation},
		{errUnit, ErrUnit},
		{errTwice, ErrExists},
		{errName, ErrInvalid},
		{errTotal, budget.ErrTarget},
	} {
		if !errors.Is(v.got, v.want) {
			t.Errorf(
				"%v, want %v",
				v.got, v.want,
			)
		}
	}
	if after, err := os.ReadFile(l.path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("a refusal changed the file (%v)", err)
	}
	if _, err := l.Register(t.Context(), "trees", testTotal(budget.GDP)); err != nil {
		t.Error(err)
	}
}

// TestPeopleLedgerAdmitsMatchingRuns checks that a data set of people admits only runs that protect these people, with
// any cap.
func TestPeopleLedgerAdmitsMatchingRuns(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	total := testTotal(budget.ZCDP)
	total.Unit = "who"
	_, err := l.Register(t.Context(), "people", total)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		unit budget.Unit
		want error
	}{
		{budget.Unit{Column: "who", MaxRows: 2}, nil},
		{budget.Unit{Column: "who", MaxRows: 5}, nil},
		{budget.Unit{Column: "house", MaxRows: 2}, ErrUnit},
		{budget.Unit{}, ErrUnit},
	} {
		r := newRequest(t, .1)
		r.Dataset = "people"
		var err error
		r.Plan, err = budget.Calibrate(
			r.Plan.Tree(),
			budget.Target{
				Epsilon: 20,
				Delta:   1e-6,
				Unit:    c.unit,
			},
		)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.Reserve(t.Context(), r); !errors.Is(err, c.want) {
			t.Errorf(
				"%+v: %v, want %v",
				c.unit, err, c.want,
			)
		}
	}
	a := readAccount(t, l, "people")
	if len(a.Runs) != 2 ||
		a.Runs[1].Unit != "who" ||
		a.Runs[1].MaxRows != 5 {
		t.Errorf("%+v", a.Runs)
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestNoLedger checks that files that are not ledgers are rejected and not modified.
func TestNoLedger(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string {
		return filepath.Join(dir, name)
	}
	put := func(name string, data []byte) {
		if err := os.WriteFile(path(name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	good := newLedger(t, budget.ZCDP)
	image, err := os.ReadFile(good.path)
	if err != nil {
		t.Fatal(err)
	}
	put("empty", nil)
	put(
		"text",
		[]byte(strings.Repeat("price,rooms\n1,2\n", 1000)),
	)
	put("cut", image[:len(image)/4])
	if err := os.Symlink(good.path, path("link")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(path("folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	db, err := bolt.Open(
		path("other-store"), 0o600,
		&bolt.Options{PageSize: pageSize},
	)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b, err := tx.CreateBucket([]byte("things"))
		if err != nil {
			return err
		}
		return b.Put([]byte("a"), []byte("b"))
	})
	if err != nil {
		t.Fatal(err)
	}
	db.Close()
	newer := New(path("newer"), Options{})
	_, err = newer.createFile(
		[]*Entry{{
			Sequence: 1,
			Kind:     KindOpen,
			Format:   "dptrain.ledger/5",
			Date:     timestamp(),
		}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{
		"absent":      ErrUnreadable,
		"empty":       ErrFormat,
		"text":        ErrFormat,
		"cut":         ErrDamaged,
		"link":        ErrFormat,
		"folder":      ErrFormat,
		"other-store": ErrFormat,
		"newer":       ErrVersion,
	} {
		l := New(path(name), Options{})
		before, _ := os.ReadFile(path(name))
		_, errRead := l.Read(t.Context())
		_, errReserve := l.Reserve(t.Context(), newRequest(t, .1))
		for _, err := range []error{errRead, errReserve} {
			if !errors.Is(err, want) ||
				!strings.HasPrefix(err.Error(), path(name)+": ") {
				t.Errorf("%s: %v", name, err)
			}
		}
		if name != "absent" {
			_, err := l.Register(t.Context(), "x", testTotal(budget.ZCDP))
			if !errors.Is(err, want) {
				t.Errorf("register in %s: %v", name, err)
			}
		}
		after, _ := os.ReadFile(path(name))
		if !bytes.Equal(before, after) {
			t.Errorf("%s was changed", name)
		}
	}
}

// TestBusyLedgerWaitsThenFails checks that a second process waits with a message and then gives up.
func TestBusyLedgerWaitsThenFails(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	holder, err := l.openStore(t.Context(), true, nil, l.options.Wait)
	if err != nil {
		t.Fatal(err)
	}
	waits := 0
	second := New(
		l.path,
		Options{Wait: 50 * time.Millisecond, Waiting: func() {
			waits++
		}},
	)
	_, err = second.Reserve(t.Context(), newRequest(t, .1))
	if !errors.Is(err, ErrBusy) || waits != 1 {
		t.Errorf("%v after %d messages", err, waits)
	}
	if _, err := second.Read(t.Context()); !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	_, err = New(l.path, Options{Wait: -1}).Read(t.Context())
	if !errors.Is(err, ErrBusy) {
		t.Errorf("%v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	third := New(l.path, Options{Waiting: cancel})
	if _, err := third.Read(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	fourth := New(l.path, Options{Waiting: func() {
		holder.db.Close()
	}})
	if _, err := fourth.Reserve(t.Context(), newRequest(t, .1)); err != nil {
		t.Errorf("once it is free: %v", err)
	}
}

// TestReplacedMeanwhile checks that a run is refused if the file with its entry is no longer the ledger.
func TestReplacedMeanwhile(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	l.hook = func(step string) error {
		if step == "put" {
			return os.Rename(l.path, l.path+".old")
		}
		return nil
	}
	_, err := l.Reserve(t.Context(), newRequest(t, .1))
	if !errors.Is(err, ErrUnwritable) {
		t.Errorf("%v", err)
	}
}

// TestRolledBack checks that a run whose reservation was removed cannot commit.
func TestRolledBack(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	old, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := l.Reserve(t.Context(), newRequest(t, .1))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(l.path, old, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := r.Commit(t.Context(), aRelease); !errors.Is(err, ErrHead) {
		t.Errorf("%v", err)
	}
	_, err = l.Verify(t.Context(), r.Head)
	if !errors.Is(err, ErrHead) ||
		!strings.Contains(err.Error(), "truncated or restored") {
		t.Errorf("%v", err)
	}
	r.Head.Sequence = 1
	_, err = l.Verify(t.Context(), r.Head)
	if !errors.Is(err, ErrHead) ||
		!strings.Contains(err.Error(), "differs from the head") {
		t.Errorf("%v", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may write anywhere")
	}
	l := newLedger(t, budget.ZCDP)
	if err := os.Chmod(l.path, 0o400); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Dir(l.path)
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o700) //nolint:errcheck // the folder is temporary
	if _, err := l.Read(t.Context()); err != nil {
		t.Errorf("reading needs no permission to write: %v", err)
	}
	_, err := l.Reserve(t.Context(), newRequest(t, .1))
	if !errors.Is(err, ErrUnwritable) || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("%v", err)
	}
	_, err = New(filepath.Join(dir, "new"), Options{}).Register(
		t.Context(),
		"x",
		testTotal(budget.ZCDP),
	)
	if !errors.Is(err, ErrUnwritable) {
		t.Errorf("%v", err)
	}
}

func TestHead(t *testing.T) {
	h := newLedger(t, budget.ZCDP)
	head := mustRead(t, h).Head()
	again, err := ParseHead(head.String())
	if err != nil || again != head {
		t.Errorf("%v, %v", again, err)
	}
	for _, bad := range []string{"", "1", "1:", "0:" + head.Hash, "x:" + head.Hash,
		"1:" + head.Hash[1:], "1:" + strings.ToUpper(head.Hash[:60]) + "ABCD"} {
		_, err := ParseHead(bad)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%q: %v", bad, err)
		}
	}
}

// TestPlanRoundTrip checks that the plan of an entry has the price of the tree from which it was made.
func TestPlanRoundTrip(t *testing.T) {
	runs, err := budget.SelectionForMean(1, 3)
	if err != nil {
		t.Fatal(err)
	}
	for _, tree := range []budget.Node{
		budget.Parallel(
			"fit",
			budget.Branches("train",
				budget.LaplaceLeaf("n", .03, 1),
				budget.Sequence("a",
					budget.ExponentialLeaf("q", .2, 8),
					budget.GaussianLeaf("g", .8, 1),
				),
				budget.PureLeaf("b", 1, 2),
			),
			budget.GaussianLeaf("h", 1, 1),
		),
		budget.Sequence("fit",
			budget.FixedLeaf(
				"box",
				budget.Law{
					Kind:    budget.Approximate,
					Epsilon: .5,
					Delta:   1e-7,
					Draws:   2,
				},
			),
			budget.Sequence("nothing"),
		),
		budget.Sequence("fit",
			budget.SelectBest("tune", runs, budget.GaussianLeaf("try", 1, 1)),
		),
	} {
		p, err := budget.Calibrate(tree, budget.Target{Epsilon: 2, Delta: 1e-6})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []budget.Currency{budget.ZCDP, budget.GDP} {
			r := Run{
				Plan:    stepOf(p.Tree()),
				Epsilon: 2,
				Delta:   1e-6,
			}
			got, err := r.recomputePrice(c)
			diff := cmp.Diff(p.Charge(c), got)
			if diff != "" || err != nil {
				t.Errorf(
					"%v %v: %s",
					c, err, diff,
				)
			}
		}
	}
	for _, bad := range []Step{
		{},
		{Name: "a", Op: "leaf"},
		{Name: "a", Op: "gaussian"},
		{Name: "a", Op: "par"},
		{
			Name:  "a",
			Op:    "gaussian",
			Draws: 1,
			Mu:    1,
			Kids:  []Step{{}},
		},
	} {
		_, err := (&Run{Plan: bad}).recomputePrice(budget.ZCDP)
		if err == nil {
			t.Errorf("%+v has a price", bad)
		}
	}
}

// TestPublicColumns checks that under substitute-private-columns the total is about the registered columns. Two runs
// that each expose the columns hidden by the other are not admitted; a run is admitted if it protects more columns,
// or does not read a protected column.
func TestPublicColumns(t *testing.T) {
	l := New(filepath.Join(t.TempDir(), "my.ledger"), Options{})
	promise := testTotal(budget.ZCDP)
	_, err := l.Register(t.Context(), "houses", promise, "income")
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("a list under add-remove: %v", err)
	}
	promise.Relation = budget.SubstitutePrivateColumns
	_, err = l.Register(t.Context(), "houses", promise)
	if !errors.Is(err, ErrInvalid) {
		t.Errorf("no list: %v", err)
	}
	_, err = l.Register(
		t.Context(), "houses", promise,
		"income", "debt\xff",
	)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		public []string
		want   error
	}{
		{[]string{"home", "target"}, nil},
		{[]string{"target"}, nil},
		{[]string{"home", "income", "target"}, ErrPublic},
		{[]string{"debt\xff", "target"}, ErrPublic},
		{[]string{"income"}, ErrPublic}, // as the target
		{nil, ErrInvalid},
	} {
		r := newRequest(t, .1)
		r.Plan = gaussianPlan(t, .1, budget.SubstitutePrivateColumns)
		r.Public = c.public
		_, err := l.Reserve(t.Context(), r)
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%q: %v, want %v",
				c.public, err, c.want,
			)
		}
	}
	a := readAccount(t, l, "houses")
	if len(a.Runs) != 2 ||
		!cmp.Equal(a.Private, []string{"income", "debt\uFFFD"}) ||
		!cmp.Equal(
			a.Runs[0].Public,
			[]string{"home", "target"},
		) {
		t.Errorf("%+v", a)
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	r := newRequest(t, .1)
	r.Dataset = "trees"
	r.Public = []string{"target"}
	if _, err := l.Register(t.Context(), "trees", testTotal(budget.ZCDP)); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Reserve(t.Context(), r); !errors.Is(err, ErrInvalid) {
		t.Errorf("public columns under add-remove: %v", err)
	}
}

// TestRecords checks that the first run with a record rule fixes this rule for the data set.
func TestRecords(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	for i, c := range []struct {
		records Records
		want    error
	}{
		{RecordsUnstated, nil},
		{RecordsQuoted, nil},
		{RecordsLines, ErrRecords},
		{RecordsUnstated, nil},
		{RecordsQuoted, nil},
		{"words", ErrInvalid},
	} {
		r := newRequest(t, .1)
		r.Records = c.records
		_, err := l.Reserve(t.Context(), r)
		if !errors.Is(err, c.want) {
			t.Errorf(
				"run %d: %v, want %v",
				i, err, c.want,
			)
		}
	}
	a := readAccount(t, l, "houses")
	if a.Records != RecordsQuoted || len(a.Runs) != 4 {
		t.Errorf("%+v", a)
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	_, err := l.Register(t.Context(), "trees", testTotal(budget.ZCDP))
	if err != nil { // has its own record rule
		t.Fatal(err)
	}
	r := newRequest(t, .1)
	r.Dataset = "trees"
	r.Records = RecordsLines
	_, err = l.Reserve(t.Context(), r)
	if err != nil {
		t.Error(err)
	}
}

// TestGoldenLedger checks that a ledger written before runs had a record rule is valid, and accepts runs with one.
func TestGoldenLedger(t *testing.T) {
	image, err := os.ReadFile("testdata/golden.ledger")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "golden.ledger")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(path, Options{})
	head := Head{7, "01dcd5f93217fa88cc8ed88c4b9f56a6d32359b7f29b0fe2e15ada2620d3f5b2"}
	b, err := l.Verify(t.Context(), head)
	if err != nil ||
		b.Head() != head ||
		len(b.Datasets) != 2 ||
		len(b.Datasets[0].Runs) != 2 ||
		!cmp.Equal(
			b.Datasets[1].Private,
			[]string{"income", "debt"},
		) {
		t.Fatalf("%v, %v", b, err)
	}
	for _, c := range []struct {
		records Records
		want    error
	}{{RecordsLines, nil}, {RecordsQuoted, ErrRecords}} {
		r := newRequest(t, .1)
		r.Records = c.records
		_, err := l.Reserve(t.Context(), r)
		if !errors.Is(err, c.want) {
			t.Errorf(
				"%s: %v, want %v",
				c.records, err, c.want,
			)
		}
	}
	if _, err := l.Verify(t.Context(), head); err != nil {
		t.Error(err)
	}
}
