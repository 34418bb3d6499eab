package describe

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/memory"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/internal/train/vocabulary"
)

// A Result holds the outcome of a description. The guarantee covers everything but Curator.
type Result struct {
	Guarantee   budget.Guarantee
	Addition    budget.Addition // how the events add up to the guarantee
	Events      []mechanism.Event
	Branch      string // the branch that was taken, of a plan with one for numbers and one for text; "" for any other
	Released    *Released
	Unprotected []pipeline.Fact
	Warnings    []pipeline.Warning

	// Curator is for the owner of the data: it is in no JSON, and prints as a remark.
	Curator pipeline.Curator `json:"-"`
}

// Run executes the plan on a table that was read with the schema of the study. Its errors do not depend on a
// record.
func (p *Plan) Run(ctx context.Context, t *dataset.Table) (*Result, error) {
	return p.runPlan(ctx, t, mechanism.NewSession, "")
}

// Rehearse reports, before any budget is spent, whether the noise of a step would leave the integer grid: the
// error then wraps mechanism.ErrScale. It reads no table.
func (p *Plan) Rehearse(ctx context.Context) error {
	t, err := pipeline.EmptyTable(p.study.Schema)
	if err != nil {
		return err
	}
	ways := []string{""}
	if undeclared, texts := p.study.undeclaredColumns(); len(undeclared) > 0 && len(texts) == 0 {
		ways = []string{vocabulary.NumbersBranch, vocabulary.WordsBranch}
	}
	for _, way := range ways {
		if _, err = p.runPlan(ctx, t, mechanism.NewRehearsal, way); err != nil {
			break
		}
	}
	return pipeline.TooFaint(err, p.study.Budget.Epsilon, "description")
}

// runPlan executes the plan in a session that open opens. forced is the branch of a rehearsal; a run takes the
// branch chosen by the released kinds of columns.
func (p *Plan) runPlan(
	ctx context.Context,
	t *dataset.Table,
	open func(*budget.Priced) (*mechanism.Session, error),
	forced string,
) (*Result, error) {
	root, all, err := pipeline.OpenStudy(p.Priced, p.study.Schema, t, open)
	if err != nil {
		return nil, err
	}
	r := &runner{
		plan:    p,
		session: root.Sub(partName),
		records: memory.NewRecords(all),
		columns: slices.Clone(p.study.Schema.Columns),
		forced:  forced,
	}
	if err := r.carryOut(ctx); err != nil {
		return nil, err
	}
	return &Result{
		Guarantee:   p.Guarantee(),
		Addition:    p.Addition(),
		Events:      root.Events(),
		Branch:      r.branch,
		Released:    r.out,
		Unprotected: p.study.Facts(),
		Warnings:    r.warnings(),
		Curator: pipeline.Curator{
			Rows:      t.Len(),
			TrainRows: all.Len(),
		},
	}, nil
}

// A runner executes one run.
type runner struct {
	plan    *Plan
	session *mechanism.Session
	records mechanism.Records
	columns []dataset.Column // as they were declared, or found
	forced  string
	branch  string
	out     *Released

	least  float64 // minimum noisy number of records of a text that becomes a category; 0 if the run did not search for categories
	texts  []int   // columns that were found to be text
	ranges []scaling.Range
	// The columns that are described, by position.
	numeric, categorical []int
}

func (r *runner) carryOut(ctx context.Context) error {
	for _, stage := range []struct {
		name string
		do   func(context.Context) error
	}{
		{vocabulary.Node, r.findVocabulary},
		{scalingName, r.findRanges},
		{histogramName, r.releaseHistogram},
		{momentsName, r.releaseMoments},
		{matrixName, r.releaseMatrix},
		{groupsName, r.releaseGroups},
	} {
		if err := stage.do(ctx); err != nil {
			return fmt.Errorf("%s: %w", stage.name, err)
		}
	}
	return nil
}

// findVocabulary determines which undeclared columns hold text, and the categories of text columns.
func (r *runner) findVocabulary(ctx context.Context) error {
	undeclared, search := r.plan.study.undeclaredColumns()
	asksFirst := len(undeclared) > 0 && len(search) == 0
	for _, j := range undeclared {
		r.columns[j].Found = false
	}
	if len(undeclared) > 0 {
		texts, err := vocabulary.FindTextColumns(
			ctx,
			r.session.Sub(vocabulary.Node),
			r.records,
			undeclared,
		)
		if err != nil {
			return err
		}
		switch r.forced {
		case vocabulary.NumbersBranch:
			texts = nil
		case vocabulary.WordsBranch:
			texts = undeclared
		}
		r.texts = texts
		search = append(search, texts...)
		slices.Sort(search)
	}
	if asksFirst {
		r.branch = vocabulary.NumbersBranch
		if len(search) > 0 {
			r.branch = vocabulary.WordsBranch
		}
		r.session = r.session.Sub(vocabulary.UndeclaredNode).Sub(r.branch)
	}
	if len(search) > 0 {
		found, least, err := vocabulary.FindCategories(
			ctx,
			r.session.Sub(vocabulary.Node),
			r.records,
			search,
		)
		if err != nil {
			return err
		}
		r.least = least
		for i, j := range search {
			c := &r.columns[j]
			*c = dataset.Column{
				Name:       c.Name,
				Kind:       dataset.Category,
				Categories: found[i],
				Other:      true,
				Found:      true,
				TextRule:   c.TextRule,
			}
		}
	}
	if len(undeclared) == 0 && len(search) == 0 {
		return nil
	}
	return mechanism.Resolve(ctx, r.columns, &r.records)
}

// findRanges finds the undeclared ranges of numeric columns, and determines which columns are described.
func (r *runner) findRanges(ctx context.Context) error {
	stage := r.plan.study.rangeStage()
	stage.Columns = r.columns
	var err error
	if r.ranges, err = stage.Run(ctx, r.session.Sub(scalingName), r.records); err != nil {
		return err
	}
	keep := r.session.KeepsColumns()
	r.out = &Released{By: r.plan.study.By}
	for j, c := range r.columns {
		x := Column{
			Name:   c.Name,
			Kind:   Numeric,
			Source: Found,
			Undeclared: r.plan.study.Schema.Columns[j].Found &&
				r.plan.study.Schema.Columns[j].Kind == dataset.Numeric,
			Text:       c.Kind == dataset.Category && c.Found,
			Nodes:      []float64{},
			Leaves:     []float64{},
			Categories: []string{},
			Counts:     []float64{},
		}
		switch in := r.ranges[j]; {
		case c.Kind == dataset.Category && len(c.Categories) == 0 && !keep:
			x.Kind = Unread
		case c.Kind == dataset.Category:
			x.Kind = Category
			x.Categories = append(x.Categories, c.Categories...)
			if !c.Found {
				x.Source = Declared
			}
			r.categorical = append(r.categorical, j)
		case (in.Unread || !(in.Upper/2-in.Lower/2 > 0)) && !keep:
			x.Kind = Unread
		default:
			x.Lower = in.Lower
			x.Upper = in.Upper
			if in.Declared {
				x.Source = Declared
			}
			r.numeric = append(r.numeric, j)
		}
		r.out.Columns = append(r.out.Columns, x)
	}
	return nil
}

// rangedColumns returns the numeric columns with their ranges. Missing values stay missing.
func (r *runner) rangedColumns() []interval {
	out := []interval{}
	for _, j := range r.numeric {
		out = append(out, interval{j, r.out.Columns[j].Lower, r.out.Columns[j].Upper, math.NaN()})
	}
	return out
}

// codeCounts returns the number of codes of each category column: one more than it has categories.
func (r *runner) codeCounts() []int {
	out := []int{}
	for _, j := range r.categorical {
		out = append(out, len(r.columns[j].Categories)+1)
	}
	return out
}

func (r *runner) releaseHistogram(ctx context.Context) error {
	if len(r.numeric)+len(r.categorical) == 0 {
		return nil
	}
	acc, err := mechanism.Sum[*treePass](
		ctx,
		r.session,
		r.records,
		treeStatistic{r.rangedColumns(), r.categorical, r.codeCounts()},
	)
	if err != nil {
		return err
	}
	released, err := mechanism.Gaussian(r.session, histogramName, acc.counts.Bound())
	if err != nil {
		return err
	}
	noise := r.session.Scale(histogramName)
	r.out.HistogramNoise = noise
	for i, x := range acc.counts.Read(released.Value()) {
		for _, list := range [][]float64{x.Nodes, x.Leaves, x.Other} {
			roundAll(list, noise)
		}
		if i >= len(r.numeric) {
			r.out.Columns[r.categorical[i-len(r.numeric)]].Counts = x.Other
			continue
		}
		c := &r.out.Columns[r.numeric[i]]
		c.Nodes = x.Nodes
		c.Leaves = x.Leaves
		c.Below = x.Other[0]
		c.Above = x.Other[1]
		c.Missing = x.Other[2]
	}
	return nil
}

func (r *runner) releaseMoments(ctx context.Context) error {
	public := r.session.Relation() != budget.AddRemove
	if public {
		n, err := r.records.Len(ctx)
		if err != nil {
			return err
		}
		r.out.Records = float64(n)
		if len(r.numeric) == 0 {
			return nil
		}
	}
	acc, err := mechanism.Sum[*momentPass](
		ctx,
		r.session,
		r.records,
		momentStatistic{r.rangedColumns()},
	)
	if err != nil {
		return err
	}
	released, err := mechanism.Gaussian(r.session, momentsName, acc.moments.Bound())
	if err != nil {
		return err
	}
	noise := r.session.Scale(momentsName)
	r.out.MomentNoise = noise
	records, columns := acc.moments.Read(released.Value())
	if !public {
		r.out.Records = roundedTo(records, noise)
		r.out.RecordNoise = noise
	}
	for i, x := range columns {
		c := &r.out.Columns[r.numeric[i]]
		c.Sum, c.Square, c.Absent = roundedTo(x.Sum, noise), roundedTo(x.Square, noise),
			roundedTo(x.Missing, noise)
	}
	return nil
}

// mostLevels is the largest number of categories of a column that have an entry of their own in the matrix, and mostLevelsInAll that of
// all columns.
const (
	mostLevels      = 32
	mostLevelsInAll = 256
)

// releaseMatrix releases the products of columns. The histogram determines the limits to which values are clamped, the
// value that replaces missing ones, and the categories that are frequent enough for an entry of their own.
func (r *runner) releaseMatrix(ctx context.Context) error {
	if len(r.numeric)+len(r.categorical) < 2 {
		return nil
	}
	x := matrixStatistic{
		Numeric:  r.rangedColumns(),
		Category: r.categorical,
	}
	for i, j := range r.numeric {
		c := &r.out.Columns[j]
		_, leaves := fitTree(c.Nodes, c.Leaves)
		below := noisyNumber{c.Below, r.out.HistogramNoise}
		above := noisyNumber{c.Above, r.out.HistogramNoise}
		values := r.valuesOf(c)
		c.CutLower, c.CutUpper = cutLimits(c.Lower, c.Upper, leaves, below, above, values)
		scan := quantileScan{leaves, r.out.HistogramNoise, below, values}
		_, _, at := scan.interval(.5)
		part := at / mechanism.TreeLeaves
		c.Fill = min(max(c.Lower*(1-part)+c.Upper*part, c.CutLower), c.CutUpper)
		cut := &x.Numeric[i]
		cut.Lower = c.CutLower
		cut.Upper = c.CutUpper
		cut.Fill = (c.Fill - (cut.Lower/2 + cut.Upper/2)) / (cut.Upper/2 - cut.Lower/2)
		cut.Fill = min(max(cut.Fill, -1), 1)
	}
	// The noise of a category count in the matrix, which contains it twice: on the diagonal and in the column
	// of the constant.
	sensitivity := x.squaredLimit()
	if r.session.Relation() != budget.AddRemove {
		sensitivity *= math.Sqrt2
	}
	sensitivity *= float64(r.plan.Target().Unit.Records())
	noise := sensitivity / r.session.Mu(matrixName) / math.Sqrt(3)
	levels := r.frequentLevels(minSignal * noise)
	for i, j := range r.categorical {
		entries := make([]int32, len(r.columns[j].Categories)+1)
		for k := range entries {
			entries[k] = int32(len(levels[i]))
		}
		for k, level := range levels[i] {
			entries[level] = int32(k)
		}
		x.Entries = append(x.Entries, entries)
		x.Levels = append(x.Levels, len(levels[i])+1)
	}
	acc, err := mechanism.Sum[*matrixPass](ctx, r.session, r.records, x)
	if err != nil {
		return err
	}
	released, err := mechanism.SymmetricGaussian(r.session, matrixName, acc.gram.Bound())
	if err != nil {
		return err
	}
	r.out.MatrixNoise = r.session.Scale(matrixName)
	packed := released.Value()
	roundAll(packed, r.out.MatrixNoise)
	r.out.Matrix = &Matrix{levels, packed}
	return nil
}

// valuesOf returns the number of values of a numeric column according to the moments.
func (r *runner) valuesOf(c *Column) noisyNumber {
	values, _ := r.out.countValues(c, noisyNumber{r.out.Records, r.out.RecordNoise})
	return values
}

// frequentLevels returns, by category column, the positions of the categories whose released counts are at least least, in
// increasing order: the most frequent ones where they are too many.
func (r *runner) frequentLevels(least float64) [][]int {
	most := max(min(mostLevels, mostLevelsInAll/max(len(r.categorical), 1)), 1)
	out := [][]int{}
	for _, j := range r.categorical {
		counts := r.out.Columns[j].Counts
		levels := []int{}
		for k := range r.columns[j].Categories {
			if counts[k] >= least {
				levels = append(levels, k)
			}
		}
		slices.SortStableFunc(levels, func(a, b int) int {
			switch {
			case counts[a] > counts[b]:
				return -1
			case counts[a] < counts[b]:
				return 1
			}
			return 0
		})
		levels = levels[:min(len(levels), most)]
		slices.Sort(levels)
		out = append(out, levels)
	}
	return out
}

// manyMissing is the number of standard deviations of its noise that the number of missing values of a column must exceed for it to be
// counted by group.
const manyMissing = 3

// releaseGroups releases counts and sums by group. In columns with many missing values these are counted by group. In all other
// columns they take the median.
func (r *runner) releaseGroups(ctx context.Context) error {
	by := r.plan.study.Schema.Index(r.plan.study.By)
	if by < 0 || len(r.numeric) == 0 || !slices.Contains(r.categorical, by) {
		return nil
	}
	g := &Groups{
		Column:  r.plan.study.By,
		Names:   append([]string{}, r.columns[by].Categories...),
		Sums:    [][]float64{},
		Missing: [][]float64{},
	}
	x := groupStatistic{
		By:      by,
		Groups:  len(g.Names) + 1,
		Numeric: r.rangedColumns(),
	}
	for i, j := range r.numeric {
		c := &r.out.Columns[j]
		_, missing := r.out.countValues(c, noisyNumber{})
		countEstimate := missing.value > manyMissing*missing.noise
		g.Counted = append(g.Counted, countEstimate)
		if !countEstimate {
			x.Numeric[i].Fill = min(max((c.Fill-(c.Lower/2+c.Upper/2))/c.halfWidth(), -1), 1)
		}
	}
	x.Counted = g.Counted
	acc, err := mechanism.Sum[*groupPass](ctx, r.session, r.records, x)
	if err != nil {
		return err
	}
	released, err := mechanism.Gaussian(r.session, groupsName, acc.sums.Bound())
	if err != nil {
		return err
	}
	g.CountNoise, g.SumNoise = acc.sums.Noise(r.session.Scale(groupsName))
	for _, group := range acc.sums.Read(released.Value()) {
		roundAll(group.Sums, g.SumNoise)
		roundAll(group.Missing, g.SumNoise)
		g.Counts = append(g.Counts, roundedTo(group.Records, g.CountNoise))
		g.Sums = append(g.Sums, group.Sums)
		g.Missing = append(g.Missing, group.Missing)
	}
	r.out.Groups = g
	return nil
}
