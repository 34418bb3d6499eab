package ram

import "sync"

// spare is the extra capacity, in numbers, behind each column.
const spare = 2

// pool holds columns of numbers between the readers of files and the passes over the data. Reused memory saves the time
// to map and clear new pages.
var pool sync.Pool

// takeColumns returns columns of n numbers each, with arbitrary contents.
func takeColumns(columns, n int) [][]float64 {
	if columnData, ok := pool.Get().(*[][]float64); ok && hasShape(*columnData, columns, n) {
		return *columnData
	}
	all := make([]float64, columns*(n+spare))
	columnData := make([][]float64, columns)
	for j := range columnData {
		columnData[j] = all[: n : n+spare]
		all = all[n+spare:]
	}
	return columnData
}

// GetColumns is [takeColumns] for the columns for which isNumber is true; the others are nil. release gives the memory back.
func GetColumns(
	columns, n int,
	isNumber func(j int) bool,
) (out [][]float64, release func()) {
	out = make([][]float64, columns)
	var numbers []int
	for j := range out {
		if isNumber(j) {
			numbers = append(numbers, j)
		}
	}
	memory := takeColumns(len(numbers), n)
	for k, j := range numbers {
		out[j] = memory[k]
	}
	return out, func() { giveBack(memory) }
}

// giveBack gives back memory that [takeColumns] returned; the caller must not use it any more.
func giveBack(room [][]float64) {
	pool.Put(&room)
}

func hasShape(room [][]float64, columns, n int) bool {
	return len(room) == columns && (columns == 0 || len(room[0]) == n)
}
