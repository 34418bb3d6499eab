package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
)

// MarshalJSON writes one object with the keys data, method, epsilon, delta, trial, metric, value and seconds,
// with error in place of an absent value, balanced_accuracy after an accuracy, and paid, the mean cost over the
// rows, if features have a cost. Epsilon and delta of a method without privacy are null.
func (r Row) MarshalJSON() ([]byte, error) {
	out := struct {
		Data    string   `json:"data"`
		Method  string   `json:"method"`
		Epsilon *float64 `json:"epsilon"`
		Delta   *float64 `json:"delta"`
		Trial   int      `json:"trial"`
		Metric  string   `json:"metric"`
		Value   *float64 `json:"value,omitempty"`
		Second  *float64 `json:"balanced_accuracy,omitempty"`
		Paid    *float64 `json:"paid,omitempty"`
		Error   string   `json:"error,omitempty"`
		Seconds float64  `json:"seconds"`
	}{
		Data:    r.Data,
		Method:  r.Method,
		Trial:   r.Trial,
		Metric:  r.Metric,
		Seconds: r.Seconds,
	}
	if r.Private {
		out.Epsilon = &r.Epsilon
		out.Delta = &r.Delta
	}
	if r.Err != nil {
		out.Error = r.Err.Error()
		return json.Marshal(out)
	}
	out.Value = &r.Value
	out.Paid = r.Paid
	if r.Metric == MetricAccuracy {
		out.Second = &r.Balanced
	}
	return json.Marshal(out)
}

// MarshalJSON writes one object with the keys data, method, epsilon, delta,
// metric, median, q25, q75 and trials, and for an accuracy balanced_accuracy with
// a median, q25 and q75 of its own. Epsilon and delta of a method without privacy
// are null, and so are the quantiles when no trial gave a value.
func (s Summary) MarshalJSON() ([]byte, error) {
	type quartiles struct {
		Median *float64 `json:"median"`
		Q25    *float64 `json:"q25"`
		Q75    *float64 `json:"q75"`
	}
	of := func(median, q25, q75 *float64) quartiles {
		if s.Trials == 0 {
			return quartiles{}
		}
		return quartiles{median, q25, q75}
	}
	out := struct {
		Data    string   `json:"data"`
		Method  string   `json:"method"`
		Epsilon *float64 `json:"epsilon"`
		Delta   *float64 `json:"delta"`
		Metric  string   `json:"metric"`
		quartiles
		Second *quartiles `json:"balanced_accuracy,omitempty"`
		Paid   *float64   `json:"paid,omitempty"`
		Trials int        `json:"trials"`
	}{
		Data:      s.Data,
		Method:    s.Method,
		Metric:    s.Metric,
		Paid:      s.Paid,
		Trials:    s.Trials,
		quartiles: of(&s.Median, &s.Q25, &s.Q75),
	}
	if s.Private {
		out.Epsilon = &s.Epsilon
		out.Delta = &s.Delta
	}
	if s.Metric == MetricAccuracy {
		second := of(&s.Balanced.Median, &s.Balanced.Q25, &s.Balanced.Q75)
		out.Second = &second
	}
	return json.Marshal(out)
}

// WriteTable writes summaries as a text table, one line each. If one has an accuracy, there is a column for the
// median of the balanced accuracy; if features have a cost, there is one for the mean cost of the rows. Below
// the table it gives the reasons if no trial has a value.
func WriteTable(w io.Writer, summaries []Summary) error {
	t := table.NewWriter()
	style := table.StyleDefault
	style.Options = table.OptionsNoBordersAndSeparators
	style.Format.Header = text.FormatDefault
	style.Box.PaddingLeft = ""
	style.Box.PaddingRight = "  "
	t.SetStyle(style)
	classes := slices.ContainsFunc(summaries, func(s Summary) bool { return s.Metric == MetricAccuracy })
	head := table.Row{"data", "n", "d", "method", "median", "q25", "q75"}
	if classes {
		head = append(head, "balanced")
	}
	costed := slices.ContainsFunc(summaries, func(s Summary) bool { return s.Paid != nil })
	if costed {
		head = append(head, "paid")
	}
	head = append(head, "seconds", "no value")
	t.AppendHeader(head)
	var columns []table.ColumnConfig
	for i, name := range head {
		if name != "data" && name != "method" {
			columns = append(columns, table.ColumnConfig{Number: i + 1, Align: text.AlignRight, AlignHeader: text.AlignRight})
		}
	}
	t.SetColumnConfigs(columns)
	for _, s := range summaries {
		row := table.Row{s.Data, s.N, s.D, s.Method, formatDecimals(s.Median), formatDecimals(s.Q25), formatDecimals(s.Q75)}
		switch {
		case s.Metric == MetricAccuracy:
			row = append(row, formatDecimals(s.Balanced.Median))
		case classes:
			row = append(row, formatDecimals(math.NaN()))
		}
		switch {
		case s.Paid != nil:
			row = append(row, formatDecimals(*s.Paid))
		case costed:
			row = append(row, formatDecimals(math.NaN()))
		}
		t.AppendRow(append(row, formatDecimals(s.Seconds), s.describeFailures()))
	}
	for line := range strings.Lines(t.Render() + "\n") {
		if _, err := fmt.Fprintln(w, strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	for _, s := range summaries {
		if s.Trials > 0 || s.Err == nil {
			continue
		}
		hint := ""
		if s.Metric == MetricR2 && errors.Is(s.Err, ErrNoTestRow) {
			hint = "; if it is text, use --task classification"
		}
		if _, err := fmt.Fprintf(w, "%s, %s: %v%s\n", s.Data, s.Method, s.Err, hint); err != nil {
			return err
		}
	}
	return nil
}

// formatDecimals prints three decimals, and a dash for a number that does not exist.
func formatDecimals(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}
