package boosting

import (
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// Method describes the trainer.
func (BoostedAdaSSP) Method() method.Method {
	return method.Method{
		Name: BoostedAdaSSP{}.Name(), Summary: "linear regression by boosting rounds on one noisy matrix",
		Relations:  method.EveryRecord(),
		Statistics: []mechanism.Statistic{gradientStatistic{}},
		New:        func(method.Values) method.Trainer { return BoostedAdaSSP{} },
	}
}

// Method describes the trainer.
func (Additive) Method() method.Method {
	return method.Method{
		Name: Additive{}.Name(), Summary: "a line and a curve for each number, added up round by round",
		Relations:  method.EveryRecord(),
		Statistics: []mechanism.Statistic{countsStatistic{}, valuesStatistic{}, sumsStatistic{}},
		New:        func(method.Values) method.Trainer { return Additive{} },
	}
}

// Method describes the trainer.
func (Kernel) Method() method.Method {
	return method.Method{
		Name: Kernel{}.Name(), Summary: "boosted-additive and a kernel of all columns together",
		Relations:  method.EveryRecord(),
		Statistics: []mechanism.Statistic{countsStatistic{}, valuesStatistic{}, sumsStatistic{}, kernelStatistic{}},
		New:        func(method.Values) method.Trainer { return Kernel{} },
	}
}

// Method describes the trainer.
func (BRC) Method() method.Method {
	return method.Method{
		Name: BRC{}.Name(), Summary: "boosting with random classifiers",
		ClassesFrom: 2, Relations: method.EveryRelation(), AllRecords: true,
		NoIndicator: "which looks at one number of a column",
		Pure:        func(v method.Values) bool { return slices.Contains([]string{Laplace, Paper}, v.Word("form")) },
		Keys: []method.Key{
			{Name: "form", Kind: method.Word, Text: "The form of the method",
				Own:   "gaussian, laplace (noise that delta 0 allows), or paper (as published)",
				Words: []string{Gaussian, Laplace, Paper}, Check: checkForm,
				Doc: "Of `brc`: `laplace` is `gaussian` with Laplace noise, which `delta: 0` needs. `paper` is the algorithm as published " +
					"(Laplace noise on the accuracy, random classifiers of all columns) and needs a relation with a public number of records."},
			{Name: "rounds", Text: "The number of rounds", Doc: "Each makes one random classifier.", Min: 1, Max: MaxRounds,
				Rest: ". Left out it is 100, and 25 for form paper", Absent: "`100`; `25` for form `paper`",
				Hint: "leave it out for the default"},
		},
		New: func(v method.Values) method.Trainer { return BRC{Form: v.Word("form"), Rounds: v.Int("rounds")} },
	}
}

// checkForm refuses the published form where the number of records is private.
func checkForm(form string, r budget.Relation) (message, hint string) {
	if form != Paper || r != budget.AddRemove {
		return "", ""
	}
	return "paper divides by the weight of all records, which needs a public number of them",
		"use relation " + budget.Substitute.String() + " or " + budget.SubstitutePrivateColumns.String() + ", or another form"
}
