package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dptrain/dptrain/internal/train/describe"
)

// The number of lines of a description on a terminal: at most 40 with the one that the command adds.
const (
	columnLines      = 17
	correlationLines = 9
	groupLines       = 5
	nameWidth        = 16
)

// text prints a description on at most 39 lines of 78 characters.
func (d *Description) text(r *Report) string {
	var lines []string
	lines = append(lines, d.guaranteeLines(r.Guarantee)...)
	left := []string{}
	skip := func(n int, one, many string) {
		if n == 1 {
			left = append(left, "1 "+one)
		} else if n > 1 {
			left = append(left, fmt.Sprintf("%d %s", n, many))
		}
	}
	width := 0
	for _, c := range d.Columns {
		width = min(max(width, utf8.RuneCountInString(printableName(c.Name))), nameWidth)
	}
	for _, c := range d.Columns[:min(len(d.Columns), columnLines)] {
		lines = append(lines, columnLine(c, width, max(*d.Records.Value, 1)))
	}
	skip(len(d.Columns)-columnLines, "column", "columns")
	if strong := d.strongest(); len(strong) > 0 {
		lines = append(lines,
			"Strongest associations (intervals hold jointly with 95% confidence)")
		for _, a := range strong[:min(len(strong), correlationLines)] {
			lines = append(lines, associationLine(a))
		}
		skip(len(strong)-correlationLines, "association", "associations")
	}
	hidden := len(d.Correlations) - len(d.strongest())
	if d.By != nil {
		lines = append(lines, "Groups by "+printableName(d.By.Column))
		for _, g := range d.By.Groups[:min(len(d.By.Groups), groupLines)] {
			lines = append(lines, groupLine(g))
		}
		skip(len(d.By.Groups)-groupLines, "group", "groups")
	}
	if d.By == nil && d.Released.By != "" {
		lines = append(lines, "Groups by "+printableName(d.Released.By)+": no groups were found")
	}
	text := ""
	if len(left) > 0 {
		text = "Left out: " + strings.Join(left, ", ") + "; see " + DescriptionFile + ". "
	}
	if hidden > 0 {
		text += fmt.Sprintf("%d of %d associations are hidden by the noise", hidden, len(d.Correlations))
	}
	if text != "" {
		lines = append(lines, strings.TrimSuffix(text, ". "))
	}
	var codes []string
	for _, x := range r.Warnings {
		codes = append(codes, x.Code)
	}
	if len(codes) > 0 {
		lines = append(lines,
			"Warnings: "+strings.Join(codes, ", ")+"; see "+DescriptionFile)
	}
	if l := r.Ledger; l != nil {
		lines = append(lines,
			fmt.Sprintf("Ledger: entry %d for data set %s", l.Entry, printableName(l.Dataset)))
	}
	for i, line := range lines {
		lines[i] = shortened(line, textWidth) + "\n"
	}
	return strings.Join(lines, "")
}

// shortened cuts a text to the given number of characters.
func shortened(text string, most int) string {
	text = strings.Map(printable, text)
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	return string([]rune(text)[:most-1]) + "…"
}

// guaranteeLines describes the guarantee and the number of records.
func (d *Description) guaranteeLines(g Guarantee) []string {
	who := "Each record"
	if g.Unit != nil {
		who = "Each value of " + shortened(printableName(g.Unit.Column), nameWidth)
	}
	first := fmt.Sprintf("%s is protected: epsilon %s, delta %s, %s", who, number(g.Epsilon),
		number(g.Delta), g.Relation)
	if g.Mu != nil {
		first += fmt.Sprintf(", mu %.3g", *g.Mu)
	}
	records := "Records: " + counts(d.Records)
	if d.Released.RecordNoise == 0 {
		records = "Records: " + grouped(d.Released.Records, 0) + ", public"
	}
	return []string{
		first,
		records,
		"Intervals: 95%, for the values in this table, in means cut at the range.",
	}
}

// columnLine describes a column of a table with the given number of records on one line. Parts that do not fit are left out.
func columnLine(c describe.ColumnCard, width int, records float64) string {
	name := shortened(printableName(c.Name), width)
	line := name + strings.Repeat(" ", width-utf8.RuneCountInString(name))
	switch c.Kind {
	case describe.Unread:
		return line + "  no range or categories were found"
	case describe.Category:
		var parts []string
		for _, x := range c.Categories {
			parts = append(parts, categoryName(x.Name, x.Other)+" "+grouped(*x.Count.Value, 0))
		}
		return line + "  " + strings.Join(parts, ", ")
	}
	parts := []string{fmt.Sprintf("%s to %s", short3(c.Range[0]), short3(c.Range[1]))}
	if m := c.Missing; m.Known() && *m.Lower > 0 && *m.Value >= .005 {
		parts = append(parts, fmt.Sprintf("missing %.0f%%", 100**m.Value))
	}
	for _, x := range []struct {
		side  string
		count describe.Estimate
	}{{"below", c.Below}, {"above", c.Above}} {
		if share := *x.count.Lower / records; share > describe.ManyBeyond {
			parts = append(parts, fmt.Sprintf("%.0f%% %s", 100**x.count.Value/records, x.side))
		}
	}
	parts = append(parts, "mean "+interval(c.Mean.Value, c.Mean.Lower, c.Mean.Upper))
	median := c.Quartiles[1]
	parts = append(parts, "median "+interval(median.Value, median.Lower, median.Upper),
		sparkline(c))
	for _, part := range parts {
		if utf8.RuneCountInString(line)+2+utf8.RuneCountInString(part) <= textWidth {
			line += "  " + part
		}
	}
	return line
}

// short3 prints three significant digits, with a comma after each three digits before the point.
func short3(x float64) string {
	if x == 0 {
		return "0"
	}
	digits := 2 - int(math.Floor(math.Log10(math.Abs(x))))
	text := grouped(x, digits)
	if strings.Contains(text, ".") && !strings.Contains(text, "e") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// categoryName names a category or a group.
func categoryName(name string, other bool) string {
	if other {
		return "other"
	}
	return printableName(name)
}

// sparkline draws the histogram of a column in eight characters.
func sparkline(c describe.ColumnCard) string {
	const parts = 8
	marks := []rune("▁▂▃▄▅▆▇█")
	var sums [parts]float64
	most := 0.
	for i, n := range c.Bins.Counts {
		k := i * parts / len(c.Bins.Counts)
		sums[k] += n
	}
	for _, n := range sums {
		most = math.Max(most, n)
	}
	var b strings.Builder
	for _, n := range sums {
		level := 0
		if most > 0 && n > 0 {
			level = min(int(n/most*float64(len(marks))), len(marks)-1)
		}
		b.WriteRune(marks[level])
	}
	return b.String()
}

// strongest returns the known associations in decreasing order.
func (d *Description) strongest() []describe.Association {
	var out []describe.Association
	for _, a := range d.Correlations {
		if a.Value != nil {
			out = append(out, a)
		}
	}
	slices.SortStableFunc(out, func(a, b describe.Association) int {
		return cmp.Compare(math.Abs(*b.Value), math.Abs(*a.Value))
	})
	return out
}

func associationLine(a describe.Association) string {
	names := shortened(printableName(a.First), nameWidth) + ", " + shortened(printableName(a.Second), nameWidth)
	measure := ""
	if a.Measure != describe.Correlation {
		measure = "  " + a.Measure
	}
	return fmt.Sprintf("  %s  %s (%s to %s)%s", names, grouped(*a.Value, 2),
		grouped(*a.LowerAll, 2), grouped(*a.UpperAll, 2), measure)
}

func groupLine(g describe.Group) string {
	line := "  " + shortened(categoryName(g.Name, g.Other), nameWidth) + "  " + counts(g.Count)
	if g.Small {
		return line + "  too few for means"
	}
	for _, m := range g.Means {
		part := "  " + shortened(printableName(m.Column), nameWidth) + " " +
			interval(m.Value, m.Lower, m.Upper)
		if utf8.RuneCountInString(line)+utf8.RuneCountInString(part) > textWidth {
			break
		}
		line += part
	}
	return line
}
