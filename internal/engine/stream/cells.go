package stream

import (
	"context"
	"io"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/noise/secret"
	"github.com/dptrain/dptrain/internal/sys/ram"
	"github.com/dptrain/dptrain/internal/sys/scratch"
)

// Source is a table to be read, and where its cells are written.
type Source struct {
	Path    string
	From    io.Reader // the content; nil for the file at Path
	Options dataset.ReadOptions
	Folder  string // of the scratch file; empty for the temporary folder of the system
	Chunk   int    // records of a chunk; 0 chooses them by the number of columns
	Most    int64  // limit of the number of records; 0 means [mechanism.MostNarrow]
}

// Limits of the size of a chunk. The size depends on the schema only.
const (
	chunkCells = 1 << 20
	chunkMost  = 1 << 14
	chunkLeast = 1 << 12 // the records of a large block of a pass
)

// Open reads a table once into a scratch file. It returns the engine and the statistics of the reader, which are
// private. The errors are those of [dataset.Read] and of the scratch file.
func Open(
	ctx context.Context,
	s Source,
	schema dataset.Schema,
) (*Engine, *dataset.Stats, error) {
	key, err := secret.FreshKey()
	if err != nil {
		return nil, nil, err
	}
	file, err := scratch.Create(s.Folder, key)
	if err != nil {
		return nil, nil, err
	}
	e := &Engine{
		schema:    schema,
		file:      file,
		partMarks: map[string][]scratch.Place{},
		states:    map[mechanism.State][]storedState{},
		chunkRows: s.Chunk,
	}
	for _, c := range schema.Columns {
		e.columns = append(e.columns, colblock.NewColumn(c.Kind == dataset.Numeric, c.Found,
			int(c.MissingCode())))
	}
	if schema.Unit != "" {
		e.columns = append(e.columns, colblock.Column{Kind: colblock.Identities})
	}
	if e.chunkRows == 0 {
		e.chunkRows = max(
			min(chunkCells/max(len(e.columns), 1)&^(chunkLeast-1), chunkMost),
			chunkLeast,
		)
	}
	stats := &dataset.Stats{Columns: make([]dataset.ColumnStats, len(schema.Columns))}
	for j, name := range schema.Names() {
		stats.Columns[j].Name = name
	}
	if err := e.writeTable(ctx, s, stats); err != nil {
		_ = file.Close()
		return nil, nil, err
	}
	return e, stats, nil
}

// isNumeric reports whether column j is numeric.
func (e *Engine) isNumeric(j int) bool {
	return e.columns[j].Numeric()
}

// columnData returns column j of the current chunk.
func (r *chunkReader) columnData(j int) dataset.ColumnData {
	c := &r.chunks[r.current]
	if r.loaded[j] != r.current+1 {
		r.loadColumn(j, c)
		r.loaded[j] = r.current + 1
	}
	if r.isNumeric(j) {
		return dataset.ColumnData{Floats: r.floats[j][:c.rows]}
	}
	return dataset.ColumnData{Codes: r.codes[j][:c.rows]}
}

// loadColumn reads column j of a chunk. After an error, which it stores in r.err, the cells must not be used.
func (r *chunkReader) loadColumn(j int, c *chunk) {
	place, encoding := r.columnPlace(c, j)
	if r.isNumeric(j) {
		if r.floats == nil {
			// The memory is kept as long as the table.
			r.floats, _ = ram.GetColumns(len(r.columns), r.chunkRows, r.isNumeric)
		}
		if err := r.readNumbers(r.floats[j], place, encoding, c.rows); err != nil {
			r.err = err
			return
		}
		if j < len(r.rules) && r.rules[j] != nil {
			for i, x := range r.floats[j][:c.rows] {
				r.floats[j][i] = r.rules[j](x)
			}
		}
		return
	}
	if r.codes[j] == nil {
		r.codes[j] = make([]int32, r.chunkRows)
	}
	data, err := r.file.Read(place, r.buffer)
	if err != nil {
		r.err = err
		return
	}
	r.buffer = data
	encoding.DecodeCodes(r.codes[j][:c.rows], data)
}

// readNumbers reads the numbers of a column of a chunk. to has space for a whole chunk and the
// overhead of its place.
func (r *chunkReader) readNumbers(
	to []float64,
	p scratch.Place,
	of colblock.Encoding,
	rows int,
) error {
	if of == colblock.Raw {
		return colblock.ReadNumbers(to, func(memory []byte) error {
			return r.file.ReadInto(p, memory)
		})
	}
	data, err := r.file.Read(p, r.buffer)
	if err != nil {
		return err
	}
	r.buffer = data
	of.DecodeNumbers(to[:rows], data)
	return nil
}
