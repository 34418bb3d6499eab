package ledger_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/ledger"
)

// A data set with a total, runs that are admitted until the total is spent, and a check against the head printed in a
// report.
func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	l := ledger.New(filepath.Join(dir, "my.ledger"), ledger.Options{})
	_, err = l.Register(
		ctx,
		"houses",
		budget.Total{Epsilon: 2, Delta: 1e-5, BlackBox: 5e-6},
	)
	if err != nil {
		panic(err)
	}
	plan, err := budget.Calibrate(
		budget.GaussianLeaf("fit", 1, 1),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		panic(err)
	}
	var first ledger.Head
	for run := 1; ; run++ {
		r, err := l.Reserve(ctx, ledger.Request{Dataset: "houses", Plan: plan})
		if errors.Is(err, ledger.ErrSpent) {
			fmt.Printf("run %d is refused\n", run)
			break
		}
		if err != nil {
			panic(err)
		}
		if run == 1 {
			first = r.Head
		}
		// Rows are read and the model is trained here, and then:
		release := fmt.Sprintf("%x", sha256.Sum256([]byte("the report")))
		if err := r.Commit(ctx, release); err != nil {
			panic(err)
		}
		// The results are put in place here.
	}
	book, err := l.Verify(ctx, first)
	if err != nil {
		panic(err)
	}
	spent, _ := book.Datasets[0].Spent().Value()
	limit, _ := book.Datasets[0].Limit.Value()
	fmt.Printf("%d entries, rho %.4f of %.4f\n", len(book.Entries), spent, limit)
	// Output:
	// run 4 is refused
	// 8 entries, rho 0.0840 of 0.1013
}

// A note has no cost and stays in the chain.
func ExampleLedger_Note() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	l := ledger.New(filepath.Join(dir, "my.ledger"), ledger.Options{})
	_, err = l.Register(
		ctx,
		"houses",
		budget.Total{Epsilon: 2, Delta: 1e-5, BlackBox: 5e-6},
	)
	if err != nil {
		panic(err)
	}
	_, err = l.Note(
		ctx,
		ledger.Note{
			Dataset: "houses",
			Method:  "joint-gram",
			What:    ledger.NoteAudit,
		},
	)
	if err != nil {
		panic(err)
	}
	book, err := l.Verify(ctx)
	if err != nil {
		panic(err)
	}
	a := book.Datasets[0]
	fmt.Println(len(a.Notes), "note, spent", a.Spent().Cost)
	// Output: 1 note, spent 0
}
