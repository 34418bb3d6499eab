package tukey

import "github.com/dptrain/dptrain/internal/train/method"

// Method describes the trainer.
func (Tukey) Method() method.Method {
	return method.Method{
		Name: Tukey{}.Name(), Summary: "the deepest of many small models, or none",
		MaxScores: 1, Relations: method.EveryRecord(), Abstains: true,
		Keys: []method.Key{{
			Name: "buckets", Text: "Into how many parts the records are dealt", Min: leastBuckets, Max: mostBuckets, OpenEnded: true,
			TooSmall: "with fewer the check never passes", Rest: ". Left out, the method decides", Absent: "the method decides", Hint: "leave it out to let the method decide",
		}},
		New: func(v method.Values) method.Trainer { return Tukey{Buckets: v.Int("buckets")} },
	}
}
