package ledger

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// ledRequest returns a run whose plan has a lead, optionally a coin, and one more step.
func ledRequest(t testing.TB, epsilon, coin float64) Request {
	t.Helper()
	tree := budget.Parallel("fit",
		budget.GaussianLeaf("train", 1, 1),
		budget.GaussianLeaf("holdout", 1, 1),
	).WithLead(budget.PureLeaf("check", .03, 1))
	tree.Coin = coin
	r := newRequest(t, .1)
	var err error
	r.Plan, err = budget.Calibrate(
		tree,
		budget.Target{Epsilon: epsilon, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestStop checks that a run that stops counts with the price of its lead, in every currency, with and without a
// coin, in the sums and in the whole chain. The returned budget can be spent, and the run can be neither committed
// nor stopped again.
func TestStop(t *testing.T) {
	for _, c := range []budget.Currency{budget.ZCDP, budget.GDP} {
		for _, coin := range []float64{0, .1} {
			l := newLedger(t, c)
			r := ledRequest(t, 2.4, coin)
			lead := r.Plan.LeadCharge(c)
			for range 5 { // two of them do not fit together
				run, err := l.Reserve(t.Context(), r)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := l.Reserve(t.Context(), r); !errors.Is(err, ErrSpent) {
					t.Fatalf("two runs were admitted: %v", err)
				}
				if err := run.Stop(t.Context(), aRelease); err != nil {
					t.Fatal(err)
				}
				if first, second := run.Stop(t.Context(), aRelease),
					run.Commit(t.Context(), aRelease); !errors.Is(first, ErrCommitted) ||
					!errors.Is(second, ErrCommitted) {
					t.Errorf(
						"stopped again: %v, committed: %v",
						first, second,
					)
				}
			}
			sums, err := l.Account(t.Context(), "houses")
			if err != nil {
				t.Fatal(err)
			}
			want := budget.Charge{Cost: 5 * lead.Cost, Delta: 5 * lead.Delta}
			for name, a := range map[string]*Account{
				"sums":  sums,
				"chain": readAccount(t, l, "houses"),
			} {
				if a.Committed != want || a.Reserved != (budget.Charge{}) {
					t.Errorf(
						"%s: committed %+v, reserved %+v, want %+v",
						name,
						a.Committed,
						a.Reserved,
						want,
					)
				}
			}
			for _, run := range readAccount(t, l, "houses").Runs {
				if !run.Committed ||
					run.Stopped == nil ||
					run.Cost() != lead ||
					run.Charge == lead {
					t.Errorf("%+v", run)
				}
			}
			if _, err := l.Verify(t.Context()); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestStopWithoutLead checks that a run without a lead that stopped released no result and has no cost.
func TestStopWithoutLead(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	run, err := l.Reserve(t.Context(), newRequest(t, .1))
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Stop(t.Context(), aRelease); err != nil {
		t.Fatal(err)
	}
	a := readAccount(t, l, "houses")
	if a.Spent() != (budget.Charge{}) {
		t.Errorf("%+v is spent", a.Spent())
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestStopIsAudited checks that verify finds a run with a refund that is larger or smaller than its unspent budget,
// or larger than its reservation.
func TestStopIsAudited(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	r := ledRequest(t, 1, .1)
	run, err := l.Reserve(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Stop(t.Context(), aRelease); err != nil {
		t.Fatal(err)
	}
	right := *mustRead(t, l).Entries[3].Charge
	for _, wrong := range []budget.Charge{
		{},
		{Cost: right.Cost / 2},
		{Cost: 2 * right.Cost},
		{Cost: right.Cost, Delta: 5},
	} {
		list := mustRead(t, l).Entries
		list[3].Charge = &wrong
		err := fileErr(t, list)
		if !errors.Is(err, ErrDamaged) {
			t.Errorf(
				"stopped for %+v in place of %+v: %v",
				wrong, right, err,
			)
		}
	}
	list := mustRead(t, l).Entries
	list[3].Charge = &budget.Charge{Cost: 2 * list[2].Run.Charge.Cost}
	if _, err := rebuildLedger(t, list).Read(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("stopped for twice what was reserved: %v", err)
	}
	list = mustRead(t, l).Entries
	list[2].Charge = list[3].Charge
	list[3].Charge = nil
	if _, err := rebuildLedger(t, list).Read(t.Context()); !errors.Is(err, ErrDamaged) {
		t.Errorf("a reservation that stopped: %v", err)
	}
}

// rebuildLedger creates a file of entries with all hashes recomputed.
func rebuildLedger(t testing.TB, list []*Entry) *Ledger {
	t.Helper()
	previous := ""
	for _, e := range list {
		e.Previous = previous
		data, err := e.Encode()
		if err != nil {
			t.Fatal(err)
		}
		previous = hashOf(data)
	}
	return fileOf(t, list)
}

// fileErr returns the error of verifying entries with all hashes recomputed.
func fileErr(t testing.TB, list []*Entry) error {
	t.Helper()
	_, err := rebuildLedger(t, list).Verify(t.Context())
	return err
}

// TestStopUpgrades checks that a run with a lead upgrades a ledger of an earlier version to this one.
func TestStopUpgrades(t *testing.T) {
	image, err := os.ReadFile("testdata/golden-2.ledger")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "golden.ledger")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(path, Options{})
	run, err := l.Reserve(t.Context(), ledRequest(t, .1, .1))
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Stop(t.Context(), aRelease); err != nil {
		t.Fatal(err)
	}
	b := mustRead(t, l)
	if b.format != Format {
		t.Errorf("the ledger is %s", b.format)
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}
