//go:build duckdb

package main

// buildTags are those of the program that tests run.
var buildTags = []string{"-tags", "duckdb"}
