package dataset

import (
	"bytes"

	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/tablefile/fastfloat"
)

// store writes the cells of records to a slab and counts the cells that it replaces.
// Each worker has its own.
type store struct {
	lay   layout
	cols  []column
	comma []byte
	dst   slab
	stats *Stats
	cut   fieldCutter
	names *namer
	dates []*dates
	rule  cell.Rule
	plain bool  // the rule reads plain numbers
	runs  []int // per field: number of consecutive plain numbers from it on
	some  []float64
	none  [][]float64
	room  [48]byte
	words []*wordReader // per column; nil for a column that keeps no text categories
	max   int           // maximum number of bytes read of a line
	each  bool          // an empty line is a record
}

func (rd *reader) newStore(lay layout) *store {
	s := &store{
		lay:   lay,
		dates: lay.dates,
		cols:  rd.cols,
		comma: []byte{rd.dialect.comma},
		words: wordReaders(rd.cols),
		stats: newStats(rd.schema),
		names: rd.opts.unitNamer(),
		cut:   rd.newFieldCutter(),
		rule:  rd.rule,
		plain: rd.rule.Plain(),
		none:  make([][]float64, len(rd.cols)),
		max:   rd.opts.maxLine(),
		each:  rd.each,
	}
	s.runs = make([]int, len(lay.targets))
	s.some = make([]float64, len(lay.targets))
	for f := len(lay.targets) - 1; f >= 0 && s.plain; f-- {
		if target := lay.targets[f]; target >= 0 && s.cols[target].kind == Numeric {
			s.runs[f] = 1
			if f+1 < len(s.runs) {
				s.runs[f] += s.runs[f+1]
			}
		}
	}
	return s
}

// newBatchStore returns a store whose lists of text categories are not shared.
func (rd *reader) newBatchStore(lay layout) *store {
	s := rd.newStore(lay)
	for _, r := range s.words {
		if r != nil {
			r.useOwnList()
		}
	}
	return s
}

// nextBatch starts a batch in dst.
func (s *store) nextBatch(dst slab, stats *Stats) {
	s.dst = dst
	s.stats = stats
	for _, r := range s.words {
		if r != nil {
			r.renewList()
		}
	}
}

// storeRecord stores the fields of one record with the slow parser.
func (s *store) storeRecord(fields []string, row int) {
	for f, target := range s.lay.targets {
		cell := ""
		if f < len(fields) {
			cell = fields[f]
		}
		s.storeCell(target, cell, row)
	}
	s.checkWidth(len(fields))
}

// storeCell stores one cell.
func (s *store) storeCell(target int, text string, row int) {
	if target < 0 {
		if target == unitField {
			s.dst.ids[row] = s.stats.countUnit(s.names.unitID(text))
		} else if target <= dateField {
			s.storeDate(s.dates[dateField-target], text, row)
		}
		return
	}
	c := &s.cols[target]
	words := s.words[target]
	switch {
	case c.kind == Numeric:
		v, what := s.rule.Number(text)
		if words != nil && (what == unparseable || what == good && isBoolean(text)) {
			s.dst.floats[target][row] = words.readText(text)
			s.stats.Columns[target].countClass(unparseable)
			return
		}
		s.storeNumber(target, row, v, what)
	case words != nil:
		code, what := words.readCategory(text)
		s.storeCode(target, row, code, what)
	default:
		code, what := c.parseCategory(text)
		s.storeCode(target, row, code, what)
	}
}

// storeNumber stores a classified number under the missing rule.
func (s *store) storeNumber(j, row int, v float64, what class) {
	if what != good {
		v = s.cols[j].missing
		if what == unparseable {
			v = s.cols[j].unread
		}
		s.stats.Columns[j].countClass(what)
	}
	s.dst.floats[j][row] = v
}

// storeDeclaredCode stores a text that was met before.
func (s *store) storeDeclaredCode(j, row int, code int32) {
	if s.dst.codes[j] != nil {
		s.dst.codes[j][row] = code
		return
	}
	s.dst.floats[j][row] = colblock.TextNumber(code)
	s.stats.Columns[j].countClass(unparseable)
}

// storeCode stores a classified category code.
func (s *store) storeCode(j, row int, code int32, what class) {
	if what != good {
		s.stats.Columns[j].countClass(what)
	}
	s.dst.codes[j][row] = code
}

// checkWidth counts one record and compares its number of fields with the header's.
func (s *store) checkWidth(fields int) {
	s.stats.Rows++
	switch {
	case fields > s.lay.fields:
		s.stats.Long++
	case fields < s.lay.fields:
		s.stats.Short++
	}
}

// parseLines stores every record of data, which holds whole lines, from row 0 of dst. It returns false if there
// are more or fewer records than dst has rows.
func (s *store) parseLines(data []byte) bool {
	plain := s.cut.d.isPlain(data)
	row := 0
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data, s.max)
		switch {
		case len(line) == 0 && !s.each:
			continue
		case row == s.dst.rows:
			return false
		case plain:
			s.parseLine(line, row)
		default:
			s.parseAnyLine(line, row)
		}
		row++
	}
	return row == s.dst.rows
}

// parseAnyLine stores a record.
func (s *store) parseAnyLine(record []byte, row int) {
	if s.cut.d.isPlain(record) {
		s.parseLine(record, row)
		return
	}
	s.cut.startRecord(record)
	f := 0
	for ; f < len(s.lay.targets) && s.cut.more; f++ {
		s.storeBytes(
			s.lay.targets[f],
			s.cut.nextField(s.lay.targets[f] != skipField),
			row,
		)
	}
	fields := f + s.cut.countFields()
	for ; f < len(s.lay.targets); f++ {
		s.storeCell(s.lay.targets[f], "", row)
	}
	s.checkWidth(fields)
}

// aloneFields is the number of fields that are read one by one if the first of several cannot be read in bulk.
const aloneFields = 8

// parseLine stores a record in which every comma ends a field.
func (s *store) parseLine(b []byte, row int) {
	comma := s.comma[0]
	targets := s.lay.targets
	floats := s.dst.floats
	if !s.plain {
		floats = s.none
	}
	f, i := 0, 0 // field f starts at i; i > len(b) if there is no field f
	again := 0   // the field from which on several are read in bulk
	for ; f < len(targets) && i <= len(b); f++ {
		if f >= again && s.runs[f] > 0 {
			n, next := fastfloat.Fields(s.some[:s.runs[f]], b[i:], comma)
			for k, v := range s.some[:n] {
				floats[targets[f+k]][row] = v
			}
			if f, i = f+n, i+next; f == len(targets) || i > len(b) {
				break
			}
			if again = f + 1; n == 0 { // all fields may be like this
				again = f + aloneFields
			}
		}
		target := targets[f]
		if target >= 0 && floats[target] != nil {
			v, n, ok := fastfloat.Scan(b[i:])
			if end := i + n; ok && (end == len(b) || b[end] == comma) {
				floats[target][row] = v
				i = end + 1
				continue
			}
		}
		end := bytes.IndexByte(b[i:], comma)
		if end < 0 {
			end = len(b)
		} else {
			end += i
		}
		s.storeBytes(target, b[i:end], row)
		i = end + 1
	}
	fields := f
	if i <= len(b) {
		fields += 1 + bytes.Count(b[i:], s.comma)
	}
	for ; f < len(targets); f++ {
		s.storeCell(targets[f], "", row)
	}
	s.checkWidth(fields)
}

// storeBytes is storeCell that avoids allocating a string where possible.
func (s *store) storeBytes(target int, cell []byte, row int) {
	if target >= 0 && s.words[target] != nil {
		if k, ok := s.words[target].seen[string(cell)]; ok { // no allocation
			s.storeDeclaredCode(target, row, k)
			return
		}
	}
	if target >= 0 && s.cols[target].kind == Numeric && !s.plain {
		if v, ok := s.rule.Fast(cell, s.room[:0], fastfloat.Parse); ok {
			s.dst.floats[target][row] = v
			return
		}
	}
	if target >= 0 && s.cols[target].kind == Category {
		if k, ok := s.cols[target].names.Known(cell); ok {
			s.dst.codes[target][row] = k
			return
		}
	}
	if target != skipField {
		s.storeCell(target, string(cell), row)
	}
}

// parseRecords counts the lines of data that are records.
func (s *store) parseRecords(data []byte) int {
	n := 0
	for len(data) > 0 {
		var line []byte
		line, data = cutLine(data, s.max)
		if len(line) > 0 || s.each {
			n++
		}
	}
	return n
}
