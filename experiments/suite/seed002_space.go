package suite

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/dptrain/dptrain/internal/bench/compress"
	"github.com/dptrain/dptrain/internal/numeric/neighbour"
)

// spaceShares are the shares of the training records that are kept as reference vectors (figure
// 3.3, table 3.3).
var spaceShares = [...]float64{.01, .02, .04, .08, .16}

const (
	spaceTrials = 3
	// metricUpTo is the largest share for which snc with a metric is run.
	metricUpTo = .04
	// noiseRows is the number of training records of letters in the experiment on label noise, which tests on the
	// table's own test records.
	noiseRows = 8000
)

// spaceNoise are the shares of labels that are redrawn (figure 3.5).
var spaceNoise = [...]float64{0, .02, .04, .08, .16, .32}

// A spaceSet is a table of the experiment.
type spaceSet struct {
	name, file string // file is that of the table, without its suffix
	train      int    // number of first records for training, the others test; 0: a random fifth tests
	components int    // principal components instead of standardised columns; 0 for no components
	categories []string
}

// spaceSets are the tables of the thesis that are public here, and two more.
func spaceSets() []spaceSet {
	return []spaceSet{
		{name: "letters", file: "letters", train: 16000},
		{name: "satellite", file: "satellite"},
		{
			name:       "usps",
			file:       "usps",
			train:      7291,
			components: 50,
		},
		{
			name:       "isolet",
			file:       "isolet1560",
			components: 100,
		},
	}
}

// noisyLetters is the table of the experiment on label noise.
const noisyLetters = "letters, label noise"

// The methods of the experiment.
const (
	spaceAll       = "1nn, all records"
	spaceSubsample = "stratified subsample"
	spaceSNC       = "snc"
	spaceMetric    = "snc with a metric"
	spaceCNN       = "cnn"
	spaceFCNN      = "fcnn"
)

// The metrics of the experiment.
const (
	metricError     = "error"          // share of the test records that are misclassified
	metricWeighted  = "weighted_error" // the same, by the votes of the nearest vectors of snc
	metricShare     = "kept"           // vectors, as a share of the training records
	metricVectors   = "vectors"        // their number
	metricFit       = "fit_seconds"    // time to compute the vectors, on all processors
	metricOne       = "one_seconds"    // per prediction, comparing with all vectors, on one processor
	metricTree      = "tree_seconds"   // per prediction by a tree, on one processor
	metricDistances = "tree_distances" // distances computed by a tree per prediction
)

// spacePart is chapter 3 of the thesis.
func spacePart() thesisPart {
	return thesisPart{
		name:     "space",
		title:    "Fewer neighbours: stochastic neighbour compression",
		tasks:    spaceTasks,
		sections: spaceSections,
		lead: []string{
			"Chapter 3: a nearest-neighbour classifier whose training records are compressed to a few " +
				"reference vectors, against a subsample, condensing (CNN, FCNN) and all records. Nothing here is " +
				"private: vectors are records, or lie near records.",
			"Columns are standardised by the training records; usps and isolet have their first 50 and 100 " +
				"principal components in place of the thesis' LMNN. letters and usps have their own test " +
				"records, of the others a random fifth tests.",
			fmt.Sprintf(
				"Errors are those of one nearest neighbour, or of %d weighted votes. Vectors move by Adam in %d passes "+
					"over the records; the thesis has conjugate gradient.", compress.Voters,
				compress.DefaultPasses),
		},
	}
}

func spaceCell(data, method string, share, noise float64) Cell {
	return Cell{
		Data:    data,
		Method:  method,
		Setting: Setting{Share: share, Noise: noise},
	}
}

// spaceTasks lists the trials. They run sequentially, since each uses all processors and is timed.
func spaceTasks(o Options) ([]Task, error) {
	tables, err := listTables(partFolder(o.Data, "classification"))
	if err != nil {
		return nil, err
	}
	var tasks []Task
	for _, set := range spaceSets() {
		file, err := tableNamed(tables, set.name)
		if err != nil {
			return nil, err
		}
		x := &space{
			set:  set,
			path: file.path,
			seed: o.Seed,
		}
		cells := []Cell{spaceCell(set.name, spaceAll, 0, 0), spaceCell(set.name, spaceCNN, 0, 0),
			spaceCell(set.name, spaceFCNN, 0, 0)}
		for _, m := range spaceCurves() {
			for _, share := range spaceShares {
				if m != spaceMetric || share <= metricUpTo {
					cells = append(cells, spaceCell(set.name, m, share, 0))
				}
			}
		}
		tasks = append(tasks,
			Task{
				Name:   set.name,
				Cells:  cells,
				Trials: o.trials(spaceTrials),
				Run:    x.run,
			})
		if set.name == "letters" {
			tasks = append(tasks,
				Task{
					Name:   noisyLetters,
					Cells:  noiseCells(),
					Trials: o.trials(spaceTrials),
					Run:    x.run,
				})
		}
	}
	return tasks, nil
}

// noiseCells lists the cells of the experiment on label noise.
func noiseCells() []Cell {
	var cells []Cell
	for _, noise := range spaceNoise {
		for _, m := range []string{spaceAll, spaceCNN, spaceFCNN} {
			cells = append(cells, spaceCell(noisyLetters, m, 0, noise))
		}
		for _, share := range spaceShares[1:4] {
			cells = append(cells, spaceCell(noisyLetters, spaceSNC, share, noise))
		}
	}
	return cells
}

// space runs the experiment on one table.
type space struct {
	set  spaceSet
	path string
	seed uint64

	once   sync.Once
	points neighbour.Points
	count  int // of classes
	err    error
}

func (x *space) run(
	ctx context.Context,
	todo []Key,
	emit func(Key, Outcome),
) error {
	x.once.Do(func() { x.err = x.load(ctx) })
	if x.err != nil {
		return x.err
	}
	for _, k := range todo {
		start := time.Now()
		o := x.outcome(ctx, k)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		o.Seconds = time.Since(start).Seconds()
		emit(k, o)
	}
	return nil
}

func (x *space) load(ctx context.Context) error {
	t, err := readClassTable(ctx, x.path, nil, x.set.categories, false)
	if err != nil {
		return err
	}
	columns := t.Schema().Columns
	x.count = len(columns[len(columns)-1].Categories)
	x.points, _, err = compress.Points(t)
	return err
}

// split returns the training and the test records of a trial in the space of distances. The split is the same for
// every method.
func (x *space) split(k Key) (train, test neighbour.Points, g *generator, err error) {
	g = newGenerator(seed002+" "+k.Data, x.seed, uint64(k.Trial))
	n := x.points.Len()
	order := g.permutation(n)
	first := n - n/5
	if x.set.train > 0 && x.set.train < n {
		order = count(0, n)
		first = x.set.train
	}
	rows := order[:first]
	if k.Data == noisyLetters {
		rows = reorder(rows, g.permutation(len(rows)))[:min(noiseRows, len(rows))]
	}
	train, test = x.points.Subset(rows), x.points.Subset(order[first:])
	for i := range train.Class {
		if k.Data == noisyLetters && g.uniform() < k.Setting.Noise {
			train.Class[i] = int32(g.uniformBelow(x.count))
		}
	}
	scale := neighbour.Standard(train)
	if x.set.components > 0 {
		if scale, err = neighbour.Components(train, x.set.components); err != nil {
			return train, test, g, err
		}
	}
	return scale.Apply(train), scale.Apply(test), g, nil
}

// outcome computes the vectors of a cell and evaluates them.
func (x *space) outcome(ctx context.Context, k Key) Outcome {
	train, test, g, err := x.split(k)
	if err != nil {
		return failed(err)
	}
	start := time.Now()
	refs, snc, err := vectorsOf(ctx, k, train, g)
	if err != nil {
		return failed(err)
	}
	o := Outcome{
		Status: OK,
		Values: map[string]float64{
			metricFit:     time.Since(start).Seconds(),
			metricVectors: float64(refs.Len()),
			metricShare:   float64(refs.Len()) / float64(train.Len()),
		},
	}
	search := neighbour.Search(refs)
	if snc != nil {
		if snc.Metric != nil {
			test = neighbour.Scaling{
				Center: make([]float64, test.Dim),
				Scale:  ones(test.Dim),
				Map:    snc.Metric,
				Out:    test.Dim,
			}.Apply(test)
		}
		o.Values[metricWeighted] = errorShare(
			search.Classes(test, neighbour.Vote{
				K:      compress.Voters,
				Gamma2: snc.Gamma2,
			}),
			test.Class)
	}
	o.Values[metricError] = errorShare(search.Classes(test, nearestOne), test.Class)
	if k.Data == noisyLetters {
		return o
	}
	timed := timedRows(test)
	o.Values[metricOne] = perRecord(timed, func(p neighbour.Points) {
		search.Classes(p, nearestOne)
	})
	tree, err := neighbour.NewTree(refs)
	if err != nil {
		return failed(err)
	}
	distances := int64(0)
	o.Values[metricTree] = perRecord(timed, func(p neighbour.Points) {
		_, n := tree.Classes(p, nearestOne)
		distances += n
	})
	o.Values[metricDistances] = float64(distances) / float64(timedRepeats*timed.Len())
	return o
}

// nearestOne is the vote of one nearest neighbour.
var nearestOne = neighbour.Vote{K: 1}

// vectorsOf computes the reference vectors of a cell. For snc it also returns the whole model.
func vectorsOf(
	ctx context.Context,
	k Key,
	train neighbour.Points,
	g *generator,
) (refs neighbour.Points, snc *neighbour.Compressed, err error) {
	order := g.permutation(train.Len())
	start := neighbour.Stratified(
		train,
		int(math.Round(k.Setting.Share*float64(train.Len()))),
		order,
	)
	var rows []int
	switch k.Method {
	case spaceAll:
		return train, nil, nil
	case spaceSubsample:
		rows = start
	case spaceCNN:
		rows, err = neighbour.Condense(ctx, train, order)
	case spaceFCNN:
		rows, err = neighbour.FastCondense(ctx, train)
	case spaceSNC, spaceMetric:
		o := neighbour.Options{
			Passes: compress.DefaultPasses,
			Metric: k.Method == spaceMetric,
			Seed:   g.next(),
		}
		c, err := neighbour.Compress(ctx, train, start, o)
		return c.References, &c, err
	default:
		return refs, nil, fmt.Errorf("%w: method %q", ErrUnknown, k.Method)
	}
	return train.Subset(rows), nil, err
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// errorShare returns the share of predictions that differ from the truth.
func errorShare(predicted, truth []int32) float64 {
	n := 0
	for i, c := range predicted {
		if c != truth[i] {
			n++
		}
	}
	return float64(n) / float64(len(truth))
}

// timedBlock is the number of records that are predicted at once when predictions are timed, small enough for one
// goroutine.
const timedBlock, timedRepeats = 64, 7

// timedRows returns whole blocks of records, at most 512.
func timedRows(p neighbour.Points) neighbour.Points {
	return p.Subset(count(0, max(1, min(p.Len(), 8*timedBlock)/timedBlock*timedBlock)))
}

// perRecord returns the time per record: the median over blocks of the smallest time of several repetitions, which is
// robust to other load on the machine.
func perRecord(p neighbour.Points, predict func(neighbour.Points)) float64 {
	var blocks []float64
	for i := 0; i < p.Len(); i += timedBlock {
		b := p.Subset(count(i, min(i+timedBlock, p.Len())))
		least := math.Inf(1)
		for range timedRepeats {
			start := time.Now()
			predict(b)
			least = min(least, time.Since(start).Seconds()/float64(b.Len()))
		}
		blocks = append(blocks, least)
	}
	return Describe(blocks).Median
}
