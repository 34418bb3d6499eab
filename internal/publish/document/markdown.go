package document

import (
	"io"
	"strings"
)

// Markdown writes a page in GitHub Markdown, with tables instead of pictures. It returns the errors of w.
func Markdown(w io.Writer, p Page) error {
	var b strings.Builder
	b.WriteString("# " + escapeMarkdown(p.Title) + "\n")
	for _, s := range p.Lead {
		b.WriteString("\n" + escapeMarkdown(s) + "\n")
	}
	if len(p.Identity) > 0 {
		b.WriteByte('\n')
		for _, f := range p.Identity {
			b.WriteString("* " + escapeMarkdown(f.Name) + ": " + escapeMarkdown(f.Value) + "\n")
		}
	}
	if len(p.Facts) > 0 {
		head := Table{Head: []string{"", "", ""}}
		for _, f := range p.Facts {
			head.Rows = append(head.Rows, []string{f.Name, f.Value, f.Note})
		}
		head.writeMarkdown(&b)
	}
	for _, part := range p.Sections {
		b.WriteString("\n## " + escapeMarkdown(part.Title) + "\n")
		for _, x := range part.Blocks {
			x.writeMarkdown(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func (x Block) writeMarkdown(b *strings.Builder) {
	if x.Fold != "" {
		b.WriteString("\n### " + escapeMarkdown(x.Fold) + "\n")
	}
	if x.Severity != "" {
		b.WriteString("\n* **" + escapeMarkdown(x.Label) + "** " + escapeMarkdown(x.Text) + "\n")
	} else if x.Text != "" {
		b.WriteString("\n" + escapeMarkdown(x.Text) + "\n")
	}
	if x.Caption != "" {
		b.WriteString("\n" + escapeMarkdown(x.Caption) + "\n")
	}
	if x.Table != nil {
		x.Table.writeMarkdown(b)
	}
	if x.Code != "" {
		b.WriteString("\n```\n" +
			strings.ReplaceAll(strings.TrimRight(replaceControls(x.Code), "\n"), "```", "'''") +
			"\n```\n")
	}
}

func (t *Table) writeMarkdown(b *strings.Builder) {
	row := func(cells []string) {
		for _, c := range cells {
			b.WriteString("| " + escapeMarkdown(c) + " ")
		}
		b.WriteString("|\n")
	}
	b.WriteString("\n")
	row(t.Head)
	b.WriteString(strings.Repeat("| --- ", len(t.Head)) + "|\n")
	for _, r := range t.Rows {
		row(r)
	}
}

// marks escapes the markup characters of Markdown.
var marks = strings.NewReplacer("\\", "\\\\", "|", "\\|", "<", "&lt;", "&", "&amp;", "*", "\\*",
	"_", "\\_", "`", "\\`", "[", "\\[", "#", "\\#", "\n", " ")

func escapeMarkdown(s string) string {
	return marks.Replace(replaceControls(s))
}
