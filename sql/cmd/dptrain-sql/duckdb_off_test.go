//go:build !duckdb || !cgo

package main

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// TestWithoutDuckDB checks the error of a program that was built without the library.
func TestWithoutDuckDB(t *testing.T) {
	question := `{"format":"dptrain.sql/1","want":"columns","driver":"duckdb","dsn":":memory:","query":"SELECT 1 AS x"}` +
		"\n"
	var got *failure
	err := answerQuestion(t.Context(), strings.NewReader(question), io.Discard)
	if !errors.As(err, &got) || got.Word != "without" {
		t.Errorf("%+v", err)
	}
}
