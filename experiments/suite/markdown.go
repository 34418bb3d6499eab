package suite

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
)

// Markdown writes the sections that have tables, for the pages of docs/lab: titles, paragraphs and tables, without
// figures. It returns the errors of w.
func (p Page) Markdown(w io.Writer) error {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", p.Title)
	for _, s := range p.Sections {
		if len(s.Tables) == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n## %s\n", s.Title)
		for _, text := range s.Text {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
		for _, t := range s.Tables {
			if t.Caption != "" {
				fmt.Fprintf(&b, "\n%s:\n", t.Caption)
			}
			b.WriteString("\n")
			t.markdown(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// markdown appends the table. A note is added in brackets after the text of its cell.
func (t Table) markdown(b *strings.Builder) {
	line := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + strings.ReplaceAll(c, "|", `\|`) + " ")
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	b.WriteString(strings.Repeat("| --- ", len(t.Head)) + "|\n")
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for j, e := range row {
			cells[j] = e.plain()
			if e.Strong && e.Text != "" {
				cells[j] = strings.Replace(cells[j], e.Text, "**"+e.Text+"**", 1)
			}
		}
		line(cells)
	}
}

// plain returns the text with the note in brackets.
func (e Entry) plain() string {
	if e.Note == "" {
		return e.Text
	}
	return strings.TrimSpace(e.Text + " (" + e.Note + ")")
}

// Plain writes the table in aligned columns, for a terminal. It returns the errors of w.
func (t Table) Plain(w io.Writer) error {
	if t.Caption != "" {
		if _, err := fmt.Fprintln(w, t.Caption); err != nil {
			return err
		}
	}
	columns := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(columns, strings.Join(t.Head, "\t")) // errors are kept until Flush
	for _, row := range t.Rows {
		cells := make([]string, len(row))
		for j, e := range row {
			cells[j] = e.plain()
		}
		fmt.Fprintln(columns, strings.Join(cells, "\t"))
	}
	return columns.Flush()
}

// Comparison returns the tables in which a suite compares the results of its paper, the published code at the epsilon
// that it actually satisfies, and this program. It returns nil for suites without published pipelines.
func Comparison(name string, records []Record) []Table {
	switch name {
	case Seed001:
		t := newRegressionTable(records)
		var tables []Table
		for _, s := range append(t.publishedSections(), t.rounds()) {
			for _, table := range s.Tables {
				table.Caption = s.Title
				tables = append(tables, table)
			}
		}
		return tables
	case Seed003:
		s := publishedSeparationSection(newIndex(records))
		for i := range s.Tables {
			s.Tables[i].Caption = s.Title
		}
		return s.Tables
	}
	return nil
}
