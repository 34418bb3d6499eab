//go:build !duckdb || !cgo || !((linux && (amd64 || arm64)) || (darwin && arm64))

package main

import (
	"context"
	"io"
)

// answerDuckDB answers a question if the DuckDB library is not part of the program.
func answerDuckDB(context.Context, *question, io.Writer) error {
	return &failure{Word: "without"}
}
