package main

import (
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
)

// begin opens the transaction. The settings fix how values are written, and ensure that a scan starts at the
// first row.
const begin = `SET client_encoding = 'UTF8'; SET datestyle = 'ISO, YMD'; SET timezone = 'UTC'; SET extra_float_digits = 3;
SET synchronize_seqscans = off; SET cursor_tuple_fraction = 1.0;
BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY`

// fetch requests a block of rows. The server computes at most a block ahead.
const fetch = "FETCH FORWARD 8192 FROM dptrain_rows"

// answerPostgres answers a question from PostgreSQL.
func answerPostgres(ctx context.Context, q *question, stdout io.Writer) error {
	conn, err := connectPostgres(ctx, q.DSN)
	if err != nil {
		return err
	}
	defer conn.Close(context.WithoutCancel(ctx))
	if _, err := conn.Exec(ctx, begin).ReadAll(); err != nil {
		return statedError("connect", err)
	}
	columns, err := describeQuery(ctx, conn, q.Query)
	if err != nil {
		return err
	}
	// The extended protocol takes one statement only, and a cursor one that returns rows.
	if err := runStatement(ctx, conn,
		"DECLARE dptrain_rows NO SCROLL CURSOR WITHOUT HOLD FOR "+q.Query); err != nil {
		return statedError("query", err)
	}
	w := newLines(stdout, columns)
	if q.Want == "columns" {
		return w.flush()
	}
	if !slices.Equal(columnNames(columns), q.Columns) {
		return &failure{Word: "changed"}
	}
	for more := true; more; {
		if more, err = copyBlock(ctx, conn, w); err != nil {
			return err
		}
	}
	if err := runStatement(ctx, conn, "COMMIT"); err != nil {
		return statedError("row", err)
	}
	return w.flush()
}

// connectPostgres opens a connection. Connections to other machines must be encrypted.
func connectPostgres(ctx context.Context, dsn string) (*pgconn.PgConn, error) {
	config, err := pgconn.ParseConfig(dsn)
	if err != nil {
		return nil, &failure{Word: "dsn"}
	}
	ways := []*pgconn.FallbackConfig{{
		Host:      config.Host,
		TLSConfig: config.TLSConfig,
	}}
	for _, way := range append(ways, config.Fallbacks...) {
		if way.TLSConfig == nil && !isLocal(way.Host) {
			return nil, &failure{Word: "tls"}
		}
	}
	config.OnNotice = func(*pgconn.PgConn, *pgconn.Notice) {} // it may quote a row
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "dptrain-sql"
	}
	conn, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, statedError("connect", err)
	}
	return conn, nil
}

// isLocal reports whether a host is this machine: the folder of a socket, or a loopback address.
func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return filepath.IsAbs(host) || strings.HasPrefix(host, "@") || host == "localhost" ||
		ip != nil && ip.IsLoopback()
}

// runStatement runs one statement without rows.
func runStatement(
	ctx context.Context,
	conn *pgconn.PgConn,
	statement string,
) error {
	return conn.ExecParams(ctx, statement, nil, nil, nil, nil).Read().Err
}

// A column is an entry of the row description.
type column struct {
	name    string
	boolean bool
}

// plain lists the types whose values are fully represented by their text, by OID. These OIDs are fixed.
var plain = map[uint32]bool{
	16: true, 18: true, 19: true, 20: true, 21: true, 23: true, 25: true, 26: true, // bool, "char", name, int8, int2, int4, text, oid
	700: true, 701: true, 1042: true, 1043: true, 1700: true, // float4, float8, character, character varying, numeric
	1082: true, 1083: true, 1114: true, 1184: true, 2950: true, // date, time, timestamp, timestamp with time zone, uuid
}

// describeQuery returns the columns of a query without running it, or an error if the type of a column is not
// supported.
func describeQuery(
	ctx context.Context,
	conn *pgconn.PgConn,
	query string,
) ([]column, error) {
	d, err := conn.Prepare(ctx, "", query, nil)
	if err != nil {
		return nil, statedError("query", err)
	}
	if len(d.ParamOIDs) > 0 {
		return nil, &failure{Word: "query", SQLState: "42P02"} // parameters are never passed
	}
	if len(d.Fields) == 0 {
		return nil, &failure{Word: "query", SQLState: "02000"} // no row description, so it is not a SELECT
	}
	var out []column
	for _, f := range d.Fields {
		if isUnnamed(f.Name) {
			return nil, &failure{Word: "name"}
		}
		if !plain[f.DataTypeOID] {
			name, words, err := typeOf(ctx, conn, f.DataTypeOID)
			if err != nil {
				return nil, err
			}
			if !words {
				return nil, &failure{
					Word:   "type",
					Column: f.Name,
					Type:   name,
				}
			}
		}
		out = append(out, column{f.Name, f.DataTypeOID == 16})
	}
	return out, nil
}

// isUnnamed reports whether a name contains text that a header line must not contain.
func isUnnamed(name string) bool {
	return strings.ContainsFunc(name, func(r rune) bool {
		return r < ' ' || r == 0xfeff
	})
}

// typeOf returns the name of a type, and whether it is an enumeration.
func typeOf(
	ctx context.Context,
	conn *pgconn.PgConn,
	oid uint32,
) (name string, words bool, err error) {
	const ask = "SELECT format_type(oid, NULL), typtype = 'e' FROM pg_catalog.pg_type WHERE oid = $1::oid"
	got := conn.ExecParams(ctx, ask, [][]byte{strconv.AppendUint(nil, uint64(oid), 10)}, nil, nil,
		nil).Read()
	if got.Err != nil {
		return "", false, statedError("query", got.Err)
	}
	if len(got.Rows) == 0 {
		return "unknown", false, nil
	}
	return string(got.Rows[0][0]), string(got.Rows[0][1]) == "t", nil
}

// copyBlock fetches a block of rows and reports whether there may be more.
func copyBlock(
	ctx context.Context,
	conn *pgconn.PgConn,
	w *lines,
) (more bool, err error) {
	rows := conn.ExecParams(ctx, fetch, nil, nil, nil, nil)
	for rows.NextRow() {
		more = true
		if err := w.writeRow(rows.Values()); err != nil {
			_, _ = rows.Close()
			return false, err
		}
	}
	if _, err := rows.Close(); err != nil {
		return false, statedError("row", err)
	}
	return more, nil
}

// columnNames returns the names of columns.
func columnNames(columns []column) []string {
	out := make([]string, len(columns))
	for i, c := range columns {
		out[i] = c.name
	}
	return out
}

// statedError converts an error of the server to a failure without its text. For a statement that has read no
// row the failure has the full SQLSTATE, otherwise only its class.
func statedError(word string, err error) error {
	var said *pgconn.PgError
	switch {
	case !errors.As(err, &said) || len(said.Code) != 5:
		if word == "connect" {
			return &failure{Word: word}
		}
		return &failure{Word: "broken"}
	case said.Code[:2] == "57" || said.Code[:2] == "08": // the server or its operator ended the session
		return &failure{
			Word:     "broken",
			SQLState: said.Code[:2],
		}
	case word == "row" && said.Code == "25006": // a read-only transaction; this does not depend on rows
		return &failure{Word: "write"}
	case word == "query":
		return &failure{
			Word:     word,
			SQLState: said.Code,
			Position: said.Position,
		}
	}
	return &failure{Word: word, SQLState: said.Code[:2]}
}
