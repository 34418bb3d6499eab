//go:build replay

package boosting

import "github.com/dptrain/dptrain/internal/mechanism"

// exactBins returns the bins of the records themselves, repeated up to n.
func (k *kernelBooster) exactBins(n int) ([][]uint8, error) {
	v, err := k.records.View(k.ctx)
	if err != nil || v.Len() == 0 {
		return k.public.sliced(0, n), err
	}
	bins := k.state.Begin(v.Block(0, v.Len())).(*kept).inputs
	out := make([][]uint8, len(bins))
	for j := range out {
		for r := range n {
			out[j] = append(out[j], bins[j][r%v.Len()])
		}
	}
	return out, nil
}

// plantLandmarks replaces the first synthetic records by records of the table.
func (k *kernelBooster) plantLandmarks() error {
	if !k.session.Planted(mechanism.RecordsAsLandmarks) {
		return nil
	}
	bins, err := k.exactBins(k.marks)
	if err != nil {
		return err
	}
	for j := range bins {
		copy(k.public.bins[j], bins[j])
	}
	return nil
}

// gradientPoints returns the bins of the records at which gradients are taken.
func (k *kernelBooster) gradientPoints() ([][]uint8, error) {
	if k.session.Planted(mechanism.MetricOfRecords) {
		return k.exactBins(gradientRecords)
	}
	return k.public.sliced(0, gradientRecords), nil
}

// plantLength returns features that are too long.
func (p *kernelPass) plantLength(phi [][]int16) [][]int16 {
	if !p.maker.Planted(mechanism.LengthUnchecked) {
		return phi
	}
	out := make([][]int16, len(phi))
	for i := range phi {
		for _, v := range phi[i] {
			out[i] = append(out[i], min(max(2*v, -mechanism.FixedOne), mechanism.FixedOne))
		}
	}
	return out
}
