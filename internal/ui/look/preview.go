package look

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
)

// Kinds of the values of a column, and of its cells.
const (
	KindNumber  = "number"
	KindDate    = "date"
	KindText    = "text"
	KindMissing = "missing" // a cell without a value, or a column without any
	KindUnread  = "unread"  // a cell that is not of the kind of its column, and so counts as missing
)

// A Preview shows the first records of a table as dptrain reads them. It depends on private records and is for the
// data owner only: it must not go to any file or release.
type Preview struct {
	Sampled   int             `json:"sampled"` // number of records behind the counts of the columns
	Columns   []PreviewColumn `json:"columns"`
	Rows      [][]PreviewCell `json:"rows"` // the first records
	Proposals []Proposal      `json:"proposals"`
}

// A PreviewColumn describes a column of the sample.
type PreviewColumn struct {
	Name     string `json:"name"`
	Kind     string `json:"kind"`
	Missing  int    `json:"missing"`  // cells without a value
	Unread   int    `json:"unread"`   // cells that do not match the kind of the column
	Pairs    int    `json:"pairs"`    // cells with two values, such as 144/94; only the first is read
	Distinct int    `json:"distinct"` // number of distinct texts
	Unit     bool   `json:"unit"`     // its name indicates an identifier of persons or things
}

// A PreviewCell is a cell of a record.
type PreviewCell struct {
	Kind  string `json:"kind"`
	Text  string `json:"text"`            // as it is in the file, cut after 60 characters
	Value string `json:"value,omitempty"` // of a number or a date, if it differs from the text
}

// A Proposal is a setting that would read more cells of the sample. It describes the format of the file rather than
// its values, so the data owner may accept it.
type Proposal struct {
	Key    string `json:"key"`              // decimal, thousands, encoding, missing, fold, date or task
	Column string `json:"column,omitempty"` // of a date or a task
	Value  string `json:"value"`
	Sample string `json:"sample,omitempty"` // a text that the setting would read
}

// Limits of a preview.
const (
	previewRows    = 10
	previewColumns = 60
	previewLetters = 60
)

// A Reading defines how the columns of a sample are read.
type Reading struct {
	Format dataset.Format
	Dates  map[string]string // layouts of the columns that are declared as dates
	Text   map[string]bool   // columns that are declared as text
	Fold   string            // which texts are one value, as in a recipe
	Target string            // the column to predict, if its values should be numbers; else empty
}

// Preview reads the sample.
func (s *Sample) Preview(r Reading) *Preview {
	p := &Preview{
		Sampled:   len(s.Rows),
		Columns:   make([]PreviewColumn, len(s.Names)),
		Rows:      make([][]PreviewCell, min(previewRows, len(s.Rows))),
		Proposals: []Proposal{},
	}
	for i := range p.Rows {
		p.Rows[i] = make([]PreviewCell, min(previewColumns, len(s.Names)))
	}
	rule := r.numberRule()
	for j, name := range s.Names {
		c := &p.Columns[j]
		c.Name = name
		c.Unit = NamesUnit(name)
		read := s.newReader(j, r, rule)
		c.Kind = read.kind
		different := map[string]bool{}
		for i, row := range s.Rows {
			shown := read.readCell(row[j])
			switch shown.Kind {
			case KindMissing:
				c.Missing++
			case KindUnread:
				c.Unread++
			case KindNumber:
				if cell.HasSecond(row[j]) {
					c.Pairs++
				}
			}
			if shown.Kind != KindMissing {
				different[row[j]] = true
			}
			if i < len(p.Rows) && j < previewColumns {
				p.Rows[i][j] = shown
			}
		}
		c.Distinct = len(different)
	}
	p.Proposals = append(p.Proposals, s.proposeEncoding(r.Format)...)
	marks, best := s.proposeMarks(rule)
	p.Proposals = append(p.Proposals, marks...)
	p.Proposals = append(p.Proposals, s.proposeMissing(best)...)
	p.Proposals = append(p.Proposals, s.proposeFold(r, best)...)
	for j := range s.Names {
		p.Proposals = append(p.Proposals, s.proposeKind(j, r, best)...)
	}
	return p
}

// numberRule returns the rule for the numbers of the format.
func (r *Reading) numberRule() cell.Rule {
	return cell.Numbers(r.Format.Numbers()).Rule()
}

// countFilled returns the number of non-missing cells of a column, and the number of these that accept returns true
// for.
func (s *Sample) countFilled(
	j int,
	accept func(text string) bool,
) (all, accepted int) {
	for _, row := range s.Rows {
		if cell.MissingWord(row[j]) || row[j] == "" {
			continue
		}
		all++
		if accept(row[j]) {
			accepted++
		}
	}
	return all, accepted
}

// readsNumber reports whether the rule reads a text as a number or as a declared code for missing.
func readsNumber(rule cell.Rule, text string) bool {
	_, class := rule.Number(text)
	return class == cell.Good || class == cell.Missing
}

// A cellReader reads the cells of a column.
type cellReader struct {
	kind  string
	rule  cell.Rule
	dates *cell.Dates
}

// newReader returns the reader of a column. An undeclared column is numeric if at least half of its cells are numbers.
func (s *Sample) newReader(j int, r Reading, rule cell.Rule) *cellReader {
	name := s.Names[j]
	if layout := r.Dates[name]; layout != "" && dataset.ReadsDates(layout) {
		return &cellReader{
			kind:  KindDate,
			dates: cell.NewDates(layout),
		}
	}
	all, numbers := s.countFilled(j, func(text string) bool {
		return readsNumber(rule, text)
	})
	switch {
	case all == 0:
		return &cellReader{kind: KindMissing}
	case r.Text[name] || 2*numbers < all:
		return &cellReader{kind: KindText}
	}
	return &cellReader{kind: KindNumber, rule: rule}
}

// readCell reads a cell.
func (c *cellReader) readCell(text string) PreviewCell {
	out := PreviewCell{Kind: c.kind, Text: shorten(text)}
	if text == "" || cell.MissingWord(text) {
		out.Kind = KindMissing
		return out
	}
	var class cell.Class
	switch c.kind {
	case KindNumber:
		var v float64
		v, class = c.rule.Number(text)
		out.Value = strconv.FormatFloat(v, 'g', 10, 64)
	case KindDate:
		var m cell.Moment
		m, class = c.dates.Read(text)
		out.Value = time.Unix(m.Day*cell.DaySeconds, 0).UTC().Format(time.DateOnly)
	}
	switch class {
	case cell.Good:
	case cell.Missing:
		out.Kind = KindMissing
	default:
		out.Kind = KindUnread
	}
	if out.Kind != c.kind || out.Value == out.Text {
		out.Value = ""
	}
	return out
}

// shorten cuts a long text.
func shorten(text string) string {
	letters := 0
	for i := range text {
		if letters == previewLetters {
			return text[:i] + "…"
		}
		letters++
	}
	return text
}

// proposeEncoding proposes Windows-1252, the usual character set of files that are not valid UTF-8.
func (s *Sample) proposeEncoding(f dataset.Format) []Proposal {
	if f.Encoding != "" {
		return nil
	}
	for _, row := range s.Rows {
		for _, text := range row {
			if !utf8.ValidString(text) {
				return []Proposal{{
					Key:    "encoding",
					Value:  "windows-1252",
					Sample: shorten(strings.ToValidUTF8(text, "\uFFFD")),
				}}
			}
		}
	}
	return nil
}

// leastGain is the minimum share of a column's cells that a rule must read in addition to be proposed.
const leastGain = .1

// proposeMarks proposes the decimal mark and the thousands separator with which most cells are numbers, if they
// differ from those of rule. It also returns the best rule.
func (s *Sample) proposeMarks(rule cell.Rule) (proposals []Proposal, best cell.Rule) {
	candidates := []cell.Rule{rule}
	for _, marks := range [][2]byte{{'.', 0}, {',', 0}, {'.', ','}, {',', '.'}} {
		other := rule
		other.Decimal = marks[0]
		other.Thousands = marks[1]
		candidates = append(candidates, other)
	}
	totals := make([]int, len(candidates))
	gains := make([]bool, len(candidates))
	samples := make([]string, len(candidates))
	for j := range s.Names {
		all, before := s.countFilled(j, func(text string) bool {
			return readsNumber(rule, text)
		})
		for k, candidate := range candidates {
			_, after := s.countFilled(j, func(text string) bool {
				reads := readsNumber(candidate, text)
				if reads && samples[k] == "" && !readsNumber(rule, text) {
					samples[k] = text
				}
				return reads
			})
			totals[k] += after
			if float64(after-before) >= leastGain*float64(all) && after > before {
				gains[k] = true
			}
		}
	}
	k := 0
	for other := range candidates {
		if totals[other] > totals[k] && gains[other] {
			k = other
		}
	}
	if k == 0 {
		return nil, rule
	}
	best = candidates[k]
	if decimal := cmp.Or(rule.Decimal, '.'); best.Decimal != decimal {
		proposals = append(proposals,
			Proposal{
				Key:    "decimal",
				Value:  string(rune(best.Decimal)),
				Sample: shorten(samples[k]),
			})
	}
	if best.Thousands != rule.Thousands {
		value := ""
		if best.Thousands != 0 {
			value = string(rune(best.Thousands))
		}
		proposals = append(proposals,
			Proposal{
				Key:    "thousands",
				Value:  value,
				Sample: shorten(samples[k]),
			})
	}
	return proposals, best
}

// missingCodes are numbers that often mean a missing value in columns without other negative numbers.
var missingCodes = []float64{-9, -99, -999, -9999}

// leastCodes is the minimum share of cells with a code among the numbers of a column for a proposal.
const leastCodes = .01

// proposeMissing proposes the codes for missing values that some column has among nonnegative numbers, unless another
// column has the same number among negative ones.
func (s *Sample) proposeMissing(rule cell.Rule) []Proposal {
	proposed := map[float64]bool{}
	refused := map[float64]bool{}
	for j := range s.Names {
		counts := map[float64]int{}
		all := 0
		negative := false // there is a negative number other than a code
		for _, row := range s.Rows {
			v, class := rule.Number(row[j])
			if class != cell.Good {
				continue
			}
			all++
			if slices.Contains(missingCodes, v) {
				counts[v]++
			} else if v < 0 {
				negative = true
			}
		}
		for code, n := range counts {
			if negative || len(counts) > 1 {
				refused[code] = true
			} else if float64(n) >= leastCodes*float64(all) {
				proposed[code] = true
			}
		}
	}
	var out []Proposal
	for _, code := range missingCodes {
		if proposed[code] && !refused[code] {
			text := strconv.FormatFloat(code, 'g', -1, 64)
			out = append(out, Proposal{
				Key:   "missing",
				Value: text,
			})
		}
	}
	return out
}

// proposeFold proposes to ignore case and blanks if this makes one value of several in a column of categories: one of
// texts whose values occur at least twice on average.
func (s *Sample) proposeFold(r Reading, rule cell.Rule) []Proposal {
	if r.Fold != "" {
		return nil
	}
	for j := range s.Names {
		different := map[string]bool{}
		all, numbers := s.countFilled(j, func(text string) bool {
			different[text] = true
			return readsNumber(rule, text)
		})
		if 2*numbers < all && 2*len(different) <= all &&
			countFolded(maps.Keys(different)) < len(different) {
			return []Proposal{{
				Key:    "fold",
				Column: s.Names[j],
				Value:  cell.FoldCase,
			}}
		}
	}
	return nil
}

// leastDates is the minimum share of dates among a column's cells for a proposal.
const leastDates = .8

// proposeKind proposes to declare a column as dates, or a target without numbers as classes.
func (s *Sample) proposeKind(j int, r Reading, rule cell.Rule) []Proposal {
	name := s.Names[j]
	if r.Dates[name] != "" || r.Text[name] {
		return nil
	}
	all, numbers := s.countFilled(j, func(text string) bool {
		return readsNumber(rule, text)
	})
	switch {
	case all == 0 || 2*numbers >= all:
		return nil
	case name == r.Target:
		return []Proposal{{
			Key:    "task",
			Column: name,
			Value:  "classification",
		}}
	}
	best := ""
	most := 0
	sample := ""
	for _, layout := range slices.Concat([]string{dataset.AutoDate}, Layouts()) {
		dates := cell.NewDates(layout)
		_, n := s.countFilled(j, func(text string) bool {
			_, class := dates.Read(text)
			if class == cell.Good {
				sample = cmp.Or(sample, text)
			}
			return class == cell.Good
		})
		if n > most {
			best = layout
			most = n
		}
		if float64(n) >= leastDates*float64(all) && layout == dataset.AutoDate {
			break
		}
	}
	if float64(most) < leastDates*float64(all) {
		return nil
	}
	return []Proposal{{
		Key:    "date",
		Column: name,
		Value:  best,
		Sample: shorten(sample),
	}}
}
