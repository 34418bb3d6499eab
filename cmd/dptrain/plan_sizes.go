package main

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/publish/report"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// billSizes is the price of choosing the number of features.
type billSizes struct {
	Sizes []string `json:"sizes"` // the nodes of the plan, such as size-4
	Runs  float64  `json:"runs"`  // mean number of tries
	Eta   float64  `json:"eta"`
	Gamma float64  `json:"gamma"`
}

// newBillSizes returns the price of the choice of a run, or nil for a run without a list of sizes.
func newBillSizes(plan *pipeline.Plan) *billSizes {
	law, names, ok := plan.Selection(plan.SizesPath())
	if !ok {
		return nil
	}
	return &billSizes{Sizes: names, Runs: law.Mean(), Eta: law.Eta, Gamma: law.Gamma}
}

// text explains the choice. It is empty for a run without one.
func (b *billSizes) text() string {
	if b == nil {
		return ""
	}
	return report.Paragraph("Sizes",
		fmt.Sprintf(
			"each try draws one of %s at random, trains on that many columns of the released order and counts right predictions with noise; the largest count wins. "+
				"Tries are %s on average; how many there are is secret and drawn from the law eta %v, gamma %s. The steps below train/model show what one try spends; all of them together cost the total",
			strings.Join(b.Sizes, ", "), digits(b.Runs), b.Eta, digits(b.Gamma)))
}
