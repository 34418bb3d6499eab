package targetencoding

import (
	"context"
	"fmt"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/regression"
)

// trainer is a trainer that receives numbers in place of target-encoded columns.
type trainer struct{ method.Trainer }

// Plan prices the sums by value and the trainer.
func (t trainer) Plan(f method.Facts) (budget.Node, error) {
	f.Columns = asNumbers(f.Columns)
	node, err := t.Trainer.Plan(f)
	return budget.Sequence(Node,
		budget.GaussianLeaf(valuesLeaf, linear.GramShare*encodingShare,
			1).WithStatistic(mechanism.StatValueSums),
		budget.Sequence(encodedNode, node).Scaled(1-encodingShare)), err
}

// Fit encodes the columns and trains; see [method.Trainer]. If feature selection kept no such column, the sums
// are not released.
func (t trainer) Fit(
	ctx context.Context,
	s *mechanism.Session,
	d method.Data,
) (*method.Fit, error) {
	s = s.Sub(Node)
	var coded []int
	for j, c := range d.Columns {
		if c.TargetEncoded {
			coded = append(coded, j)
		}
	}
	if len(coded) == 0 {
		return t.Trainer.Fit(ctx, s.Sub(encodedNode), d)
	}
	numbers, err := releaseEncoding(ctx, s, d, coded)
	if err != nil {
		return nil, fmt.Errorf("target encoding: %w", err)
	}
	names := d.Columns
	d.Columns = slices.Clone(d.Columns)
	d.Ranges = slices.Clone(d.Ranges)
	for i, j := range coded {
		d.Ranges[j] = numbers[i].scale
		d.Columns[j] = encodedColumn(names[j], numbers[i].scale)
		d.Records = d.Records.Recode(j, d.Columns[j], numbers[i].values)
	}
	fit, err := t.Trainer.Fit(ctx, s.Sub(encodedNode), d)
	if err != nil {
		return nil, err
	}
	for i, j := range coded {
		readTexts(fit.Model, names[j], numbers[i])
	}
	return fit, nil
}

// readTexts converts a model of encoded numbers to one that reads the original texts.
func readTexts(m regression.Model, c dataset.Column, of encodedNumbers) {
	if x, ok := m.(*regression.Classifier); ok {
		for _, score := range x.Scores {
			readTexts(score, c, of)
		}
		return
	}
	l := regression.LinearPart(m)
	l.Columns = slices.Clone(l.Columns)
	for k := range l.Columns {
		if to := &l.Columns[k]; to.Name == c.Name {
			to.Categories = c.Categories
			to.Values = of.values
			to.TextRule = regression.TextRule(c.TextRule)
			to.Missing = of.values[len(c.Categories)]
		}
	}
}
