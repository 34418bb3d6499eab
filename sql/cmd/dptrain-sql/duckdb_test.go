//go:build duckdb && cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// duckFile creates a DuckDB database file from statements; its tables are in the schema d.
func duckFile(t *testing.T, statements ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "shop.duckdb")
	e, ok := openEngine("", 0)
	if !ok {
		t.Fatal("no engine")
	}
	defer e.close()
	for _, s := range append(
		append([]string{
			"ATTACH '" + path + "' AS d",
			"USE d",
		}, statements...),
		"CHECKPOINT d",
		"USE memory",
		"DETACH d",
	) {
		if !e.do(s) {
			t.Fatal(s)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	return path
}

// duckOpen returns a standard input with a question that stays open.
func duckOpen(t *testing.T, want, dsn, query, columns string) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() {
		_ = w.Close()
	})
	go fmt.Fprintf(
		w,
		`{"format":"dptrain.sql/1","want":%q,"driver":"duckdb","dsn":%q,"query":%q,"columns":[%s],"memory":268435456}`+
			"\n",
		want,
		dsn,
		query,
		columns,
	)
	return r
}

// duckAsk returns the rows of a query.
func duckAsk(t *testing.T, dsn, query, columns string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := answerQuestion(
		t.Context(),
		duckOpen(t, "rows", dsn, query, columns),
		&out,
	)
	return out.String(), err
}

// TestDuckValues checks every type of cell at its limits, in its middle and for NULL.
func TestDuckValues(t *testing.T) {
	file := duckFile(t,
		"CREATE TYPE mood AS ENUM ('sad', 'so,so')",
		"CREATE TABLE v (b BOOLEAN, t TINYINT, u UTINYINT, l BIGINT, m UBIGINT, h HUGEINT, g UHUGEINT, f FLOAT, d DOUBLE, c DECIMAL(4,2), e DECIMAL(38,10), s VARCHAR, i UUID, k mood)",
		"INSERT INTO v VALUES (true, -128, 255, -9223372036854775808, 18446744073709551615, -170141183460469231731687303715884105728, 340282366920938463463374607431768211455, 0.1, 0.1, -0.05, -1234567890123456789012345678.0000000001, E'a,\"b\"\\r\\nc', '00000000-0000-0000-0000-0000000000ff', 'so,so')",
		"INSERT INTO v VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)",
		"INSERT INTO v VALUES (false, 127, 0, 7, 0, 170141183460469231731687303715884105727, 0, 'inf', 'nan', 99.99, 0, 'longer than twelve bytes: ü', 'ffffffff-ffff-ffff-ffff-ffffffffffff', 'sad')",
		"INSERT INTO v VALUES (false, 0, 0, 0, 0, -1, 18446744073709551616, '-inf', 1e300, 0, 5, '', '12345678-9abc-def0-1234-56789abcdef0', 'sad')")
	got, err := duckAsk(
		t,
		file,
		"SELECT * FROM v -- all of it",
		`"b","t","u","l","m","h","g","f","d","c","e","s","i","k"`,
	)
	want := "b,t,u,l,m,h,g,f,d,c,e,s,i,k\n" +
		`true,-128,255,-9223372036854775808,18446744073709551615,-170141183460469231731687303715884105728,340282366920938463463374607431768211455,0.1,0.1,-0.05,-1234567890123456789012345678.0000000001,"a,""b""  c",00000000-0000-0000-0000-0000000000ff,"so,so"` +
		"\n,,,,,,,,,,,,,\n" +
		"false,127,0,7,0,170141183460469231731687303715884105727,0,Infinity,NaN,99.99,0.0000000000,longer than twelve bytes: ü,ffffffff-ffff-ffff-ffff-ffffffffffff,sad\n" +
		"false,0,0,0,0,-1,18446744073709551616,-Infinity,1e+300,0.00,5.0000000000,,12345678-9abc-def0-1234-56789abcdef0,sad\n"
	if err != nil || got != want {
		t.Errorf(
			"%v\n%s\nwant\n%s",
			err, got, want,
		)
	}
	got, err = duckAsk(
		t, file,
		"SELECT s FROM v WHERE s IS NULL;",
		`"s"`,
	)
	if err != nil ||
		got != "\"s\"\n\"\"\n" {
		t.Errorf("one column: %q, %v", got, err) // an empty line would not be a record
	}
}

// TestDuckTimes checks dates and times, before and after the first year, and infinite ones.
func TestDuckTimes(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT DATE '2026-01-02' AS x":                             "2026-01-02",
		"SELECT DATE '0044-03-15 (BC)' AS x":                        "0044-03-15 BC",
		"SELECT DATE 'infinity' AS x":                               "infinity",
		"SELECT DATE '-infinity' AS x":                              "-infinity",
		"SELECT TIME '03:04:05.25' AS x":                            "03:04:05.25",
		"SELECT TIME '24:00:00' AS x":                               "24:00:00",
		"SELECT TIMESTAMP '2026-01-02 03:04:05.000001' AS x":        "2026-01-02 03:04:05.000001",
		"SELECT TIMESTAMP '1969-12-31 23:59:59.5' AS x":             "1969-12-31 23:59:59.5",
		"SELECT TIMESTAMP 'infinity' AS x":                          "infinity",
		"SELECT TIMESTAMP_S '2026-01-02 03:04:05' AS x":             "2026-01-02 03:04:05",
		"SELECT TIMESTAMP_MS '2026-01-02 03:04:05.006' AS x":        "2026-01-02 03:04:05.006",
		"SELECT TIMESTAMP_NS '2026-01-02 03:04:05.000000007' AS x":  "2026-01-02 03:04:05.000000007",
		"SELECT TIMESTAMPTZ '2026-01-02 03:04:05+01' AS x":          "2026-01-02 02:04:05+00",
		"SELECT TIMESTAMPTZ '2026-07-02 03:04:05+00'::VARCHAR AS x": "2026-07-02 03:04:05+00",
	} {
		got, err := duckAsk(t, inMemory, query, `"x"`)
		if err != nil ||
			got != "\"x\"\n\""+want+"\"\n" {
			t.Errorf(
				"%s: %q, %v, want %s",
				query, got, err, want,
			)
		}
	}
}

// TestDuckRefused checks that a query that is not a plain read is rejected with a message of the program, and
// that no data is written.
func TestDuckRefused(t *testing.T) {
	file := duckFile(
		t,
		"CREATE TABLE w (x INTEGER, s VARCHAR)",
		"INSERT INTO w VALUES (0, 'secret')",
		"CREATE SEQUENCE q",
		"CREATE MACRO m() AS TABLE SELECT 1 AS x",
	)
	folder := t.TempDir()
	csv := filepath.Join(folder, "t.csv")
	if err := os.WriteFile(csv, []byte("x\n1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(folder, "out")
	for _, tt := range []struct {
		query string
		want  failure
	}{
		{
			"SELECT y FROM w",
			failure{
				Word:     "query",
				Kind:     "Binder",
				Position: 8,
			},
		},
		{
			"SELECT x FROM nothing",
			failure{
				Word:     "query",
				Kind:     "Catalog",
				Position: 15,
			},
		},
		{
			"SELEC x FROM w",
			failure{
				Word:     "query",
				Kind:     "Parser",
				Position: 1,
			},
		},
		{"SELECT 1 AS x; SELECT 2", failure{Word: "select"}},
		{"INSERT INTO w VALUES (1, 'new')", failure{Word: "select"}},
		{
			"INSERT INTO w VALUES (1, 'new') RETURNING x",
			failure{Word: "select"},
		},
		{"UPDATE w SET x = 1", failure{Word: "select"}},
		{"CREATE TABLE w2 AS SELECT 1 AS x", failure{Word: "select"}},
		{"COPY w TO '" + out + "'", failure{Word: "select"}},
		{
			"COPY (SELECT x FROM w) TO '" + out + ".parquet'",
			failure{Word: "select"},
		},
		{"EXPORT DATABASE '" + out + "'", failure{Word: "select"}},
		{"ATTACH '" + out + "' AS other", failure{Word: "select"}},
		{"INSTALL httpfs", failure{Word: "select"}},
		{"LOAD httpfs", failure{Word: "select"}},
		{"SET threads = 1", failure{Word: "select"}},
		{"PRAGMA enable_profiling", failure{Word: "select"}},
		{"CALL range(3)", failure{Word: "select"}},
		{"EXPLAIN ANALYZE SELECT x FROM w", failure{Word: "select"}},
		{"SUMMARIZE w", failure{Word: "select"}},
		{
			"SELECT * FROM (DESCRIBE '" + csv + "')",
			failure{Word: "select"},
		},
		{"PIVOT w ON x", failure{Word: "select"}},
		{"CHECKPOINT", failure{Word: "select"}},
		{"SELECT x FROM w WHERE x = $1", failure{Word: "select"}},
		{
			"SELECT x FROM read_csv('" + csv + "')",
			failure{Word: "function", Column: "read_csv"},
		},
		{
			"SELECT x FROM '" + csv + "'",
			failure{Word: "function", Column: csv},
		},
		{
			"SELECT (SELECT max(x) FROM '" + csv + "') AS x",
			failure{Word: "function", Column: csv},
		},
		{
			"WITH c AS (SELECT * FROM sniff_csv('" + csv + "')) SELECT 1 AS x FROM c",
			failure{Word: "function", Column: "sniff_csv"},
		},
		{
			"SELECT 1 AS x FROM READ_TEXT('" + csv + "')",
			failure{Word: "function", Column: "read_text"},
		},
		{
			"SELECT 1 AS x FROM glob('/*')",
			failure{Word: "function", Column: "glob"},
		},
		{
			"SELECT 1 AS x FROM enable_logging()",
			failure{Word: "function", Column: "enable_logging"},
		},
		{
			"SELECT 1 AS x FROM duckdb_secrets()",
			failure{Word: "function", Column: "duckdb_secrets"},
		},
		{"SELECT x FROM m()", failure{Word: "function", Column: "m"}},
		{
			"SELECT x FROM query('SELECT 1 AS x')",
			failure{Word: "function", Column: "query"},
		},
		{
			"SELECT x FROM read_parquet('https://example.org/t.parquet')",
			failure{
				Word:     "query",
				Kind:     "Missing Extension",
				Position: 15,
			},
		},
		{
			"SELECT x FROM read_parquet('" + csv + "')",
			failure{
				Word:     "query",
				Kind:     "Invalid Input",
				Position: 15,
			},
		},
		{"SELECT nextval('q') AS x", failure{Word: "row"}},
		{"SELECT error(s) AS x FROM w", failure{Word: "row"}},
		{"SELECT s::INTEGER AS x FROM w", failure{Word: "row"}},
		{
			"SELECT [x] AS x FROM w",
			failure{
				Word:   "type",
				Column: "x",
				Type:   "LIST",
			},
		},
		{
			"SELECT {'a': x} AS x FROM w",
			failure{
				Word:   "type",
				Column: "x",
				Type:   "STRUCT",
			},
		},
		{
			"SELECT MAP {'a': x} AS x FROM w",
			failure{
				Word:   "type",
				Column: "x",
				Type:   "MAP",
			},
		},
		{
			"SELECT INTERVAL 1 DAY AS x FROM w",
			failure{
				Word:   "type",
				Column: "x",
				Type:   "INTERVAL",
			},
		},
		{
			"SELECT s::BLOB AS x FROM w",
			failure{
				Word:   "type",
				Column: "x",
				Type:   "BLOB",
			},
		},
		{
			"SELECT to_json(s) AS x FROM w",
			failure{
				Word:   "type",
				Column: "x",
				Type:   "JSON",
			},
		},
		{"SELECT x AS y FROM w", failure{Word: "changed"}},
	} {
		_, err := duckAsk(t, file, tt.query, `"x"`)
		var got *failure
		if !errors.As(err, &got) || *got != tt.want {
			t.Errorf(
				"%s: %+v, want %+v",
				tt.query, err, tt.want,
			)
		}
	}
	if after, err := os.ReadFile(file); err != nil || !bytes.Equal(before, after) {
		t.Errorf("the database was changed: %v", err)
	}
	if names, err := os.ReadDir(folder); err != nil || len(names) != 1 {
		t.Errorf(
			"files were written: %v, %v",
			names, err,
		)
	}
	for dsn, word := range map[string]string{
		filepath.Join(folder, "none"): "nofile",
		folder:                        "nofile",
		"md:shop":                     "nofile",
		csv:                           "file",
	} {
		var got *failure
		err := answerQuestion(
			t.Context(),
			duckOpen(t, "columns", dsn, "SELECT 1 AS x", ""),
			io.Discard,
		)
		if !errors.As(err, &got) || got.Word != word {
			t.Errorf(
				"%s: %+v, want %s",
				dsn, err, word,
			)
		}
	}
}

// TestDuckParquet checks that a query may read Parquet files, by a function or as a table, and may contain
// allowed subqueries.
func TestDuckParquet(t *testing.T) {
	file := filepath.Join(t.TempDir(), "t.parquet")
	e, ok := openEngine("", 0)
	if !ok {
		t.Fatal("no engine")
	}
	if !e.do("COPY (SELECT i AS x FROM range(5) r(i)) TO '" + file + "' (FORMAT parquet)") {
		t.Fatal("no file")
	}
	e.close()
	for _, query := range []string{
		"SELECT x FROM read_parquet('" + file + "')",
		"SELECT x FROM '" + file + "'",
		"FROM '" + file + "' WHERE x < 5",
		"SELECT i AS x FROM generate_series(0, 4) r(i)",
	} {
		got, err := duckAsk(t, inMemory, query, `"x"`)
		if err != nil ||
			got != "\"x\"\n\"0\"\n\"1\"\n\"2\"\n\"3\"\n\"4\"\n" {
			t.Errorf(
				"%s: %q, %v",
				query, got, err,
			)
		}
	}
}

// TestDuckFailsLate checks that an error after many rows ends the answer with an error, at any position. An
// insufficient memory limit has the same effect.
func TestDuckFailsLate(t *testing.T) {
	for _, at := range []int{0, 2047, 2048, 100_000, 999_999} {
		query := fmt.Sprintf(
			"SELECT CASE WHEN i = %d THEN 'secret' ELSE '1' END::INTEGER AS x FROM range(1000000) r(i)",
			at)
		out, err := duckAsk(t, inMemory, query, `"x"`)
		var got *failure
		if !errors.As(err, &got) ||
			*got != (failure{Word: "row"}) {
			t.Errorf(
				"at %d: %v after %d bytes",
				at, err, len(out),
			)
		}
	}
	_, err := duckAsk(
		t,
		inMemory,
		"SELECT hash(i) AS x, repeat('a', 100) || i AS s FROM range(20000000) r(i) ORDER BY x",
		`"x","s"`,
	)
	var got *failure
	if !errors.As(err, &got) || got.Word != "memory" {
		t.Errorf("a sort beyond memory: %v", err)
	}
}

// TestDuckCancelled checks that a client that disconnects ends the query, in the middle of rows and before the
// first.
func TestDuckCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &after{do: cancel}
	err := answerQuestion(
		ctx,
		duckOpen(
			t,
			"rows",
			inMemory,
			"SELECT i AS x FROM range(100000000000) r(i)",
			`"x"`,
		),
		out,
	)
	if err == nil {
		t.Error("it went on")
	}
	ctx, cancel = context.WithCancel(t.Context())
	time.AfterFunc(100*time.Millisecond, cancel)
	err = answerQuestion(
		ctx,
		duckOpen(
			t,
			"rows",
			inMemory,
			"SELECT count(*) AS x FROM range(100000000000) r(i) WHERE hash(i) = 1",
			`"x"`,
		),
		io.Discard,
	)
	if err == nil {
		t.Error("it counted on")
	}
}

// TestDuckSameRelease checks, on both engines, that the release from a DuckDB file equals that from the CSV
// file under the same key.
func TestDuckSameRelease(t *testing.T) {
	file := duckFile(
		t,
		`CREATE TABLE houses AS SELECT (20 + i % 131 * 1.25)::DOUBLE AS area, (1 + i % 7)::INTEGER AS rooms, ['north, old', 'south', NULL][1 + i % 3] AS town,
	CASE WHEN i % 50 > 0 THEN (1000 * (i % 131) + 777 * (i % 7))::DECIMAL(12, 2) END AS price FROM range(4000) r(i)`,
	)
	const query = "SELECT area, rooms, town, price FROM houses"
	text, err := duckAsk(
		t, file, query,
		`"area","rooms","town","price"`,
	)
	if err != nil || strings.Count(text, "\n") != 4001 {
		t.Fatal(err, len(text))
	}
	folder := t.TempDir()
	program := builtDptrain(t)
	err = os.WriteFile(
		filepath.Join(folder, "houses.csv"),
		[]byte(text), 0o600,
	)
	if err != nil {
		t.Fatal(err)
	}
	rest := "  target: price\n  columns: {town: {categories: ['north, old', south]}}\nprivacy: {epsilon: 1}\nmodel: {method: joint-gram}\n"
	sql := "data:\n  sql: {driver: duckdb, dsn: '" + file + "', query: '" + query + "'}\n" + rest
	runs := []struct{ name, recipe, engine string }{
		{
			"file",
			"data:\n  path: " + filepath.Join(folder, "houses.csv") + "\n" + rest,
			"memory",
		},
		{"auto", sql, "auto"},
		{"memory", sql, "memory"},
		{"stream", sql, "stream"},
	}
	for _, r := range runs {
		code, out := runFit(t, program, r.recipe,
			"--engine", r.engine,
			"--out", filepath.Join(folder, r.name),
		)
		if code != 0 {
			t.Fatalf(
				"%s: exit %d: %s",
				r.name, code, out,
			)
		}
		for _, file := range []string{"model.json", "recipe.yaml"} {
			got, err := os.ReadFile(filepath.Join(folder, r.name, "release", file))
			want, wrong := os.ReadFile(filepath.Join(folder, "file", "release", file))
			if err != nil || wrong != nil || !bytes.Equal(got, want) {
				t.Errorf(
					"%s: %s differs from that of the file: %v, %v",
					r.name,
					file,
					err,
					wrong,
				)
			}
		}
	}
}

// TestDuckNoRelease checks that a query that fails in the middle ends the run with exit code 4 and no release,
// and that its message quotes no row.
func TestDuckNoRelease(t *testing.T) {
	program := builtDptrain(t)
	out := filepath.Join(t.TempDir(), "out")
	recipe := "data:\n  sql: {driver: duckdb, dsn: ':memory:', query: \"SELECT i % 97 AS a, CASE WHEN i = 90000 THEN 'geheim' ELSE '5' END::INTEGER AS y FROM range(100000) r(i)\"}\n  target: y\nprivacy: {epsilon: 1}\nmodel: {method: joint-gram}\n"
	for _, engine := range []string{"stream", "memory"} {
		code, text := runFit(
			t, program, recipe, "--engine", engine,
			"--out", out,
		)
		if code != 4 || strings.Contains(text, "geheim") {
			t.Errorf(
				"%s: exit %d: %s",
				engine, code, text,
			)
		}
		_, err := os.Stat(filepath.Join(out, "release"))
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: a release: %v", engine, err)
		}
	}
}
