package export

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/serve"
	"github.com/dptrain/dptrain/internal/tablefile/cell"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

var update = flag.Bool("update", false, "write docs/reference/cells.md")

// A columnKind is one way to declare a column. Its model has only this column, and its prediction shows how a cell
// was read.
type columnKind struct {
	name       string
	strict     bool
	categories []string
	date       bool
}

var columnKinds = []columnKind{
	{name: "number"},
	{name: "strict number", strict: true},
	{
		name: "category",
		categories: []string{"0", "1", "20240115", "café", "New York", "Jan 15, 2024", "45 yrs",
			"1e+17", "?"},
	},
	{name: "true or false", categories: []string{"false", "true"}},
	{name: "0 or 1", categories: []string{"0", "1"}},
	{
		name:       "f, t or empty",
		categories: []string{"f", "t", ""},
	},
	{name: "date", date: true},
}

// The predictions for cells that are neither a number nor a category.
const (
	noNumber   = -777
	noCategory = -1
)

func (k *columnKind) isText() bool {
	return k.categories != nil
}

// newModel returns the model: it predicts the value of a number or a date, and the position from 1 of a category.
func (k *columnKind) newModel() regression.Model {
	m := &regression.Linear{
		Target: "y",
		Lower:  -1e300,
		Upper:  1e300,
	}
	c := regression.Column{
		Name:    "cell",
		Lower:   -1e300,
		Upper:   1e300,
		Missing: noNumber,
	}
	if k.date {
		c.Name = "cell.days"
	}
	if k.isText() {
		c = regression.Column{
			Name:       "cell",
			Type:       regression.Category,
			Categories: k.categories,
			Other:      true,
		}
		for i, name := range k.categories {
			m.Terms = append(
				m.Terms,
				regression.Term{Category: name, Coefficient: float64(i + 1)},
			)
		}
		m.Terms = append(m.Terms, regression.Term{Other: true, Coefficient: noCategory})
	} else {
		m.Terms = []regression.Term{{Coefficient: 1}}
	}
	m.Columns = []regression.Column{c}
	regression.SetReading(m, func(_ string, r *regression.Reading) {
		r.Strict = k.strict
		if k.date {
			r.Source = "cell"
			r.Part = cell.DayPart
			r.Date = cell.AutoDate
		}
	})
	return m
}

// fitSchema returns the declarations of the column for a fit.
func (k *columnKind) fitSchema() (dataset.Schema, dataset.ReadOptions) {
	c := dataset.Column{Name: "cell"}
	switch {
	case k.date:
		c.Name = "cell.days"
		c.Source = "cell"
		c.Part = cell.DayPart
		c.Date = cell.AutoDate
	case k.isText():
		c.Kind = dataset.Category
		c.Categories = k.categories
		c.Other = true
	}
	return dataset.Schema{
			Columns: []dataset.Column{c},
			Numbers: dataset.Numbers{Strict: k.strict},
		},
		dataset.ReadOptions{}
}

// formatPrediction formats a prediction as in the table.
func (k *columnKind) formatPrediction(prediction float64) string {
	switch {
	case k.isText() && prediction == noCategory:
		return "other"
	case k.isText() && k.categories[int(prediction)-1] == "":
		return "empty"
	case k.isText():
		return inlineCode(k.categories[int(prediction)-1])
	case prediction == noNumber:
		return "missing"
	case k.date:
		day := time.Unix(0, 0).UTC().Add(time.Duration(math.Round(prediction*cell.DaySeconds)) * time.Second)
		return strings.TrimSuffix(
			day.Format("2006-01-02 15:04"),
			" 00:00",
		)
	}
	return strconv.FormatFloat(prediction+0, 'f', -1, 64) // + 0: without the sign of a zero
}

// A form is one way to write a cell.
type form struct {
	text    string
	literal string    // a JSON value that is not a text; empty: the form is a text
	sql     [2]string // the type of a column that holds the value, and the value; empty if there is no such type
}

var valueForms = []form{
	{literal: "1", sql: [2]string{"BIGINT", "1"}},
	{
		literal: "1.0",
		sql:     [2]string{"DOUBLE PRECISION", "1.0"},
	},
	{literal: "0", sql: [2]string{"INTEGER", "0"}},
	{literal: "-0.0"},
	{
		literal: "0.5",
		sql:     [2]string{"DOUBLE PRECISION", "0.5"},
	},
	{literal: "1e3"},
	{literal: "1e17"},
	{literal: longNumber},
	{literal: "20240115", sql: [2]string{"INTEGER", "20240115"}},
	{
		literal: "20240115.0",
		sql:     [2]string{"DOUBLE PRECISION", "20240115"},
	},
	{literal: "true", sql: [2]string{"BOOLEAN", "true"}},
	{literal: "false", sql: [2]string{"BOOLEAN", "false"}},
	{literal: "null", sql: [2]string{"TEXT", "NULL"}},
	{literal: "[1]"},
	{literal: "[]"},
	{literal: `{"a": 1}`},
}

var textForms = func() []form {
	var out []form
	for _, text := range []string{
		"1", "1.0", "1.00", "01", "1e3", "1E3", "1,5", "1,234", "1.234,5", "1,234.5", "1'234",
		"1 234", "1\u202f234", "+1", "-0", "-1", "\u22121", ".5", "5.", "0", "0.0", "00", "0x10",
		"1_000", "1e400", "1e-400",
		"NaN", "nan", "NAN", "NA", "N/A", "null", "None", "?", "-", "", " ", "\u00a0", "inf",
		"-Infinity", "1e", "one", "\u0661", `"1"`, "'1'",
		"true", "True", "TRUE", "false", "t", "T", "f", "F", "yes", "no", " true ",
		" 1", "1\t", "1\u00a0", "\ufeff1", "1\u200b", "45 yrs", "45\u00a0yrs", "85+", "<5", ">= 5",
		"≈5", "~5", "27.1%", "27.1 %", "$5", "-$3.50", "€ 12", "5 USD", "5k", "3/4",
		"59 Jahre", "5.3 mg/l", "144/94", "144/94 mmHg", "-144/94", "94/144", "49/20", "300/94",
		"2024-01-15", "2024/01/15", "20240115", "20240115.0", "20240115.5", "2024-01-15T10:00:00",
		"2024-01-15T10:00:00Z", "2024-01-15T10:00:00-05", "2024-01-15 10:00:00-0500",
		"2024-01-15 10:00:00+05:30",
		"2024-01-15 10:00:00 UTC", "15.1.2024", "15 Jan 2024", "Jan 15, 2024", "Jan 15 2024",
		"01/15/2024", "03/04/2024", "2024-02-30", "2024-1-5", "2024-01-15 24:00", "1969-12-31",
		"caf\u00e9", "cafe\u0301", "Caf\u00e9", "caf\u00e9 ", "New York", "New\u00a0York",
		"New  York", "New\u200b York", "new york", "New\vYork", "New\u2028York", "𝟏", "tRuE",
		"-0.0", "1.000",
	} {
		out = append(out, form{text: text})
	}
	return out
}()

// brokenForms are texts with line breaks, which CSV allows in quotes only if this is declared.
var brokenForms = []form{
	{text: "1\n"},
	{text: "\r\n1"},
	{text: "1\n2"},
	{text: "\n"},
	{text: "true\r"},
	{text: "true\n\r"},
	{text: "New\rYork"},
	{text: "45\nyrs"},
	{text: "2024-01-15\n10:00"},
	{text: "New\nYork"},
	{text: "New\r\nYork"},
	{text: "New\n\nYork"},
}

// displayText returns the form as in the table: invisible characters are written as escapes.
func (f *form) displayText() string {
	if f.literal != "" {
		return inlineCode(f.literal)
	}
	if f.text == "" {
		return "(empty)"
	}
	var out strings.Builder
	for _, r := range f.text {
		switch r {
		case '\n':
			out.WriteString(`\n`)
			continue
		case '\r':
			out.WriteString(`\r`)
			continue
		}
		if r < ' ' ||
			r > 0x7e &&
				strings.ContainsRune(cell.Blanks+cell.Invisible+"\u0301\u2212\u0661", r) {
			fmt.Fprintf(&out, `\u%04x`, r)
			continue
		}
		out.WriteRune(r)
	}
	if strings.TrimSpace(f.text) != f.text ||
		out.String() != f.text ||
		strings.Trim(f.text, `"'`) != f.text {
		return inlineCode(`"` + strings.ReplaceAll(
			out.String(), `"`,
			`\"`,
		) + `"`)
	}
	return inlineCode(out.String())
}

func inlineCode(text string) string {
	return "`" + strings.ReplaceAll(text, "|", `\|`) + "`"
}

// jsonValue returns the form as a JSON value.
func (f *form) jsonValue(t *testing.T) string {
	t.Helper()
	if f.literal != "" {
		return f.literal
	}
	text, err := json.Marshal(f.text)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// csvOf returns a table with one record per form. A second column preserves records whose first cell is empty.
func csvOf(t *testing.T, forms []form) []byte {
	t.Helper()
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	rows := [][]string{{"row", "cell"}}
	for i, f := range forms {
		rows = append(rows, []string{strconv.Itoa(i), f.text})
	}
	if err := w.WriteAll(rows); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func jsonLinesOf(t *testing.T, forms []form) []byte {
	t.Helper()
	var out bytes.Buffer
	for i, f := range forms {
		fmt.Fprintf(
			&out,
			"{\"row\": %d, \"cell\": %s}\n",
			i, f.jsonValue(t),
		)
	}
	return out.Bytes()
}

func parquetOf(t *testing.T, forms []form) []byte {
	t.Helper()
	type record struct {
		Row  int64  `parquet:"row"`
		Cell string `parquet:"cell"`
	}
	var out bytes.Buffer
	w := parquet.NewGenericWriter[record](&out)
	for i, f := range forms {
		_, err := w.Write([]record{{int64(i), f.text}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// fitPredictions returns the values read from a table during a fit, as predicted by the model of the column.
func (k *columnKind) fitPredictions(t *testing.T, name string, table []byte) []float64 {
	t.Helper()
	schema, opts := k.fitSchema()
	opts.Names = headerOf(name)
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, table, 0o600); err != nil {
		t.Fatal(err)
	}
	read, _, err := dataset.Read(context.Background(), path, schema, opts)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, read.Len())
	for i := range out {
		switch {
		case k.isText() && int(read.Codes(0)[i]) == len(k.categories):
			out[i] = noCategory
		case k.isText():
			out[i] = float64(read.Codes(0)[i]) + 1
		default:
			if out[i] = read.Float(0)[i]; math.IsNaN(out[i]) {
				out[i] = noNumber
			}
		}
	}
	return out
}

// headerOf lists the columns of a table without a header.
func headerOf(name string) []string {
	if strings.HasSuffix(name, ".jsonl") {
		return []string{"row", "cell"}
	}
	return nil
}

// A way is a path by which cells reach a fit or a model.
type way struct {
	name, takes string
	// accepts reports whether the path supports a form in a column; nil means every form.
	accepts func(k *columnKind, f *form) bool
	// expects returns the prediction of the path if it differs from the value read by the fit; nil means that it
	// never differs.
	expects func(k *columnKind, f *form, fit float64) float64
	// predict returns the predictions for the cells of each column, from one process if it needs any.
	predict func(t *testing.T, columns []columnCells) [][]float64
}

// columnCells are the cells that a path is given in a column of one kind.
type columnCells struct {
	kind  *columnKind
	forms []form
}

// eachColumn predicts the columns one by one.
func eachColumn(
	predict func(t *testing.T, k *columnKind, forms []form) []float64,
) func(*testing.T, []columnCells) [][]float64 {
	return func(t *testing.T, columns []columnCells) [][]float64 {
		t.Helper()
		out := make([][]float64, len(columns))
		for i, c := range columns {
			out[i] = predict(t, c.kind, c.forms)
		}
		return out
	}
}

func isText(_ *columnKind, f *form) bool {
	return f.literal == ""
}

func isLine(_ *columnKind, f *form) bool {
	return f.literal == "" && !strings.ContainsAny(f.text, "\r\n")
}

// notLong rejects a whole number that a JSON decoder rounds to a double.
func notLong(_ *columnKind, f *form) bool {
	return f.literal != longNumber
}

const longNumber = "100000000000000000"

func allWays() []way {
	out := []way{
		{
			name:    "`fit`: CSV",
			takes:   "text without line breaks",
			accepts: isLine,
			predict: eachColumn(func(t *testing.T, k *columnKind, forms []form) []float64 {
				return k.fitPredictions(t, "x.csv", csvOf(t, forms))
			}),
		},
		{
			name:  "`fit`: JSON Lines",
			takes: "everything",
			predict: eachColumn(func(t *testing.T, k *columnKind, forms []form) []float64 {
				return k.fitPredictions(t, "x.jsonl", jsonLinesOf(t, forms))
			}),
		},
		{
			name:    "`fit`: Parquet",
			takes:   "text here; columns of numbers, booleans and dates keep their types",
			accepts: isText,
			predict: eachColumn(func(t *testing.T, k *columnKind, forms []form) []float64 {
				return k.fitPredictions(t, "x.parquet", parquetOf(t, forms))
			}),
		},
		{
			name:    "`predict`: CSV",
			takes:   "text without line breaks",
			accepts: isLine,
			predict: eachColumn(predictFile("x.csv", csvOf)),
		},
		{
			name:    "`predict`: JSON Lines",
			takes:   "everything",
			predict: eachColumn(predictFile("x.jsonl", jsonLinesOf)),
		},
		{
			name:    "`predict`: Parquet",
			takes:   "as `fit`",
			accepts: isText,
			predict: eachColumn(predictFile("x.parquet", parquetOf)),
		},
		{
			name:  "`serve`: JSON",
			takes: "everything",
			predict: eachColumn(func(t *testing.T, k *columnKind, forms []form) []float64 {
				lines := strings.Split(
					strings.TrimSpace(string(jsonLinesOf(t, forms))),
					"\n",
				)
				return serverPredictions(
					t,
					k,
					"application/json",
					`{"records": [`+strings.Join(lines, ",")+`]}`,
				)
			}),
		},
		{
			name:  "`serve`: JSON Lines",
			takes: "everything",
			predict: eachColumn(func(t *testing.T, k *columnKind, forms []form) []float64 {
				return serverPredictions(
					t,
					k,
					"application/x-ndjson",
					string(jsonLinesOf(t, forms)),
				)
			}),
		},
		{
			name:    "`serve`: CSV",
			takes:   "text without line breaks",
			accepts: isLine,
			predict: eachColumn(func(t *testing.T, k *columnKind, forms []form) []float64 {
				return serverPredictions(t, k, "text/csv", string(csvOf(t, forms)))
			}),
		},
		{
			name:    "Go: `PredictRecord`",
			takes:   "everything",
			predict: eachColumn(predictRecords),
		},
		{
			name:    "Python: `predict`",
			takes:   "everything",
			predict: predictFrames,
		},
	}
	for i, title := range []string{"Python", "JavaScript", "Go"} {
		takes := "everything"
		accepts := notLong
		if title == "Python" {
			accepts = nil
		} else {
			takes += "; JSON decoders round whole numbers above 2^53"
		}
		out = append(
			out,
			way{
				name:    "`export`: " + title,
				takes:   takes,
				accepts: accepts,
				predict: runtimes[i].predictCells,
			},
		)
	}
	out = append(out, way{
		name:    "`export`: ONNX",
		takes:   "trimmed NFC text, numbers as doubles, and the parts of dates",
		accepts: inGraph,
		predict: predictGraphs,
	})
	for i := range databases {
		db := &databases[i]
		takes := "text, numbers and booleans;"
		if db.dialect == "sqlite" {
			takes = "text whose only blanks are the space, U+00A0, U+2009, U+202F and U+3000; numbers;"
		}
		out = append(out, way{
			name: "`export`: SQL, " + db.dialect,
			takes: takes +
				" the parts of dates. Text that is a number only if read leniently is missing, except `t` and `f`",
			accepts: func(k *columnKind, f *form) bool {
				if db.dialect == "sqlite" && strings.Contains(f.text, "\u2028") {
					return false // see noBreakBlanks
				}
				return !k.date &&
					(f.literal == "" ||
						f.sql[0] != "" &&
							(f.sql[0] != "BOOLEAN" || db.dialect != "sqlite"))
			},
			expects: plainOnly,
			predict: db.predictCells,
		})
	}
	return out
}

// predictCells predicts with exported programs, all in one process.
func (rt *runtime) predictCells(t *testing.T, columns []columnCells) [][]float64 {
	t.Helper()
	models := make([]regression.Model, len(columns))
	records := make([][]map[string]any, len(columns))
	for i, c := range columns {
		models[i] = c.kind.newModel()
		for _, f := range c.forms {
			records[i] = append(records[i], map[string]any{"cell": json.RawMessage(f.jsonValue(t))})
		}
	}
	out := make([][]float64, len(columns))
	for i, answers := range rt.runModels(t, models, records) {
		out[i] = numbersOf(answers)
	}
	return out
}

// numbersOf returns the predictions of answers that are numbers.
func numbersOf(answers []answer) []float64 {
	out := make([]float64, len(answers))
	for i, a := range answers {
		out[i] = a.Prediction.(float64)
	}
	return out
}

// inGraph reports whether a graph knows a text: graphs contain lists of texts and compute no texts.
func inGraph(k *columnKind, f *form) bool {
	if f.literal != "" ||
		!k.isText() ||
		cell.Normal(f.text) != f.text {
		return false
	}
	names := cell.NewNames(k.categories, cell.Text{}, 0)
	_, held := names.Texts()[f.text]
	_, class := names.Find(f.text)
	return held || class != cell.Good
}

// plainOnly replaces a number accepted only by the lenient rule by a missing one.
func plainOnly(k *columnKind, f *form, fit float64) float64 {
	if k.isText() ||
		f.literal != "" ||
		cell.BooleanWord(cell.Trim(f.text)) != "" {
		return fit
	}
	_, class := cell.Number(f.text)
	if class != cell.Good {
		return noNumber
	}
	return fit
}

// programFolder is the folder of the program, once it is built.
var programFolder string

// buildProgram builds the program at the first call, for all tests, and returns its path.
var buildProgram = sync.OnceValues(func() (path string, err error) {
	if programFolder, err = os.MkdirTemp("", "dptrain-export-test-"); err != nil {
		return "", err
	}
	path = filepath.Join(programFolder, "dptrain")
	out, err := exec.CommandContext(
		context.Background(),
		"go",
		"build",
		"-o",
		path,
		"../../cmd/dptrain",
	).CombinedOutput() //nolint:gosec // ours
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if programFolder != "" {
		_ = os.RemoveAll(programFolder)
	}
	os.Exit(code) //nolint:forbidigo // a TestMain ends its process
}

// builtProgram returns the path of the program.
func builtProgram(t *testing.T) string {
	t.Helper()
	path, err := buildProgram()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// writeModel writes the file of a model to a separate folder.
func writeModel(t *testing.T, m regression.Model) string {
	t.Helper()
	var file bytes.Buffer
	if err := regression.EncodeModel(&file, m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "model.json")
	err := os.WriteFile(path, file.Bytes(), 0o600)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func predictFile(
	name string, write func(*testing.T, []form) []byte,
) func(*testing.T, *columnKind, []form) []float64 {
	return func(t *testing.T, k *columnKind, forms []form) []float64 {
		t.Helper()
		table := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(table, write(t, forms), 0o600); err != nil {
			t.Fatal(err)
		}
		args := []string{"predict", writeModel(t, k.newModel()), table}
		if header := headerOf(name); header != nil {
			args = append(args, "--header", strings.Join(header, ","))
		}
		cmd := exec.CommandContext(context.Background(), builtProgram(t), args...) //nolint:gosec // ours
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf(
				"%v\n%s",
				err, stderr.String(),
			)
		}
		return parseLines(t, strings.Fields(string(out))[1:])
	}
}

func parseLines(t *testing.T, lines []string) []float64 {
	t.Helper()
	out := make([]float64, len(lines))
	for i, line := range lines {
		var err error
		if out[i], err = strconv.ParseFloat(line, 64); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// serverPredictions returns the predictions of the server for the records of a body.
func serverPredictions(t *testing.T, k *columnKind, contentType, body string) []float64 {
	t.Helper()
	m := k.newModel()
	s, err := serve.New(
		serve.Release{Model: m, Schema: pipeline.SchemaOf(m)},
		serve.Limits{},
		serve.Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	request := httptest.NewRequestWithContext(
		t.Context(),
		http.MethodPost,
		"/predict",
		strings.NewReader(body),
	)
	request.Header.Set("Content-Type", contentType)
	answer := httptest.NewRecorder()
	s.Handler().ServeHTTP(answer, request)
	text := answer.Body.Bytes()
	if answer.Code != http.StatusOK {
		t.Fatalf("%d: %s", answer.Code, text)
	}
	if contentType == "text/csv" {
		return parseLines(t, strings.Fields(string(text))[1:])
	}
	type one struct {
		Prediction float64 `json:"prediction"`
	}
	var all struct {
		Predictions []one `json:"predictions"`
	}
	if contentType == "application/json" {
		if err := json.Unmarshal(text, &all); err != nil {
			t.Fatal(err)
		}
	}
	for dec := json.NewDecoder(bytes.NewReader(text)); contentType == "application/x-ndjson" &&
		dec.More(); {
		var next one
		if err := dec.Decode(&next); err != nil {
			t.Fatal(err)
		}
		all.Predictions = append(all.Predictions, next)
	}
	var out []float64
	for _, p := range all.Predictions {
		out = append(out, p.Prediction)
	}
	return out
}

// predictRecords predicts records of JSON, decoded with numbers as texts and as doubles.
func predictRecords(t *testing.T, k *columnKind, forms []form) []float64 {
	t.Helper()
	p, err := regression.Compile(k.newModel())
	if err != nil {
		t.Fatal(err)
	}
	out := make([]float64, len(forms))
	for i, f := range forms {
		decoder := json.NewDecoder(strings.NewReader(f.jsonValue(t)))
		decoder.UseNumber()
		var exact any
		if err := decoder.Decode(&exact); err != nil {
			t.Fatal(err)
		}
		if out[i], err = p.PredictRecord(map[string]any{"cell": exact}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// predictFrames predicts with the estimator of the Python package.
func predictFrames(t *testing.T, columns []columnCells) [][]float64 {
	t.Helper()
	folder, err := filepath.Abs("../../python")
	if err != nil {
		t.Fatal(err)
	}
	type question struct {
		Release string
		Lines   []string
	}
	questions := make([]question, len(columns))
	for i, c := range columns {
		questions[i] = question{
			filepath.Dir(writeModel(t, c.kind.newModel())),
			strings.Split(strings.TrimSpace(string(jsonLinesOf(t, c.forms))), "\n"),
		}
	}
	input, err := json.Marshal(questions)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(context.Background(), pythonInterpreter(t), "-c", `
import json, sys
sys.path.insert(0, sys.argv[1])
try:
    import pandas
    from dptrain import load
except ImportError as e:
    sys.exit("No module named: %s" % e)
answers = []
for question in json.load(sys.stdin):
    records = [json.loads(line) for line in question["Lines"]]
    frame = pandas.DataFrame({k: pandas.Series([r[k] for r in records], dtype=object) for k in ("row", "cell")})
    answers.append(load(question["Release"]).predict(frame).tolist())
print(json.dumps(answers))
`, folder) //nolint:gosec // ours
	cmd.Env = append(
		os.Environ(),
		"DPTRAIN="+builtProgram(t),
		"PYTHONDONTWRITEBYTECODE=1",
	)
	cmd.Stdin = bytes.NewReader(input)
	var out [][]float64
	if err := json.Unmarshal(harnessOutput(t, cmd), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// predictGraphs predicts in onnxruntime.
func predictGraphs(t *testing.T, columns []columnCells) [][]float64 {
	t.Helper()
	dir := t.TempDir()
	inputs := map[string]any{}
	for i, c := range columns {
		var file bytes.Buffer
		if err := ONNX(&file, c.kind.newModel()); err != nil {
			t.Fatal(err)
		}
		name := strconv.Itoa(i)
		if err := os.WriteFile(filepath.Join(dir, name+".onnx"), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, f := range c.forms {
			texts = append(texts, f.text)
		}
		inputs[name] = map[string]any{"cell": texts}
	}
	input, err := json.Marshal(inputs)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(
		context.Background(),
		pythonInterpreter(t),
		"-c",
		onnxHarness,
		dir,
	) //nolint:gosec // ours
	cmd.Stdin = bytes.NewReader(input)
	var answers map[string][]answer
	if err := json.Unmarshal(harnessOutput(t, cmd), &answers); err != nil {
		t.Fatal(err)
	}
	out := make([][]float64, len(columns))
	for i := range columns {
		out[i] = numbersOf(answers[strconv.Itoa(i)])
	}
	return out
}

// predictCells predicts in a database: the texts of a column in a text column, and each value in a column of its
// type.
func (db *database) predictCells(t *testing.T, columns []columnCells) [][]float64 {
	t.Helper()
	var sql strings.Builder
	tables := 0
	ask := func(k *columnKind, kind string, cells []string) {
		table := fmt.Sprintf("dp_cells_%d", tables)
		tables++
		fmt.Fprintf(
			&sql,
			"DROP TABLE IF EXISTS %s;\nCREATE TABLE %s (i INTEGER, cell %s);\nINSERT INTO %s VALUES ",
			table,
			table,
			kind,
			table,
		)
		for i, x := range cells {
			if i > 0 {
				sql.WriteString(", ")
			}
			fmt.Fprintf(&sql, "(%d, %s)", i, x)
		}
		sql.WriteString(";\n")
		var query bytes.Buffer
		err := SQL(&query, k.newModel(), db.dialect, table)
		if err != nil {
			t.Fatal(err)
		}
		sql.WriteString(strings.TrimSuffix(strings.TrimSpace(query.String()), ";") +
			" ORDER BY i;\n")
	}
	cells := 0
	for _, c := range columns {
		var texts []string
		for _, f := range c.forms {
			if f.literal == "" {
				texts = append(texts, quoteLiteral(f.text))
			}
		}
		ask(c.kind, "TEXT", texts)
		for _, f := range c.forms {
			if f.literal != "" {
				ask(c.kind, f.sql[0], []string{f.sql[1]})
			}
		}
		cells += len(c.forms)
	}
	var all []string
	for _, row := range db.run(t, sql.String()) {
		all = append(all, row[2])
	}
	got := parseLines(t, all)
	if len(got) != cells {
		t.Fatalf(
			"%d rows of %d",
			len(got), cells,
		)
	}
	out := make([][]float64, len(columns))
	for i, c := range columns {
		out[i] = inOrderOf(c.forms, got[:len(c.forms)])
		got = got[len(c.forms):]
	}
	return out
}

// inOrderOf returns predictions for forms in their order, from those for the texts followed by those for the values.
func inOrderOf(forms []form, got []float64) []float64 {
	text := 0
	value := 0
	for _, f := range forms {
		if f.literal == "" {
			value++
		}
	}
	out := make([]float64, len(forms))
	for i, f := range forms {
		at := &text
		if f.literal != "" {
			at = &value
		}
		out[i] = got[*at]
		*at++
	}
	return out
}

// TestCells checks that every path by which a cell can reach a model, and every exported form of a model, reads a
// cell as a fit does, for texts in the notations of people and programs and for all JSON types, in columns of every
// kind. docs/reference/cells.md shows the table.
func TestCells(t *testing.T) {
	forms := slices.Concat(textForms, brokenForms, valueForms)
	fits := make([][]float64, len(columnKinds))
	for i := range columnKinds {
		fits[i] = slices.Concat(
			columnKinds[i].fitPredictions(t, "x.csv", csvOf(t, textForms)),
			columnKinds[i].fitPredictions(
				t,
				"x.jsonl",
				jsonLinesOf(t, forms[len(textForms):]),
			),
		)
		if len(fits[i]) != len(forms) {
			t.Fatalf(
				"%d records of %d",
				len(fits[i]), len(forms),
			)
		}
	}
	for _, w := range allWays() {
		t.Run(
			strings.NewReplacer(
				"`", "", ": ",
				"-", ", ", "-",
				" ", "-",
			).Replace(w.name),
			func(t *testing.T) {
				w.checkForms(t, forms, fits)
			},
		)
	}
	checkPage(t, forms, fits)
}

// checkForms compares the predictions of a path with the values of the fits.
func (w *way) checkForms(t *testing.T, forms []form, fits [][]float64) {
	t.Helper()
	var columns []columnCells
	var wants [][]float64
	for i := range columnKinds {
		c := columnCells{kind: &columnKinds[i]}
		var want []float64
		for j := range forms {
			f := &forms[j]
			if w.accepts != nil && !w.accepts(c.kind, f) {
				continue
			}
			y := fits[i][j]
			if w.expects != nil {
				y = w.expects(c.kind, f, y)
			}
			c.forms = append(c.forms, *f)
			want = append(want, y)
		}
		if len(want) > 0 {
			columns = append(columns, c)
			wants = append(wants, want)
		}
	}
	got := w.predict(t, columns)
	if len(got) != len(columns) {
		t.Fatalf("%d columns of %d", len(got), len(columns))
	}
	for i, c := range columns {
		c.compare(t, got[i], wants[i])
	}
}

// compare reports the cells whose predictions differ.
func (c *columnCells) compare(t *testing.T, got, want []float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf(
			"%s: %d answers to %d cells",
			c.kind.name, len(got), len(want),
		)
	}
	for i := range got {
		if !almostEqual(got[i], want[i]) {
			t.Errorf(
				"%s: %s is %v, and %v in a fit",
				c.kind.name,
				c.forms[i].displayText(),
				got[i],
				want[i],
			)
		}
	}
}

// cellsPage is the page with the table; -update writes the part between the marks.
const cellsPage = "../../docs/reference/cells.md"

// checkPage compares the page with the tables of the test.
func checkPage(t *testing.T, forms []form, fits [][]float64) {
	t.Helper()
	page, err := os.ReadFile(cellsPage)
	if err != nil {
		t.Fatal(err)
	}
	const (
		begin = "<!-- begin cells -->\n"
		end   = "<!-- end cells -->"
	)
	head, rest, found := strings.Cut(string(page), begin)
	_, tail, ended := strings.Cut(rest, end)
	if !found || !ended {
		t.Fatal("the page has no marks for the table")
	}
	var out strings.Builder
	table := func(title, first string, from, to int) {
		fmt.Fprintf(
			&out,
			"\n## %s\n\n| %s |",
			title, first,
		)
		for _, k := range columnKinds {
			fmt.Fprintf(&out, " %s |", k.name)
		}
		out.WriteString("\n| --- |" + strings.Repeat(" --- |", len(columnKinds)) + "\n")
		for i := from; i < to; i++ {
			fmt.Fprintf(&out, "| %s |", forms[i].displayText())
			for j := range columnKinds {
				fmt.Fprintf(
					&out, " %s |",
					columnKinds[j].formatPrediction(fits[j][i]),
				)
			}
			out.WriteString("\n")
		}
	}
	texts := len(textForms) + len(brokenForms)
	table("Texts", "text", 0, texts)
	table("Values of JSON", "value", texts, len(forms))
	out.WriteString("\n## Inputs\n\n| input | accepted values |\n| --- | --- |\n")
	for _, w := range allWays() {
		fmt.Fprintf(
			&out,
			"| %s | %s |\n",
			w.name, w.takes,
		)
	}
	out.WriteString("\n")
	want := head + begin + out.String() + end + tail
	if *update {
		err := os.WriteFile(cellsPage, []byte(want), 0o600)
		if err != nil {
			t.Fatal(err)
		}
		return
	}
	diff := cmp.Diff(want, string(page))
	if diff != "" {
		t.Errorf(
			"%s differs from what a fit reads (-want +got; -update writes it):\n%s",
			cellsPage,
			diff,
		)
	}
}
