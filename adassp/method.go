package adassp

import (
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
)

// Method describes the trainer.
func (JointGram) Method() method.Method {
	return method.Method{
		Name: JointGram{}.Name(), Summary: "linear regression from one noisy matrix of second moments",
		ClassesFrom: 3, Relations: method.EveryRelation(),
		Statistics: []mechanism.Statistic{partStatistic{}},
		New:        func(method.Values) method.Trainer { return JointGram{} },
	}
}

// Method describes the trainer.
func (AdaSSP) Method() method.Method {
	return method.Method{
		Name: AdaSSP{}.Name(), Summary: "linear regression from three releases (Wang 2018)",
		Relations:  method.EveryRecord(),
		Statistics: []mechanism.Statistic{momentsStatistic{}},
		New:        func(method.Values) method.Trainer { return AdaSSP{} },
	}
}
