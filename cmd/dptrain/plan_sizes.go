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
	return &billSizes{
		Sizes: names,
		Runs:  law.Mean(),
		Eta:   law.Eta,
		Gamma: law.Gamma,
	}
}

// text explains the choice. It is empty for a run without one.
func (b *billSizes) text() string {
	if b == nil {
		return ""
	}
	return report.Paragraph("Sizes",
		fmt.Sprintf(
			"each try picks one of %s at random, trains on that number of columns of the released ranking and counts correct predictions with noise; the largest count wins. "+
				"The number of tries is random and secret, %s on average (truncated negative binomial, eta %v, gamma %s). The steps below train/model are the price of one try; all tries together cost the total",
			strings.Join(b.Sizes, ", "), digits(b.Runs), b.Eta, digits(b.Gamma)))
}
