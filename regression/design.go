package regression

// Design is a table to fit on: dense numeric columns of the same length as Y. Cells are treated as a [Model]
// treats them: a value that is not finite is replaced by the mean of the others in its column (or of Y), and
// every value is clamped to [-Unbounded, Unbounded]. The slices are read only.
type Design struct {
	Names  []string // distinct column names
	X      [][]float64
	Target string
	Y      []float64
}
