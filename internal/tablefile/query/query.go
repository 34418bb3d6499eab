// Package query reads from databases. dptrain itself contains no driver: the separate program dptrain-sql of the
// folder sql/ does. It gets one question on standard input, and answers in CSV.
//
// The database is queried twice: for the columns, before any budget is spent, and for the rows, once. An answer that
// ends early is an error, never a shorter table. Error messages are sentences of this package, because a server's text
// may quote a row.
package query

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/sys/filesys"
	"github.com/dptrain/dptrain/internal/sys/ram"
)

// Program is the name of the program that reads databases.
const Program = "dptrain-sql"

// Name is the name of the table in messages.
const Name = "data.sql"

// ErrProgram is returned if [Program] is not found.
var ErrProgram = errors.New("the program " + Program + " is not installed")

// A Question is a query of a database.
type Question struct {
	Driver string
	DSN    string
	Query  string
}

// asked is the encoding of a question for the program; sql/cmd/dptrain-sql defines the same type.
type asked struct {
	Format  string   `json:"format"`
	Want    string   `json:"want"`
	Driver  string   `json:"driver"`
	DSN     string   `json:"dsn"`
	Query   string   `json:"query"`
	Memory  uint64   `json:"memory,omitempty"` // bytes
	Columns []string `json:"columns,omitempty"`
}

// failure is the reason for an incomplete answer.
type failure struct {
	Word     string `json:"word"`
	SQLState string `json:"sqlstate"`
	Kind     string `json:"kind"`
	Position int    `json:"position"`
	Column   string `json:"column"`
	Type     string `json:"type"`
}

// The limits of the stored error output of the program, and of the time it may take to end once it is no longer
// needed.
const (
	mostHeader = 1 << 20
	mostWords  = 1 << 16
	patience   = 5 * time.Second
)

// Header returns the header line of the rows, as CSV. No row is read.
func (q Question) Header(ctx context.Context) ([]byte, error) {
	r, err := q.runProgram(ctx, "columns", nil)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return io.ReadAll(io.LimitReader(r, mostHeader))
}

// Rows returns a reader of the header and the rows, as CSV with one line per row. The columns must still be those of
// the header. Reading ends with io.EOF only if the answer was complete.
func (q Question) Rows(
	ctx context.Context,
	columns []string,
) (io.ReadCloser, error) {
	return q.runProgram(ctx, "rows", columns)
}

// runProgram starts the program with a question.
func (q Question) runProgram(
	ctx context.Context,
	want string,
	columns []string,
) (*answer, error) {
	path, ok := filesys.FindProgram(Program)
	if !ok {
		return nil, ErrProgram
	}
	text, err := json.Marshal(
		asked{"dptrain.sql/1", want, q.Driver, q.DSN, q.Query, memoryShare(), columns})
	if err != nil {
		return nil, err
	}
	a := &answer{
		cmd:    exec.CommandContext(ctx, path),
		ctx:    ctx,
		driver: q.Driver,
	}
	a.cmd.Stderr = &a.words
	a.cmd.WaitDelay = patience
	if a.stdin, err = a.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if a.stdout, err = a.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := a.cmd.Start(); err != nil {
		return nil, ErrProgram
	}
	_, _ = a.stdin.Write(append(text, '\n')) // a program that has ended reports its own error
	return a, nil
}

// mostShare is the largest share.
const mostShare = 1 << 30

// memoryShare returns the bytes of memory that a library in the program may use, as it keeps data as long as it
// can: a quarter of the memory available to this process, and at most mostShare.
func memoryShare() uint64 {
	most := ram.Available()
	if most == 0 {
		return mostShare
	}
	return min(most/4, mostShare)
}

// answer is the output of the program.
type answer struct {
	ctx    context.Context
	driver string
	cmd    *exec.Cmd
	stdin  io.WriteCloser // kept open as long as the answer is wanted
	stdout io.Reader
	words  errorOutput
	ended  error // the result of Read after the program has ended
}

// Read implements io.Reader.
func (a *answer) Read(p []byte) (int, error) {
	if a.ended != nil {
		return 0, a.ended
	}
	n, err := a.stdout.Read(p)
	if err == nil {
		return n, nil
	}
	_ = a.stdin.Close()
	a.ended = io.EOF
	if failed := a.cmd.Wait(); failed != nil || err != io.EOF {
		a.ended = a.words.failure(a.driver)
	}
	if a.ctx.Err() != nil {
		a.ended = a.ctx.Err()
	}
	return n, a.ended
}

// Close ends the program.
func (a *answer) Close() error {
	if a.ended == nil {
		a.ended = io.ErrClosedPipe
		_ = a.stdin.Close()
		_ = a.cmd.Process.Kill()
		_ = a.cmd.Wait()
	}
	return nil
}

// errorOutput keeps the start of the program's standard error.
type errorOutput struct{ bytes.Buffer }

// Write implements io.Writer.
func (w *errorOutput) Write(p []byte) (int, error) {
	_, _ = w.Buffer.Write(p[:min(len(p), mostWords-w.Len())])
	return len(p), nil
}

// states matches a SQLSTATE.
var states = regexp.MustCompile(`^[0-9A-Z]{2}([0-9A-Z]{3})?$`)

// sentences maps the error words of the program to a message and a hint. TOOL is replaced by the name of the
// database's program.
var sentences = map[string][2]string{
	"question": {"the program " + Program + " has a different version",
		"install the one from the same release"},
	"driver": {"the program " + Program + " does not know this driver",
		"install the one from the same release"},
	"without": {"the program " + Program + " was built without DuckDB",
		"build it with CGO_ENABLED=1 go build -C sql -tags duckdb ./cmd/dptrain-sql, or write a Parquet file with COPY"},
	"dsn": {"data.sql.dsn cannot be read",
		"such as host=db dbname=shop user=me, or postgres://me@db/shop"},
	"nofile": {"data.sql.dsn does not name a file",
		"give the path of a DuckDB database, or :memory: for a query that only reads Parquet files"},
	"file": {"the file is not a readable DuckDB database",
		"it must not be open for writing, nor be from a later version than DuckDB 1.4"},
	"tls": {"the connection leaves this machine and might be unencrypted",
		"add sslmode=verify-full to the dsn, or sslmode=require"},
	"connect": {"the database refused the connection", "try the dsn with TOOL"},
	"query":   {"the database rejected the query", "it must be a single SELECT; try it with TOOL"},
	"select": {"the query is not a single SELECT without parameters",
		"statements that write, set, load or describe are not allowed"},
	"name": {"the query has a column whose name contains a control character",
		"rename it with AS"},
	"changed": {"the columns of the query have changed",
		"try again when the tables do not change"},
	"row": {"the database ended the query with an error",
		"try it with TOOL; the query must not fail for any rows"},
	"memory": {"the query needs more memory than DuckDB may use: 1 GiB, or a quarter of the memory if that is less",
		"sort and join in advance: CREATE TABLE … AS or COPY … TO a Parquet file"},
	"write": {"the query writes, but the transaction is read-only",
		"use a query that only reads"},
	"broken": {"the connection broke before the last row", "nothing was released; run again"},
}

// tools are programs in which a query can be tried, by driver.
var tools = map[string]string{
	"postgres": "psql",
	"duckdb":   "duckdb",
}

// kinds matches the name of a kind of error.
var kinds = regexp.MustCompile(`^[A-Z][A-Za-z ]{1,30}$`)

// failure returns the error of a program that has failed.
func (w *errorOutput) failure(driver string) error {
	text := bytes.TrimSpace(w.Bytes())
	text = text[bytes.LastIndexByte(text, '\n')+1:]
	f := failure{}
	if json.Unmarshal(text, &f) != nil {
		f = failure{}
	}
	switch f.Word {
	case "type":
		return &fault.Error{Kind: fault.Data,
			Message: fmt.Sprintf(
				"column %q of the query has type %q, which is not a number, text, boolean or date",
				f.Column, f.Type),
			Hint: "leave it out or cast it in the query, such as CAST(... AS text)"}
	case "function":
		return &fault.Error{Kind: fault.Data,
			Message: fmt.Sprintf(
				"the query reads from %q, which may guess names and types from rows or have side effects",
				f.Column),
			Hint: "use tables, views, read_parquet, range, generate_series or unnest; for a CSV file, use data.path"}
	}
	s, known := sentences[f.Word]
	if !known { // it was killed or crashed
		f = failure{}
		s = sentences["broken"]
	}
	s[1] = strings.ReplaceAll(s[1], "TOOL", tools[driver])
	if states.MatchString(f.SQLState) {
		s[0] += ", SQLSTATE " + f.SQLState
	}
	if kinds.MatchString(f.Kind) {
		s[0] += " (" + f.Kind + " Error)"
	}
	if f.Position > 0 {
		s[0] += ", at character " + strconv.Itoa(f.Position)
	}
	return &fault.Error{
		Kind:    fault.Data,
		Message: s[0],
		Hint:    s[1],
	}
}
