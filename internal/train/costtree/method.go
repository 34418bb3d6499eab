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
		Summary:     "tree of linear models with a limit on feature costs",
		ClassesFrom: 3,
		Relations:   method.EveryRecord(),
		Keys: []method.Key{
			{
				Name:   "depth",
				Kind:   method.Whole,
				Text:   "Depth of the tree",
				Absent: "2, or 1 with few records",
				Rest:   " (default: 2, or 1 with few records)",
				Min:    1,
				Max:    maxDepth,
				Hint:   "omit it for 2, or 1 with few records",
			},
			{
				Name:   "budget",
				Kind:   method.Number,
				Text:   "Maximum cost of the features that a node adds to those bought above it",
				Absent: "no limit",
				Rest:   " (default: no limit)",
				Min:    0,
				Max:    maxCost,
				Above:  true,
				Hint:   "omit it for no limit; the privacy budget is privacy.epsilon",
				Doc:    "This is not the privacy budget.",
			},
			method.CostsKey(),
			{
				Name:   "soft",
				Kind:   method.Flag,
				Text:   "Whether nodes are trained on all records, weighted by how clearly they belong to the node",
				Absent: "`false`",
				Doc:    "Predictions still follow a single path of the tree.",
			},
		},
		Statistics: []mechanism.Statistic{gramsStatistic{}, mediansStatistic{}},
		Is:         method.HasType[CostTree],
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
