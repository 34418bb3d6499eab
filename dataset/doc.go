// Package dataset provides tables: the declared schema, an immutable columnar table, views of some of its rows,
// passes over them, and readers that turn CSV, Parquet and other files into tables.
//
// # Columns are declared, never discovered
//
// A [Schema] is public knowledge: the names, kinds, ranges, categories and
// missing values somebody wrote down before seeing the rows. Nothing here infers
// a kind, a range or a category from the data, because whatever was inferred
// would be a release outside every mechanism. A category is kept as one column
// of codes; trainers expand it when they need to.
//
// # Total on rows
//
// No row is ever an error. A line that is not empty always becomes exactly one
// record, so one record in the file is one record in the table and neighbouring
// tables stay neighbouring:
//
//   - a line with too many fields is cut, absent fields are missing cells;
//   - a number that is missing, unreadable or not finite takes the declared
//     missing value, or NaN when none is declared;
//   - a category outside the declared list becomes the code one past the list,
//     "other".
//
// Such cells are only counted, in [Stats], which describes the private rows and
// belongs in the curator's folder. Errors ([FileError]) are about the file and
// its header alone: a file that cannot be opened or ends early, a declared
// column the header does not have. They never repeat a cell, nor a header name,
// since the first line of a file without a header is somebody's record.
//
// # What a CSV file means
//
// One line is one record. Lines end with a newline, a carriage return before it
// is dropped, and a completely empty line is not a record. Quotes follow
// encoding/csv with LazyQuotes, but a quote left open ends with its line: one
// stray quote must not swallow the rows of other people. Only
// [Format.MultilineQuotes] lets a quoted field hold newlines. A UTF-8 byte
// order mark is skipped. Of a line that is longer than [longestLine] the beginning is
// read and the rest skipped: a fixed rule about that line alone, so that a small
// compressed file cannot fill the memory with one of them.
//
// Around a number or a category, spaces and tabs are ignored. A number is what
// strconv.ParseFloat accepts, without hexadecimal and underscores; the empty
// cell and NA, N/A, NaN, nan, null, NULL, None and ? are missing. A category
// that is declared under such a name is that category.
//
// There are two readers of CSV. The slow one, of tests, is encoding/csv and strconv, line by
// line, and is the definition. The fast one splits lines by hand in parallel and
// gives the same table and the same counts, bit for bit; a differential fuzz test
// holds it to that.
//
// A table is read as a whole ([Read]) to train on it, or as a stream of batches
// ([Stream]) to apply a model to it.
//
// # Records and units
//
// Every record has an identity, [Table.ID], that names the privacy unit it
// belongs to. Coins (which records are held out, which bucket one falls in) are
// keyed by the identity, so that all rows of one unit share a fate. Without a
// unit column every row is its own unit, and its place in the table its identity. The package
// draws no randomness: callers bring the coins to [View.Split].
//
// The cells of a unit column are names, numbers among them: a unit is the trimmed
// text of its cell, so 7 and 7.0 are two. Of a Parquet column it is the text that a CSV
// file would hold. Names are hashed as they are read, under a secret key of the process, and are not stored.
//
// Records with a missing unit cell have the identity [NoUnit]. They cannot be attributed to a person. If each
// were a unit of its own, a person with many of them would be unprotected; if they were one unit, the records
// of one person would decide which records of others are kept. Therefore [View.Cap], with which every run with
// a unit column starts, leaves them out: they have no effect and are only counted ([Stats]).
//
// # Passes
//
// [ForEach] writes one output per row, from several goroutines. Sums over records are
// package mechanism's.
package dataset
