package budget_test

import (
	"errors"
	"fmt"
	"log"

	"github.com/dptrain/dptrain/budget"
)

// The plan has a training and a held-out part and is priced for (1, 1e-6).
func ExampleCalibrate() {
	plan := budget.Parallel("fit",
		budget.Sequence("train",
			budget.Sequence("scaling",
				budget.GaussianLeaf("histogram", 0.08, 1),
				budget.ExponentialLeaf("quantiles", 0.10, 12),
			),
			budget.GaussianLeaf("gram", 0.82, 1),
		),
		budget.GaussianLeaf("holdout", 1, 1),
	)
	priced, err := budget.Calibrate(plan, budget.Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range priced.Leaves() {
		fmt.Printf(
			"%-27s %-11v x%-2d mu %.4f epsilon %.4f\n",
			l.Path,
			l.Law.Kind,
			l.Law.Draws,
			l.Law.Mu,
			l.Law.Epsilon,
		)
	}
	g := priced.Guarantee()
	fmt.Printf(
		"epsilon %.4f at delta %g, %v; covered by mu %.4f\n",
		g.Spent,
		g.Delta,
		g.Relation,
		g.Mu,
	)
	// Output:
	// fit/train/scaling/histogram gaussian    x1  mu 0.0659 epsilon 0.0000
	// fit/train/scaling/quantiles exponential x12 mu 0.0000 epsilon 0.0426
	// fit/train/gram              gaussian    x1  mu 0.2111 epsilon 0.0000
	// fit/holdout                 gaussian    x1  mu 0.2367 epsilon 0.0000
	// epsilon 1.0000 at delta 1e-06, add-remove; covered by mu 0.2370
}

// A noisy count decides which model is trained. Every branch is calibrated to the epsilon that remains after the
// count.
func ExampleBranches() {
	plan := budget.Branches("model",
		budget.LaplaceLeaf("count", 0.03, 1),
		budget.GaussianLeaf("gram", 1, 1),
		budget.ExponentialLeaf("votes", 1, 5),
	)
	priced, err := budget.Calibrate(plan, budget.Target{Epsilon: 1, Delta: 1e-6})
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range priced.Leaves() {
		fmt.Printf("%s %.4f\n", l.Path, l.Law.Mu+l.Law.Epsilon)
	}
	// Output:
	// model/count 0.0300
	// model/gram 0.2328
	// model/votes 0.2247
}

// An average of five runs over a list of candidates costs less than five separate runs.
func ExampleSelectBest() {
	runs, err := budget.SelectionForMean(0, 5)
	if err != nil {
		log.Fatal(err)
	}
	try := budget.Law{
		Kind:  budget.Gaussian,
		Mu:    0.1,
		Draws: 1,
	}
	priced, err := budget.Calibrate(
		budget.SelectBest("tune", runs, budget.FixedLeaf("try", try)),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		log.Fatal(err)
	}
	try.Draws = 5
	five, err := budget.Compose(try)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("selection %.3f, five runs %.3f\n", priced.Epsilon(1e-6), five.Epsilon(1e-6))
	// Output:
	// selection 0.536, five runs 0.941
}

// The laws are fixed in advance and then composed.
func ExampleCompose() {
	c, err := budget.Compose(
		budget.Law{Kind: budget.Gaussian, Mu: 0.5, Draws: 1},
		budget.Law{Kind: budget.Laplace, Epsilon: 0.3, Draws: 1},
		budget.Law{Kind: budget.Exponential, Epsilon: 0.5, Draws: 1})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("delta(1) = %.4f, epsilon(1e-6) = %.3f\n", c.Delta(1), c.Epsilon(1e-6))
	// Output:
	// delta(1) = 0.0255, epsilon(1e-6) = 2.756
}

// A guarantee for replaced records does not imply one for added records.
func ExampleConvertToAddRemove() {
	_, _, err := budget.ConvertToAddRemove(budget.Substitute, 1, 1e-6)
	fmt.Println(errors.Is(err, budget.ErrNoConversion))
	fmt.Println(err)
	// Output:
	// true
	// a guarantee under substitute implies none under add-remove; account for the step under add-remove instead
}

// The Gaussian noise multiplier for (1, 1e-6) is 1/mu.
func ExampleGaussianMu() {
	mu := budget.GaussianMu(1, 1e-6)
	fmt.Printf("mu %.6f, noise %.4f per unit of sensitivity\n", mu, 1/mu)
	// Output:
	// mu 0.236704, noise 4.2247 per unit of sensitivity
}

// The example converts a total for all runs on a data set into the currency of a filter, and prices one run of (1,
// 1e-6) against it.
func ExampleTotal() {
	total := budget.Total{
		Epsilon:  3,
		Delta:    1e-5,
		BlackBox: 5e-6,
	}
	limit, err := total.Limit()
	if err != nil {
		log.Fatal(err)
	}
	run, err := budget.Calibrate(
		budget.GaussianLeaf("fit", 1, 1),
		budget.Target{Epsilon: 1, Delta: 1e-6},
	)
	if err != nil {
		log.Fatal(err)
	}
	charge := run.Charge(total.Currency)
	spent := budget.Charge{}
	runs := 0
	for ; spent.Plus(charge).FitsIn(limit); runs++ {
		spent = spent.Plus(charge)
	}
	rho, _ := charge.Value()
	most, _ := limit.Value()
	fmt.Printf(
		"rho %.4f of %.4f: %d runs, epsilon %.3f\n",
		rho,
		most,
		runs,
		total.EpsilonOf(spent),
	)
	// Output:
	// rho 0.0280 of 0.2109: 7 runs, epsilon 2.881
}
