package terminal

import (
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// PlainTable returns a table style with a single line, below the header.
func PlainTable() table.Style {
	s := table.StyleDefault
	s.Name = "dptrain"
	s.Options = table.Options{SeparateHeader: true}
	s.Format.Header = text.FormatDefault
	s.Box.PaddingLeft = ""
	s.Box.PaddingRight = "  "
	s.Box.MiddleHorizontal = "-"
	return s
}

// RightAligned returns a table writer with right-aligned columns, for numbers.
func RightAligned(columns int) table.Writer {
	t := table.NewWriter()
	t.SetStyle(PlainTable())
	t.SuppressTrailingSpaces()
	var config []table.ColumnConfig
	for i := range columns {
		config = append(config,
			table.ColumnConfig{
				Number:      i + 1,
				Align:       text.AlignRight,
				AlignHeader: text.AlignRight,
			})
	}
	t.SetColumnConfigs(config)
	return t
}
