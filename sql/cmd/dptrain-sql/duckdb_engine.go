//go:build duckdb && cgo && ((linux && (amd64 || arm64)) || (darwin && arm64))

package main

// #include <stdlib.h>
// #include "duckdb_calls.h"
import "C"

import (
	"runtime"
	"strconv"
	"unsafe"
)

// An engine is a DuckDB database that can only be read, with one connection.
type engine struct {
	database   unsafe.Pointer
	connection unsafe.Pointer
}

// settings restricts queries and fixes how values are cast to text. Extensions are neither installed nor
// loaded, and no data is written: data that does not fit in memory would otherwise be stored on disk in plain
// text. Rows are returned in the order of the table.
func settings(memory uint64, file bool) map[string]string {
	out := map[string]string{
		"allow_community_extensions":   "false",
		"autoinstall_known_extensions": "false",
		"autoload_known_extensions":    "false",
		"allow_persistent_secrets":     "false",
		"temp_directory":               "",
		"preserve_insertion_order":     "true",
		"threads":                      strconv.Itoa(min(runtime.GOMAXPROCS(0), mostThreads)),
	}
	if memory > 0 {
		out["memory_limit"] = strconv.FormatUint(max(memory, leastMemory)>>20, 10) + "MiB"
	}
	if file {
		out["access_mode"] = "READ_ONLY"
	}
	return out
}

// afterwards lists the settings that need a connection. The last one locks the configuration.
var afterwards = []string{"SET TimeZone = 'UTC'", "SET errors_as_json = true",
	"SET lock_configuration = true"}

// openEngine opens the database in a file, or an empty one in memory if there is no path.
func openEngine(path string, memory uint64) (*engine, bool) {
	var config unsafe.Pointer
	if C.duckdb_create_config(&config) != 0 {
		return nil, false
	}
	defer C.duckdb_destroy_config(&config)
	for name, value := range settings(memory, path != "") {
		if !withText(name, func(n *C.char) bool {
			return withText(value, func(v *C.char) bool {
				return C.duckdb_set_config(config, n, v) == 0
			})
		}) {
			return nil, false
		}
	}
	e := &engine{}
	ok := withText(path, func(p *C.char) bool {
		var said *C.char // it is left unread
		defer func() {
			C.duckdb_free(unsafe.Pointer(said))
		}()
		return C.duckdb_open_ext(p, &e.database, config, &said) == 0 &&
			C.duckdb_connect(e.database, &e.connection) == 0
	})
	for _, statement := range afterwards {
		ok = ok && e.do(statement)
	}
	if !ok {
		e.close()
		return nil, false
	}
	return e, true
}

// close ends the connection and the database.
func (e *engine) close() {
	C.duckdb_disconnect(&e.connection)
	C.duckdb_close(&e.database)
}

// interrupt interrupts the running statement. It may be called by another goroutine, until close.
func (e *engine) interrupt() {
	C.duckdb_interrupt(e.connection)
}

// withText calls do with a C string.
func withText(s string, do func(*C.char) bool) bool {
	text := C.CString(s)
	defer C.free(unsafe.Pointer(text))
	return do(text)
}

// prepare prepares a query, which must be a single SELECT. Any other statement is a failure.
func (e *engine) prepare(query string) (*prepared, error) {
	p := &prepared{}
	var failed error
	withText(query, func(text *C.char) bool {
		var all unsafe.Pointer
		n := C.duckdb_extract_statements(e.connection, text, &all)
		defer C.duckdb_destroy_extracted(&all)
		switch {
		case n != 1:
			failed = &failure{Word: "select"}
		case C.duckdb_prepare_extracted_statement(e.connection, all, 0, &p.statement) != 0:
			failed = refused(C.GoString(C.duckdb_prepare_error(p.statement)))
		case C.duckdb_prepared_statement_type(p.statement) != selects ||
			C.duckdb_nparams(p.statement) != 0:
			failed = &failure{Word: "select"}
		}
		return true
	})
	if failed != nil {
		p.close()
		return nil, failed
	}
	return p, nil
}

// do runs a statement of this program to its end.
func (e *engine) do(statement string) bool {
	p := &prepared{}
	defer p.close()
	return e.start(p, statement)
}

// start starts a statement of this program.
func (e *engine) start(
	p *prepared,
	statement string,
	arguments ...string,
) bool {
	ok := withText(statement, func(text *C.char) bool {
		return C.duckdb_prepare(e.connection, text, &p.statement) == 0
	})
	for i, value := range arguments {
		ok = ok && withText(value, func(v *C.char) bool {
			return C.duckdb_bind_varchar_length(p.statement, C.uint64_t(i+1), v,
				C.uint64_t(len(value))) == 0
		})
	}
	return ok && p.run() == nil
}

// ask returns the single text that a statement of this program answers; ok is false if it fails.
func (e *engine) ask(
	statement string,
	arguments ...string,
) (answer string, ok bool) {
	p := &prepared{}
	defer p.close()
	if !e.start(p, statement, arguments...) {
		return "", false
	}
	c, err := p.next()
	if err != nil || c == nil {
		return "", false
	}
	defer c.close()
	if all := p.columns(); c.rows != 1 || len(all) != 1 || all[0].kind.id != typeVarchar ||
		!c.vector(0).valid(0) {
		return "", false
	}
	return string(textAt(c.vector(0).data, 0)), true
}

// A prepared is a prepared statement, and its result once it runs.
type prepared struct {
	statement unsafe.Pointer
	result    C.duckdb_result
}

// close frees the statement and its result.
func (p *prepared) close() {
	C.duckdb_destroy_result(&p.result)
	C.duckdb_destroy_prepare(&p.statement)
}

// columns returns the name and the type of every column.
func (p *prepared) columns() []described {
	out := make([]described, C.duckdb_prepared_statement_column_count(p.statement))
	for i := range out {
		name := C.duckdb_prepared_statement_column_name(p.statement, C.uint64_t(i))
		out[i].name = C.GoString(name)
		C.duckdb_free(unsafe.Pointer(name))
		t := C.duckdb_prepared_statement_column_logical_type(p.statement, C.uint64_t(i))
		out[i].kind = kindOf(t)
		C.duckdb_destroy_logical_type(&t)
	}
	return out
}

// kindOf returns the properties of a type that are needed to read its values.
func kindOf(t unsafe.Pointer) kind {
	k := kind{id: int(C.duckdb_get_type_id(t))}
	alias := C.duckdb_logical_type_get_alias(t)
	k.alias = C.GoString(alias)
	C.duckdb_free(unsafe.Pointer(alias))
	k.stored = k.id
	switch k.id {
	case typeDecimal:
		k.scale, k.stored = int(C.duckdb_decimal_scale(t)), int(C.duckdb_decimal_internal_type(t))
	case typeEnum:
		k.stored, k.words = int(C.duckdb_enum_internal_type(t)),
			make([]string, C.duckdb_enum_dictionary_size(t))
		for i := range k.words {
			word := C.duckdb_enum_dictionary_value(t, C.uint64_t(i))
			k.words[i] = C.GoString(word)
			C.duckdb_free(unsafe.Pointer(word))
		}
	}
	return k
}

// run starts the statement. Its rows are computed as they are fetched.
func (p *prepared) run() error {
	var pending unsafe.Pointer
	defer C.duckdb_destroy_pending(&pending)
	if C.duckdb_pending_prepared_streaming(p.statement, &pending) != 0 ||
		C.duckdb_execute_pending(pending, &p.result) != 0 {
		return p.failure()
	}
	return nil
}

// next returns the next rows, or nil after the last one.
func (p *prepared) next() (*chunk, error) {
	at := C.duckdb_fetch_chunk(p.result)
	if C.duckdb_result_error(&p.result) != nil {
		C.duckdb_destroy_data_chunk(&at)
		return nil, p.failure()
	}
	if at == nil {
		return nil, nil
	}
	return &chunk{at, int(C.duckdb_data_chunk_get_size(at))}, nil
}

// failure returns the reason why the statement has ended, without any text that may quote a row.
func (p *prepared) failure() error {
	if C.duckdb_result_error_type(&p.result) == outOfMemory {
		return &failure{Word: "memory"}
	}
	return &failure{Word: "row"}
}

// A chunk holds some rows of a result, by columns.
type chunk struct {
	at   unsafe.Pointer
	rows int
}

// close frees the memory of the rows.
func (c *chunk) close() {
	C.duckdb_destroy_data_chunk(&c.at)
}

// vector returns a column of the rows.
func (c *chunk) vector(column int) vector {
	v := C.duckdb_data_chunk_get_vector(c.at, C.uint64_t(column))
	return vector{C.duckdb_vector_get_data(v), unsafe.Pointer(C.duckdb_vector_get_validity(v))}
}
