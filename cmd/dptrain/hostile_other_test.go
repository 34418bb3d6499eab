//go:build !linux

package main

// fullFrom is for systems that can limit the size of files.
func fullFrom(string, []string) int { return exitInternal }

// beginnings are for systems whose processes can be made to run out of memory.
func beginnings() map[string]func(string) { return nil }
