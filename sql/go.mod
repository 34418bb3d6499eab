module github.com/dptrain/dptrain/sql

go 1.26.0

require (
	github.com/duckdb/duckdb-go-bindings/darwin-arm64 v0.1.21
	github.com/duckdb/duckdb-go-bindings/linux-amd64 v0.1.21
	github.com/duckdb/duckdb-go-bindings/linux-arm64 v0.1.21
	github.com/jackc/pgx/v5 v5.13.0
)

require (
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	golang.org/x/text v0.44.0 // indirect
)
