package pipeline

import (
	"fmt"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// SelectorKeys lists the keys of all selectors, in the order of recipes and documents. [Selectors] lists the
// keys of each selector. The caller must not modify the list.
func SelectorKeys() []method.Key {
	return selectorKeys()
}

var selectorKeys = sync.OnceValue(func() []method.Key {
	return []method.Key{
		{
			Name:      "k",
			Min:       1,
			Max:       maxColumns,
			OpenEnded: true,
			Common:    true,
			Text:      "Number of columns to select, where a category column counts as one (default: chosen by the method)",
			Hint:      "omit it to let the method choose",
			Remedy:    noChoice,
			Absent:    "chosen by the method",
		},
		{
			Name:    "share",
			Kind:    method.Number,
			Min:     0,
			Max:     1,
			Above:   true,
			Below:   true,
			Default: DefaultSelectionShare,
			Common:  true,
			Text:    "Older name of budget.selection: a share of the budget that remains after the count and words. The default is 0.5 for dpfsdr, dpfs and crfs",
			Remedy:  noChoice,
			Absent:  "`0.1`",
		},
		{
			Name: "score",
			Kind: method.Word,
			Text: "Score by which columns are ranked",
			Rest: ": tau, product, correlation, or auto (chosen by the method)",
			Words: []string{string(selection.ScoreAuto), string(selection.ScoreProduct),
				string(selection.ScoreCorrelation), string(selection.ScoreTau)},
			Doc: "`tau` is rank correlation and needs no ranges. `product` is the sum of products of scaled values. `correlation` is the same " +
				"sum with values clamped to half their ranges and the target measured from a released centre. `auto` is `correlation` " +
				"if there are category columns and at most 1000 columns in all, and `tau` otherwise.",
		},
		{
			Name:   "topk",
			Kind:   method.Word,
			Text:   "Mechanism that selects columns with high scores",
			Absent: "`one-shot`",
			Words: []string{
				mechanism.Lipschitz.String(), mechanism.LipschitzExponential.String(),
				mechanism.OneShot.String(), mechanism.Peeling.String(),
			},
			Doc: "`one-shot` adds noise to every score and keeps the best columns. `peeling` selects one column after another, with the same " +
				"distribution. `lipschitz` selects the whole set at once, as in the paper. `lipschitz-exponential` does so with exponential " +
				"noise, which has δ = 0.",
		},
		{
			Name:    "gamma",
			Kind:    method.Number,
			Text:    "Weight of the worst selected column in the loss of a set",
			Absent:  "`0.5`",
			Rest:    ", with topk lipschitz or lipschitz-exponential",
			Min:     0,
			Max:     1,
			Below:   true,
			HasZero: true,
			Hint:    "omit it for 0.5, at which a common shift of all scores has no effect",
			Needs: method.Link{
				Key: "topk",
				Words: []string{mechanism.Lipschitz.String(),
					mechanism.LipschitzExponential.String()},
				Hint: "set selection.topk: " + mechanism.Lipschitz.String() + ", or remove it",
			},
			Doc: "γ of the canonical Lipschitz mechanism (DP-SIS, 2024, section 4.2): the loss of a set is (1-γ) times the best score " +
				"left out minus γ times the worst score selected. Only with `topk` `lipschitz` or `lipschitz-exponential`.",
		},
		{
			Name:   "max_correlation",
			Kind:   method.Number,
			Text:   "Drop the less important of two columns with at least this correlation",
			Absent: "`0.95`",
			Min:    0,
			Max:    1,
			Above:  true,
			Hint:   "omit it for 0.95; at 1 hardly any column is dropped",
			Doc: "The threshold δ of the correlated degree (DPFSDR, 2022, section 4.1; its table 1 has one for each data set). It is free, " +
				"because it is compared with correlations that were released with noise.",
		},
		{
			Name:   "lambda",
			Kind:   method.Number,
			Text:   "Penalty of the lasso on standardised columns",
			Absent: "`0.1`",
			Min:    0,
			Max:    1,
			Above:  true,
			Below:  true,
			Hint:   "omit it for 0.1; at 1 all coefficients are 0",
		},
		{
			Name:      "buckets",
			Text:      "Number of parts into which the records are divided",
			Rest:      " (default: chosen by the method)",
			Absent:    "chosen by the method",
			Min:       2,
			Max:       selection.MaxBuckets,
			OpenEnded: true,
			Hint:      "omit it to let the method choose",
		},
		method.CostsKey(),
		{
			Name:   "budget",
			Kind:   method.Number,
			Text:   "Maximum total cost of the selected columns",
			Rest:   " (default: no limit)",
			Absent: "no limit",
			Min:    0,
			Max:    method.MaxCost,
			Above:  true,
			Hint:   "omit it for no limit; the privacy budget is privacy.epsilon",
			Doc:    "This is not the privacy budget. It can be combined with `k`.",
		},
		{
			Name:    "sizes",
			Kind:    method.Wholes,
			Text:    "Numbers of columns to try, in increasing order",
			Absent:  "none",
			Rest:    "; a private selection keeps the best of a secret number of tries",
			Min:     1,
			Hint:    "for example [2, 4, 8]",
			Least:   2,
			Few:     "at least two numbers of columns",
			FewHint: "for a single one, use selection.k",
			Excludes: method.Link{
				Key:  "k",
				Hint: "keep one of them: a number of columns, or several to try",
			},
			Instead: "make each size a candidate of search",
			Doc: "Replaces `k`, for example `[2, 4, 8]`. A private selection keeps the best of a secret number of tries " +
				"([dpfsdr](../proofs/dpfsdr.md)).",
		},
		{
			Name:   "runs",
			Kind:   method.Number,
			Text:   "Mean number of tries of sizes",
			Absent: "`3`",
			Rest:   " (default: 3). The actual number is random and secret",
			Min:    1,
			Max:    MaxRuns,
			Above:  true,
			Hint:   "it is the mean number of tries; the default is 3",
			Doc:    "The actual number is random and secret. Only with `sizes`.",
			Needs: method.Link{
				Key:  "sizes",
				Hint: "list the numbers of columns to try, or remove it",
			},
		},
		{
			Name:     "features",
			Kind:     method.Names,
			Text:     "The columns to use",
			Least:    1,
			Required: "list the columns to use",
			Doc:      "For example `[age, rooms]`.",
		},
	}
})

// maxColumns is a limit of sanity.
const maxColumns = 1_000_000

const noChoice = "remove it, or choose another method"

// keysNamed returns some of [SelectorKeys].
func keysNamed(names ...string) []method.Key {
	all := SelectorKeys()
	out := make([]method.Key, len(names))
	for i, name := range names {
		at := slices.IndexFunc(all, func(k method.Key) bool {
			return k.Name == name
		})
		if at < 0 {
			panic(fmt.Sprintf("pipeline: no key %s", name)) // a constant of this package is wrong
		}
		out[i] = all[at]
	}
	return out
}
