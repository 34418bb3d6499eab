package report

import (
	"fmt"
	"strings"

	"github.com/dptrain/dptrain/internal/kernelmap"
	"github.com/dptrain/dptrain/regression"
)

// Interactions says what the terms of all columns together add to the predictions of a model of the kind
// "kernel", at its landmarks. Of a classifier, the score with the largest share says it.
type Interactions struct {
	// Share is that of the variance of the prediction.
	Share float64 `json:"share"`
	Pairs []Pair  `json:"pairs"` // the strongest first
}

// A Pair is two columns. Value is the standard deviation of what the terms say of the two together beyond what
// they say of each, in units of the target or of the score.
type Pair struct {
	First  string  `json:"first"`
	Second string  `json:"second"`
	Value  float64 `json:"value"`
}

// interactions returns those of a model; nil for one without such terms.
func interactions(m regression.Model) *Interactions {
	models := []regression.Model{m}
	if c, ok := m.(*regression.Classifier); ok {
		models = c.Scores
	}
	var out *Interactions
	for _, m := range models {
		k, ok := m.(*regression.Kernel)
		if !ok {
			continue
		}
		s := k.Interactions()
		if out != nil && s.Share <= out.Share {
			continue
		}
		out = &Interactions{Share: s.Share, Pairs: []Pair{}}
		for _, p := range s.Pairs {
			out.Pairs = append(out.Pairs, pairOf(p))
		}
	}
	return out
}

func pairOf(p kernelmap.Pair) Pair { return Pair{p.First, p.Second, p.Value} }

// sentence says it in words.
func (x *Interactions) sentence(unit string) string {
	text := fmt.Sprintf("the terms of all columns together have %s of the variance of the prediction", percent(x.Share))
	var pairs []string
	for _, p := range x.Pairs {
		pairs = append(pairs, fmt.Sprintf("%s × %s %s", cut(shown(p.First), mostNameWidth), cut(shown(p.Second), mostNameWidth), short(p.Value)))
	}
	if len(pairs) > 0 {
		text += fmt.Sprintf(". The strongest pairs, with the standard deviation of what they add beyond each column, in %s: %s", unit, strings.Join(pairs, ", "))
	}
	return text
}
