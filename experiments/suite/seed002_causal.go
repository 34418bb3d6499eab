package suite

import (
	"archive/tar"
	"cmp"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/causal"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/direction"
)

// causalArchive holds the simulated pairs of J. Mooij and others, "Distinguishing cause from
// effect using observational data", 2016: four sets of 100 pairs.
const causalArchive = "mooij_sim_pairs.tar.gz"

// causalSets are the sets of the archive: as they are, with a common cause, with little noise and
// nearly Gaussian.
var causalSets = [...]string{"SIM", "SIM-c", "SIM-ln", "SIM-G"}

// The made-up pairs, with declared ranges and with private ones.
const (
	causalMade        = "made up, n = 5000"
	causalMadePrivate = "made up, n = 5000, private ranges"
	causalMadePairs   = 60
	causalMadeRows    = 5000
)

const (
	causalTrials = 10
	causalSplits = 3 // of the records, for the thesis' scores, whose noise is averaged over
	// causalRecords is how many records of a pair the regressions of the thesis are fitted to at most, and
	// tested on.
	causalRecords = 500
	// causalOuter is the share of records beyond the declared range of a column, on each side.
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
	causalAll       = "thesis hsic, all records"
	causalPublished = " as published"
)

// causalPenalties are those of the thesis' regressions with all records protected: the best one is
// taken on each set and at each epsilon, which nobody could do with one's own data.
var causalPenalties = [...]float64{.05, .5, 2}

// The metrics of the experiment, as shares of the pairs of a set. A pair without a preference counts half.
const (
	metricDirection = "direction"    // decided rightly by the score that decides
	metricVote      = "vote"         // by the vote
	metricHSICRight = "hsic"         // by the score hsic of the same histogram
	metricDecided   = "decided"      // with a direction that is stated
	metricStated    = "stated"       // decided rightly among those
	metricNoiseless = "noiseless"    // by the thesis' scores without noise
	metricIGCIRight = "igci"         // by the score igci of the same histogram
	metricPairsMean = "mean_records" // mean number of records of a pair
)

// causalPart is chapter 4 of the thesis.
func causalPart() thesisPart {
	return thesisPart{
		name: "causal", title: "Which of two columns causes the other",
		tasks: causalTasks, sections: causalSections,
		lead: []string{
			"Chapter 4: the causal direction of two columns. The histogram is that of dptrain causal: one noisy " +
				"release, every record protected. The thesis' scores come from regressions on half of the records.",
			"The pairs of the thesis are not public here. These are simulated, and their directions are known: four " +
				"sets of 100 of 1000 records, and 60 made-up pairs of 5000.",
			fmt.Sprintf("Ranges are declared, at the quantiles %v and %v of each column, unless said otherwise. A trial is one "+
				"draw of all noise for every pair of a set; of the thesis' scores it is one split, and its noise is "+
				"averaged over exactly.", causalOuter, 1-causalOuter),
		},
	}
}

func causalCell(data, method string, epsilon, penalty float64) Cell {
	return Cell{Data: data, Method: method, Setting: Setting{Epsilon: epsilon, Noise: penalty}}
}

// causalTasks lists the trials.
func causalTasks(o Options) ([]Task, error) {
	archive := filepath.Join(partFolder(o.Data, "causal"), causalArchive)
	if _, err := os.Stat(archive); err != nil {
		return nil, fmt.Errorf("%w: there is no %s", ErrData, causalArchive)
	}
	var tasks, others []Task
	for _, set := range append(slices.Clone(causalSets[:]), causalMade, causalMadePrivate) {
		x := &causalSet{name: set, archive: archive, seed: o.Seed}
		var cells, theirs []Cell
		for _, e := range causalEpsilons {
			cells = append(cells, causalCell(set, causalHistogram, e, 0))
			for _, m := range []string{causalSpearman, causalKendall, causalHSIC} {
				theirs = append(theirs, causalCell(set, m, e, 0), causalCell(set, m+causalPublished, e, 0))
			}
			for _, penalty := range causalPenalties {
				theirs = append(theirs, causalCell(set, causalAll, e, penalty))
			}
		}
		tasks = append(tasks, Task{Name: set, Cells: cells, Trials: o.trials(causalTrials), Run: x.run})
		if slices.Contains(causalSets[:], set) {
			others = append(others, Task{Name: set + ", thesis", Cells: theirs, Trials: o.trials(causalSplits), Run: x.run})
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
	name, archive string
	seed          uint64

	once  sync.Once
	pairs []causalPair
	err   error

	mu     sync.Mutex
	fits   map[string][]direction.Fit   // of the pairs, by trial and penalty
	scores map[string][]direction.Score // of these, by score too: they have no noise
}

func (x *causalSet) run(ctx context.Context, todo []Key, emit func(Key, Outcome)) error {
	x.once.Do(func() {
		x.fits, x.scores = map[string][]direction.Fit{}, map[string][]direction.Score{}
		if strings.HasPrefix(x.name, "made up") {
			for i := range causalMadePairs {
				x.pairs = append(x.pairs, madePair(newGenerator(causalMade, x.seed, uint64(i+1)), causalMadeRows))
			}
			return
		}
		x.pairs, x.err = readCausalPairs(x.archive, x.name)
	})
	if x.err != nil {
		return x.err
	}
	return each(ctx, todo, func(ctx context.Context, k Key) Outcome {
		values, err := x.values(ctx, k)
		if err != nil {
			return failure(Failed, err)
		}
		return Outcome{Status: OK, Values: values}
	}, emit)
}

// values judges a method on all pairs.
func (x *causalSet) values(ctx context.Context, k Key) (map[string]float64, error) {
	if k.Method == causalHistogram {
		return x.histogram(ctx, k.Setting.Epsilon)
	}
	sum, noiseless := 0., 0.
	scores, m, err := x.scored(k)
	if err != nil {
		return nil, err
	}
	for i, p := range x.pairs {
		sum += causalChance(k, scores[i], m[i], p)
		noiseless += rightness(scores[i].Prefers(), p.forward)
	}
	n := float64(len(x.pairs))
	return map[string]float64{metricDirection: sum / n, metricNoiseless: noiseless / n}, nil
}

// histogram runs the product on every pair.
func (x *causalSet) histogram(ctx context.Context, epsilon float64) (map[string]float64, error) {
	v := map[string]float64{}
	n, decided, stated := float64(len(x.pairs)), 0., 0.
	for _, p := range x.pairs {
		s := causal.Study{Budget: budget.Target{Epsilon: epsilon}}
		for j, column := range [][]float64{p.x, p.y} {
			c := dataset.Column{Name: []string{"x", "y"}[j]}
			if x.name != causalMadePrivate {
				c.Ranged, c.Lower, c.Upper = true, outerQuantile(column, causalOuter), outerQuantile(column, 1-causalOuter)
			}
			s.Schema.Columns = append(s.Schema.Columns, c)
		}
		plan, err := s.Plan()
		if err != nil {
			return nil, err
		}
		t, err := dataset.NewTable(s.Schema, []dataset.ColumnData{{Floats: p.x}, {Floats: p.y}}, nil)
		if err != nil {
			return nil, err
		}
		res, err := plan.Run(ctx, t)
		if err != nil {
			return nil, err
		}
		r := res.Pairs[0].Reading
		v[metricDirection] += rightness(r.Preferred, p.forward) / n
		v[metricVote] += rightness(r.Vote, p.forward) / n
		for _, score := range r.Scores {
			switch score.Name {
			case direction.HSIC:
				v[metricHSICRight] += rightness(score.Prefers(), p.forward) / n
			case direction.IGCI:
				v[metricIGCIRight] += rightness(score.Prefers(), p.forward) / n
			}
		}
		v[metricPairsMean] += float64(len(p.x)) / n
		if r.Direction != 0 {
			decided++
			stated += rightness(r.Direction, p.forward)
		}
	}
	if v[metricDecided] = decided / n; decided > 0 {
		v[metricStated] = stated / decided
	}
	return v, nil
}

// rightness is 1 for the right direction, 0 for the wrong one and 1/2 for none.
func rightness(d int, forward bool) float64 {
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

// causalScores are the scores that the thesis' methods read.
func causalScores() map[string]string {
	return map[string]string{causalSpearman: direction.Spearman, causalKendall: direction.Kendall, causalHSIC: direction.HSIC,
		causalAll: direction.HSIC}
}

// scored returns the thesis' score of every pair, and its number of test records: once per trial,
// penalty and score.
func (x *causalSet) scored(k Key) (scores []direction.Score, tested []int, err error) {
	score, ok := causalScores()[strings.TrimSuffix(k.Method, causalPublished)]
	if !ok {
		return nil, nil, fmt.Errorf("%w: method %q", ErrUnknown, k.Method)
	}
	ridge := direction.Ridge{Penalty: .002, Width: .25} // test records alone are protected
	if k.Method == causalAll {
		ridge = direction.Ridge{Penalty: k.Setting.Noise, Width: .5}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	fits := x.fitted(k.Trial, ridge)
	name := fmt.Sprint(k.Trial, " ", ridge, " ", score)
	for _, f := range fits {
		if len(x.scores[name]) < len(fits) {
			x.scores[name] = append(x.scores[name], f.Score(score))
		}
		tested = append(tested, len(f.X))
	}
	return x.scores[name], tested, nil
}

// fitted fits the thesis' regressions to the pairs of the set, once per trial and penalty. The caller holds
// the lock.
func (x *causalSet) fitted(trial int, ridge direction.Ridge) []direction.Fit {
	name := fmt.Sprint(trial, " ", ridge)
	if fits, ok := x.fits[name]; ok {
		return fits
	}
	var fits []direction.Fit
	for i, p := range x.pairs {
		g := newGenerator(seed002+" "+x.name, x.seed, uint64(1000*trial+i))
		order := g.permutation(len(p.x))
		order = order[:min(len(order)/2*2, 2*causalRecords)]
		train, a, b := make([]bool, len(order)), make([]float64, len(order)), make([]float64, len(order))
		scaled := [2][]float64{scaledTo(p.x), scaledTo(p.y)}
		for j, row := range order {
			train[j], a[j], b[j] = j < len(order)/2, scaled[0][row], scaled[1][row]
		}
		fits = append(fits, direction.FitRecords(a, b, train, ridge))
	}
	x.fits[name] = fits
	return fits
}

// scaledTo maps a column by its declared range to [-1, 1].
func scaledTo(column []float64) []float64 {
	lower, upper := outerQuantile(column, causalOuter), outerQuantile(column, 1-causalOuter)
	out := make([]float64, len(column))
	for i, x := range column {
		out[i] = 2*(x-lower)/(upper-lower) - 1
	}
	return out
}

// causalChance returns how likely a method of the thesis decides a pair rightly, by the law of its noise.
// s has no noise, and m is the number of test records.
func causalChance(k Key, s direction.Score, m int, p causalPair) float64 {
	n := float64(m)
	bound, published := direction.TestBound(s.Name, m), strings.HasSuffix(k.Method, causalPublished)
	switch {
	case k.Method == causalAll:
		bound = direction.HSICBound(direction.Ridge{Penalty: k.Setting.Noise, Width: .5}, m, m)
	case published && s.Name == direction.Spearman:
		bound = 30 / n
	case published && s.Name == direction.HSIC:
		bound = (12*n - 11) / ((n - 1) * (n - 1))
	}
	gap := s.Backward - s.Forward
	if !p.forward {
		gap = -gap
	}
	// The difference has sensitivity 2 bounds. As published both scores get noise of bound/epsilon,
	// which costs 2 epsilon (theorem 4 is the chance).
	kept := func(g float64) float64 { return 1 - .5*math.Exp(-g*k.Setting.Epsilon/(2*bound)) }
	if published {
		sigma := bound / k.Setting.Epsilon
		kept = func(g float64) float64 { return 1 - (g+2*sigma)/(4*sigma)*math.Exp(-g/sigma) }
	}
	if gap < 0 {
		return 1 - kept(-gap)
	}
	return kept(gap)
}

// madePair makes a pair like those of SIM: two monotone random maps of normal numbers, one of which is
// the cause, and the effect a random function of both.
func madePair(g *generator, n int) causalPair {
	x, e := monotone(g, n), monotone(g, n)
	y := standardize(randomFunction(g, [][]float64{x, e}, []float64{gamma(g, 2, .5) + .5, gamma(g, 2, 2) + 1}))
	for i := range n {
		x[i] += .02 * g.normal()
		y[i] += .05 * g.normal()
	}
	return causalPair{x, y, true}
}

// monotone maps standard normal numbers by the integral of the exponential of a random function.
func monotone(g *generator, n int) []float64 {
	z := g.normals(n)
	order := count(0, n)
	slices.SortFunc(order, func(i, j int) int { return cmp.Compare(z[i], z[j]) })
	sorted := make([]float64, n)
	for k, i := range order {
		sorted[k] = z[i]
	}
	f := randomFunction(g, [][]float64{sorted}, []float64{gamma(g, 5, .1) + .3})
	out, sum := make([]float64, n), 0.
	for k, i := range order {
		if k > 0 {
			sum += (math.Exp(f[k]) + math.Exp(f[k-1])) / 2 * (sorted[k] - sorted[k-1])
		}
		out[i] = sum
	}
	return standardize(out)
}

// randomFunction is a draw of a Gaussian process with a length scale per input, by 100 random cosines.
func randomFunction(g *generator, inputs [][]float64, scales []float64) []float64 {
	const features = 100
	out := make([]float64, len(inputs[0]))
	for range features {
		w := make([]float64, len(inputs))
		for d := range w {
			w[d] = g.normal() / scales[d]
		}
		phase, height := 2*math.Pi*g.uniform(), g.normal()*math.Sqrt(2./features)
		for i := range out {
			at := phase
			for d, v := range inputs {
				at += w[d] * v[i]
			}
			out[i] += height * math.Cos(at)
		}
	}
	return out
}

// standardize maps a column to mean 0 and standard deviation 1.
func standardize(v []float64) []float64 {
	mean, square := 0., 0.
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		square += (x - mean) * (x - mean) / float64(len(v))
	}
	out := make([]float64, len(v))
	for i, x := range v {
		out[i] = (x - mean) / math.Sqrt(square)
	}
	return out
}

// gamma returns a draw of the gamma law of a whole shape.
func gamma(g *generator, shape int, scale float64) float64 {
	sum := 0.
	for range shape {
		sum -= scale * math.Log(g.uniform())
	}
	return sum
}

// readCausalPairs reads a set of the archive: pairs of one column each.
func readCausalPairs(path, set string) (pairs []causalPair, err error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return nil, err
	}
	texts := map[string]string{}
	for r := tar.NewReader(unzipped); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if dir, name := filepath.Split(h.Name); filepath.Base(dir) == set {
			text, err := io.ReadAll(io.LimitReader(r, 1<<24))
			if err != nil {
				return nil, err
			}
			texts[name] = string(text)
		}
	}
	for line := range strings.Lines(texts["pairmeta.txt"]) {
		v := strings.Fields(line)
		if len(v) < 6 || v[1] != v[2] || v[3] != v[4] {
			continue
		}
		p := causalPair{forward: v[1] == "1"}
		for row := range strings.Lines(texts["pair"+v[0]+".txt"]) {
			cells := strings.Fields(row)
			if len(cells) != 2 {
				continue
			}
			a, err := strconv.ParseFloat(cells[0], 64)
			b, err2 := strconv.ParseFloat(cells[1], 64)
			if err := errors.Join(err, err2); err != nil {
				return nil, err
			}
			p.x, p.y = append(p.x, a), append(p.y, b)
		}
		if len(p.x) == 0 {
			return nil, fmt.Errorf("%w: pair %s of %s is empty", ErrData, v[0], set)
		}
		pairs = append(pairs, p)
	}
	if len(pairs) == 0 {
		return nil, fmt.Errorf("%w: %s has no pair of %s", ErrData, causalArchive, set)
	}
	return pairs, nil
}
