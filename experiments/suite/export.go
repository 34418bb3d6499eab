package suite

import (
	"bytes"
	"encoding/csv"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// settingHead names the columns that describe a cell.
var settingHead = [...]string{"data", "method", "k", "epsilon", "delta", "n", "copies", "share",
	"noise", "lambda"}

// fields returns the values of settingHead.
func (c Cell) fields() []string {
	s := c.Setting
	return []string{c.Data, c.Method, integerCell(s.K), number(s.Epsilon), number(s.Delta), integerCell(s.N),
		integerCell(s.Copies), number(s.Share), number(s.Noise), number(s.Lambda)}
}

// integerCell and number return an empty string for an unused field.
func integerCell(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func number(x float64) string {
	if x == 0 {
		return ""
	}
	return exact(x)
}

// exact formats a number so that it parses back to the same value. NaN yields an empty string.
func exact(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// ResultsCSV writes one row per trial: the cell, the trial, its status, one column for each metric, and the chosen
// columns (from 1, separated by spaces).
func ResultsCSV(records []Record) ([]byte, error) {
	var metrics []string
	for _, r := range records {
		for m := range r.Values {
			if !slices.Contains(metrics, m) {
				metrics = append(metrics, m)
			}
		}
	}
	slices.Sort(metrics)
	head := append(settingHead[:len(settingHead):len(settingHead)], "trial", "status")
	head = append(append(head, metrics...), "seconds", "picked", "reason")
	rows := [][]string{head}
	for _, r := range records {
		row := append(r.fields(), strconv.Itoa(r.Trial), string(r.Status))
		for _, m := range metrics {
			value := ""
			if v, ok := r.Values[m]; ok {
				value = exact(v)
			}
			row = append(row, value)
		}
		var picked []string
		for _, j := range r.Picked {
			picked = append(picked, strconv.Itoa(j))
		}
		rows = append(rows, append(row, exact(r.Seconds), strings.Join(picked, " "), r.Reason))
	}
	return encode(rows)
}

// SummaryCSV writes one row per cell and metric.
func SummaryCSV(records []Record) ([]byte, error) {
	head := slices.Concat(settingHead[:], []string{
		"metric",
		"trials",
		"mean",
		"low95",
		"high95",
		"min",
		"q25",
		"median",
		"q75",
		"max",
		"abstained",
		"not_applicable",
		"failed",
		"unavailable",
		"reason",
	})
	rows := [][]string{head}
	for _, s := range Summarise(records) {
		rows = append(rows, slices.Concat(s.fields(), []string{
			s.Metric,
			strconv.Itoa(s.Count),
			exact(s.Mean),
			exact(s.Low),
			exact(s.High),
			exact(s.Min),
			exact(s.Q25),
			exact(s.Median),
			exact(s.Q75),
			exact(s.Max),
			strconv.Itoa(s.Abstained),
			strconv.Itoa(s.NotApplicable),
			strconv.Itoa(s.Failed),
			strconv.Itoa(s.Unavailable),
			s.Reason,
		}))
	}
	return encode(rows)
}

func encode(rows [][]string) ([]byte, error) {
	var b bytes.Buffer
	if err := csv.NewWriter(&b).WriteAll(rows); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// replace writes a file atomically: a reader sees either the old file or the new one. The error wraps [ErrOutput].
func replace(dir, name string, text []byte) error {
	f, err := os.CreateTemp(dir, name+".*")
	if err != nil {
		return unwritable(err)
	}
	_, err = f.Write(text)
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Chmod(f.Name(), 0o644)
	}
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(dir, name))
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return unwritable(err)
	}
	return nil
}
