//go:build duckdb && cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// The limits of the library: its threads, and the minimum memory with which it starts.
const (
	mostThreads = 4
	leastMemory = 64 << 20
)

// inMemory is the dsn of a query that reads only files.
const inMemory = ":memory:"

// interval is the time after which the engine is interrupted again.
const interval = 50 * time.Millisecond

// answerDuckDB answers a question from a file of DuckDB, or from Parquet files.
func answerDuckDB(ctx context.Context, q *question, stdout io.Writer) error {
	e, err := openFile(q.DSN, q.Memory)
	if err != nil {
		return err
	}
	defer e.close()
	stop := interrupting(ctx, e)
	defer stop()
	// This is checked before the statement is prepared, because preparing some statements already writes.
	tree, ok := e.ask("SELECT json_serialize_sql($1::VARCHAR)::VARCHAR", q.Query)
	if !ok {
		return &failure{Word: "query"}
	}
	if err := allowed(tree); err != nil {
		return err
	}
	p, err := e.prepare(q.Query)
	if err != nil {
		return err
	}
	defer p.close()
	described := p.columns()
	columns, err := readable(described)
	if err != nil {
		return err
	}
	w := newLines(stdout, columns)
	if q.Want == "columns" {
		return w.flush()
	}
	if !slices.Equal(columnNames(columns), q.Columns) {
		return &failure{Word: "changed"}
	}
	if err := p.run(); err != nil {
		return err
	}
	if err := copyRows(ctx, p, described, w); err != nil {
		return err
	}
	return w.flush()
}

// openFile opens a database. A path is made absolute, so that it can only be interpreted as the name of a file.
func openFile(dsn string, memory uint64) (*engine, error) {
	path := ""
	if dsn != inMemory {
		info, err := os.Stat(dsn)
		if err != nil || !info.Mode().IsRegular() {
			return nil, &failure{Word: "nofile"}
		}
		if path, err = filepath.Abs(dsn); err != nil || strings.ContainsRune(path, 0) {
			return nil, &failure{Word: "nofile"}
		}
	}
	e, ok := openEngine(path, memory)
	if !ok {
		return nil, &failure{Word: "file"}
	}
	return e, nil
}

// interrupting interrupts the engine when ctx ends. The engine may be closed after stop.
func interrupting(ctx context.Context, e *engine) (stop func()) {
	done := make(chan struct{})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		select {
		case <-ctx.Done():
		case <-done:
			return
		}
		for again := time.NewTicker(interval); ; <-again.C { // the first interrupt may come before a statement runs
			select {
			case <-done:
				again.Stop()
				return
			default:
				e.interrupt()
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// copyRows writes the rows.
func copyRows(
	ctx context.Context,
	p *prepared,
	columns []described,
	w *lines,
) error {
	all := make([]cells, len(columns))
	row := make([][]byte, len(columns))
	writings := make([]writing, len(columns))
	for i := range columns {
		writings[i] = columns[i].kind.writing()
	}
	for {
		if ctx.Err() != nil {
			return &failure{Word: "broken"}
		}
		c, err := p.next()
		if err != nil || c == nil {
			return err
		}
		for i := range columns {
			all[i].fill(writings[i], c.vector(i), c.rows)
		}
		for r := range c.rows {
			for i := range all {
				row[i] = all[i].cell(r)
			}
			if err := w.writeRow(row); err != nil {
				c.close()
				return err
			}
		}
		c.close()
	}
}
