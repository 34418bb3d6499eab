//go:build duckdb && cgo

package main

import _ "github.com/duckdb/duckdb-go-bindings/darwin-arm64" // the library
