package prototypes

import (
	"github.com/dptrain/dptrain/internal/train/linear"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// newFit converts the prototypes to original units. The logit of a row that need not be shortened is
//
//	2 gamma^2 z_j.W x - gamma^2 |z_j|^2 = (2 gamma^2 W z_j).x + constant,
//
// linear in the cells; W^-1 z_j is the row at the prototype. Rows shortened in training were shortened
// including their constant, which preserves the order of their logits.
func (r *run) newFit() *method.Fit {
	target := r.frame.target
	model := &regression.Classifier{
		Target:  target.Name,
		Classes: target.Categories,
	}
	prototypes := r.inOriginalUnits()
	scores := len(target.Categories)
	if scores == 2 {
		scores = 1
	}
	for c := range scores {
		score := &regression.Prototypes{Linear: regression.Linear{
			Target:  target.Name,
			Columns: linear.Inputs(r.frame.columns, r.frame.enc),
			Lower:   -largestNumber,
			Upper:   largestNumber,
		}}
		for j, p := range prototypes {
			class := int(r.at.Class[j])
			if p.Against = scores == 1 && class == 0; scores == 1 || class == c {
				score.Prototypes = append(score.Prototypes, p)
			}
		}
		model.Scores = append(model.Scores, score)
	}
	return &method.Fit{Model: model, Scale: method.LogOdds}
}

// largestNumber is the magnitude at which the numbers of a model saturate: ranges of absurd widths can carry
// a coefficient beyond what float64 holds.
const largestNumber = 1e100

func saturateInt16(x float64) float64 {
	if x != x {
		return 0
	}
	return min(max(x, -largestNumber), largestNumber)
}

// inOriginalUnits returns the prototypes in original units, in order.
func (r *run) inOriginalUnits() []regression.Prototype {
	d := r.frame.slotCount()
	back := r.spectralMatrix(func(stretch float64) float64 {
		return 1 / stretch
	})
	out := make([]regression.Prototype, len(r.at.Centers))
	for i, z := range r.at.Centers {
		p := &out[i]
		p.Intercept = r.at.logitAtOrigin(i)
		for k, slot := range r.frame.enc.Slots() {
			weight := 2 * r.at.Gamma * dot(r.rows.Map[k*d:(k+1)*d], z)
			term, center, constant := r.frame.slotTerm(slot, weight, dot(back[k*d:(k+1)*d], z))
			p.Terms = append(p.Terms, term)
			p.Centers = append(p.Centers, center)
			p.Intercept += constant
		}
		p.Intercept = saturateInt16(p.Intercept)
	}
	return out
}

// slotTerm converts the weight of a slot of an encoded row and the center's entry there to original units; constant
// is its contribution to the intercept.
func (f *frame) slotTerm(
	slot scaling.Slot,
	weight, entry float64,
) (t regression.Term, center, constant float64) {
	t.Column = slot.Column
	c := f.columns[slot.Column]
	lower := 0.
	upper := 1.
	switch {
	case slot.Category == scaling.NumberSlot:
		x := f.enc.Range(slot.Column)
		weight /= x.Half()
		constant = -weight * x.Center()
		entry = x.Center() + x.Half()*entry
		lower = x.Lower
		upper = x.Upper
	case slot.Category == scaling.MissingSlot:
		t.Missing = true
		weight *= scaling.MissingEntry
		entry /= scaling.MissingEntry
	default:
		if t.Other = slot.Category == len(c.Categories); !t.Other {
			t.Category = c.Categories[slot.Category]
		}
	}
	t.Coefficient = saturateInt16(weight)
	return t, min(max(saturateInt16(entry), lower), upper), saturateInt16(constant)
}
