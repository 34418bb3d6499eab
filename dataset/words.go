package dataset

import (
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/engine/colblock"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// A column whose text categories are found privately keeps the text of its cells until they are resolved; see
// [Column.Found]. Each cell has a code into a list of texts, which is private. The order of the list follows
// that of the records and carries no meaning: texts must be counted by content.
//
// A cell has at most one text, by a rule that depends on that cell alone: its text as [cell.Normal] returns it,
// folded as the column declares. A text of more than longestWord bytes, or with unprintable characters other than
// the joiners that Persian, the scripts of India and emoji need, does not count as a category.

// longestWord is the public limit on the length of a text category in bytes.
const longestWord = 64

// The joiners, which are part of the spelling of a text.
const (
	zeroWidthNonJoiner = '\u200c'
	zeroWidthJoiner    = '\u200d'
)

// noWord is the code of a text that cannot be a category, the first entry of every list. noText is the code of
// a missing cell.
const (
	noWord = 0
	noText = -1
)

// wordRule returns the text category of a cell, or "" if its text cannot be a category.
func wordRule(text string) string {
	if len(text) > longestWord || !utf8.ValidString(text) {
		return ""
	}
	for _, r := range text {
		if !unicode.IsPrint(r) && r != zeroWidthNonJoiner && r != zeroWidthJoiner {
			return ""
		}
	}
	return text
}

// words is the list of text categories of one column. All readers of the column share it.
type words struct {
	rule   cell.Text
	labels bool // see [Column.Labels]
	mu     sync.Mutex
	codes  map[string]int32
	list   []string
}

func newWords(c *Column) *words {
	return &words{
		rule:   cell.Text(c.TextRule),
		labels: c.Labels,
		codes:  map[string]int32{"": noWord},
		list:   []string{""},
	}
}

// newEmpty returns a list for the same column.
func (w *words) newEmpty() *words {
	return &words{
		rule:   w.rule,
		labels: w.labels,
		codes:  map[string]int32{"": noWord},
		list:   []string{""},
	}
}

// isMissing reports whether a normalised text is a missing value.
func (w *words) isMissing(text string) bool {
	return text == "" || !w.labels && cell.MissingWord(text)
}

// codeOf returns the code of a text; it does not retain the text.
func (w *words) codeOf(text string) int32 {
	word := wordRule(w.rule.Value(text))
	w.mu.Lock()
	defer w.mu.Unlock()
	k, ok := w.codes[word]
	if !ok {
		word = string([]byte(word)) // a copy, to release the record that contains it
		k = int32(len(w.list))
		w.codes[word] = k
		w.list = append(w.list, word)
	}
	return k
}

// mostSeen is the maximum number of texts that a reader caches to avoid locking the shared list.
const mostSeen = 1 << 14

// wordReader converts the cells of a column within one goroutine.
type wordReader struct {
	all    *words
	seen   map[string]int32
	pinned int // for a reader of batches: number of list entries that keep their codes
}

func (w *words) newReader() *wordReader {
	return &wordReader{all: w, seen: map[string]int32{}}
}

// useOwnList gives the reader a list of its own, which is replaced now and then; see [wordReader.renew].
func (r *wordReader) useOwnList() {
	r.all = r.all.newEmpty()
}

// renewList replaces the list, except for the pinned texts, if it has become long. Memory thus holds the texts of
// some batches rather than of the whole file. It is called between two batches, each of which keeps the list
// that its codes index.
func (r *wordReader) renewList() {
	if len(r.all.list) < r.pinned+mostSeen {
		return
	}
	w := r.all.newEmpty()
	if r.pinned > 0 {
		w.list = r.all.list[:r.pinned:r.pinned]
		for k, word := range w.list {
			w.codes[word] = int32(k)
		}
	}
	r.all = w
	clear(r.seen)
}

// listsOf returns the lists of readers, some of which are nil.
func listsOf(readers []*wordReader) [][]string {
	out := make([][]string, len(readers))
	for j, r := range readers {
		if r != nil {
			out[j] = r.all.list
		}
	}
	return out
}

// codeOf wraps [words.codeOf].
func (r *wordReader) codeOf(text []byte) int32 {
	if k, ok := r.seen[string(text)]; ok { // no allocation
		return k
	}
	k := r.all.codeOf(string(text))
	if len(r.seen) >= mostSeen || k == noWord {
		return k
	}
	key := r.all.wordAt(k)
	if key != string(text) {
		key = string(text)
	}
	r.seen[key] = k
	return k
}

func (w *words) wordAt(k int32) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list[k]
}

// readCategory reads a cell of a category column.
func (r *wordReader) readCategory(text string) (int32, class) {
	text = cell.Normal(text)
	if r.all.isMissing(text) {
		return noText, missing
	}
	return r.codeOf([]byte(text)), good
}

// readText reads a cell of a numeric column that contains text but no number.
func (r *wordReader) readText(text string) float64 {
	return colblock.TextNumber(r.codeOf([]byte(cell.Trim(text))))
}

// isBoolean reports whether a cell is a boolean spelled in letters, which can be read as 1 and 0. In a column
// that may hold text categories it is text: models treat two categories better than two numbers.
func isBoolean(text string) bool {
	return cell.BooleanWord(cell.Trim(text)) != ""
}

// wordReaders makes readers for the columns that keep text categories.
func wordReaders(cols []column) []*wordReader {
	out := make([]*wordReader, len(cols))
	for j := range cols {
		if w := cols[j].words; w != nil {
			out[j] = w.newReader()
		}
	}
	return out
}

// unboxWord returns the code of the text category that a number represents, and noText for any other number.
func unboxWord(x float64) int32 {
	k, _ := colblock.NumberText(x)
	return k
}

// IsText reports whether a cell of a numeric column with [Column.Found] or [Column.TellsText] contains text but
// no number. Such a cell is a NaN, as is a missing cell.
func IsText(x float64) bool {
	_, ok := colblock.NumberText(x)
	return ok
}

// wordsOf makes a list of text categories for every column that needs one.
func wordsOf(s Schema) []*words {
	out := make([]*words, len(s.Columns))
	for j := range s.Columns {
		if s.Columns[j].Found {
			out[j] = newWords(&s.Columns[j])
		}
	}
	return out
}

// heldWords returns the list of text categories of a column in memory, and for each name its code in the list.
func heldWords(names []string, c *Column) (list []string, codes []int32) {
	w := newWords(c)
	for _, name := range names {
		name = cell.Normal(name)
		if w.isMissing(name) {
			codes = append(codes, noText)
		} else {
			codes = append(codes, w.codeOf(name))
		}
	}
	return w.list, codes
}

// Data returns column j in the form that [NewTable] accepts. It must not be modified.
func (t *Table) Data(j int) ColumnData {
	d := ColumnData{
		Floats: t.floatColumn(j),
		Codes:  t.codeColumn(j),
		Words:  t.words[j],
	}
	c := &t.schema.Columns[j]
	if d.Floats == nil && c.Kind == Numeric { // there are no records
		d.Floats = []float64{}
	}
	if d.Codes == nil && (c.Found || c.Kind == Category) {
		d.Codes = make([]int32, t.rows)
		for row := range d.Codes {
			d.Codes[row] = t.wordCode(j, row)
		}
	}
	return d
}

// Words returns the list that the codes of column j index, if it has [Column.Found]. The first entry represents
// text that cannot be a category. Words returns nil for any other column.
func (t *Table) Words(j int) []string {
	return t.words[j]
}

// CodesOf returns the codes of cells with these texts in a category column. A text that is not listed may be
// another spelling of a listed one, as in a table of new records. See [Column.MissingCode] for cells without
// text.
func (c *Column) CodesOf(words []string) []int32 {
	names := cell.NewNames(c.Categories, cell.Text(c.TextRule), 0)
	out := make([]int32, len(words))
	for k, word := range words {
		out[k] = int32(len(c.Categories))
		if word != "" {
			out[k], _ = names.Find(word)
		}
	}
	return out
}

// CountWords returns the text categories of column j, which has [Column.Found], and the number of records of
// the view with each. A record has at most one. The order is that in which they were met and carries no
// meaning.
func (v View) CountWords(j int) (words []string, counts []int64) {
	at := v.tableColumn(j)
	words = v.table.words[at]
	counts = make([]int64, len(words))
	for k := range v.Len() {
		if code := v.table.wordCode(at, int(v.tableRow(k))); code > noWord {
			counts[code]++
		}
	}
	return words[min(1, len(words)):], counts[min(1, len(counts)):]
}

// wordCode returns the code of the text in a cell: noWord if it cannot be a category, and noText if the cell
// has no text.
func (t *Table) wordCode(j, row int) int32 {
	if t.codes[j] != nil {
		return t.codes[j][row]
	}
	return unboxWord(t.floats[j][row])
}

// Resolve returns the view with its columns read as the given ones, in which the findings about columns with
// [Column.Found] are declared: category columns with their categories, or numeric columns. A cell whose text is
// not among the categories is read as other. No other column may differ. The cell of a record depends only on
// that record, so neighbouring views stay neighbouring.
func (v View) Resolve(as []Column) View {
	t := *v.table
	t.schema.Columns = slices.Clone(t.schema.Columns)
	t.floats = slices.Clone(t.floats)
	t.codes = slices.Clone(t.codes)
	t.words = slices.Clone(t.words)
	for k, c := range as {
		j := v.tableColumn(k)
		if !v.table.schema.Columns[j].Found {
			continue
		}
		t.schema.Columns[j] = c
		if c.Kind == Category {
			t.codes[j], t.floats[j] = v.table.declaredCodes(j, &c), nil
		} else if t.codes[j] != nil {
			panic("dataset: Resolve: words cannot be read as numbers")
		}
		t.words[j] = nil
	}
	v.table = &t
	return v
}

// declaredCodes returns the codes of a text column under declared categories.
func (t *Table) declaredCodes(j int, c *Column) []int32 {
	absent := c.MissingCode()
	of := c.CodesOf(t.words[j])
	out := make([]int32, t.rows)
	for row := range out {
		out[row] = absent
		if code := t.wordCode(j, row); code != noText {
			out[row] = of[code]
		}
	}
	return out
}
