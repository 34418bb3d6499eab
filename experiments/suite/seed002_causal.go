package suite

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/causal"
)

// causalArchive holds the simulated pairs of J. Mooij and others, "Distinguishing cause from
// effect using observational data", 2016: four sets of 100 pairs.
const causalArchive = "mooij_sim_pairs.tar.gz"

// causalSets are the sets of the archive: standard, with a common cause, with little noise, and nearly Gaussian.
var causalSets = [...]string{"SIM", "SIM-c", "SIM-ln", "SIM-G"}

// These are the generated pairs, with declared ranges and with private ones.
const (
	causalMade        = "made up, n = 5000"
	causalMadePrivate = "made up, n = 5000, private ranges"
	causalMadePairs   = 60
	causalMadeRows    = 5000
)

const (
	causalTrials = 10
	causalSplits = 3 // of the records, for the thesis' scores, whose noise is averaged over
	// causalRecords is the largest number of records of a pair for fitting the regressions of the thesis, and also
	// for testing them.
	causalRecords = 500
	// causalOuter is the share of records outside the declared range of a column, on each side.
	causalOuter = .005
)

// causalEpsilons are the budgets.
var causalEpsilons = [...]float64{.1, .3, 1, 3, 10}

// The methods of the experiment.
const (
	causalHistogram = "histogram"
	causalSpearman  = "thesis spearman, test records"
	causalKendall   = "thesis kendall, test records"
	causalHSIC      = "thesis hsic, test records"
	causalIQR       = "thesis iqr, test records"
	causalAll       = "thesis hsic, all records"
	causalPublished = " as published"
)

// causalMethods lists them in the order of the page.
func causalMethods() []string {
	return []string{causalHistogram, causalSpearman, causalKendall, causalIQR, causalHSIC,
		causalAll}
}

// causalPenalties are the penalties of the thesis' regressions with all records protected. The best one is used on
// each set and at each epsilon, which is impossible with one's own data.
var causalPenalties = [...]float64{.05, .5, 2}

// The metrics of the experiment are shares of the pairs of a set. A pair without a preference counts half.
const (
	metricDirection  = "direction"    // decided correctly by the deciding score
	metricLikelihood = "anmlik"       // by the score anmlik of the same histogram
	metricVote       = "vote"         // by the vote
	metricHSICRight  = "hsic"         // by the score hsic of the same histogram
	metricDecided    = "decided"      // with a stated direction
	metricStated     = "stated"       // decided correctly among those
	metricNoiseless  = "noiseless"    // by the thesis' scores without noise
	metricIGCIRight  = "igci"         // by the score igci of the same histogram
	metricPairsMean  = "mean_records" // mean number of records of a pair
)

// causalPart is chapter 4 of the thesis.
func causalPart() thesisPart {
	return thesisPart{
		name:     "causal",
		title:    "Which of two columns causes the other",
		tasks:    causalTasks,
		sections: causalSections,
		lead: []string{
			"Chapter 4: the causal direction of two columns. The histogram is that of dptrain causal: one noisy " +
				"release, every record protected. The thesis' scores come from regressions on half of the records.",
			"The pairs of the thesis are not public here. These are simulated, and their directions are known: four " +
				"sets of 100 of 1000 records, and 60 made-up pairs of 5000.",
			fmt.Sprintf(
				"Ranges are declared, at the quantiles %v and %v of each column, unless said otherwise. A trial is one "+
					"draw of all noise for every pair of a set; of the thesis' scores it is one split, and its noise is "+
					"averaged over exactly.", causalOuter, 1-causalOuter),
		},
	}
}

func causalCell(data, method string, epsilon, penalty float64) Cell {
	return Cell{
		Data:    data,
		Method:  method,
		Setting: Setting{Epsilon: epsilon, Noise: penalty},
	}
}

// causalTasks lists the trials.
func causalTasks(o Options) ([]Task, error) {
	archive := filepath.Join(partFolder(o.Data, "causal"), causalArchive)
	if _, err := os.Stat(archive); err != nil {
		return nil, fmt.Errorf("%w: there is no %s", ErrData, causalArchive)
	}
	var tasks, others []Task
	for _, set := range append(slices.Clone(causalSets[:]), causalMade, causalMadePrivate) {
		x := &causalSet{
			name:    set,
			archive: archive,
			seed:    o.Seed,
		}
		var cells, theirs []Cell
		for _, e := range causalEpsilons {
			cells = append(cells, causalCell(set, causalHistogram, e, 0))
			for _, m := range []string{causalSpearman, causalKendall, causalHSIC} {
				theirs = append(theirs, causalCell(set, m, e, 0),
					causalCell(set, m+causalPublished, e, 0))
			}
			theirs = append(theirs, causalCell(set, causalIQR, e, 0))
			for _, penalty := range causalPenalties {
				theirs = append(theirs, causalCell(set, causalAll, e, penalty))
			}
		}
		tasks = append(tasks,
			Task{
				Name:   set,
				Cells:  cells,
				Trials: o.trials(causalTrials),
				Run:    x.run,
			})
		if slices.Contains(causalSets[:], set) {
			others = append(others,
				Task{
					Name:   set + ", thesis",
					Cells:  theirs,
					Trials: o.trials(causalSplits),
					Run:    x.run,
				})
		}
	}
	return append(tasks, others...), nil
}

// A causalPair has two columns; the first causes the second if forward is set.
type causalPair struct {
	x, y    []float64
	forward bool
}

// causalSet runs the experiment on one set.
type causalSet struct {
	name    string
	archive string
	seed    uint64

	once  sync.Once
	pairs []causalPair
	err   error

	mu     sync.Mutex
	fits   map[string][]direction.Fit   // of the pairs, by trial and penalty
	scores map[string][]direction.Score // of the fits, also by score; without noise
}

func (x *causalSet) run(
	ctx context.Context,
	todo []Key,
	emit func(Key, Outcome),
) error {
	x.once.Do(func() {
		x.fits = map[string][]direction.Fit{}
		x.scores = map[string][]direction.Score{}
		if strings.HasPrefix(x.name, "made up") {
			for i := range causalMadePairs {
				x.pairs = append(x.pairs,
					madePair(newGenerator(causalMade, x.seed, uint64(i+1)), causalMadeRows))
			}
			return
		}
		x.pairs, x.err = readCausalPairs(x.archive, x.name)
	})
	if x.err != nil {
		return x.err
	}
	return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
		values, err := x.values(ctx, k)
		if err != nil {
			return failed(err)
		}
		return Outcome{Status: OK, Values: values}
	}, emit)
}

// values evaluates a method on all pairs.
func (x *causalSet) values(
	ctx context.Context,
	k Key,
) (map[string]float64, error) {
	if k.Method == causalHistogram {
		return x.histogram(ctx, k.Setting.Epsilon)
	}
	if k.Method == causalIQR {
		return x.quartiles(k), nil
	}
	sum := 0.
	noiseless := 0.
	scores, m, err := x.scored(k)
	if err != nil {
		return nil, err
	}
	for i, p := range x.pairs {
		sum += causalChance(k, scores[i], m[i], p)
		noiseless += directionScore(scores[i].Prefers(), p.forward)
	}
	n := float64(len(x.pairs))
	return map[string]float64{
		metricDirection: sum / n,
		metricNoiseless: noiseless / n,
	}, nil
}

// histogram runs the product on every pair.
func (x *causalSet) histogram(
	ctx context.Context,
	epsilon float64,
) (map[string]float64, error) {
	v := map[string]float64{}
	n := float64(len(x.pairs))
	decided := 0.
	stated := 0.
	for _, p := range x.pairs {
		s := causal.Study{Budget: budget.Target{Epsilon: epsilon}}
		for j, column := range [][]float64{p.x, p.y} {
			c := dataset.Column{Name: []string{"x", "y"}[j]}
			if x.name != causalMadePrivate {
				c.Ranged, c.Lower, c.Upper = true, outerQuantile(column, causalOuter),
					outerQuantile(column, 1-causalOuter)
			}
			s.Schema.Columns = append(s.Schema.Columns, c)
		}
		plan, err := s.Plan()
		if err != nil {
			return nil, err
		}
		t, err := dataset.NewTable(
			s.Schema,
			[]dataset.ColumnData{{Floats: p.x}, {Floats: p.y}},
			nil,
		)
		if err != nil {
			return nil, err
		}
		res, err := plan.Run(ctx, t)
		if err != nil {
			return nil, err
		}
		r := res.Pairs[0].Reading
		v[metricDirection] += directionScore(r.Preferred, p.forward) / n
		v[metricVote] += directionScore(r.Vote, p.forward) / n
		for _, score := range r.Scores {
			switch score.Name {
			case direction.Likelihood:
				v[metricLikelihood] += directionScore(score.Prefers(), p.forward) / n
			case direction.HSIC:
				v[metricHSICRight] += directionScore(score.Prefers(), p.forward) / n
			case direction.IGCI:
				v[metricIGCIRight] += directionScore(score.Prefers(), p.forward) / n
			}
		}
		v[metricPairsMean] += float64(len(p.x)) / n
		if r.Direction != 0 {
			decided++
			stated += directionScore(r.Direction, p.forward)
		}
	}
	if v[metricDecided] = decided / n; decided > 0 {
		v[metricStated] = stated / decided
	}
	return v, nil
}

// directionScore returns 1 for the correct direction, 0 for the wrong one, and 1/2 for no direction.
func directionScore(d int, forward bool) float64 {
	switch {
	case d == 0:
		return .5
	case d > 0 == forward:
		return 1
	}
	return 0
}

// outerQuantile interpolates between the values of a column.
func outerQuantile(column []float64, q float64) float64 {
	return quantile(slices.Sorted(slices.Values(column)), q)
}
