package kernelmap

// A Summary measures the contributions of the terms of maps to the predictions of a model, at its landmarks: public
// points, so that it costs no budget.
type Summary struct {
	Share float64 // of the variance of the prediction that the terms have
	Pairs []Pair  // of columns, the strongest first
}

// A Pair is two columns that occur together in terms. Value is the standard deviation of their interaction, beyond
// their separate contributions, in units of the target.
type Pair struct {
	First, Second string
	Value         float64
}

// A Table is numbers for levels of two columns.
type Table struct {
	Rows, Columns []string    // names of levels
	Values        [][]float64 // one row per level of Rows
}

// Center takes what rows and columns have in common off the values.
func (t *Table) Center() {
	whole, columns := 0., make([]float64, len(t.Columns))
	for _, row := range t.Values {
		for j, v := range row {
			columns[j] += v / float64(len(t.Rows))
			whole += v / float64(len(t.Rows)*len(row))
		}
	}
	for _, row := range t.Values {
		mean := 0.
		for _, v := range row {
			mean += v / float64(len(row))
		}
		for j := range row {
			row[j] += whole - mean - columns[j]
		}
	}
}
