// Package buffers reuses memory for columns of numbers between the readers of files and the passes over the data.
// Reused memory saves the time to map and clear new pages.
package buffers

import "sync"

// Spare is the extra capacity, in numbers, behind each column.
const Spare = 2

var pool sync.Pool

// Get returns columns of n numbers each, with arbitrary contents.
func Get(columns, n int) [][]float64 {
	if columnData, ok := pool.Get().(*[][]float64); ok && hasShape(*columnData, columns, n) {
		return *columnData
	}
	all, columnData := make([]float64, columns*(n+Spare)), make([][]float64, columns)
	for j := range columnData {
		columnData[j], all = all[:n:n+Spare], all[n+Spare:]
	}
	return columnData
}

// GetColumns is [Get] for the columns for which isNumber is true; the others are nil. release gives the memory back.
func GetColumns(columns, n int, isNumber func(j int) bool) (out [][]float64, release func()) {
	out = make([][]float64, columns)
	var numbers []int
	for j := range out {
		if isNumber(j) {
			numbers = append(numbers, j)
		}
	}
	memory := Get(len(numbers), n)
	for k, j := range numbers {
		out[j] = memory[k]
	}
	return out, func() { Put(memory) }
}

// Put gives back memory that [Get] returned; the caller must not use it any more.
func Put(room [][]float64) {
	pool.Put(&room)
}

func hasShape(room [][]float64, columns, n int) bool {
	return len(room) == columns && (columns == 0 || len(room[0]) == n)
}
