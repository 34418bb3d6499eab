// What is called of DuckDB's C API (version 1.4), whose library comes with a module of Go. Handles are pointers to
// what the library alone knows.

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  uint64_t unused_columns, unused_rows, unused_changed;
  void *unused_data;
  char *unused_error;
  void *internal;
} duckdb_result;

int duckdb_create_config(void **config);
int duckdb_set_config(void *config, const char *name, const char *option);
void duckdb_destroy_config(void **config);
int duckdb_open_ext(const char *path, void **database, void *config, char **error);
void duckdb_close(void **database);
int duckdb_connect(void *database, void **connection);
void duckdb_interrupt(void *connection);
void duckdb_disconnect(void **connection);
void duckdb_free(void *pointer);

uint64_t duckdb_extract_statements(void *connection, const char *query, void **statements);
void duckdb_destroy_extracted(void **statements);
int duckdb_prepare_extracted_statement(void *connection, void *statements, uint64_t index, void **prepared);
int duckdb_prepare(void *connection, const char *query, void **prepared);
const char *duckdb_prepare_error(void *prepared);
uint64_t duckdb_nparams(void *prepared);
int duckdb_bind_varchar_length(void *prepared, uint64_t index, const char *text, uint64_t length);
int duckdb_prepared_statement_type(void *prepared);
uint64_t duckdb_prepared_statement_column_count(void *prepared);
const char *duckdb_prepared_statement_column_name(void *prepared, uint64_t column);
void *duckdb_prepared_statement_column_logical_type(void *prepared, uint64_t column);
void duckdb_destroy_prepare(void **prepared);

int duckdb_get_type_id(void *type);
uint8_t duckdb_decimal_scale(void *type);
int duckdb_decimal_internal_type(void *type);
int duckdb_enum_internal_type(void *type);
uint32_t duckdb_enum_dictionary_size(void *type);
char *duckdb_enum_dictionary_value(void *type, uint64_t index);
char *duckdb_logical_type_get_alias(void *type);
void duckdb_destroy_logical_type(void **type);

int duckdb_pending_prepared_streaming(void *prepared, void **pending);
int duckdb_execute_pending(void *pending, duckdb_result *result);
void duckdb_destroy_pending(void **pending);
const char *duckdb_result_error(duckdb_result *result);
int duckdb_result_error_type(duckdb_result *result);
void duckdb_destroy_result(duckdb_result *result);
void *duckdb_fetch_chunk(duckdb_result result);
uint64_t duckdb_data_chunk_get_size(void *chunk);
void *duckdb_data_chunk_get_vector(void *chunk, uint64_t column);
void *duckdb_vector_get_data(void *vector);
uint64_t *duckdb_vector_get_validity(void *vector);
void duckdb_destroy_data_chunk(void **chunk);
