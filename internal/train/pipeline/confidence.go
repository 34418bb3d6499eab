package pipeline

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// Confidence describes how sure the private choice of features is; see [method.Confidence].
type Confidence struct {
	Selector string
	// Columns has the candidates in table order, of a selector that releases scores.
	Columns []ColumnConfidence
	// Gap is set for a selector that releases the choice only.
	Gap *method.Gap
}

// ColumnConfidence is the posterior probability of a candidate to be among the columns that
// the same rule would choose without noise.
type ColumnConfidence struct {
	Column      string
	Probability float64
}

// confidenceRater is a selector that reports how sure its choice is.
type confidenceRater interface {
	selection.Selector
	// Choose is Select, or Ranked of a selector with a list of sizes.
	Choose(
		ctx context.Context, s *mechanism.Session, f selection.Facts, r mechanism.Records,
	) (method.Choice, error)
}

// ratesConfidence reports whether a selector is one of package selection that computes the confidence of its choice.
func ratesConfidence(x selection.Selector) bool {
	_, ok := x.(confidenceRater)
	return ok && ownSelector(x)
}

// ratedChoice is a choice whose confidence has not been computed yet.
type ratedChoice struct {
	selector string
	columns  []dataset.Column
	choice   method.Choice
}

// describeChoice names the features that were chosen and computes the confidence of the choice.
func (res *Result) describeChoice(
	ctx context.Context,
	plan *Plan,
	out *trained,
) (err error) {
	for _, j := range out.chosen {
		res.Selected = append(res.Selected, plan.facts.Columns[j].Name)
	}
	res.Confidence, err = out.rated.rateChoice(ctx, len(out.chosen))
	return err
}

// rateChoice computes the confidence of the first size columns of a choice. It returns nil if the selector does
// not compute one.
func (r *ratedChoice) rateChoice(
	ctx context.Context,
	size int,
) (*Confidence, error) {
	if r == nil {
		return nil, nil
	}
	c, err := r.choice.Confidence(ctx, size)
	if err != nil {
		return nil, fmt.Errorf("selection: %w", err)
	}
	out := &Confidence{Selector: r.selector, Gap: c.Gap}
	for j, p := range c.Probabilities {
		out.Columns = append(out.Columns, ColumnConfidence{r.columns[j].Name, p})
	}
	return out, nil
}
