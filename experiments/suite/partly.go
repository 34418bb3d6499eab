package suite

import (
	"context"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/baseline"
	"github.com/dptrain/dptrain/internal/bench"
)

// Seed004 is the name of the experiments of "Classification with Partially Private
// Features", sections 4 to 7.
const Seed004 = "seed-004"

const (
	partlyTrials = 10
	partlyDelta  = bench.DefaultDelta
	// smallRows is the number of records from which the experiment on a small table takes a balanced subset (figure
	// 4d), and smallTest the number of other records that it tests.
	smallRows, smallTest = 500, 2000
)

// partlyEpsilons are the budgets of figures 2 to 4.
var partlyEpsilons = [...]float64{.1, .3, .5, 1, 3, 5}

// A partlySet is one table of the experiment in one coding.
type partlySet struct {
	name       string // of the set in the results
	file       string // prefix of the name of the table
	drop       []string
	categories []string // numeric columns that are categories
	public     []string
	codes      bool
	small      bool // trains on the first smallRows records only
	optional   bool // left out if the folder lacks its table
}

// These are the sets. The last columns of their tables are the classes.
const (
	adultCodes   = "adult, integer codes"
	adultOneHot  = "adult, one-hot"
	creditCodes  = "credit default, integer codes"
	creditOneHot = "credit default, one-hot"
	bankCodes    = "bank marketing, integer codes"
	bankOneHot   = "bank marketing, one-hot"
	adultSmall   = "adult, first 500, integer codes"
)

func partlySets() []partlySet {
	adult := []string{"workclass", "fnlwgt", "race", "sex", "native-country"}
	credit := []string{"LIMIT_BAL", "SEX"}
	names := []string{"SEX", "EDUCATION", "MARRIAGE"}
	bank := []string{"campaign", "pdays", "poutcome"}
	return []partlySet{
		{
			name:   adultCodes,
			file:   "adult",
			public: adult,
			codes:  true,
		},
		{name: adultOneHot, file: "adult", public: adult},
		{
			name:   creditCodes,
			file:   "credit_default",
			drop:   []string{"ID"},
			public: credit,
			codes:  true,
		},
		{
			name:       creditOneHot,
			file:       "credit_default",
			drop:       []string{"ID"},
			public:     credit,
			categories: names,
		},
		{
			name:     bankCodes,
			file:     "bank",
			public:   bank,
			codes:    true,
			optional: true,
		},
		{
			name:     bankOneHot,
			file:     "bank",
			public:   bank,
			optional: true,
		},
		{
			name:   adultSmall,
			file:   "adult",
			public: adult,
			codes:  true,
			small:  true,
		},
	}
}

// partlyPlan is the experiment on the tables of a folder, which must contain adult and credit default, and the toy
// example, which needs no table.
func partlyPlan(o Options) (*Plan, error) {
	tables, err := listTables(o.Data)
	if err != nil {
		return nil, err
	}
	p := &Plan{Page: partlyPage}
	for _, set := range partlySets() {
		file, err := tableNamed(tables, set.file)
		switch {
		case err != nil && set.optional:
			continue
		case err != nil:
			return nil, err
		}
		x := &partly{
			set:  set,
			path: file.path,
			seed: o.Seed,
		}
		var cells []Cell
		for _, m := range partlyMethods() {
			cells = append(cells, m.cells(set.name)...)
		}
		if set.name == adultCodes {
			p.Tasks = append(p.Tasks,
				Task{
					Name:   curveSet,
					Cells:  curveCells(),
					Trials: o.trials(partlyTrials),
					Run:    x.run,
				})
		}
		p.Tasks = append(p.Tasks,
			Task{
				Name:   set.name,
				Cells:  cells,
				Trials: o.trials(partlyTrials),
				Run:    x.run,
			})
	}
	p.Tasks = append(p.Tasks, toyTask(o))
	return p, nil
}

// A partlyMethod is a method of the experiment.
type partlyMethod struct {
	name string
	open bool // without privacy: no epsilon
	run  func(context.Context, partlyTrial) Outcome
}

func partlyCell(data string, m partlyMethod, epsilon float64) Cell {
	c := Cell{Data: data, Method: m.name}
	if !m.open {
		c.Setting = Setting{
			Epsilon: epsilon,
			Delta:   partlyDelta,
		}
	}
	return c
}

// cells lists the cells of a method on a set.
func (m partlyMethod) cells(data string) []Cell {
	if m.open {
		return []Cell{partlyCell(data, m, 0)}
	}
	var out []Cell
	for _, epsilon := range partlyEpsilons {
		out = append(out, partlyCell(data, m, epsilon))
	}
	return out
}

// partly runs the experiment on one table.
type partly struct {
	set  partlySet
	path string
	seed uint64

	once  sync.Once
	table *dataset.Table
	err   error
}

// A partlyTrial is the input of a method: disjoint records of a balanced table, with private columns marked, and the
// budget of a private method.
type partlyTrial struct {
	train     dataset.View
	test      dataset.View
	target    budget.Target
	generator *generator // for methods without privacy
}

func (x *partly) run(
	ctx context.Context,
	todo []Key,
	emit func(Key, Outcome),
) error {
	x.once.Do(func() {
		if x.table, x.err = readClassTable(ctx, x.path, x.set.drop, x.set.categories,
			x.set.codes); x.err != nil {
			return
		}
		x.table, x.err = redeclare(x.table.View(), marked(x.table.Schema().Columns, x.set.public))
	})
	if x.err != nil {
		return x.err
	}
	return forEachTrial(ctx, todo, func(ctx context.Context, k Key) Outcome {
		for _, m := range append(partlyMethods(), curveMethods()...) {
			if m.name == k.Method {
				return m.run(ctx, x.trial(k))
			}
		}
		return failure(Unavailable, fmt.Errorf("%w: method %q", ErrUnknown, k.Method))
	}, emit)
}

// trial splits the table for a trial. The split is the same for every method.
func (x *partly) trial(k Key) partlyTrial {
	g := newGenerator(Seed004+" "+x.set.name, x.seed, uint64(k.Trial))
	labels := baseline.Labels(x.table.View())
	n := x.table.Len()
	var train, test []int
	if x.set.small {
		first := min(smallRows, n/2)
		train = balanced(labels, count(0, first), g)
		test = balanced(labels, count(first, n), g)
		test = test[:min(smallTest, len(test))]
	} else {
		rows := balanced(labels, count(0, n), g)
		test = rows[:len(rows)/10]
		train = rows[len(rows)/10:]
	}
	return partlyTrial{rowsOf(x.table, train), rowsOf(x.table, test),
		budget.Target{
			Epsilon: k.Setting.Epsilon,
			Delta:   k.Setting.Delta,
		}, g}
}
