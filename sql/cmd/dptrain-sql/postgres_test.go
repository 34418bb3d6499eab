package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
)

// serverDSN returns the connection text of the server of scripts/runtimes.sh.
func serverDSN(t *testing.T) string {
	t.Helper()
	dsn := os.Getenv("DPTRAIN_POSTGRES")
	if dsn == "" {
		t.Skip("DPTRAIN_POSTGRES is not set: run scripts/runtimes.sh go test")
	}
	return dsn
}

// runStatements runs statements, as their owner would.
func runStatements(t *testing.T, statements string) {
	t.Helper()
	conn, err := pgconn.Connect(t.Context(), serverDSN(t))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	if _, err := conn.Exec(t.Context(), statements).ReadAll(); err != nil {
		t.Fatal(err)
	}
}

// openInput returns a standard input that stays open.
func openInput(t *testing.T, want, dsn, query, columns string) io.Reader {
	t.Helper()
	r, w := io.Pipe()
	t.Cleanup(func() {
		_ = w.Close()
	})
	go fmt.Fprintf(
		w,
		`{"format":"dptrain.sql/1","want":%q,"driver":"postgres","dsn":%q,"query":%q,"columns":[%s]}`+
			"\n",
		want,
		dsn,
		query,
		columns,
	)
	return r
}

// queryRows returns the rows of a query.
func queryRows(t *testing.T, query, columns string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := answerQuestion(
		t.Context(),
		openInput(t, "rows", serverDSN(t), query, columns),
		&out,
	)
	return out.String(), err
}

func TestValues(t *testing.T) {
	runStatements(
		t,
		`DROP TABLE IF EXISTS v; DROP TYPE IF EXISTS mood; CREATE TYPE mood AS ENUM ('sad', 'so,so');
CREATE TABLE v (i int, f float8, n numeric, b bool, s text, d date, ts timestamptz, e mood);
INSERT INTO v VALUES (1, .1, 'NaN', true, E'a,"b"\r\nc', '2026-01-02', '2026-01-02 03:04:05+01', 'so,so'),
 (NULL, 'NaN', NULL, NULL, NULL, NULL, NULL, NULL), (-2147483648, '-Infinity', 1e30, false, '', 'infinity', '-infinity', 'sad')`,
	)
	got, err := queryRows(
		t,
		"SELECT * FROM v -- all of it",
		`"i","f","n","b","s","d","ts","e"`,
	)
	want := "i,f,n,b,s,d,ts,e\n" +
		`1,0.1,NaN,true,"a,""b""  c",2026-01-02,2026-01-02 02:04:05+00,"so,so"` + "\n,NaN,,,,,,\n" +
		"-2147483648,-Infinity,1000000000000000000000000000000,false,,infinity,-infinity,sad\n"
	if err != nil || got != want {
		t.Errorf(
			"%v\n%s\nwant\n%s",
			err, got, want,
		)
	}
	got, err = queryRows(t, "SELECT s FROM v WHERE s IS NULL;", `"s"`)
	if err != nil ||
		got != "\"s\"\n\"\"\n" {
		t.Errorf("one column: %q, %v", got, err) // an empty line would not be a record
	}
}

// TestRefused checks that an invalid query is rejected with a message of the program, which contains no text of
// the server or the rows.
func TestRefused(t *testing.T) {
	runStatements(
		t,
		`DROP TABLE IF EXISTS w; CREATE TABLE w (x int, s text); INSERT INTO w VALUES (0, 'secret'); DROP SEQUENCE IF EXISTS q; CREATE SEQUENCE q;
CREATE OR REPLACE FUNCTION writes() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO w VALUES (1, 'new'); RETURN 1; END $$`,
	)
	file := filepath.Join(t.TempDir(), "copied")
	for _, tt := range []struct {
		query string
		want  failure
	}{
		{
			"SELECT y FROM w",
			failure{
				Word:     "query",
				SQLState: "42703",
				Position: 8,
			},
		},
		{
			"SELECT 1 AS x; SELECT 2",
			failure{Word: "query", SQLState: "42601"},
		},
		{
			"INSERT INTO w VALUES (1, 'new')",
			failure{Word: "query", SQLState: "02000"},
		},
		{
			"INSERT INTO w VALUES (1, 'new') RETURNING x",
			failure{
				Word:     "query",
				SQLState: "42601",
				Position: 66,
			},
		},
		{
			"WITH n AS (INSERT INTO w VALUES (1, 'new') RETURNING x) SELECT x FROM n",
			failure{Word: "query", SQLState: "0A000"},
		},
		{"SELECT x INTO w2 FROM w", failure{Word: "query", SQLState: "02000"}},
		{
			"COPY w TO '" + file + "'",
			failure{Word: "query", SQLState: "02000"},
		},
		{"SELECT writes() AS x", failure{Word: "write"}},
		{"SELECT nextval('q') AS x", failure{Word: "write"}},
		{
			"SELECT set_config('transaction_read_only', 'off', false)::text AS x FROM w",
			failure{Word: "row", SQLState: "25"},
		},
		{
			"SELECT 1/x AS x FROM w",
			failure{Word: "row", SQLState: "22"},
		},
		{
			"SELECT s::int AS x FROM w",
			failure{Word: "row", SQLState: "22"},
		},
		{
			"SELECT ARRAY[x] AS x FROM w",
			failure{
				Word:   "type",
				Column: "x",
				Type:   "integer[]",
			},
		},
		{
			"SELECT to_json(s) AS x FROM w",
			failure{
				Word:   "type",
				Column: "x",
				Type:   "json",
			},
		},
		{"SELECT x AS y FROM w", failure{Word: "changed"}},
		{
			"SELECT x FROM w WHERE x = $1",
			failure{Word: "query", SQLState: "42P02"},
		},
		{
			"SELECT pg_terminate_backend(pg_backend_pid())::text AS x",
			failure{Word: "broken", SQLState: "57"},
		},
	} {
		_, err := queryRows(t, tt.query, `"x"`)
		var got *failure
		if !errors.As(err, &got) ||
			got.Word != tt.want.Word ||
			got.SQLState != tt.want.SQLState ||
			got.Column != tt.want.Column ||
			got.Type != tt.want.Type {
			t.Errorf(
				"%s: %+v, want %+v",
				tt.query, got, tt.want,
			)
		}
	}
	got, err := queryRows(
		t,
		"SELECT count(*) AS n, (SELECT last_value FROM q) AS q FROM w",
		`"n","q"`,
	)
	if err != nil || got != "n,q\n1,1\n" {
		t.Errorf(
			"something was written: %q, %v",
			got, err,
		)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file was written: %v", err)
	}
	for dsn, word := range map[string]string{
		"host=db.example.org user=me sslmode=prefer":  "tls",
		"host=db.example.org sslmode=disable":         "tls",
		"port=x":                                      "dsn",
		serverDSN(t) + " password=geheim dbname=none": "connect",
	} {
		err := answerQuestion(
			t.Context(),
			openInput(t, "columns", dsn, "SELECT 1 AS x", ""),
			io.Discard,
		)
		var got *failure
		if !errors.As(err, &got) || got.Word != word {
			t.Errorf(
				"%s: %+v, want %s",
				dsn, err, word,
			)
		}
	}
}

// TestQueryReadsOneSnapshot checks that rows that others insert and delete while the query runs are not seen.
func TestQueryReadsOneSnapshot(t *testing.T) {
	runStatements(
		t,
		"DROP TABLE IF EXISTS shot; CREATE TABLE shot AS SELECT i AS x, repeat('a', 20) AS s FROM generate_series(1, 100000) i",
	)
	out := &after{do: func() {
		runStatements(
			t,
			"INSERT INTO shot SELECT -1, 'b' FROM generate_series(1, 1000); DELETE FROM shot WHERE x > 99000",
		)
	}}
	err := answerQuestion(
		t.Context(),
		openInput(
			t, "rows", serverDSN(t),
			"SELECT x, s FROM shot",
			`"x","s"`,
		),
		out,
	)
	if err != nil {
		t.Fatal(err)
	}
	n := strings.Count(out.String(), "\n")
	if n != 100001 || strings.Contains(out.String(), "-1,") {
		t.Errorf("%d lines", n)
	}
}

// startProxy forwards connections to the server, and closes them after it has forwarded a number of bytes of the
// answers.
func startProxy(t *testing.T, after int64) (dsn string, passed *atomic.Int64) {
	t.Helper()
	config, err := pgconn.ParseConfig(serverDSN(t))
	if err != nil {
		t.Fatal(err)
	}
	network, address := pgconn.NetworkAddress(config.Host, config.Port)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = l.Close()
	})
	passed = &atomic.Int64{}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				s, err := net.Dial(network, address)
				if err != nil {
					return
				}
				defer s.Close()
				go func() {
					_, _ = io.Copy(s, c)
				}()
				n, _ := io.CopyN(c, s, after)
				passed.Add(n)
			}()
		}
	}()
	return fmt.Sprintf(
		"host=127.0.0.1 port=%d user=%s dbname=%s sslmode=disable",
		l.Addr().(*net.TCPAddr).Port,
		config.User,
		config.Database,
	), passed
}

// TestSameRelease checks, on both engines, that the release from the database equals that from the CSV file
// under the same key, and that it contains no part of data.sql.
func TestSameRelease(t *testing.T) {
	runStatements(
		t,
		`DROP TABLE IF EXISTS houses; CREATE TABLE houses (id int, area float8, rooms int, town text, price numeric);
INSERT INTO houses SELECT i, 20 + i % 131 * 1.25, 1 + i % 7, (ARRAY['north, old', 'south', NULL])[1 + i % 3], CASE WHEN i % 50 > 0 THEN 1000 * (i % 131) + 777 * (i % 7) END FROM generate_series(1, 4000) i`,
	)
	const query = "SELECT area, rooms, town, price FROM houses ORDER BY id"
	text, err := queryRows(
		t, query,
		`"area","rooms","town","price"`,
	)
	if err != nil {
		t.Fatal(err)
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
	t.Setenv("SHOP_DSN", serverDSN(t)+" password=geheim")
	rest := "  target: price\n  columns: {town: {categories: ['north, old', south]}}\nprivacy: {epsilon: 1}\nmodel: {method: joint-gram}\n"
	sql := "data:\n  sql: {driver: postgres, dsn: 'env:SHOP_DSN', query: '" + query + "'}\n" + rest
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
		err := filepath.WalkDir(
			filepath.Join(folder, r.name),
			func(path string, d fs.DirEntry, err error) error {
				if err != nil || d.IsDir() {
					return err
				}
				content, err := os.ReadFile(path)
				for _, secret := range []string{"geheim", "SHOP_DSN", "ORDER BY"} {
					if bytes.Contains(content, []byte(secret)) {
						t.Errorf("%s holds %s", path, secret)
					}
				}
				return err
			},
		)
		if err != nil {
			t.Error(err)
		}
	}
}

// TestLostConnectionEndsRun checks that a lost connection ends the run with exit code 4 and no release. If it is lost
// before the columns are known, no budget is spent; if it is lost while rows arrive, the price remains spent.
func TestLostConnectionEndsRun(t *testing.T) {
	runStatements(
		t,
		"DROP TABLE IF EXISTS cut; CREATE TABLE cut AS SELECT i % 97 AS a, i % 89 AS b, i % 1000 AS y FROM generate_series(1, 100000) i",
	)
	program := builtDptrain(t)
	folder := t.TempDir()
	ledger := filepath.Join(folder, "l.ledger")
	out, err := exec.CommandContext(t.Context(), program, "ledger", "init", ledger,
		"--dataset", "shop",
		"--epsilon", "9",
		"--delta", "1e-5",
	).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, tt := range []struct {
		bytes int64
		spent bool
	}{{300, false}, {1 << 20, true}} {
		dsn, passed := startProxy(t, tt.bytes)
		before, err := os.ReadFile(ledger)
		if err != nil {
			t.Fatal(err)
		}
		out := filepath.Join(folder, fmt.Sprint("out", tt.bytes))
		recipe := "data:\n  sql: {driver: postgres, dsn: '" + dsn +
			"', query: 'SELECT a, b, y FROM cut'}\n  target: y\nprivacy: {epsilon: 1}\nmodel: {method: joint-gram}\n" +
			"ledger: {dataset: shop, path: " + ledger + "}\n"
		for _, engine := range []string{"stream", "memory"} {
			code, text := runFit(
				t, program, recipe, "--engine", engine,
				"--out", out,
			)
			if code != 4 || strings.Contains(text, "remains spent") != tt.spent {
				t.Errorf(
					"%s, cut after %d bytes (%d passed): exit %d: %s",
					engine,
					tt.bytes,
					passed.Load(),
					code,
					text,
				)
			}
			t.Logf(
				"%s, cut after %d bytes: exit %d: %s",
				engine, tt.bytes, code, text,
			)
			_, err := os.Stat(filepath.Join(out, "release"))
			if !errors.Is(err, fs.ErrNotExist) {
				t.Errorf(
					"cut after %d bytes: a release: %v",
					tt.bytes, err,
				)
			}
		}
		now, err := os.ReadFile(ledger)
		if err != nil || bytes.Equal(before, now) == tt.spent {
			t.Errorf(
				"cut after %d bytes: the ledger is as before: %v, want %v (%v)",
				tt.bytes,
				bytes.Equal(before, now),
				!tt.spent,
				err,
			)
		}
	}
}

// TestClosedClientCancelsQuery checks that a client that disconnects ends the query.
func TestClosedClientCancelsQuery(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	out := &after{do: cancel}
	err := answerQuestion(
		ctx,
		openInput(
			t,
			"rows",
			serverDSN(t),
			"SELECT generate_series(1, 100000000) AS x",
			`"x"`,
		),
		out,
	)
	if err == nil {
		t.Error("it went on")
	}
}
