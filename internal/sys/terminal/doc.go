// Package terminal handles output to a terminal: tables, progress meters, text without control sequences, and a
// standard error that the Go runtime cannot write to. It is independent of runs and recipes.
package terminal
