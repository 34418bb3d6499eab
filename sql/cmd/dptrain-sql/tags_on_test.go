//go:build duckdb

package main

// buildTags are the build tags of the program that tests run. With the last two, most packages are the same with cgo as
// without it, and are not compiled again.
var buildTags = []string{"-tags", "duckdb,netgo,osusergo"}
