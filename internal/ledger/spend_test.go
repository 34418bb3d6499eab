package ledger

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// TestSpendPrices compares the prices of guarantees with values computed by hand.
func TestSpendPrices(t *testing.T) {
	box := func(c budget.Currency, epsilon float64) float64 {
		cost, _ := budget.BlackBoxCharge(c, epsilon, 0).Value()
		return cost
	}
	for _, x := range []struct {
		spend       Spend
		currency    budget.Currency
		cost, delta float64
	}{
		{Spend{Rho: .01}, budget.ZCDP, .01, 0},
		{Spend{Mu: .2}, budget.ZCDP, .02, 0},
		{Spend{Mu: .2}, budget.GDP, .04, 0},
		{Spend{Epsilon: .1}, budget.ZCDP, .005, 0},
		{
			Spend{Epsilon: .1, Delta: 1e-7},
			budget.ZCDP, .005, 1e-7,
		},
		{
			Spend{Epsilon: .1, Delta: 1e-7},
			budget.GDP,
			box(budget.GDP, .1),
			1e-7,
		},
	} {
		c, err := x.spend.Price(x.currency)
		cost, delta := c.Value()
		if err != nil ||
			math.Abs(cost-x.cost) > 1e-11 ||
			cost < x.cost ||
			math.Abs(delta-x.delta) > 1e-15 ||
			delta < x.delta {
			t.Errorf(
				"%+v in %v: %v, %v (%v), want %v, %v",
				x.spend,
				x.currency,
				cost,
				delta,
				err,
				x.cost,
				x.delta,
			)
		}
	}
	for name, x := range map[string]Spend{
		"nothing":             {},
		"two":                 {Rho: 1, Mu: 1},
		"negative":            {Rho: -1},
		"infinite":            {Epsilon: math.Inf(1)},
		"large rho":           {Rho: 1e308},
		"large mu":            {Mu: 1e200},
		"not a number":        {Mu: math.NaN()},
		"delta alone":         {Delta: .1},
		"delta with rho":      {Rho: 1, Delta: .1},
		"delta 1":             {Epsilon: 1, Delta: 1},
		"a note of two lines": {Rho: 1, Note: "a\nb"},
	} {
		_, err := x.Price(budget.ZCDP)
		if !errors.Is(err, ErrInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err := (&Spend{Rho: 1}).Price(budget.GDP)
	if !errors.Is(err, ErrRho) {
		t.Errorf("rho in gdp: %v", err)
	}
}

// TestSpend checks that a spend counts against the total like a run, and that one that would cross it is refused.
func TestSpend(t *testing.T) {
	l := newLedger(t, budget.ZCDP)
	before := readAccount(t, l, "houses").Left()
	_, charge, err := l.Spend(
		t.Context(),
		Spend{
			Dataset: "houses",
			Rho:     .01,
			Note:    "yearly counts",
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	a := readAccount(t, l, "houses")
	if a.Left() != before.Left(charge) ||
		len(a.Spends) != 1 ||
		a.Spends[0].Note != "yearly counts" {
		t.Errorf("%+v", a)
	}
	var spent *SpentError
	_, _, err = l.Spend(
		t.Context(),
		Spend{Dataset: "houses", Rho: 10},
	)
	if !errors.As(err, &spent) {
		t.Errorf("past the total: %v", err)
	}
	_, _, err = l.Spend(
		t.Context(),
		Spend{Dataset: "gardens", Rho: .01},
	)
	if !errors.Is(err, ErrUnknown) {
		t.Errorf("unknown: %v", err)
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestLedgerUpgradesOnlyWhenNeeded checks that a ledger of version 1 is upgraded only when needed, and then holds
// entries of both versions.
func TestLedgerUpgradesOnlyWhenNeeded(t *testing.T) {
	image, err := os.ReadFile("testdata/golden.ledger")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "golden.ledger")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(path, Options{})
	note := Note{
		Dataset: "houses",
		Method:  "joint-gram",
		What:    NoteAudit,
	}
	if _, err := l.Note(t.Context(), note); err != nil {
		t.Fatal(err)
	}
	if b := mustRead(t, l); b.format != formatOne || len(b.Entries) != 8 {
		t.Errorf(
			"%s with %d entries",
			b.format, len(b.Entries),
		)
	}
	r := newRequest(t, .1)
	r.Note = "the last one"
	if _, err := l.Reserve(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	b := mustRead(t, l)
	if b.format != Format ||
		len(b.Entries) != 10 ||
		b.Entries[8].Kind != KindUpgrade ||
		b.Entries[9].Run.Note != r.Note {
		t.Errorf(
			"%s with %d entries",
			b.format, len(b.Entries),
		)
	}
	_, _, err = l.Spend(
		t.Context(),
		Spend{Dataset: "houses", Epsilon: .1},
	)
	if err != nil {
		t.Fatal(err)
	}
	if b = mustRead(t, l); len(b.Entries) != 11 {
		t.Errorf("%d entries", len(b.Entries))
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCoverAndOutrightDeltaAreCharged checks that a step that loses a delta outright is charged for it in addition to
// the distribution that covers the other steps, and that the entry can be read back.
func TestCoverAndOutrightDeltaAreCharged(t *testing.T) {
	image, err := os.ReadFile("testdata/golden-2.ledger")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "golden.ledger")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	words := budget.FixedLeaf(
		"words",
		budget.Law{
			Kind:  budget.Approximate,
			Delta: 1e-7,
			Draws: 1,
		},
	)
	tree := budget.Parallel("fit",
		budget.Sequence("train", words, budget.GaussianLeaf("rest", 1, 1)),
		budget.GaussianLeaf("holdout", 1, 1),
	)
	tree.Coin = .1
	r := newRequest(t, .1)
	r.Plan, err = budget.Calibrate(
		tree,
		budget.Target{Epsilon: .1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	l := New(path, Options{})
	got, err := l.Reserve(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	b := mustRead(t, l)
	last := b.Entries[len(b.Entries)-1]
	currency := b.Datasets[0].Promise.Currency
	if last.Run.Mu == 0 ||
		got.Charge != budget.CoverCharge(currency, last.Run.Mu, 1e-7) ||
		got.Charge.Cost >= r.Plan.Charge(currency).Cost {
		t.Errorf(
			"%+v, charged %+v, the steps cost %+v",
			last.Run,
			got.Charge,
			r.Plan.Charge(currency),
		)
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestCoinRunIsChargedAsItsCover checks that a run with a coin is charged as the Gaussian distribution that covers it,
// that its entry names this distribution, and that it upgrades a ledger of an earlier version to version 3. The charge
// does not match another mu, or a missing one. A data set without enough delta charges the steps.
func TestCoinRunIsChargedAsItsCover(t *testing.T) {
	image, err := os.ReadFile("testdata/golden-2.ledger")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "golden.ledger")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(path, Options{})
	tree := budget.Parallel("fit",
		budget.GaussianLeaf("train", 1, 1),
		budget.GaussianLeaf("holdout", 1, 1),
	)
	tree.Coin = .1
	r := newRequest(t, .1)
	r.Plan, err = budget.Calibrate(
		tree,
		budget.Target{Epsilon: .1, Delta: 1e-6},
	)
	if err != nil {
		t.Fatal(err)
	}
	got, err := l.Reserve(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	b := mustRead(t, l)
	last := b.Entries[len(b.Entries)-1]
	mu := r.Plan.Guarantee().Mu
	if b.format != Format ||
		last.Run == nil ||
		last.Run.Mu != mu ||
		got.Charge != budget.CoverCharge(b.Datasets[0].Promise.Currency, mu, 0) ||
		got.Charge.Delta == 0 {
		t.Errorf(
			"%s, %+v, charged %+v",
			b.format, last.Run, got.Charge,
		)
	}
	if _, err := l.Verify(t.Context()); err != nil {
		t.Error(err)
	}
	for _, wrong := range []float64{
		mu / 2, 0, math.NaN(),
		math.Inf(1), -mu,
	} {
		last.Run.Mu = wrong
		if err := b.auditPrices(); err == nil {
			t.Errorf(
				"mu %v in place of %v passes",
				wrong, mu,
			)
		}
	}
	a := *b.Datasets[0]
	a.Promise.BlackBox = 0
	c, err := a.Price(r.Plan)
	if err != nil ||
		c != r.Plan.Charge(a.Promise.Currency) ||
		c.Delta != 0 {
		t.Errorf(
			"without room: %+v, %v",
			c, err,
		)
	}
}

// TestGoldenLedger2 reads a frozen ledger of version 2.
func TestGoldenLedger2(t *testing.T) {
	image, err := os.ReadFile("testdata/golden-2.ledger")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "golden.ledger")
	if err := os.WriteFile(path, image, 0o600); err != nil {
		t.Fatal(err)
	}
	head := Head{5, "b29c8c81024023ac438341cd2951a3492bd2ff4b0307844a9e41ef38fd9b6af0"}
	b, err := New(path, Options{}).Verify(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	a := b.Datasets[0]
	if b.Head() != head ||
		len(a.Runs) != 1 ||
		a.Runs[0].Note != "the first" ||
		!a.Runs[0].Committed ||
		len(a.Spends) != 1 ||
		a.Spends[0].Note != "counts" {
		t.Errorf("%+v", a)
	}
}
