package main

import (
	"bytes"
	"context"
	"errors"
	"io"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/cluster"
	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/tablefile/query"
)

// tableOfQuery is the path used for rows from a database or a cluster. As for standard input, there is no file.
const tableOfQuery = "-"

// queries reports whether the rows come from a database.
func (j *job) queries() bool {
	return j.recipe.Data.SQL != nil
}

// tableName returns the name of the table in messages.
func (j *job) tableName() string {
	switch {
	case j.queries():
		return query.Name
	case j.onSpark():
		return cluster.QueryName
	}
	return j.table
}

// ledgerPath returns the path of the table for a ledger, or "" for rows from a database or a cluster.
func (j *job) ledgerPath() string {
	if j.queries() || j.onSpark() {
		return ""
	}
	return j.table
}

// queryColumns asks the database for the columns. No row is read.
func (j *job) queryColumns(ctx context.Context) ([]string, error) {
	q, _, err := j.recipe.Question()
	if err != nil {
		return nil, err
	}
	line, err := q.Header(ctx)
	if err != nil {
		return nil, j.unanswered(err)
	}
	heading, _, err := dataset.HeadingFrom(
		ctx,
		bytes.NewReader(line),
		query.Name,
		j.readOptions(),
	)
	return heading.Names, err
}

// rows asks the database for the rows.
func (j *job) rows(ctx context.Context) (io.ReadCloser, error) {
	q, _, err := j.recipe.Question()
	if err != nil {
		return nil, err
	}
	rows, err := q.Rows(ctx, j.header)
	if err != nil {
		return nil, j.unanswered(err)
	}
	return rows, nil
}

// readQuery reads the rows into memory.
func (j *job) readQuery(
	ctx context.Context,
	schema dataset.Schema,
) (*dataset.Table, *dataset.Stats, error) {
	rows, err := j.rows(ctx)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	return dataset.ReadFrom(ctx, rows, query.Name, schema, j.readOptions())
}

// unanswered converts an error about a query. A missing query program becomes a problem of the recipe, and an error
// of the database becomes a [dataset.FileError].
func (j *job) unanswered(err error) error {
	if errors.Is(err, query.ErrProgram) {
		return recipe.Problems{j.recipe.Place(recipe.Problem{Path: query.Name,
			Msg: "data.sql: databases need the program " + query.Program +
				", which is neither next to dptrain nor on the PATH",
			Hint: "build it from the folder sql of the source code, or export the table to a file"})}
	}
	var wrong *fault.Error
	if errors.As(err, &wrong) {
		return &dataset.FileError{
			Path: query.Name,
			Msg:  wrong.Message,
			Hint: wrong.Hint,
			Err:  errNoAnswer,
		}
	}
	return err
}

// errNoAnswer is wrapped by the errors of databases.
var errNoAnswer = fault.New(fault.Data, "the database does not respond")
