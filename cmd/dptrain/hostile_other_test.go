//go:build !linux

package main

// fullFrom is not supported here: it requires a limit on file sizes.
func fullFrom(string, []string) int {
	return exitInternal
}

// beginnings is not supported here: it requires a limit on memory.
func beginnings() map[string]func(string) {
	return nil
}
