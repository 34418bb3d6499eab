package evaluate

import (
	"math"

	"github.com/dptrain/dptrain/internal/mechanism"
)

// A Count is a noisy number of held-out records.
type Count struct {
	Value float64 `json:"value"` // noise may make it negative
	Sigma float64 `json:"sigma"` // standard deviation of the noise
}

// combineCounts returns the mean of two noisy numbers of the same records with weights
// 1/variance, whose noise is the smallest.
func combineCounts(a, b Count) Count {
	wa := 1 / square(a.Sigma)
	wb := 1 / square(b.Sigma)
	return Count{(a.Value*wa + b.Value*wb) / (wa + wb), 1 / math.Sqrt(wa+wb)}
}

// countMissing returns the number of records whose target cannot be read: both releases
// hold one.
func countMissing(sizes mechanism.Sizes, a mechanism.Squares) Count {
	return combineCounts(Count{sizes.Missing, sizes.MissingNoise}, Count{a.Missing, a.MissingNoise})
}

// ShareOf returns part/(part + rest) with its interval at the level [Level], for the noise
// of both numbers, which is independent. All are within [0, 1].
func ShareOf(part, rest Count) Share {
	whole := part.Value + rest.Value
	if !(whole > 0) {
		return Share{
			Value: 0,
			Lower: 0,
			Upper: 1,
			Level: Level,
		}
	}
	share := min(max(part.Value/whole, 0), 1)
	reach := twoSided * math.Hypot((1-share)*part.Sigma, share*rest.Sigma) / whole
	return limitShare(Share{
		Value: share,
		Lower: share - reach,
		Upper: share + reach,
		Level: Level,
	})
}
