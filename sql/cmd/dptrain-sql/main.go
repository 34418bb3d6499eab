// Command dptrain-sql reads databases on behalf of dptrain, which contains no database drivers.
//
// dptrain starts it for a recipe with data.sql and sends one request on standard input: a line of JSON. The
// answer on standard output is a header line and one line of CSV per row. Exit code 0 means that the answer is
// complete. Otherwise the last line on standard error is a JSON object with an error word and a SQLSTATE, which
// dptrain converts to a message. Texts of the server are never passed on, because they may quote a row.
//
// A query of Postgres runs in one read-only transaction on one snapshot, by a cursor, so that neither the
// program nor the server holds more than a block of rows for it. DuckDB is part of programs that are built with
// the tag duckdb; its file is opened read-only, and its rows are streamed too.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// format is the version of the request format.
const format = "dptrain.sql/1"

// A question is the request of dptrain.
type question struct {
	Format  string   `json:"format"`
	Want    string   `json:"want"` // "columns" or "rows"
	Driver  string   `json:"driver"`
	DSN     string   `json:"dsn"`
	Query   string   `json:"query"`
	Memory  uint64   `json:"memory,omitempty"`  // memory limit in bytes for a library in this process; 0: its own default
	Columns []string `json:"columns,omitempty"` // for rows: the columns of the query when they were requested
}

// A failure is the reason for an incomplete answer, as an error word of this program. It contains no data of a
// row.
type failure struct {
	Word     string `json:"word"`
	SQLState string `json:"sqlstate,omitempty"` // only its class once rows have been read
	Kind     string `json:"kind,omitempty"`     // kind of a DuckDB error, before rows are read
	Position int32  `json:"position,omitempty"` // character of the query, from 1; 0 if unknown
	Column   string `json:"column,omitempty"`   // name in the row description, or a function that may not be read from
	Type     string `json:"type,omitempty"`     // of that column
}

func (f *failure) Error() string {
	return f.Word
}

// drivers maps the name of a driver to the function that answers its queries.
var drivers = map[string]func(
	context.Context, *question, io.Writer,
) error{"postgres": answerPostgres, "duckdb": answerDuckDB}

func main() {
	ctx, stop := signal.NotifyContext(
		context.Background(),
		os.Interrupt,
		syscall.SIGTERM,
	)
	err := answerQuestion(ctx, os.Stdin, os.Stdout)
	stop()
	if err == nil {
		return
	}
	failed := &failure{Word: "broken"}
	errors.As(err, &failed)
	if text, err := json.Marshal(failed); err == nil {
		_, _ = os.Stderr.Write(append(text, '\n'))
	}
	os.Exit(1)
}

// answerQuestion reads one question and writes its answer. The caller keeps standard input open as long as it
// wants the answer.
func answerQuestion(
	ctx context.Context,
	stdin io.Reader,
	stdout io.Writer,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	in := bufio.NewReader(stdin)
	line, err := in.ReadBytes('\n')
	var q question
	if err != nil || json.Unmarshal(line, &q) != nil || q.Format != format ||
		q.Want != "columns" && q.Want != "rows" {
		return &failure{Word: "question"}
	}
	ask, known := drivers[q.Driver]
	if !known {
		return &failure{Word: "driver"}
	}
	go func() {
		_, _ = io.Copy(io.Discard, in)
		cancel()
	}()
	return ask(ctx, &q, stdout)
}
