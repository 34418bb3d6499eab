package recipe

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"github.com/dptrain/dptrain/internal/tablefile/query"
)

// SQL names rows of a database instead of a file. It is not published.
type SQL struct {
	// Driver is the kind of database.
	Driver string `yaml:"driver" json:"driver" jsonschema:"required" jsonschema_description:"Kind of database: postgres or duckdb."`
	// DSN is the connection string: env:NAME, file:PATH, or the text itself, without a password.
	DSN string `yaml:"dsn" json:"dsn" jsonschema:"required,minLength=1" jsonschema_description:"Connection string without a password, such as host=db dbname=shop user=me; or env:NAME or file:PATH, whose content may include one. For duckdb: the path of its file, relative to the recipe, or :memory:."`
	// Query is one SELECT.
	Query string `yaml:"query" json:"query" jsonschema:"required,minLength=1" jsonschema_description:"A single SELECT whose rows are the records. It runs read-only and is not published."`
}

// drivers lists the kinds of databases that dptrain-sql reads.
var drivers = []string{"postgres", "duckdb"}

// secrets finds a password in a dsn.
var secrets = regexp.MustCompile(`(?i)password\s*=|://[^/@]*:[^/@]*@`)

// inMemory is the DSN of a DuckDB query that reads Parquet files only.
const inMemory = ":memory:"

// mostDSN is the maximum size of a file with a DSN.
const mostDSN = 1 << 16

// sql checks the section data.sql.
func (c *checker) sql() {
	d := &c.r.Data
	if d.SQL == nil {
		return
	}
	if d.Path != "" {
		c.add("data.sql", "data.sql and data.path cannot be combined", "remove one")
	}
	if d.describesText() {
		c.add("data.sql", "data.format and data.multiline_quotes cannot be combined with data.sql",
			"remove them; the query determines the cells")
	}
	if d.SQL.Driver != "" || c.given("data.sql.driver") {
		c.name("data.sql.driver", d.SQL.Driver, drivers, drivers)
	} else {
		c.add("data.sql.driver", "data.sql.driver is required: the kind of database",
			strings.Join(drivers, " or "))
	}
	if strings.TrimSpace(d.SQL.Query) == "" {
		c.add("data.sql.query", "data.sql.query is required: the SELECT whose rows are the records",
			"")
	}
	switch dsn := d.SQL.DSN; {
	case strings.TrimSpace(dsn) == "":
		c.add("data.sql.dsn", "data.sql.dsn is required: the connection string",
			"such as host=db dbname=shop user=me, env:NAME, file:PATH, or the path of a DuckDB file")
	case !dsnElsewhere(dsn) && secrets.MatchString(dsn):
		c.add("data.sql.dsn", "data.sql.dsn contains a password, which must not be in a recipe",
			"use env:NAME or file:PATH, or put it in ~/.pgpass")
	}
}

// dsnElsewhere reports whether a DSN is in a variable or a file.
func dsnElsewhere(dsn string) bool {
	return strings.HasPrefix(dsn, "env:") || strings.HasPrefix(dsn, "file:")
}

// Question returns the query for the database, or false if the records come from elsewhere. A problem with a
// DSN reference never quotes it.
func (r *Recipe) Question() (query.Question, bool, error) {
	s := r.Data.SQL
	if s == nil {
		return query.Question{}, false, nil
	}
	fail := func(msg string) (query.Question, bool, error) {
		return query.Question{}, true,
			Problems{r.Place(
				Problem{
					Path: "data.sql.dsn",
					Msg:  msg,
					Hint: "it should contain, for example, host=db dbname=shop user=me",
				})}
	}
	dsn := s.DSN
	if name, ok := strings.CutPrefix(dsn, "env:"); ok {
		if dsn = os.Getenv(name); dsn == "" {
			return fail(fmt.Sprintf("the environment variable %s is not set", quoted(name)))
		}
	} else if path, ok := strings.CutPrefix(dsn, "file:"); ok {
		text, err := os.ReadFile(r.resolvePath(path))
		if err != nil || len(text) > mostDSN {
			return fail(fmt.Sprintf("the file %s cannot be read", quoted(path)))
		}
		dsn = strings.TrimSpace(string(text))
	}
	if s.Driver == "duckdb" && dsn != inMemory {
		dsn = r.resolvePath(dsn)
	}
	return query.Question{
		Driver: s.Driver,
		DSN:    dsn,
		Query:  s.Query,
	}, true, nil
}

// spark checks the key data.spark.
func (c *checker) spark() {
	d := &c.r.Data
	if d.Spark == "" {
		if c.given("data.spark") && d.Path == "" && d.SQL == nil {
			c.add("data.spark", "data.spark is empty: it must be the SELECT whose rows are the records",
				"")
		}
		return
	}
	for key, given := range map[string]bool{
		"data.path": d.Path != "",
		"data.sql":  d.SQL != nil,
	} {
		if given {
			c.add(
				"data.spark",
				"data.spark and "+key+" cannot be combined",
				"remove one",
			)
		}
	}
	if d.describesText() {
		c.add("data.spark", "data.format and data.multiline_quotes cannot be combined with data.spark",
			"remove them; the query determines the cells")
	}
	if strings.TrimSpace(d.Spark) == "" {
		c.add(
			"data.spark",
			"data.spark is empty: it must be the SELECT whose rows are the records",
			"",
		)
	}
	if c.r.Engine != "" {
		c.add("engine",
			"engine keeps the table on this machine, but the rows of data.spark are on a cluster",
			"remove it, and add --engine spark --connect sc://HOST:PORT to fit")
	}
	if c.r.Task == TaskCausal {
		c.add("data.spark",
			"a causal study needs all records in one place, but data.spark has them on a cluster",
			"write them to a file, and name it in data.path")
	}
}
