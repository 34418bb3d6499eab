//go:build !duckdb

package main

// buildTags are the build tags of the program that tests run.
var buildTags []string
