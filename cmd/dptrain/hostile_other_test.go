//go:build !linux

package main

// fullFrom is not supported here: it requires a limit on file sizes.
func fullFrom(string, []string) int {
	return exitInternal
}

// startHooks is not supported here: it requires a limit on memory.
func startHooks() map[string]func(string) {
	return nil
}
