package boosting

import (
	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/numeric/kernelmap"
	"github.com/dptrain/dptrain/internal/train/scaling"
	"github.com/dptrain/dptrain/regression"
)

// model converts the parts to original units.
func (k *kernelBooster) model(ranges []scaling.Range) *regression.Kernel {
	m := &regression.Kernel{
		Additive:  *k.booster.model(ranges),
		Landmarks: k.public.landmarks(k.marks),
	}
	for _, c := range k.counted {
		m.Cells = append(m.Cells, kernelmap.Input{
			Column: c.column,
			Of:     kernelmap.Value,
		})
	}
	slots := scaling.NewEncoder(k.state.Columns[:len(k.state.Columns)-1], nil).Slots()
	for _, l := range k.levels {
		in := kernelmap.Input{
			Column: l.column,
			Of:     kernelmap.Missing,
		}
		if c := k.state.Columns[l.column]; c.Kind == dataset.Category {
			in.Of = kernelmap.Categories
			in.Bins = make([]uint8, len(c.Categories)+1)
			for level, e := range l.entries {
				in.Bins[slots[e].Category] = uint8(level + 1)
			}
		}
		m.Cells = append(m.Cells, in)
	}
	for _, v := range k.state.Values {
		m.Cells = append(m.Cells,
			kernelmap.Input{
				Column: v.Column,
				Of:     kernelmap.Categories,
				Bins:   v.Of,
			})
	}
	half := k.frame.Target().Half()
	for _, s := range k.stages {
		t := kernelmap.Term{
			Map:          s.features,
			Coefficients: s.coefficients(s.theta),
		}
		for i, v := range t.Coefficients {
			t.Coefficients[i] = saturate(v * half)
		}
		m.Kernels = append(m.Kernels, t)
	}
	return m
}
