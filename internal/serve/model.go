package serve

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// A servedModel is a model with all data prepared for its requests. It does not change, except for its counts.
type servedModel struct {
	hash    string        // of the model file
	program string        // version of the program
	inputs  []*inputCount // nil if cells are not counted
	values  []*valueCount // likewise, of inputs with a released histogram
	model   regression.Model
	ready   *regression.Ready
	output  regression.Output
	schema  dataset.Schema
	opts    dataset.ReadOptions // for CSV
	limits  dataset.StreamLimits
	csv     *dataset.StreamFormat
	lines   *dataset.StreamFormat // for JSON objects
	memory  int64                 // bytes that a request takes in addition to its body

	hasChances bool
	csvNames   []string // class names, quoted as the only cell of a line
	jsonNames  []string // class names in JSON
}

// Names of the streams in messages, whose suffix is their kind.
const (
	nameCSV   = "body.csv"
	nameLines = "body.jsonl"
)

func newServedModel(r Release, l Limits) (*servedModel, error) {
	m := r.Model
	schema := r.Schema
	opts := r.Reading
	if err := m.Validate(); err != nil {
		return nil, err
	}
	s := &servedModel{
		hash:    r.Hash,
		program: r.Program,
		model:   m,
		ready:   regression.Prepare(m),
		output:  m.Output(),
		schema:  schema,
		opts:    opts,
		limits: dataset.StreamLimits{
			Line:  l.Line,
			Cells: batchCells,
		},
	}
	var err error
	if s.csv, err = dataset.NewStreamFormat(nameCSV, schema, opts, s.limits); err != nil {
		return nil, err
	}
	asJSON := opts
	asJSON.Format.Encoding = "" // JSON is UTF-8
	if s.lines, err = dataset.NewStreamFormat(nameLines, schema, asJSON, s.limits); err != nil {
		return nil, err
	}
	const bytesPerColumn = 256 // for the columns of a batch and their predictions
	s.memory = 4*bufferSize + bytesPerColumn*int64(len(schema.Columns))
	for _, name := range s.output.Classes {
		quoted, _ := json.Marshal(name) // a string always has a JSON form
		s.jsonNames = append(s.jsonNames, string(quoted))
		s.csvNames = append(s.csvNames, csvCell(name))
	}
	s.hasChances = !errors.Is(s.addChances(&answers{}, regression.Rows{}),
		regression.ErrNoProbability)
	return s, nil
}

// csvFormat returns the CSV format for a character set, or the model's own format for an empty charset.
func (s *servedModel) csvFormat(charset string) (*dataset.StreamFormat, *problem) {
	if charset == "" {
		return s.csv, nil
	}
	opts := s.opts
	opts.Format.Encoding = charset
	if !opts.Format.Known() {
		return nil,
			&problem{
				Status:  http.StatusUnsupportedMediaType,
				Message: "the charset is not known; send UTF-8",
			}
	}
	format, err := dataset.NewStreamFormat(nameCSV, s.schema, opts, s.limits)
	if err != nil { // the format was valid with another encoding
		return nil,
			&problem{
				Status:  http.StatusUnsupportedMediaType,
				Message: "the charset cannot be read; send UTF-8",
			}
	}
	return format, nil
}

// halfWidth returns half the width of the prediction interval with the given level, the text of a request parameter.
// It returns 0 for an empty text.
func (s *servedModel) halfWidth(level string) (float64, *problem) {
	if level == "" {
		return 0, nil
	}
	want, err := strconv.ParseFloat(level, 64)
	var known []float64
	for _, x := range regression.IntervalsOf(s.model) {
		if err == nil && x.Level == want {
			return x.HalfWidth, nil
		}
		known = append(known, x.Level)
	}
	if known == nil {
		return 0,
			&problem{
				Status:  http.StatusBadRequest,
				Message: "the model has no prediction intervals",
			}
	}
	return 0,
		&problem{
			Status:  http.StatusBadRequest,
			Message: fmt.Sprintf("interval must be one of the levels %v", known),
		}
}

// answers are the predictions for the records of a batch.
type answers struct {
	n       int
	values  []float64   // numbers, or indexes of classes
	chances [][]float64 // the probability of each class; nil for a model without probabilities
}

// predictBatch predicts the records of a batch.
func (s *servedModel) predictBatch(batch *dataset.Batch) answers {
	rows := pipeline.RowsOf(batch.Table.View())
	countInputs(s.inputs, rows)
	for _, c := range s.values {
		c.add(rows.Numeric[c.column])
	}
	a := answers{n: rows.N}
	var err error
	if s.hasChances {
		err = s.addChances(&a, rows)
	} else {
		a.values, err = s.ready.Predict(nil, rows)
	}
	if err != nil {
		panic(err) // the model is valid, and the rows have its columns
	}
	return a
}

// addChances predicts classes with their probabilities. It returns [regression.ErrNoProbability] for a model without
// probabilities.
func (s *servedModel) addChances(a *answers, rows regression.Rows) error {
	c, ok := s.model.(*regression.Classifier)
	if !ok {
		return regression.ErrNoProbability
	}
	var err error
	if len(c.Classes) > 2 {
		if a.chances, err = c.ClassProbabilities(rows); err != nil {
			return err
		}
		a.values, err = c.Predict(nil, rows)
		return err
	}
	if c.Probability == nil {
		return regression.ErrNoProbability
	}
	classes, scores, err := c.Classify(rows)
	if err != nil {
		return err
	}
	first := make([]float64, len(scores))
	for i, score := range scores {
		scores[i] = c.Probability.Evaluate(score)
		first[i] = 1 - scores[i]
	}
	a.values = classes
	a.chances = [][]float64{first, scores}
	return nil
}

// predictionInterval returns the bounds of the interval of a prediction.
func predictionInterval(y, width float64) (lower, upper float64) {
	return max(y-width, -math.MaxFloat64), min(y+width, math.MaxFloat64)
}

// appendObject appends a prediction as a JSON object.
func (s *servedModel) appendObject(
	dst []byte,
	a answers,
	k int,
	width float64,
) []byte {
	y := a.values[k]
	dst = append(dst, `{"prediction":`...)
	if s.jsonNames != nil {
		dst = append(dst, s.jsonNames[int(y)]...)
	} else {
		dst = appendNumber(dst, y)
		if width > 0 {
			lower, upper := predictionInterval(y, width)
			dst = appendNumber(append(dst, `,"lower":`...), lower)
			dst = appendNumber(append(dst, `,"upper":`...), upper)
		}
	}
	if s.hasChances {
		dst = append(dst, `,"probabilities":{`...)
		for c, name := range s.jsonNames {
			if c > 0 {
				dst = append(dst, ',')
			}
			dst = append(append(dst, name...), ':')
			dst = appendNumber(dst, a.chances[c][k])
		}
		dst = append(dst, '}')
	}
	return append(dst, '}')
}

// appendLine appends a prediction as a line of JSON Lines.
func (s *servedModel) appendLine(
	dst []byte,
	a answers,
	k int,
	width float64,
) []byte {
	return append(s.appendObject(dst, a, k, width), '\n')
}

// appendNumber appends a finite number in JSON format, with an exponent only if it is very large or small.
func appendNumber(dst []byte, x float64) []byte {
	if size := math.Abs(x); size != 0 && (size < 1e-6 || size >= 1e21) {
		return strconv.AppendFloat(dst, x, 'e', -1, 64)
	}
	return strconv.AppendFloat(dst, x, 'f', -1, 64)
}

// csvHeader returns the header line of an answer.
func (s *servedModel) csvHeader(width float64) string {
	names := []string{"prediction"}
	switch {
	case s.hasChances:
		for _, name := range s.output.Classes {
			names = append(names, "probability of "+name)
		}
	case width > 0 && len(s.output.Classes) == 0:
		names = append(names, "lower", "upper")
	}
	return csvLine(names...)
}

// appendCSV appends a prediction as a line of CSV.
func (s *servedModel) appendCSV(
	dst []byte,
	a answers,
	k int,
	width float64,
) []byte {
	number := func(x float64) {
		dst = strconv.AppendFloat(append(dst, ','), x, 'g', -1, 64)
	}
	y := a.values[k]
	if s.csvNames != nil {
		dst = append(dst, s.csvNames[int(y)]...)
	} else {
		dst = strconv.AppendFloat(dst, y, 'g', -1, 64)
		if width > 0 {
			lower, upper := predictionInterval(y, width)
			number(lower)
			number(upper)
		}
	}
	for _, chances := range a.chances {
		number(chances[k])
	}
	return append(dst, '\n')
}

// csvLine returns a line of CSV.
func csvLine(cells ...string) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	if err := errors.Join(w.Write(cells), flushCSV(w)); err != nil {
		panic(err) // a Builder never fails
	}
	return b.String()
}

func flushCSV(w *csv.Writer) error {
	w.Flush()
	return w.Error()
}

// csvCell returns text as the first cell of a CSV line. Empty text is quoted, because an empty line is not a record.
func csvCell(text string) string {
	if text == "" {
		return `""`
	}
	return strings.TrimSuffix(csvLine(text), "\n")
}
