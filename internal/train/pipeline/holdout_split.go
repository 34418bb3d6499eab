package pipeline

import (
	"github.com/dptrain/dptrain/internal/mechanism"
)

// splitRecords assigns every record, by the coin of its unit, or its own if there are no units, to the training or the
// held-out part.
func (r *runner) splitRecords(
	s *mechanism.Session,
	all mechanism.Records,
) (train, held mechanism.Records) {
	defer r.startStage("split")()
	train, held = dealRecords(s, all, "split", r.pipeline.Holdout)
	if r.pipeline.GroupsOnly { // the last column is for the held-out part
		train = train.Columns(firstColumns(len(r.plan.columns) - 1))
	}
	return train, held
}

// dealRecords deals every record, by the coin of that name of its unit, to the second
// part with probability share and else to the first.
func dealRecords(
	s *mechanism.Session,
	all mechanism.Records,
	coin string,
	share float64,
) (first, second mechanism.Records) {
	first, second = all.Deal(s.Coins(coin), share)
	return trainingPart(s, first, all), second
}
