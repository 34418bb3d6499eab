package adassp

import (
	"fmt"

	settings "github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/method"
)

// Method describes the trainer.
func (JointGram) Method() method.Method {
	return method.Method{
		Name:           JointGram{}.Name(),
		Summary:        "linear regression from one noisy matrix of second moments",
		ClassesFrom:    3,
		Relations:      method.EveryRelation(),
		PublicFeatures: true,
		Statistics:     []mechanism.Statistic{partStatistic{}},
		Is:             method.HasType[JointGram],
		FromSettings: method.FromSettings(func(_ settings.JointGram) method.Trainer {
			return JointGram{}
		}),
		New: func(method.Values) method.Trainer {
			return JointGram{}
		},
	}
}

// Method describes the trainer.
func (AdaSSP) Method() method.Method {
	return method.Method{
		Name:           AdaSSP{}.Name(),
		Summary:        "linear regression from three releases (Wang 2018)",
		Relations:      method.EveryRecord(),
		PublicFeatures: true,
		Statistics:     []mechanism.Statistic{momentsStatistic{}},
		Keys: []method.Key{
			shareKey(gramKey, "the second moments", matrixShare,
				"For `adassp`, this share, `cross_share` and `eigenvalue_share` divide mu squared (epsilon under basic composition) "+
					"and add up to 1. Omitted shares divide the rest in proportion to their defaults. The paper (Wang 2018, algorithm 2) "+
					"gives each release a third of epsilon and delta."),
			shareKey(crossKey, "the products with the target", momentsShare,
				"See `gram_share` (Wang 2018, algorithm 2)."),
			shareKey(eigenvalueKey, "the smallest eigenvalue", eigenvalueShare,
				"See `gram_share` (Wang 2018, algorithm 2)."),
		},
		Check: checkShares,
		Is:    method.HasType[AdaSSP],
		FromSettings: method.FromSettings(func(x settings.AdaSSP) method.Trainer {
			return AdaSSP(x)
		}),
		New: func(v method.Values) method.Trainer {
			return newAdaSSP(v)
		},
	}
}

// Keys of the shares.
const (
	gramKey       = "gram_share"
	crossKey      = "cross_share"
	eigenvalueKey = "eigenvalue_share"
)

func newAdaSSP(v method.Values) AdaSSP {
	return AdaSSP{
		EigenvalueShare: v.Number(eigenvalueKey),
		GramShare:       v.Number(gramKey),
		CrossShare:      v.Number(crossKey),
	}
}

// shareKey returns the key for the share of a release.
func shareKey(name, release string, usual float64, doc string) method.Key {
	return method.Key{
		Name:   name,
		Kind:   method.Number,
		Text:   "Share of the model's budget for " + release,
		Min:    0,
		Max:    1,
		Above:  true,
		Below:  true,
		Absent: fmt.Sprintf("`%v`", usual),
		Hint:   "omit it for the default",
		Doc:    doc,
	}
}

// checkShares rejects shares that do not add up to 1.
func checkShares(v method.Values) (key, message, hint string) {
	if _, err := newAdaSSP(v).shares(); err == nil {
		return "", "", ""
	}
	sum := 0.
	given := 0
	for _, name := range []string{gramKey, crossKey, eigenvalueKey} {
		if v.Has(name) {
			key, sum, given = name, sum+v.Number(name), given+1
		}
	}
	if given < 3 {
		return key,
			fmt.Sprintf("makes the given shares add up to %s, which leaves nothing for the others",
				fault.Number(sum)), "all shares add up to 1; make one of them smaller"
	}
	return key, fmt.Sprintf("makes the three shares add up to %s, not 1", fault.Number(sum)),
		"omit one of them; it takes the rest"
}
