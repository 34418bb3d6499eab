package suite

import (
	"math"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/experiments/baseline"
)

// classLaw is a normal distribution for each class, with the share of the class.
type classLaw struct {
	columns []dataset.Column
	shares  []float64
	means   [][]float64
	roots   [][][]float64 // lower triangular, root times its transpose is the covariance
}

// fitClassLaw computes the shares, means and covariances of the classes of a numeric table.
func fitClassLaw(t *dataset.Table) classLaw {
	columns := t.Schema().Columns
	last := len(columns) - 1
	law := classLaw{columns: columns}
	labels := baseline.Labels(t.View())
	for c := range columns[last].Categories {
		var x [][]float64
		for j := range last {
			var cells []float64
			for i, v := range filled(t.Float(j)) {
				if int(labels[i]) == c {
					cells = append(cells, v)
				}
			}
			x = append(x, cells)
		}
		var means []float64
		for j := range x {
			means = append(means, average(x[j]))
		}
		law.shares = append(law.shares, float64(len(x[0]))/float64(t.Len()))
		law.means = append(law.means, means)
		law.roots = append(law.roots, cholesky(covariance(x, means)))
	}
	return law
}

func covariance(x [][]float64, means []float64) [][]float64 {
	out := make([][]float64, len(x))
	for j := range x {
		out[j] = make([]float64, len(x))
		for k := range x {
			for i := range x[j] {
				out[j][k] += (x[j][i] - means[j]) * (x[k][i] - means[k]) / float64(len(x[j]))
			}
		}
	}
	return out
}

// cholesky returns the lower root of a positive semidefinite matrix. A pivot of rounding errors only, from a column
// that is determined by others, is set to 0.
func cholesky(a [][]float64) [][]float64 {
	out := make([][]float64, len(a))
	for j := range a {
		out[j] = make([]float64, len(a))
		for k := 0; k <= j; k++ {
			rest := a[j][k]
			for l := range k {
				rest -= out[j][l] * out[k][l]
			}
			switch {
			case k == j && rest > 1e-10*a[j][j]:
				out[j][j] = math.Sqrt(rest)
			case k < j && out[k][k] > 0:
				out[j][k] = rest / out[k][k]
			}
		}
	}
	return out
}

// draw returns a table of n records.
func (law classLaw) draw(n int, g *generator) (*dataset.Table, error) {
	last := len(law.columns) - 1
	cells := make([]dataset.ColumnData, last+1)
	for j := range last {
		cells[j].Floats = make([]float64, n)
	}
	cells[last].Codes = make([]int32, n)
	for i := range n {
		c := 0
		u := g.uniform()
		for c+1 < len(law.shares) && u > law.shares[c] {
			u -= law.shares[c]
			c++
		}
		cells[last].Codes[i] = int32(c)
		z := g.normals(last)
		for j := range last {
			v := law.means[c][j]
			for k, w := range law.roots[c][j][:j+1] {
				v += w * z[k]
			}
			cells[j].Floats[i] = v
		}
	}
	return dataset.NewTable(dataset.Schema{Columns: law.columns}, cells, nil)
}
