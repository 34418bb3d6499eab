package recipe

import (
	"context"
	"fmt"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// elsewhere is the name of a method without privacy. Experiments run it on public data; a pipeline with it has a
// schema and no plan.
type elsewhere string

// Name returns the name.
func (x elsewhere) Name() string {
	return string(x)
}

// Plan returns the error of refuse.
func (x elsewhere) Plan(method.Facts) (budget.Node, error) {
	return budget.Node{}, x.refuse()
}

// Fit returns the error of refuse.
func (x elsewhere) Fit(
	context.Context,
	*mechanism.Session,
	method.Data,
) (*method.Fit, error) {
	return nil, x.refuse()
}

func (x elsewhere) refuse() error {
	return fmt.Errorf("%w: %q", pipeline.ErrModel, string(x))
}
