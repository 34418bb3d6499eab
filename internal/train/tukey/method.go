package tukey

import (
	"fmt"
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/method"
	settings "github.com/dptrain/dptrain/tukey"
)

// Keys of the split of epsilon.
const (
	checkKey = "check_share"
	stepKey  = "depth_share"
)

// Method describes the trainer.
func (Tukey) Method() method.Method {
	usual := mechanism.UsualSplit()
	return method.Method{
		Name:      Tukey{}.Name(),
		Summary:   "the deepest of many small least-squares models, or no model",
		MaxScores: 1,
		Relations: method.EveryRecord(),
		Abstains:  true,
		Keys: []method.Key{
			{
				Name:      "buckets",
				Text:      "Number of parts into which the records are divided",
				Min:       leastBuckets,
				Max:       mostBuckets,
				OpenEnded: true,
				TooSmall:  "with fewer the check never passes",
				Rest:      " (default: chosen by the method)",
				Absent:    "chosen by the method",
				Hint:      "omit it to let the method choose",
			},
			{
				Name:   checkKey,
				Kind:   method.Number,
				Text:   "Share of the model's epsilon for the check",
				Min:    0,
				Max:    1,
				Above:  true,
				Below:  true,
				Rest:   "; the rest is twice depth_share",
				Absent: "`0.4`",
				Hint:   fmt.Sprintf("%v passes with the fewest buckets", usual.Check),
				Doc: "e₁ of [the check](../proofs/tukey.md#algorithm). The model's epsilon is e₁ + 2 e' (Amin et al. 2023; Dick et al. 2023, section 8), " +
					"and the proof covers every split.",
			},
			{
				Name:   stepKey,
				Kind:   method.Number,
				Text:   "Share of the model's epsilon for one step of depth",
				Min:    0,
				Max:    .5,
				Above:  true,
				Below:  true,
				Rest:   "; check_share is 1 minus twice this",
				Absent: "`0.3`",
				Hint:   fmt.Sprintf("%v passes with the fewest buckets", usual.Step),
				Doc:    "e' of the draw (Dick et al. 2023, section 8). If `check_share` is also set, `check_share` + 2 `depth_share` must be 1.",
			},
		},
		Check: checkShares,
		Is:    method.HasType[Tukey],
		FromSettings: method.FromSettings(func(x settings.Tukey) method.Trainer {
			return Tukey(x)
		}),
		New: func(v method.Values) method.Trainer {
			return Tukey{
				Buckets:    v.Int("buckets"),
				CheckShare: v.Number(checkKey),
				StepShare:  v.Number(stepKey),
			}
		},
	}
}

// checkShares rejects two shares that do not add up to 1.
func checkShares(v method.Values) (key, message, hint string) {
	sum := v.Number(checkKey) + 2*v.Number(stepKey)
	if v.Has(checkKey) && v.Has(stepKey) && !(math.Abs(sum-1) <= shareTolerance) {
		return stepKey,
			fmt.Sprintf("makes check_share + 2 depth_share equal %s, not 1", fault.Number(sum)),
			"omit one of them; it is computed from the other"
	}
	return "", "", ""
}
