// Package buffers hands memory for columns of numbers from one user to the next: from the readers of files to the
// passes over what was read. Memory that was used before costs nothing to set up.
package buffers

import "sync"

// Spare is how many numbers there is space for behind each column.
const Spare = 2

var free sync.Pool

// Take returns memory for so many columns of n numbers, which may be any.
func Take(columns, n int) [][]float64 {
	if room, ok := free.Get().(*[][]float64); ok && fits(*room, columns, n) {
		return *room
	}
	all, room := make([]float64, columns*(n+Spare)), make([][]float64, columns)
	for j := range room {
		room[j], all = all[:n:n+Spare], all[n+Spare:]
	}
	return room
}

// Columns is [Take] for those of some columns that hold numbers, nil for the others. The memory is given back by leave.
func Columns(columns, n int, number func(j int) bool) (out [][]float64, leave func()) {
	out = make([][]float64, columns)
	var numbers []int
	for j := range out {
		if number(j) {
			numbers = append(numbers, j)
		}
	}
	room := Take(len(numbers), n)
	for k, j := range numbers {
		out[j] = room[k]
	}
	return out, func() { Give(room) }
}

// Give gives back what [Take] returned. Nothing of it may be used any more.
func Give(room [][]float64) { free.Put(&room) }

func fits(room [][]float64, columns, n int) bool {
	return len(room) == columns && (columns == 0 || len(room[0]) == n)
}
