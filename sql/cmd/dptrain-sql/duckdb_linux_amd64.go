//go:build duckdb && cgo

package main

import _ "github.com/duckdb/duckdb-go-bindings/linux-amd64" // the library
