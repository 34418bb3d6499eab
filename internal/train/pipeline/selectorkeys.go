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
			Text:      "How many columns to choose, counted as this file names them: a category column is one. Left out, the method decides",
			Hint:      "leave it out to let the method decide",
			Remedy:    noChoice,
			Absent:    "the method decides",
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
			Text:    "The older name of budget.selection: a share of what a count and words leave. The default is 0.5 for dpfsdr, dpfs and crfs",
			Remedy:  noChoice,
			Absent:  "`0.1`",
		},
		{
			Name: "score",
			Kind: method.Word,
			Text: "What the columns are ranked by",
			Rest: ": tau, product, correlation, or auto for the method's own choice",
			Words: []string{string(selection.ScoreAuto), string(selection.ScoreProduct),
				string(selection.ScoreCorrelation), string(selection.ScoreTau)},
			Doc: "`tau` is rank correlation and needs no ranges. `product` is the sum of products of scaled values. `correlation` is the same " +
				"with values cut at half their ranges and the target counted from a released centre. `auto` is `tau`, unless there are " +
				"category columns (at most 1000 columns in all); then it is `correlation`.",
		},
		{
			Name:   "topk",
			Kind:   method.Word,
			Text:   "How the columns with high scores are drawn",
			Absent: "`one-shot`",
			Words: []string{
				mechanism.Lipschitz.String(), mechanism.LipschitzExponential.String(),
				mechanism.OneShot.String(), mechanism.Peeling.String(),
			},
			Doc: "`one-shot`: noise on every score, the best ones kept. `peeling`: one after another, the same law. `lipschitz`: the whole " +
				"set at once, as in the paper. `lipschitz-exponential`: the same with exponential noise, a pure law.",
		},
		{
			Name:    "gamma",
			Kind:    method.Number,
			Text:    "Weight of the worst chosen column in the loss of a set",
			Absent:  "`0.5`",
			Rest:    ", with a topk of lipschitz or lipschitz-exponential",
			Min:     0,
			Max:     1,
			Below:   true,
			HasZero: true,
			Hint:    "leave it out for 0.5, at which a common shift of all scores has no effect",
			Needs: method.Link{
				Key: "topk",
				Words: []string{mechanism.Lipschitz.String(),
					mechanism.LipschitzExponential.String()},
				Hint: "set selection.topk: " + mechanism.Lipschitz.String() + ", or remove it",
			},
			Doc: "γ of the canonical Lipschitz mechanism (DP-SIS, 2024, section 4.2): the loss of a set is (1-γ) times the best score " +
				"left out less γ times the worst score chosen. With `topk` `lipschitz` or `lipschitz-exponential` only.",
		},
		{
			Name:   "max_correlation",
			Kind:   method.Number,
			Text:   "Correlation from which the less important of two columns is dropped",
			Absent: "`0.95`",
			Min:    0,
			Max:    1,
			Above:  true,
			Hint:   "leave it out for 0.95; at 1 hardly any column is dropped",
			Doc: "The threshold δ of the correlated degree (DPFSDR, 2022, section 4.1; its table 1 has one for each table). It is compared " +
				"with correlations that were released with noise, so it costs nothing.",
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
			Hint:   "leave it out for .1; at 1 no coefficient is left",
		},
		{
			Name:      "buckets",
			Text:      "Into how many parts the records are dealt",
			Rest:      ". Left out, the method decides",
			Absent:    "the method decides",
			Min:       2,
			Max:       selection.MaxBuckets,
			OpenEnded: true,
			Hint:      "leave it out to let the method decide",
		},
		method.CostsKey(),
		{
			Name:   "budget",
			Kind:   method.Number,
			Text:   "What the chosen columns may cost together",
			Rest:   "; no limit if left out",
			Absent: "no limit",
			Min:    0,
			Max:    method.MaxCost,
			Above:  true,
			Hint:   "leave it out for no limit; privacy.epsilon is the budget of privacy",
			Doc:    "Not the budget of privacy. `k` may stand beside it.",
		},
		{
			Name:    "sizes",
			Kind:    method.Wholes,
			Text:    "Numbers of columns to try, increasing",
			Absent:  "none",
			Rest:    ": a private selection keeps the best of a secret number of tries",
			Min:     1,
			Hint:    "for example [2, 4, 8]",
			Least:   2,
			Few:     "two numbers of columns or more",
			FewHint: "one alone is selection.k",
			Excludes: method.Link{
				Key:  "k",
				Hint: "keep one of the two: a number of columns, or several to try",
			},
			Instead: "make each size a candidate of search",
			Doc: "Instead of `k`, such as `[2, 4, 8]`. A private selection keeps the best of a secret number of tries " +
				"([dpfsdr](../proofs/dpfsdr.md)).",
		},
		{
			Name:   "runs",
			Kind:   method.Number,
			Text:   "Mean number of tries of sizes",
			Absent: "`3`",
			Rest:   "; 3 if left out. How many there are is drawn at random and stays secret",
			Min:    1,
			Max:    MaxRuns,
			Above:  true,
			Hint:   "it is the mean number of tries; 3 is the default",
			Doc:    "How many there are is drawn at random and stays secret. With `sizes` only.",
			Needs: method.Link{
				Key:  "sizes",
				Hint: "list the numbers of columns to try, or remove it",
			},
		},
		{
			Name:     "features",
			Kind:     method.Names,
			Text:     "The chosen columns",
			Least:    1,
			Required: "the columns to use",
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
		at := slices.IndexFunc(all, func(k method.Key) bool { return k.Name == name })
		if at < 0 {
			panic(fmt.Sprintf("pipeline: no key %s", name)) // a constant of this package is wrong
		}
		out[i] = all[at]
	}
	return out
}
