// Package terminal holds what the command does with a terminal: tables, how far a pass is, text
// that is not taken for a command of the terminal, and a standard error that the Go runtime cannot
// write to. It knows no run.
package terminal
