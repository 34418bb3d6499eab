package bench

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// MarshalJSON writes one object with the keys data, method, epsilon, delta,
// trial, metric, value and seconds, with error in place of value where there is
// none. Epsilon and delta of a method without privacy are null.
func (r Row) MarshalJSON() ([]byte, error) {
	out := struct {
		Data    string   `json:"data"`
		Method  string   `json:"method"`
		Epsilon *float64 `json:"epsilon"`
		Delta   *float64 `json:"delta"`
		Trial   int      `json:"trial"`
		Metric  string   `json:"metric"`
		Value   *float64 `json:"value,omitempty"`
		Error   string   `json:"error,omitempty"`
		Seconds float64  `json:"seconds"`
	}{Data: r.Data, Method: r.Method, Trial: r.Trial, Metric: r.Metric, Seconds: r.Seconds}
	if r.Private {
		out.Epsilon, out.Delta = &r.Epsilon, &r.Delta
	}
	if r.Err != nil {
		out.Error = r.Err.Error()
	} else {
		out.Value = &r.Value
	}
	return json.Marshal(out)
}

// MarshalJSON writes one object with the keys data, method, epsilon, delta,
// metric, median, q25, q75 and trials. Epsilon and delta of a method without
// privacy are null, and so are the quantiles when no trial gave a value.
func (s Summary) MarshalJSON() ([]byte, error) {
	out := struct {
		Data    string   `json:"data"`
		Method  string   `json:"method"`
		Epsilon *float64 `json:"epsilon"`
		Delta   *float64 `json:"delta"`
		Metric  string   `json:"metric"`
		Median  *float64 `json:"median"`
		Q25     *float64 `json:"q25"`
		Q75     *float64 `json:"q75"`
		Trials  int      `json:"trials"`
	}{Data: s.Data, Method: s.Method, Metric: s.Metric, Trials: s.Trials}
	if s.Private {
		out.Epsilon, out.Delta = &s.Epsilon, &s.Delta
	}
	if s.Trials > 0 {
		out.Median, out.Q25, out.Q75 = &s.Median, &s.Q25, &s.Q75
	}
	return json.Marshal(out)
}

// WriteTable writes summaries as a table of text, one line each.
func WriteTable(w io.Writer, summaries []Summary) error {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft, style.Box.PaddingRight = "", "  "
	t.SetStyle(style)
	head := table.Row{"data", "n", "d", "method", "median", "q25", "q75", "seconds", "abstained/failed"}
	t.AppendHeader(head)
	var columns []table.ColumnConfig
	for i, name := range head {
		if name != "data" && name != "method" {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(columns)
	for _, s := range summaries {
		t.AppendRow(table.Row{
			s.Data, s.N, s.D, s.Method, decimals(s.Median), decimals(s.Q25), decimals(s.Q75), decimals(s.Seconds), s.Failed,
		})
	}
	for line := range strings.Lines(t.Render() + "\n") {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// decimals prints three decimals, and a dash for a number that does not exist.
func decimals(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}
