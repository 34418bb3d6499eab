package regression

// Design is a table to fit on: dense numeric columns, all of the length of Y. Cells are
// treated as a [Model] treats them: one that is not finite takes the mean of the others in
// its column (or of Y), and every cell is clamped to [-Unbounded, Unbounded]. The slices
// are read only.
type Design struct {
	Names  []string // column names, all different
	X      [][]float64
	Target string
	Y      []float64
}
