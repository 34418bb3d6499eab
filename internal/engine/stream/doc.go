// Package stream is the engine of a table that need not fit into memory. It writes the cells
// of the table to an encrypted scratch file, in chunks of records and column by column, and
// reads the columns that a pass needs. The states of records are stored in the same file.
package stream
