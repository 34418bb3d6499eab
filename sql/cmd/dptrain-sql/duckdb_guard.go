//go:build duckdb && cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package main

import (
	"encoding/json"
	"slices"
	"strings"
)

// sources lists the functions that a query may read from. Functions for CSV and JSON are excluded because they
// guess names and types from rows, which would be revealed before any budget is spent. Others change how the
// library works, or access other machines.
var sources = []string{"read_parquet", "parquet_scan", "range", "generate_series", "unnest"}

// guessed lists the suffixes of tables that are CSV or JSON files.
var guessed = []string{".csv", ".tsv", ".json", ".ndjson", ".geojson"}

// allowed rejects a query, given as its syntax tree, that is not a single SELECT or that reads from other
// functions or files.
func allowed(tree string) error {
	var root struct {
		Error      bool   `json:"error"`
		Kind       string `json:"error_type"`
		Position   int32  `json:"position,string"`
		Statements []any  `json:"statements"`
	}
	err := json.Unmarshal([]byte(tree), &root)
	switch {
	case err == nil && root.Error && root.Kind == "parser":
		return &failure{
			Word:     "query",
			Kind:     "Parser",
			Position: root.Position + 1,
		}
	case err != nil || root.Error || len(root.Statements) != 1:
		return &failure{Word: "select"}
	}
	return readsOnly(root.Statements)
}

// readsOnly checks a part of a syntax tree.
func readsOnly(part any) error {
	switch p := part.(type) {
	case []any:
		for _, each := range p {
			if err := readsOnly(each); err != nil {
				return err
			}
		}
	case map[string]any:
		if err := source(p); err != nil {
			return err
		}
		for _, each := range p {
			if err := readsOnly(each); err != nil {
				return err
			}
		}
	}
	return nil
}

// source rejects sources of rows that are not allowed.
func source(node map[string]any) error {
	switch node["type"] {
	case "TABLE_FUNCTION":
		call, _ := node["function"].(map[string]any)
		name, _ := call["function_name"].(string)
		if !slices.Contains(sources, strings.ToLower(name)) {
			return &failure{Word: "function", Column: name}
		}
	case "SHOW_REF": // DESCRIBE, SHOW and SUMMARIZE
		return &failure{Word: "select"}
	case "BASE_TABLE":
		var parts []string
		for _, key := range []string{"catalog_name", "schema_name", "table_name"} {
			if s, _ := node[key].(string); s != "" {
				parts = append(parts, s)
			}
		}
		name := strings.ToLower(strings.Join(parts, "."))
		if slices.ContainsFunc(guessed, func(ending string) bool {
			return strings.Contains(name, ending)
		}) {
			return &failure{
				Word:   "function",
				Column: strings.Join(parts, "."),
			}
		}
	}
	return nil
}

// errorKinds lists the kinds of errors of a query that has not run.
var errorKinds = []string{"Binder", "Catalog", "Invalid Input", "IO", "Missing Extension",
	"Not implemented", "Parser"}

// refused returns the failure of a query that cannot be prepared. No row was read, yet the error text is
// dropped, since it may quote constants of the query.
func refused(said string) error {
	told := struct {
		Kind     string `json:"exception_type"`
		Position int32  `json:"position,string"`
	}{Position: -1}
	if json.Unmarshal([]byte(said), &told) != nil || !slices.Contains(errorKinds, told.Kind) {
		return &failure{Word: "query"}
	}
	return &failure{
		Word:     "query",
		Kind:     told.Kind,
		Position: told.Position + 1,
	}
}
