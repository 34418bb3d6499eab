package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"testing"
)

// textCells returns cells.
func textCells(of ...string) [][]byte {
	var out [][]byte
	for _, s := range of {
		out = append(out, []byte(s))
	}
	return out
}

// shopServer returns a server with a query whose columns have these types.
func shopServer(types ...string) *server {
	names := []string{"a", "b c", "d"}[:len(types)]
	return &server{files: map[string][]byte{}, says: map[string][]column{
		"DESCRIBE QUERY": {
			{"col_name", textCells(names...)},
			{"data_type", textCells(types...)},
			{"comment", textCells(names...)},
		},
		"SELECT left(": {{"left", textCells("head1", "head2")}},
	}}
}

// TestQueryColumnsAreRequested checks that the columns of a query are requested, that the task is sent separately from
// the query, that tasks of later passes name the kept rows, and that these are removed at the end.
func TestQueryColumnsAreRequested(t *testing.T) {
	s := shopServer("double", "string", "decimal(10,2)")
	head, _ := questionLine(t, startServer(t, s))
	const query = "select a, `b c`, d from shop -- all of it"
	keep := `{"ask":"keep","query":"` + query + `","columns":["a","b c","d"],"begin":89}`
	want := encodeList(t) + encodeList(t, "a", "b c", "d") + encodeList(t, "head1", "head2") +
		encodeList(t, "TASK4712", "TASK4713") + encodeList(t)
	got, err := converse(
		t,
		head+encodeList(
			t,
			`{"ask":"columns","query":"`+query+`"}`,
		)+encodeList(t, keep, "task4711")+
			encodeList(
				t,
				`{"ask":"kept","workers":3}`,
				"order4711",
				"name1 task4712",
				"name2 task4713",
			)+
			encodeList(t, `{"ask":"kept"}`, "order4711"),
		len(want),
	)
	if err != nil || got != want {
		t.Fatalf(
			"answered %q, want %q: %v",
			got, want, err,
		)
	}
	if s.view != keptName {
		t.Errorf("the view is %q", s.view)
	}
	for _, begin := range []string{
		"SET TIME ZONE 'UTC'",
		"DESCRIBE QUERY (\n" + query + "\n)",
		"CACHE LAZY TABLE " + keptName,
		"SELECT left(" + keptColumn + ", 89) FROM " + keptName,
		"UNCACHE TABLE IF EXISTS " + keptName,
	} {
		if !slices.ContainsFunc(s.queries, func(q string) bool {
			return strings.HasPrefix(q, begin)
		}) {
			t.Errorf(
				"no statement %s among %q",
				begin, s.queries,
			)
		}
	}
	if n := len(s.queries) - 1; !strings.HasPrefix(s.queries[n], "UNCACHE") {
		t.Errorf(
			"the last statement is %s",
			s.queries[n],
		)
	}
	for _, q := range s.queries {
		if strings.Contains(q, "4711") ||
			strings.Contains(q, "4712") ||
			strings.Contains(q, "name1") {
			t.Errorf("a statement is %s", q)
		}
	}
}

// TestRefusedQueries checks queries that the server does not accept, and queries whose columns have changed, or
// have a type or a name that no column of a table may have.
func TestRefusedQueries(t *testing.T) {
	for name, tt := range map[string]struct {
		s    *server
		ask  string
		want failure
	}{
		"refused": {
			&server{files: map[string][]byte{}, refuses: "DESCRIBE"},
			`{"ask":"columns","query":"drop table x"}`,
			failure{Word: "query"},
		},
		"array": {
			shopServer("int", "array<int>"),
			`{"ask":"columns"}`,
			failure{"type", "b c", "array<int>"},
		},
		"binary": {
			shopServer("binary"),
			`{"ask":"columns"}`,
			failure{"type", "a", "binary"},
		},
		"void": {
			shopServer("void"),
			`{"ask":"columns"}`,
			failure{"type", "a", "void"},
		},
		"changed": {
			shopServer("int", "int"),
			`{"ask":"keep","columns":["a","b"]}`,
			failure{Word: "changed"},
		},
		"fewer": {
			shopServer("int", "int"),
			`{"ask":"keep","columns":["a"]}`,
			failure{Word: "changed"},
		},
		"name": {
			&server{
				files: map[string][]byte{},
				says: map[string][]column{"DESCRIBE": {
					{"n", textCells("a\nb")},
					{"t", textCells("int")},
				}},
			},
			`{"ask":"columns"}`,
			failure{Word: "name"},
		},
		"unknown": {
			shopServer("int"),
			`{"ask":"drop"}`,
			failure{Word: "question"},
		},
		"no JSON": {
			shopServer("int"), `ask`,
			failure{Word: "question"},
		},
	} {
		head, _ := questionLine(t, startServer(t, tt.s))
		_, err := converse(t, head+encodeList(t, tt.ask, "task"), 100)
		var got *failure
		if !errors.As(err, &got) || *got != tt.want {
			t.Errorf(
				"%s: %v, want %v",
				name, err, tt.want,
			)
		}
	}
}

// TestOnSpark creates the table of a query on the cluster at DPTRAIN_SPARK, in its catalog under the name of
// DPTRAIN_SPARK_TABLE from the CSV file DPTRAIN_SPARK_FILE. It checks that a statement other than a query is
// rejected there, and that every type has the cells that a table would have. .ci/spark runs it.
func TestOnSpark(t *testing.T) {
	address := os.Getenv("DPTRAIN_SPARK")
	table := os.Getenv("DPTRAIN_SPARK_TABLE")
	if address == "" || table == "" {
		t.Skip("there is no cluster: .ci/spark has one")
	}
	s, err := openSession(
		t.Context(),
		&question{
			Address: strings.TrimPrefix(address, "sc://"),
			Session: "11111111-2222-4333-a444-555555555555",
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, statement := range []string{
		"DROP TABLE IF EXISTS " + table,
		"CREATE TABLE " + table + " USING csv OPTIONS (path '" + os.Getenv("DPTRAIN_SPARK_FILE") +
			"', header 'true', inferSchema 'true')",
	} {
		if err := s.executeStatement(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
	for _, query := range []string{
		"DROP TABLE " + table,
		"select 1; select 2",
		"select * from not_there",
		"insert into " + table + " values (1)",
	} {
		var failed *failure
		_, err := s.describeColumns(t.Context(), query)
		if !errors.As(err, &failed) || failed.Word != "query" {
			t.Errorf("%s: %v", query, err)
		}
	}
	c, err := s.describeColumns(t.Context(), "select * from "+table)
	if err != nil || len(c) == 0 {
		t.Errorf(
			"%d columns: %v",
			len(c), err,
		)
	}
	const query = `select 1 as i, 2.5d as d, 3d as e, float(0.1) as f, 1.50 as m, true as b, 'a "quoted", text' || char(10) || 'x' as t, cast(null as string) as n,` +
		` date'2020-02-29' as day, timestamp'2020-01-01 12:00:00.5+02:00' as at, double('NaN') as nan, 1e22d as large`
	columns, err := s.describeColumns(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	got, err := s.queryStrings(
		t.Context(),
		statementPlan("SELECT "+lineName+" FROM ("+rowsQuery(query, columns)+")"),
	)
	if err != nil {
		t.Fatal(err)
	}
	want := `1,2.5,3,0.10000000149011612,1.50,true,"a ""quoted"", text x",,2020-02-29,2020-01-01 10:00:00.5,NaN,1.0E22`
	if len(got) != 1 || string(got[0]) != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestStatementsOfFile executes the statements of the file DPTRAIN_SPARK_SQL, one per line, in one session. .ci/spark
// uses it to create tables of other formats and of a database.
func TestStatementsOfFile(t *testing.T) {
	address := os.Getenv("DPTRAIN_SPARK")
	file := os.Getenv("DPTRAIN_SPARK_SQL")
	if address == "" || file == "" {
		t.Skip("there is no cluster: .ci/spark has one")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	s, err := openSession(
		t.Context(),
		&question{
			Address: strings.TrimPrefix(address, "sc://"),
			Session: "11111111-2222-4333-a444-666666666666",
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	for _, statement := range strings.Split(
		strings.TrimSpace(string(text)),
		"\n",
	) {
		if err := s.executeStatement(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
	}
}
