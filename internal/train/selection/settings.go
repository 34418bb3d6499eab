package selection

import (
	"github.com/dptrain/dptrain/internal/mechanism"
	settings "github.com/dptrain/dptrain/selection"
)

// FromSettings returns the selector for a value of a type of the public package of settings; ok is false for any other
// value. The error is that of an unknown form of a choice.
func FromSettings(value settings.Selector) (s Selector, ok bool, err error) {
	switch x := value.(type) {
	case settings.None:
		return None(x), true, nil
	case settings.Fixed:
		return Fixed(x), true, nil
	case settings.Kendall:
		return Kendall(x), true, nil
	case settings.SubLasso:
		return SubLasso(x), true, nil
	case settings.SIS:
		s, err := sisFromSettings(x)
		return s, true, err
	case settings.GreedyGram:
		return GreedyGram(x), true, nil
	case settings.DPFSDR:
		return DPFSDR{
			K:          x.K,
			Exact:      x.Exact,
			Correlated: x.Correlated,
			Sizes:      x.Sizes,
		}, true, nil
	case settings.DPFS:
		return DPFS(x), true, nil
	case settings.CRFS:
		return CRFS(x), true, nil
	}
	return nil, false, nil
}

// sisFromSettings converts the settings of SIS.
func sisFromSettings(x settings.SIS) (SIS, error) {
	out := SIS{K: x.K, Score: SISScore(x.Score)}
	if x.Gamma != nil {
		out.Gamma = *x.Gamma
		out.HasGamma = true
	}
	if x.TopK == "" {
		return out, nil
	}
	form, err := mechanism.ParseTopKForm(x.TopK)
	out.TopK = form
	return out, err
}
