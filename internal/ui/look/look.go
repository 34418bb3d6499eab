// Package look counts the forms of the cells of a table for its owner: numbers, dates, texts and missing cells. Its
// results depend on private records and are not protected by any mechanism, so they belong only in the data owner's
// folder. It keeps no value of a cell.
package look

import (
	"context"
	"iter"
	"maps"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// MostValues is the maximum number of distinct texts of a column that are counted exactly.
const MostValues = 10_000

// Layouts returns the date layouts to try: those of [dataset.DateLayouts], and some ambiguous ones.
func Layouts() []string {
	return append(dataset.DateLayouts(), "01/02/2006", "02/01/2006", "01/02/2006 15:04",
		"02/01/2006 15:04", "1/2/2006", "2/1/2006", "02-01-2006", "01-02-2006")
}

// A Column counts the forms of the cells of a column. Each cell counts once among Missing, Plain and Text.
type Column struct {
	Name    string
	Missing int64 // empty, or a text that means missing
	Plain   int64 // numbers in the declared format
	Text    int64 // everything else
	Invalid int64 // of any kind, with bytes that are not UTF-8
	// The number of texts that would be numbers if read leniently, with decimal commas, and with commas between
	// groups of three digits.
	Lenient, Comma, Thousands int64
	Pressures                 int64   // texts that a lenient rule reads as the first of two values, such as 144/94
	Dates                     []int64 // number of cells readable with each of Layouts
	Values                    int     // number of distinct texts and numbers, at most MostValues
	Many                      bool    // there are more distinct values

	seen   map[string]struct{}
	hashes sketch // of all texts
}

// A Table counts the forms of the cells of a table.
type Table struct {
	Rows    int64
	Columns []Column
}

// rules are candidate rules for reading the cells of a column.
type rules struct{ plain, lenient, comma, thousands cell.Rule }

func rulesOf(f dataset.Format) rules {
	lenient := cell.Numbers(f.Numbers()).Rule()
	lenient.Lenient = true
	declared := lenient
	declared.Lenient = false
	return rules{declared, lenient, cell.Rule{
		Decimal:   ',',
		Thousands: '.',
		Lenient:   true,
	},
		cell.Rule{Thousands: ',', Lenient: true}}
}

// add counts a cell.
func (c *Column) add(text string, r *rules, layouts []string) {
	text = cell.Trim(text)
	reads := func(rule *cell.Rule) bool {
		_, class := rule.Number(text)
		return class == cell.Good || class == cell.Nonfinite
	}
	_, class := r.plain.Number(text)
	if class == cell.Missing {
		c.Missing++
		return
	}
	if !utf8.ValidString(text) {
		c.Invalid++
	}
	c.hashes.add(text)
	if !c.Many {
		if _, met := c.seen[text]; !met {
			c.seen[strings.Clone(text)] = struct{}{}
			c.Values = len(c.seen)
			c.Many = len(c.seen) >= MostValues
		}
	}
	if len(text) >= len("2.1.2006") && len(text) <= 64 {
		for k, layout := range layouts {
			if _, err := time.Parse(layout, text); err == nil {
				c.Dates[k]++
			}
		}
	}
	if class == cell.Good || class == cell.Nonfinite {
		c.Plain++
		return
	}
	c.Text++
	for _, x := range []struct {
		rule  *cell.Rule
		count *int64
	}{{&r.lenient, &c.Lenient}, {&r.comma, &c.Comma}, {&r.thousands, &c.Thousands}} {
		if reads(x.rule) {
			*x.count++
		}
	}
	if cell.HasSecond(text) {
		c.Pressures++
	}
}

// Variants returns the number of distinct values that differ from another one only in case or in blanks. It is 0 for
// a column with too many values.
func (c *Column) Variants() int {
	if c.Many {
		return 0
	}
	return len(c.seen) - countFolded(maps.Keys(c.seen))
}

// countFolded returns the number of distinct texts apart from case and blanks.
func countFolded(texts iter.Seq[string]) int {
	fold := cell.Text{Fold: cell.FoldCase}
	folded := map[string]struct{}{}
	for text := range texts {
		folded[fold.Value(text)] = struct{}{}
	}
	return len(folded)
}

// merge adds the counts of other cells of the same column.
func (c *Column) merge(o *Column) {
	c.Missing += o.Missing
	c.Plain += o.Plain
	c.Text += o.Text
	c.Invalid += o.Invalid
	c.Lenient += o.Lenient
	c.Comma += o.Comma
	c.Thousands += o.Thousands
	c.Pressures += o.Pressures
	for k, n := range o.Dates {
		c.Dates[k] += n
	}
	c.hashes.merge(o.hashes)
	for text := range o.seen {
		if len(c.seen) >= MostValues {
			break
		}
		c.seen[text] = struct{}{}
	}
	c.Values = len(c.seen)
	c.Many = c.Many || o.Many || len(c.seen) >= MostValues
}

func newTable(names []string) *Table {
	t := &Table{Columns: make([]Column, len(names))}
	for j, name := range names {
		t.Columns[j] = Column{
			Name:  name,
			Dates: make([]int64, len(Layouts())),
			seen:  map[string]struct{}{},
		}
	}
	return t
}

func (t *Table) merge(o *Table) {
	t.Rows += o.Rows
	for j := range t.Columns {
		t.Columns[j].merge(&o.Columns[j])
	}
}

// CountCells counts the cells of the table at a path, which may be a pattern for several files. Errors are those of
// [dataset.Read].
func CountCells(
	ctx context.Context,
	path string,
	opts dataset.ReadOptions,
) (*Table, error) {
	names, err := dataset.Header(path, opts)
	if err != nil {
		return nil, err
	}
	files, err := filepath.Glob(path)
	if err != nil || len(files) == 0 {
		files = []string{path}
	}
	all := newTable(names)
	for _, file := range files {
		look := countText
		if kind, _, _ := tablefile.ParsePath(file); kind.Parquet {
			look = countParquet
		}
		t, err := look(ctx, file, names, opts)
		if err != nil {
			return nil, err
		}
		all.merge(t)
	}
	return all, nil
}

// countText counts the cells of a text file.
func countText(
	ctx context.Context,
	path string,
	names []string,
	opts dataset.ReadOptions,
) (*Table, error) {
	all := newTable(names)
	layouts := Layouts()
	r := rulesOf(opts.Format)
	err := dataset.Stream(ctx, path, dataset.Schema{}, opts, dataset.Consumer[*Table]{
		Begin: func(dataset.Head) error { return nil },
		Work: func(b *dataset.Batch) (*Table, error) {
			t := newTable(names)
			err := b.Text(func(_ int, fields []string) error {
				t.Rows++
				for j := range t.Columns {
					text := ""
					if j < len(fields) {
						text = fields[j]
					}
					t.Columns[j].add(text, &r, layouts)
				}
				return nil
			})
			return t, err
		},
		Emit: func(t *Table) error {
			all.merge(t)
			return nil
		},
	})
	return all, err
}

// countParquet counts the cells of a Parquet file.
func countParquet(
	ctx context.Context,
	path string,
	names []string,
	opts dataset.ReadOptions,
) (*Table, error) {
	t := newTable(names)
	layouts := Layouts()
	r := rulesOf(opts.Format)
	var mu sync.Mutex
	rows := make([]int64, len(names))
	err := dataset.ParquetText(ctx, path, 0, func(j int, text []byte) {
		mu.Lock()
		defer mu.Unlock()
		t.Columns[j].add(string(text), &r, layouts)
		rows[j]++
		t.Rows = max(t.Rows, rows[j])
	})
	return t, err
}
