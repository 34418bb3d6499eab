package audit

import (
	"context"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
)

// TestMixturesComeClose measures a run that assigns its records to two parts by secret coins and releases the number
// of each part. The measure is at most the claim for the mixture, and at least a third of its mu. Each part by itself
// exceeds the claim. A measure above the claim has the odds 1e-6 each, by its confidence. With -full, either coin is
// measured at either epsilon.
func TestMixturesComeClose(t *testing.T) {
	for _, c := range []struct {
		coin, epsilon float64
		draws         int
		needsFull     bool
	}{
		{.1, 1, 60_000, true},
		{.1, 3, 12_000, true},
		{.4, 1, 60_000, true},
		{.4, 3, 12_000, false},
	} {
		if c.needsFull && !*full {
			continue
		}
		count := func(name string) budget.Node {
			return budget.GaussianLeaf(name, 1, 1).
				WithStatistic(mechanism.StatAlone(mechanism.StatCount))
		}
		tree := budget.Parallel("fit",
			budget.Sequence("train", count("n")),
			budget.Sequence("holdout", count("n")),
		)
		tree.Coin = mechanism.Odds(c.coin)
		priced, err := budget.Calibrate(
			tree,
			budget.Target{Epsilon: c.epsilon, Delta: 1e-6},
		)
		if err != nil {
			t.Fatal(err)
		}
		m, err := measureTrials(
			t.Context(),
			[]trial{splitCounts(t, priced, c.coin)},
			c.draws,
			1e-6,
			1e-6,
			func(float64) {},
		)
		if err != nil {
			t.Fatal(err)
		}
		g := priced.Guarantee()
		part := priced.Leaves()[0].Law.Mu
		t.Logf(
			"coin %v, epsilon %v: measured epsilon %.3f, mu %.4f of %.4f; the training part alone %.4f",
			c.coin,
			c.epsilon,
			m.Epsilon,
			m.Mu,
			g.Mu,
			part,
		)
		if m.Epsilon > g.Epsilon || m.Mu > g.Mu {
			t.Errorf(
				"coin %v: measured %+v of %+v",
				c.coin, m, g,
			)
		}
		if m.Mu < g.Mu/3 {
			t.Errorf(
				"coin %v: measured mu %v of %v",
				c.coin, m.Mu, g.Mu,
			)
		}
		plain := budget.GaussianMu(c.epsilon, 1e-6)
		if part < 1.02*plain {
			t.Errorf(
				"coin %v: the training part has mu %v, and %v would be its price alone",
				c.coin,
				part,
				plain,
			)
		}
	}
}

// splitCounts releases the numbers of records of both parts; side 1 has one more record.
func splitCounts(t *testing.T, priced *budget.Priced, coin float64) trial {
	var tables [2]mechanism.Records
	for side := range tables {
		table, err := dataset.NewTable(
			dataset.Schema{Columns: []dataset.Column{{Name: "x"}}},
			[]dataset.ColumnData{{Floats: make([]float64, side)}},
			nil,
		)
		if err != nil {
			t.Fatal(err)
		}
		tables[side] = memory.NewRecords(table.View())
	}
	return func(ctx context.Context, side int) ([]float64, error) {
		s, err := mechanism.NewSession(priced.Again())
		if err != nil {
			return nil, err
		}
		train, held := tables[side].Deal(s.Coins("holdout"), coin)
		var out []float64
		for name, part := range map[string]mechanism.Records{
			"train":   train,
			"holdout": held,
		} {
			n, err := part.Len(ctx)
			if err != nil {
				return nil, err
			}
			x, err := mechanism.Gaussian(
				s.Sub(name), "n",
				mechanism.Alone(s.Count(n)),
			)
			if err != nil {
				return nil, err
			}
			if name == "train" {
				out = append(x.Value(), out...)
			} else {
				out = append(out, x.Value()...)
			}
		}
		return out, nil
	}
}
