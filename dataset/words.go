package dataset

import (
	"math"
	"slices"
	"sync"
	"unicode"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// A column whose words are found privately keeps the text of its cells until it is known
// what becomes of it; see [Column.Found]. Each cell has a code into a list of words, which
// is private. Its order follows that of the records and says nothing: whoever counts
// words goes by their text.
//
// A cell adds one word at most, by a rule that looks at that cell alone: its text as [cell.Normal] returns it, folded as
// the column says. A text of more than longestWord bytes, or with characters that do not
// print, is no word.

// longestWord is how many bytes a word has at most: a public limit.
const longestWord = 64

// noWord is the code of a text that is no word, the first in every list, and -1 that of a
// missing cell.
const (
	noWord = 0
	noText = -1
)

// wordRule returns the word that a cell of text is; "" if it is none.
func wordRule(text string) string {
	if len(text) > longestWord || !utf8.ValidString(text) {
		return ""
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			return ""
		}
	}
	return text
}

// words is the list of words of one column. All that read the column share it.
type words struct {
	rule   cell.Text
	labels bool // see [Column.Labels]
	mu     sync.Mutex
	codes  map[string]int32
	list   []string
}

func newWords(c *Column) *words {
	return &words{rule: c.TextRule, labels: c.Labels, codes: map[string]int32{"": noWord}, list: []string{""}}
}

// newEmpty returns a list for the same column.
func (w *words) newEmpty() *words {
	return &words{rule: w.rule, labels: w.labels, codes: map[string]int32{"": noWord}, list: []string{""}}
}

// isMissing reports whether a normal text has no value.
func (w *words) isMissing(text string) bool {
	return text == "" || !w.labels && cell.MissingWord(text)
}

// codeOf returns the code of a text, which is not kept.
func (w *words) codeOf(text string) int32 {
	word := wordRule(w.rule.Of(text))
	w.mu.Lock()
	defer w.mu.Unlock()
	k, ok := w.codes[word]
	if !ok {
		word = string([]byte(word)) // not the record that it is a piece of
		k = int32(len(w.list))
		w.codes[word], w.list = k, append(w.list, word)
	}
	return k
}

// mostSeen is how many words a reader remembers by itself, so as not to wait for others.
const mostSeen = 1 << 14

// wordReader is what one goroutine reads the cells of a column with.
type wordReader struct {
	all    *words
	seen   map[string]int32
	pinned int // of a reader of batches: how many words of the list keep their codes
}

func (w *words) reader() *wordReader { return &wordReader{all: w, seen: map[string]int32{}} }

// own gives the reader a list of its own, which begins anew now and then; see [wordReader.renew].
func (r *wordReader) own() { r.all = r.all.newEmpty() }

// renew begins the list anew, but for the words that are pinned, if it has become long. So the words of a
// file are not held, but those of some batches. It is called between two batches, each of which keeps
// the list that its codes are of.
func (r *wordReader) renew() {
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

// code is [words.codeOf].
func (r *wordReader) code(text []byte) int32 {
	if k, ok := r.seen[string(text)]; ok { // no allocation
		return k
	}
	k := r.all.codeOf(string(text))
	if len(r.seen) >= mostSeen || k == noWord {
		return k
	}
	key := r.all.word(k)
	if key != string(text) {
		key = string(text)
	}
	r.seen[key] = k
	return k
}

func (w *words) word(k int32) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.list[k]
}

// category reads a cell of a category column.
func (r *wordReader) category(text string) (int32, class) {
	text = cell.Normal(text)
	if r.all.isMissing(text) {
		return noText, missing
	}
	return r.code([]byte(text)), good
}

// text reads a cell of a numeric column that is text and no number.
func (r *wordReader) text(text string) float64 { return boxWord(r.code([]byte(cell.Trim(text)))) }

// isBoolean reports whether a cell is a boolean in words or letters, which are the numbers 1 and 0. In a
// column that may be words they are words: models treat two words better than two numbers.
func isBoolean(text string) bool { return cell.BooleanWord(cell.Trim(text)) != "" }

// wordReaders makes those of the columns whose words are kept.
func wordReaders(cols []column) []*wordReader {
	out := make([]*wordReader, len(cols))
	for j := range cols {
		if w := cols[j].words; w != nil {
			out[j] = w.reader()
		}
	}
	return out
}

// wordBits marks a number that stands for a word: a NaN whose lowest 32 bits are the code.
// Whoever knows nothing of words reads a missing cell.
const wordBits = 0x7ff8_7764_0000_0000

func boxWord(k int32) float64 { return math.Float64frombits(wordBits | uint64(uint32(k))) }

// unboxWord returns the code of the word that a number stands for, and noText for any other.
func unboxWord(x float64) int32 {
	if b := math.Float64bits(x); b&^math.MaxUint32 == wordBits {
		return int32(uint32(b))
	}
	return noText
}

// IsText reports whether a cell of a numeric column with [Column.Found] or [Column.TellsText] holds text that is no
// number. Such a cell is a NaN, and so is a missing one.
func IsText(x float64) bool { return unboxWord(x) != noText }

// WordCode returns the place in the list of words that a cell of such a column has, if it [IsText].
func WordCode(x float64) (int32, bool) { return unboxWord(x), IsText(x) }

// wordsOf makes a list of words for every column that needs one.
func wordsOf(s Schema) []*words {
	out := make([]*words, len(s.Columns))
	for j := range s.Columns {
		if s.Columns[j].Found {
			out[j] = newWords(&s.Columns[j])
		}
	}
	return out
}

// heldWords returns the list of words of a column in memory, and the code in it of each name.
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

// Data returns column j as [NewTable] takes it. It must not be modified.
func (t *Table) Data(j int) ColumnData {
	d := ColumnData{Floats: t.float(j), Codes: t.code(j), Words: t.words[j]}
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

// Words returns the list that the codes of column j are positions in, if it has [Column.Found]: the first is no
// word. It is nil for any other column.
func (t *Table) Words(j int) []string { return t.words[j] }

// CodesOf returns the codes that cells with these words have in a category column. A word that is not listed may be
// another spelling of one that is, as in a table of new records. See [Column.MissingCode] for cells without text.
func (c *Column) CodesOf(words []string) []int32 {
	names := cell.NewNames(c.Categories, c.TextRule, 0)
	out := make([]int32, len(words))
	for k, word := range words {
		out[k] = int32(len(c.Categories))
		if word != "" {
			out[k], _ = names.Find(word)
		}
	}
	return out
}

// CountWords returns the words of column j, which has [Column.Found], and for each in how many
// records of the view it is the cell. A record has one word at most. The order is that in which
// words were met and means nothing.
func (v View) CountWords(j int) (words []string, counts []int64) {
	at := v.column(j)
	words = v.table.words[at]
	counts = make([]int64, len(words))
	for k := range v.Len() {
		if code := v.table.wordCode(at, int(v.row(k))); code > noWord {
			counts[code]++
		}
	}
	return words[min(1, len(words)):], counts[min(1, len(counts)):]
}

// wordCode returns the code of the word in a cell; noWord or noText if it holds none.
func (t *Table) wordCode(j, row int) int32 {
	if t.codes[j] != nil {
		return t.codes[j][row]
	}
	return unboxWord(t.floats[j][row])
}

// Resolve returns the view with its columns read as the given ones, where that which was found
// out about columns with [Column.Found] is declared: category columns with their categories, or
// numbers. A cell whose word is not among the categories is one of the others. No other column
// may differ. A record's cell depends on its own alone, so neighbouring views stay neighbouring.
func (v View) Resolve(as []Column) View {
	t := *v.table
	t.schema.Columns = slices.Clone(t.schema.Columns)
	t.floats, t.codes, t.words = slices.Clone(t.floats), slices.Clone(t.codes), slices.Clone(t.words)
	for k, c := range as {
		j := v.column(k)
		if !v.table.schema.Columns[j].Found {
			continue
		}
		t.schema.Columns[j] = c
		if c.Kind == Category {
			t.codes[j], t.floats[j] = v.table.named(j, &c), nil
		} else if t.codes[j] != nil {
			panic("dataset: Resolve: words cannot be read as numbers")
		}
		t.words[j] = nil
	}
	v.table = &t
	return v
}

// named returns the codes of a column with words under declared categories.
func (t *Table) named(j int, c *Column) []int32 {
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
