// Package dataset provides tables: the declared schema, an immutable columnar table, views of some of its rows,
// passes over them, and readers that turn CSV, Parquet and other files into tables.
//
// # Columns are declared, never discovered
//
// A [Schema] is public knowledge: names, kinds, ranges, categories and missing values that were declared before
// the rows were seen. This package never infers a kind, a range or a category from the data, because the result
// would be a release outside every mechanism. A category column is stored as codes; trainers expand it when
// needed.
//
// # Total on rows
//
// A row never causes an error. A line that is not empty always becomes exactly one record, so one record in the
// file is one record in the table and neighbouring tables stay neighbouring:
//
//   - a line with too many fields is cut, absent fields are missing cells;
//   - a number that is missing, unreadable or not finite takes the declared
//     missing value, or NaN if the column declares no value;
//   - a category outside the declared list becomes the code one past the list,
//     "other".
//
// Such cells are only counted, in [Stats], which describes the private rows and
// belongs in the curator's folder. Errors ([FileError]) concern only the file and its header: a file that cannot
// be opened or ends early, or a declared column that is missing from the header. They never repeat a cell or a
// header name, since the first line of a file without a header is a private record.
//
// # CSV files
//
// One line is one record. Lines end with a newline, a carriage return before it is dropped, and a completely
// empty line is not a record. Quotes follow encoding/csv with LazyQuotes, but a quote left open ends with its
// line: one stray quote must not swallow the rows of other people. Only [Format.MultilineQuotes] lets a quoted
// field contain newlines. A UTF-8 byte order mark is skipped. If a line is longer than [longestLine], its start
// is read and the rest skipped. This is a fixed rule about that line alone; without it, a small compressed file
// could fill the memory with a single line.
//
// Around a number or a category, spaces and tabs are ignored. A number is what
// strconv.ParseFloat accepts, without hexadecimal and underscores; the empty
// cell and NA, N/A, NaN, nan, null, NULL, None and ? are missing. A category
// that is declared under such a name is that category.
//
// There are two CSV readers. The slow reader, used in tests, applies encoding/csv and strconv line by line and is
// the reference. The fast reader splits lines in parallel without these packages and returns the same table and
// the same counts, bit for bit, which a differential fuzz test checks.
//
// A table is read as a whole ([Read]) to train on it, or as a stream of batches
// ([Stream]) to apply a model to it.
//
// # Records and units
//
// Every record has an identity, [Table.ID], that names its privacy unit. Coins (which records are held out, which
// bucket a record falls in) are keyed by the identity, so that all rows of one unit are treated alike. Without a
// unit column every row is its own unit, and its position in the table is its identity. The package draws no
// randomness: callers pass the coins to [View.Split].
//
// The cells of a unit column are names, even if they are numbers: a unit is the trimmed text of its cell, so 7 and
// 7.0 are two units. For a Parquet column it is the text that a CSV file would hold. Names are hashed as they are
// read, under a secret key of the process, and are not stored.
//
// Records with a missing unit cell have the identity [NoUnit]. They cannot be attributed to a person. If each
// were a unit of its own, a person with many of them would be unprotected; if they were one unit, the records
// of one person would decide which records of others are kept. Therefore [View.Cap], with which every run with
// a unit column starts, leaves them out: they have no effect and are only counted ([Stats]).
//
// # Passes
//
// [ForEach] writes one output per row, from several goroutines. Package mechanism computes sums over records.
package dataset
