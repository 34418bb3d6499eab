package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// keptName is the name of the kept rows, and keptColumn their only column.
const (
	keptName   = "dptrain_kept"
	keptColumn = "kept"
	lineName   = "line"
)

// transformQuery is a query that pipes an expression over a table through the program. Spark runs the command
// with bash in the folder of the executor; the files of a session are in a subfolder whose name the executor
// chooses. Delta reads its tables in copies of a session, which have the files too, so several folders may
// contain the program. A copy that is still being fetched cannot be executed.
func (s *session) transformQuery(expression, from string) string {
	return "SELECT TRANSFORM(" + expression + ") USING 'for p in ./*/" + s.program +
		`; do test -x "$p" && exec "$p" worker; done'` +
		" AS (" + keptColumn + " STRING) FROM " + from
}

// pipedQuery is a query that pipes lines through the program, with the order of the tasks before the first line
// of each part: one program processes a part, and Spark sends it the order once, regardless of the number of
// tasks. The query of the lines must have a COALESCE: the rows of a local table alone would be numbered before
// they are distributed to parts.
func (s *session) pipedQuery(lines string) string {
	// Plans and logs do not show the value of a subquery.
	order := "(SELECT " + orderName + " FROM " + tableName + " WHERE " + orderName + " != '')"
	withOrder := "concat(" + order + ", char(10), " + lineName + ")"
	expression := "IF(" + firstOfPart + ", " + withOrder + ", " + lineName + ")"
	numbered := "(SELECT monotonically_increasing_id() AS i, " + lineName + " FROM " + lines + ")"
	return s.transformQuery(expression, numbered)
}

// orderColumn is a column for a table of the given number of tasks. It holds their order in the first row only.
func orderColumn(order []byte, tasks int) column {
	cells := make([][]byte, tasks)
	cells[0] = order
	return column{orderName, cells}
}

// described is a column of a query.
type described struct{ name, kind string }

// executeStatement executes a statement without an answer.
func (s *session) executeStatement(
	ctx context.Context,
	statement string,
) error {
	return s.executePlan(
		ctx,
		statementPlan(statement),
		func(response) error { return nil },
	)
}

// describeColumns returns the columns of a query. Spark reads no row to answer it. Only a query can be placed
// between the brackets. Times are in UTC.
func (s *session) describeColumns(
	ctx context.Context,
	query string,
) ([]described, error) {
	if err := s.executeStatement(ctx, "SET TIME ZONE 'UTC'"); err != nil {
		return nil, err
	}
	both := make([][][]byte, 2)
	err := s.executePlan(ctx, statementPlan("DESCRIBE QUERY (\n"+query+"\n)"),
		func(r response) (err error) {
			both, err = appendBatch(both, r)
			return err
		})
	var failed *failure
	if errors.As(err, &failed) && failed.Word == "job" {
		return nil, &failure{Word: "query"}
	}
	if err != nil {
		return nil, err
	}
	var out []described
	for i, name := range both[0] {
		c := described{string(name), string(both[1][i])}
		if strings.ContainsFunc(c.name, func(r rune) bool {
			return r < ' ' || r == 0xfeff
		}) {
			return nil, &failure{Word: "name"}
		}
		if c.cellExpression(0) == "" {
			return nil, &failure{
				Word:   "type",
				Column: c.name,
				Type:   c.kind,
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// cellExpression returns the SQL expression for the CSV cell of the i-th column of a query, or an empty string
// for an unsupported type. Line ends inside a text become blanks, because a record is one line.
func (d described) cellExpression(i int) string {
	kind, _, _ := strings.Cut(d.kind, "(")
	kind, _, _ = strings.Cut(kind, " ")
	name := fmt.Sprintf("c%d", i)
	switch kind {
	case "string", "varchar", "char":
		return `concat('"', replace(translate(` + name +
			`, concat(char(13), char(10)), '  '), '"', '""'), '"')`
	case "tinyint", "smallint", "int", "bigint", "decimal", "boolean", "date", "timestamp",
		"timestamp_ntz":
		return "CAST(" + name + " AS STRING)"
	case "float", "double": // 3.0 is written 3
		text := "CAST(CAST(" + name + " AS DOUBLE) AS STRING)"
		return "IF(endswith(" + text + ", '.0'), left(" + text + ", length(" + text + ") - 2), " +
			text + ")"
	}
	return ""
}

// rowsQuery is a query for the CSV lines of a query with these columns. i combines the number of the part and
// the number of a row in it.
func rowsQuery(query string, columns []described) string {
	var names, cells []string
	for i, c := range columns {
		names = append(names, fmt.Sprintf("c%d", i))
		empty := "''"
		if len(columns) == 1 { // a line must not be empty
			empty = `'""'`
		}
		cells = append(cells, "coalesce("+c.cellExpression(i)+", "+empty+")")
	}
	return "SELECT monotonically_increasing_id() AS i, concat_ws(',', " +
		strings.Join(cells, ", ") + ") AS " + lineName +
		" FROM (SELECT * FROM (\n" + query + "\n) AS q(" + strings.Join(names, ", ") + "))"
}

// partBits is the number of bits of a row's number within its part, and firstOfPart marks the first row.
const (
	partBits    = 33
	firstOfPart = "shiftleft(shiftright(i, 33), 33) = i"
)

// keepRows passes the rows of a query through the program, keeps the output in the memory and on the disks of
// executors, and returns how it starts. Spark recomputes lost parts. Before the first row of a part the program
// receives the task and the number of the part.
func (s *session) keepRows(
	ctx context.Context,
	r *request,
	with [][]byte,
) ([][]byte, error) {
	columns, err := s.describeColumns(ctx, r.Query)
	if err != nil {
		return nil, err
	}
	same := func(name string, c described) bool {
		return name == c.name
	}
	if !slices.EqualFunc(r.Columns, columns, same) || len(columns) == 0 {
		return nil, &failure{Word: "changed"}
	}
	table, err := localTable(column{columnName, with})
	if err != nil {
		return nil, err
	}
	// In a join, Spark would drop the ORDER BY of the query. Plans and logs do not show the value of a
	// subquery.
	before := fmt.Sprintf("concat((SELECT %s FROM %s), ' ', shiftright(i, %d), char(10), %s)",
		columnName, tableName, partBits, lineName)
	query := s.transformQuery("IF("+firstOfPart+", "+before+", "+lineName+")",
		"("+rowsQuery(r.Query, columns)+")")
	s.kept = true
	for _, plan := range [][]byte{
		viewPlan(keptName, query, table),
		statementPlan("SET spark.sql.inMemoryColumnarStorage.compressed=false"), // encrypted text cannot be compressed
		statementPlan("CACHE LAZY TABLE " + keptName +
			" OPTIONS('storageLevel' = 'MEMORY_AND_DISK')"),
	} {
		if err := s.executePlan(ctx, plan, func(response) error {
			return nil
		}); err != nil {
			return nil, err
		}
	}
	return s.queryStrings(ctx,
		statementPlan(fmt.Sprintf("SELECT left(%s, %d) FROM %s", keptColumn, r.Begin, keptName)))
}

// runKept runs tasks that start with the kept rows, with a limited number of programs.
func (s *session) runKept(
	ctx context.Context,
	r *request,
	list [][]byte,
) ([][]byte, error) {
	if len(list) < 2 {
		return nil, nil
	}
	tasks := list[1:]
	places := column{name: placeName}
	rest := column{name: columnName}
	for _, task := range tasks {
		place, of, ok := bytes.Cut(task, []byte{' '})
		if !ok || len(place) != bytes.IndexByte(tasks[0], ' ') {
			return nil, &failure{Word: "question"}
		}
		places.cells, rest.cells = append(places.cells, place), append(rest.cells, of)
	}
	table, err := localTable(places, orderColumn(list[0], len(tasks)), rest)
	if err != nil {
		return nil, err
	}
	from := fmt.Sprintf(
		"(SELECT /*+ COALESCE(%[8]d), BROADCAST(%[1]s) */ concat(%[2]s, ' ', %[3]s) AS %[4]s FROM %[5]s JOIN %[1]s ON left(%[3]s, %[6]d) = %[7]s)",
		tableName, columnName, keptColumn, lineName, keptName, len(places.cells[0]), placeName,
		max(r.Workers, 1))
	return s.queryStrings(ctx, queryPlan(s.pipedQuery(from), table))
}

// forgetRows removes the kept rows. Executors would otherwise keep them beyond the end of a session.
func (s *session) forgetRows() {
	ctx, cancel := context.WithTimeout(context.Background(), patience+2*time.Second)
	defer cancel()
	was := s.open
	_ = s.executeStatement(ctx, "UNCACHE TABLE IF EXISTS "+keptName)
	s.open = s.open || was
}
