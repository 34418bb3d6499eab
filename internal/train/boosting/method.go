package boosting

import (
	"fmt"

	settings "github.com/dptrain/dptrain/boosting"
	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/method"
)

// Method describes the trainer.
func (BoostedAdaSSP) Method() method.Method {
	return method.Method{
		Name:      BoostedAdaSSP{}.Name(),
		Summary:   "linear regression boosted on one noisy matrix",
		Relations: method.EveryRecord(),
		Keys: []method.Key{
			{
				Name:   "rounds",
				Text:   "Number of rounds",
				Min:    1,
				Max:    MaxRounds,
				Rest:   " (default: boosted-adassp chooses 1 to 10 from the released matrix, brc runs 100, or 25 with form paper)",
				Absent: "`1` to `10`, chosen from the released matrix",
				Hint:   "omit it for the default",
				Doc:    "For `boosted-adassp`, the number of released gradients, which divide one budget equally (T in algorithm 1 of Tang and others, 2023).",
			},
			{
				Name:   "clip",
				Kind:   method.Number,
				Min:    minClip,
				Max:    maxClip,
				Absent: "`1`",
				Hint:   "omit it for the default",
				Text:   "Largest residual, in half widths of the target's range; larger ones are clamped",
				Doc: "Algorithm 1 of Tang and others (2023) clips gradients to this bound. The noise in a gradient is proportional to it. " +
					"Below 1, the first round also clamps targets, which pulls their mean towards the middle of the range.",
			},
			{
				Name:   "shrinkage",
				Kind:   method.Number,
				Min:    minShrinkage,
				Max:    1,
				Absent: "`1`",
				Hint:   "omit it for the default",
				Text:   "Factor by which every step is multiplied",
				Doc:    "Smaller steps need more rounds. See Friedman, \"Greedy function approximation\" (2001), section 5.",
			},
			{
				Name: "gram_share", Kind: method.Number, Min: minGramShare, Max: maxGramShare,
				Absent: "`0.5`", Hint: "omit it for the default",
				Text: "Share of the model's budget for the matrix of second moments; the gradients use the rest",
				Doc:  "For `boosted-adassp`, a share of mu squared, which algorithm 1 of Tang and others (2023) divides among the matrix, its smallest eigenvalue and the gradients.",
			},
		},
		Statistics: []mechanism.Statistic{gradientStatistic{}},
		Is:         method.HasType[BoostedAdaSSP],
		FromSettings: method.FromSettings(func(x settings.BoostedAdaSSP) method.Trainer {
			return BoostedAdaSSP(x)
		}),
		New: func(v method.Values) method.Trainer {
			return BoostedAdaSSP{
				Rounds:    v.Int("rounds"),
				Clip:      v.Number("clip"),
				Shrinkage: v.Number("shrinkage"),
				GramShare: v.Number("gram_share"),
			}
		},
	}
}

// Method describes the trainer.
func (Additive) Method() method.Method {
	return method.Method{
		Name:      Additive{}.Name(),
		Summary:   "additive model: a line and a curve per numeric column",
		Relations: method.EveryRecord(),
		Statistics: []mechanism.Statistic{countsStatistic{}, valuesStatistic{}, sumsStatistic{},
			meanStatistic{}},
		Is: method.HasType[Additive],
		FromSettings: method.FromSettings(func(x settings.Additive) method.Trainer {
			return Additive(x)
		}),
		New: func(method.Values) method.Trainer {
			return Additive{}
		},
	}
}

// Method describes the trainer.
func (Kernel) Method() method.Method {
	return method.Method{
		Name:      Kernel{}.Name(),
		Summary:   "boosted-additive plus a kernel model of all columns jointly",
		Relations: method.EveryRecord(),
		Statistics: []mechanism.Statistic{countsStatistic{}, valuesStatistic{}, sumsStatistic{},
			kernelStatistic{}, meanStatistic{}},
		Is: method.HasType[Kernel],
		FromSettings: method.FromSettings(func(_ settings.Kernel) method.Trainer {
			return Kernel{}
		}),
		New: func(method.Values) method.Trainer {
			return Kernel{}
		},
	}
}

// Method describes the trainer.
func (BRC) Method() method.Method {
	return method.Method{
		Name:        BRC{}.Name(),
		Summary:     "boosting with random classifiers",
		ClassesFrom: 2,
		Relations:   method.EveryRelation(),
		AllRecords:  true,
		NoIndicator: "which uses one number per column",
		Keys: []method.Key{
			{
				Name:  "form",
				Kind:  method.Word,
				Text:  "Variant of the method",
				Own:   "gaussian, laplace (the default with delta 0), or paper (as published)",
				Words: []string{Gaussian, Laplace, Paper},
				Check: checkForm,
				Doc: "For `brc`, `laplace` is `gaussian` with Laplace noise, and the default with `delta: 0`. `paper` is the published algorithm " +
					"(Laplace noise on the accuracy, random classifiers of all columns) and needs a relation with a public number of records.",
			},
			{
				Name:   "rounds",
				Text:   "Number of rounds",
				Doc:    "For `brc`, the number of random classifiers.",
				Min:    1,
				Max:    MaxRounds,
				Absent: "`100`; `25` for form `paper`",
				Hint:   "omit it for the default",
			},
			{Name: lowerKey, Kind: method.Number, Text: "Smallest weight of a record", Absent: "`0.5`",
				Min: leastWeight, Max: maxWeightRatio,
				Hint: "omit it for the default",
				Doc:  "The bound l of BRC (2023, section 3), which keeps private weights between l and u. At most `weight_upper`, and at least 1/1024 of it."},
			{Name: upperKey, Kind: method.Number, Text: "Largest weight of a record", Absent: "`2`",
				Min: leastWeight, Max: maxWeightRatio,
				Hint: "omit it for the default",
				Doc:  "The bound u of BRC (2023, section 3). The noise of a round is proportional to u, but only the ratio of u to l matters."},
			{Name: "intercept", Kind: method.Word, Text: "Intercept of the random classifiers",
				Rest:  ": random, zero, or exponential (chosen by the exponential mechanism)",
				Words: intercepts(),
				Doc: "As in BRC (2023, section 6), `random` is drawn without the data, like the coefficients, and `zero` is 0. `exponential` is chosen " +
					"in every round from 33 points by the exponential mechanism, with the agreement as utility and half of the rounds' budget."},
		},
		Check: checkWeights,
		Is:    method.HasType[BRC],
		FromSettings: method.FromSettings(func(x settings.BRC) method.Trainer {
			return BRC(x)
		}),
		New: func(v method.Values) method.Trainer {
			t := BRC{
				Form:      v.Word("form"),
				Rounds:    v.Int("rounds"),
				Intercept: v.Word("intercept"),
			}
			if v.Has(lowerKey) || v.Has(upperKey) {
				t.Lower, t.Upper = weightsOf(v)
			}
			return t
		},
	}
}

// Keys of the bounds of weights.
const (
	lowerKey = "weight_lower"
	upperKey = "weight_upper"
)

// intercepts lists the values of the key intercept, the default first.
func intercepts() []string {
	return []string{randomIntercept, zeroIntercept, chosenIntercept}
}

// weightsOf returns the bounds of weights, with defaults for those not set.
func weightsOf(v method.Values) (lower, upper float64) {
	lower = defaultWeightLower
	upper = defaultWeightUpper
	if v.Has(lowerKey) {
		lower = v.Number(lowerKey)
	}
	if v.Has(upperKey) {
		upper = v.Number(upperKey)
	}
	return lower, upper
}

// checkWeights validates the bounds of weights against each other.
func checkWeights(v method.Values) (key, message, hint string) {
	lower, upper := weightsOf(v)
	key = lowerKey
	if !v.Has(lowerKey) {
		key = upperKey
	}
	switch {
	case lower > upper:
		return key,
			fmt.Sprintf("allows weights from %s to %s", fault.Number(lower),
				fault.Number(upper)),
			"the defaults are weight_lower 0.5 and weight_upper 2"
	case upper > maxWeightRatio*lower:
		return key,
			fmt.Sprintf("makes weight_upper more than %d times weight_lower", maxWeightRatio),
			"the noise is proportional to their ratio"
	}
	return "", "", ""
}

// checkForm rejects the published form if the number of records is private.
func checkForm(form string, r budget.Relation) (message, hint string) {
	if form != Paper || r != budget.AddRemove {
		return "", ""
	}
	return "paper divides by the total weight of the records, which needs a public number of records",
		"use relation " + budget.Substitute.String() + " or " +
			budget.SubstitutePrivateColumns.String() + ", or use another form"
}
