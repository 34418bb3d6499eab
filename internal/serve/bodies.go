package serve

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dptrain/dptrain/regression"
)

// A prediction is the answer for one record.
type prediction struct {
	Prediction    any                `json:"prediction"` // a number, or the name of a class
	Lower         *float64           `json:"lower,omitempty"`
	Upper         *float64           `json:"upper,omitempty"`
	Probabilities map[string]float64 `json:"probabilities,omitempty"`
}

// of predicts for a record whose cells stand in the order of the inputs.
func (s *Server) of(cells []regression.Cell, width float64) prediction {
	y := s.predictor.PredictRow(cells)
	s.counts.predictions.Add(1)
	if len(s.output.Classes) == 0 {
		p := prediction{Prediction: y}
		if width > 0 {
			lower, upper := max(y-width, -math.MaxFloat64), min(y+width, math.MaxFloat64)
			p.Lower, p.Upper = &lower, &upper
		}
		return p
	}
	p := prediction{Prediction: s.output.Classes[int(y)]}
	if chances, err := s.predictor.ClassProbabilitiesRow(cells); err == nil {
		p.Probabilities = make(map[string]float64, len(chances))
		for i, x := range chances {
			p.Probabilities[s.output.Classes[i]] = x
		}
	}
	return p
}

// A record is a JSON object of cells by name. Other names than those of inputs are ignored.
type record map[string]any

// cells appends the cells of a record in the order of the inputs.
func (s *Server) cells(dst []regression.Cell, r record) ([]regression.Cell, *problem) {
	var absent []string
	for _, name := range s.inputs {
		x, ok := r[name]
		if !ok {
			absent = append(absent, name)
		}
		dst = append(dst, regression.CellOf(x))
	}
	if absent != nil {
		return nil, &problem{Status: http.StatusBadRequest, Message: "inputs of the model are absent: " + quoted(absent)}
	}
	return dst, nil
}

// quoted lists names, ten at most.
func quoted(names []string) string {
	more := ""
	if len(names) > 10 {
		more = fmt.Sprintf(" and %d more", len(names)-10)
		names = names[:10]
	}
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = strconv.Quote(name)
	}
	return strings.Join(out, ", ") + more
}

// predictJSON answers {"records": [...]} or one record.
func (s *Server) predictJSON(w http.ResponseWriter, r *http.Request, width float64) {
	s.extend(w)
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, s.limits.Body))
	var request struct {
		Records []record `json:"records"`
	}
	body.DisallowUnknownFields()
	err := body.Decode(&request)
	if err == nil {
		if _, more := body.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("something follows the object")
		}
	}
	if err != nil {
		refuse(w, malformed(err, s.limits.Body))
		return
	}
	if request.Records == nil {
		refuse(w, &problem{Status: http.StatusBadRequest, Message: `the body must be {"records": [{"column": cell, ...}, ...]}`})
		return
	}
	out := make([]prediction, len(request.Records))
	var cells []regression.Cell
	for i, x := range request.Records {
		var p *problem
		if cells, p = s.cells(cells[:0], x); p != nil {
			p.Record = i + 1
			refuse(w, p)
			return
		}
		out[i] = s.of(cells, width)
	}
	answer(w, map[string]any{"predictions": out})
}

// malformed says why a body was refused.
func malformed(err error, most int64) *problem {
	var large *http.MaxBytesError
	if errors.As(err, &large) {
		return &problem{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("the body is above %d bytes; send text/csv or application/x-ndjson, which may be of any length", most)}
	}
	return &problem{Status: http.StatusBadRequest, Message: "the body is not the JSON that was expected: " + err.Error()}
}

// extend gives the client time for the next bytes.
func (s *Server) extend(w http.ResponseWriter) {
	control, until := http.NewResponseController(w), time.Now().Add(s.limits.Idle)
	// A writer without deadlines, as in tests, has none to extend.
	_ = control.SetReadDeadline(until)
	_ = control.SetWriteDeadline(until)
}

// batch is how many records are read between two looks at the clock.
const batch = 256

// A stream is an answer that is written while the body is read. Once it has begun, a problem breaks it off.
type stream struct {
	server *Server
	w      http.ResponseWriter
	out    *bufio.Writer
	begun  bool
	count  int // of records
}

func (s *Server) stream(w http.ResponseWriter, contentType string) *stream {
	w.Header().Set("Content-Type", contentType)
	s.extend(w)
	return &stream{server: s, w: w, out: bufio.NewWriterSize(w, 1<<16)}
}

// next counts a record, and from time to time sends what there is.
func (x *stream) next() {
	if !x.begun {
		x.begun = true
		// Without it the server would read the whole body before the first answer. Where there is none it does
		// so, and a client that is refused reads why.
		_ = http.NewResponseController(x.w).EnableFullDuplex()
	}
	if x.count++; x.count%batch == 0 {
		x.server.extend(x.w)
		// A client that is gone is found by the next read.
		_ = x.out.Flush()
		_ = http.NewResponseController(x.w).Flush()
	}
}

// fail ends an answer. A stream that has begun is broken off, so that no client takes it for a whole one.
func (x *stream) fail(p *problem) {
	p.Record = x.count + 1
	if !x.begun {
		refuse(x.w, p)
		return
	}
	_ = x.out.Flush()
	panic(http.ErrAbortHandler)
}

// predictLines answers one JSON object a line.
func (s *Server) predictLines(w http.ResponseWriter, r *http.Request, width float64) {
	x := s.stream(w, "application/x-ndjson")
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(make([]byte, 0, min(1<<12, s.limits.Line)), s.limits.Line)
	encode := json.NewEncoder(x.out)
	var cells []regression.Cell
	for lines.Scan() {
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		var one record
		if err := json.Unmarshal(lines.Bytes(), &one); err != nil || one == nil {
			x.fail(&problem{Status: http.StatusBadRequest, Message: "a line must be one JSON object of cells"})
			return
		}
		var p *problem
		if cells, p = s.cells(cells[:0], one); p != nil {
			x.fail(p)
			return
		}
		_ = encode.Encode(s.of(cells, width)) // as above
		x.next()
	}
	if err := lines.Err(); err != nil {
		x.fail(s.unread(err))
		return
	}
	_ = x.out.Flush()
}

// unread says why a body could not be read to its end.
func (s *Server) unread(err error) *problem {
	if errors.Is(err, bufio.ErrTooLong) || errors.Is(err, errLong) {
		return &problem{Status: http.StatusRequestEntityTooLarge, Message: fmt.Sprintf("a line is above %d bytes", s.limits.Line)}
	}
	return &problem{Status: http.StatusBadRequest, Message: "the body ended early"}
}

// predictCSV answers one line per record, under a header.
func (s *Server) predictCSV(w http.ResponseWriter, r *http.Request, width float64) {
	x := s.stream(w, "text/csv; charset=utf-8")
	limit := &lineLimit{from: r.Body, most: s.limits.Line}
	in := csv.NewReader(limit)
	in.FieldsPerRecord, in.LazyQuotes, in.ReuseRecord = -1, true, true
	header, err := in.Read()
	if err != nil {
		p := s.unread(err)
		if errors.Is(err, io.EOF) {
			p.Message = "the body has no header line"
		}
		x.fail(p)
		return
	}
	places, p := s.places(header)
	if p != nil {
		refuse(w, p)
		return
	}
	out := csv.NewWriter(x.out)
	_ = out.Write(s.header(width))
	cells := make([]regression.Cell, len(places))
	for {
		limit.reset()
		line, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			out.Flush()
			x.fail(s.unread(err))
			return
		}
		for i, at := range places {
			cells[i] = regression.Cell{} // missing, as in a short line
			if at < len(line) {
				cells[i] = regression.TextCell(line[at])
			}
		}
		_ = out.Write(s.row(s.of(cells, width)))
		if x.count%batch == batch-1 {
			out.Flush()
		}
		x.next()
	}
	out.Flush()
	_ = x.out.Flush()
}

// places returns where the inputs stand in a header.
func (s *Server) places(header []string) ([]int, *problem) {
	at := map[string]int{}
	var twice, absent []string
	for i, name := range header {
		name = strings.Trim(strings.TrimPrefix(name, "\ufeff"), " \t")
		if _, ok := at[name]; ok && slices.Contains(s.inputs, name) {
			twice = append(twice, name)
		}
		at[name] = i
	}
	out := make([]int, len(s.inputs))
	for i, name := range s.inputs {
		place, ok := at[name]
		if !ok {
			absent = append(absent, name)
		}
		out[i] = place
	}
	switch {
	case twice != nil:
		return nil, &problem{Status: http.StatusBadRequest, Message: "the header has twice: " + quoted(twice)}
	case absent != nil:
		return nil, &problem{Status: http.StatusBadRequest, Message: "the header lacks inputs of the model: " + quoted(absent)}
	}
	return out, nil
}

// header and row are the columns of an answer in CSV.
func (s *Server) header(width float64) []string {
	out := []string{"prediction"}
	if len(s.output.Classes) == 0 {
		if width > 0 {
			out = append(out, "lower", "upper")
		}
		return out
	}
	if _, err := s.predictor.ClassProbabilitiesRow(make([]regression.Cell, len(s.inputs))); err == nil {
		for _, name := range s.output.Classes {
			out = append(out, "probability of "+name)
		}
	}
	return out
}

func (s *Server) row(p prediction) []string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	if y, ok := p.Prediction.(float64); ok {
		out := []string{number(y)}
		if p.Lower != nil {
			out = append(out, number(*p.Lower), number(*p.Upper))
		}
		return out
	}
	out := []string{fmt.Sprint(p.Prediction)}
	if p.Probabilities != nil {
		for _, name := range s.output.Classes {
			out = append(out, number(p.Probabilities[name]))
		}
	}
	return out
}

// errLong is the error about a record that does not end.
var errLong = errors.New("a record is too long")

// lineLimit refuses to hand out more than about most bytes between two resets.
type lineLimit struct {
	from  io.Reader
	most  int
	since int
}

func (l *lineLimit) reset() { l.since = 0 }

func (l *lineLimit) Read(b []byte) (int, error) {
	if l.since > l.most {
		return 0, errLong
	}
	n, err := l.from.Read(b)
	l.since += n
	return n, err
}
