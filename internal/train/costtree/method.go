package costtree

import (
	settings "github.com/dptrain/dptrain/costtree"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// Method describes the trainer.
func (CostTree) Method() method.Method {
	return method.Method{
		Name:        CostTree{}.Name(),
		Summary:     "a tree of linear models that pays for the features it reads",
		ClassesFrom: 3, Relations: method.EveryRecord(),
		Keys: []method.Key{
			{
				Name: "depth", Kind: method.Whole, Text: "Levels of the tree",
				Absent: "2, or 1 where records are few",
				Rest:   ". Left out, 2, or 1 where records are few", Min: 1, Max: maxDepth,
				Hint: "leave it out for 2, or 1 where records are few",
			},
			{
				Name: "budget", Kind: method.Number,
				Text:   "What a node may spend on features that were not bought before it",
				Absent: "no limit",
				Rest:   "; no limit if left out", Min: 0, Max: maxCost, Above: true,
				Hint: "leave it out for no limit; privacy.epsilon is the budget of privacy",
				Doc:  "Not the budget of privacy.",
			},
			method.CostsKey(),
			{
				Name: "soft", Kind: method.Flag,
				Text:   "Whether nodes are trained on all records, weighted by how clearly they belong there",
				Absent: "`false`",
				Doc:    "Predictions walk the tree all the same.",
			},
		},
		Statistics: []mechanism.Statistic{gramsStatistic{}, mediansStatistic{}},
		Is:         method.Is[CostTree],
		FromSettings: method.FromSettings(func(x settings.CostTree) method.Trainer {
			return CostTree(x)
		}),
		New: func(v method.Values) method.Trainer {
			return CostTree{
				Depth:  v.Int("depth"),
				Budget: v.Number("budget"),
				Costs:  v.Prices("costs"),
				Soft:   v.Flag("soft"),
			}
		},
	}
}
