package serve

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/dptrain/dptrain/dataset"
)

// An exchange is a request to /predict and its answer. Its goroutine holds a turn whenever it is not waiting for the
// client.
type exchange struct {
	server *Server
	w      http.ResponseWriter
	r      *http.Request
	conn   *clientConn
	clock  *http.ResponseController
	model  *servedModel
	width  float64 // half the width of the prediction interval; 0 without an interval

	held     int64 // bytes reserved from the memory budget
	window   int   // bytes received since the deadline was last extended
	pending  int64 // bytes of a stream received since the last answer
	readErr  error // from reading the body, except io.EOF
	hasTurn  bool
	isLong   bool // whether a long record has occurred
	hasSlot  bool
	answered int // number of records
	begun    bool
	whole    bool // whether the whole body is read before the answer starts
	out      *bufio.Writer
}

// Sizes of the buffers of an exchange.
const (
	bufferSize = 1 << 14 // bytes read or written at a time
	batchCells = 1 << 12 // cells predicted at a time
	fairShare  = 1 << 18 // bytes of a body checked in one turn
)

func (s *Server) beginExchange(
	w http.ResponseWriter,
	r *http.Request,
	model *servedModel,
	width float64,
) *exchange {
	e := &exchange{
		server: s,
		w:      w,
		r:      r,
		conn:   connOf(r.Context()),
		clock:  http.NewResponseController(w),
		model:  model,
		width:  width,
	}
	e.takeTurn()
	_ = e.clock.EnableFullDuplex() // for answers to streams; HTTP/2 is always full duplex
	e.extendRead()
	return e
}

// end releases all resources of the exchange.
func (e *exchange) end() {
	e.leaveTurn()
	e.server.memory.releaseBytes(e.held)
	e.held = 0
	if e.answered > 0 {
		e.conn.streams.Add(-1)
	}
	if e.hasSlot {
		e.conn.slots.Add(-1)
		<-e.server.slots
	}
	if e.out != nil {
		e.out.Reset(nil)
		freeWriters.Put(e.out)
	}
}

func (e *exchange) takeTurn() {
	e.conn.working.Add(1)
	if e.isLong {
		e.server.long <- struct{}{}
	}
	e.server.turns <- struct{}{}
	e.hasTurn = true
}

func (e *exchange) leaveTurn() {
	if !e.hasTurn {
		return
	}
	e.hasTurn = false
	<-e.server.turns
	if e.isLong {
		<-e.server.long
	}
	e.conn.working.Add(-1)
}

// nextTurn lets other requests compute before the exchange continues. From its first long record on, it waits for a
// turn for long records.
func (e *exchange) nextTurn(bytesOfRecord int64) {
	e.leaveTurn()
	e.isLong = e.isLong || bytesOfRecord > longRecord
	e.takeTurn()
}

// takeSlot counts the request among those answered concurrently. At the limit, it closes a connection with a request
// whose client has kept the server waiting.
func (e *exchange) takeSlot() *problem {
	select {
	case e.server.slots <- struct{}{}:
	default:
		if !e.server.gate.evictConn(func(c *clientConn) bool {
			return c != e.conn && c.slots.Load() > 0
		}) {
			return tooManyRequests()
		}
		e.leaveTurn() // the other request may need it to end
		defer e.takeTurn()
		select {
		case e.server.slots <- struct{}{}:
		case <-time.After(time.Second):
			return tooManyRequests()
		}
	}
	e.hasSlot = true
	e.conn.slots.Add(1)
	return nil
}

func tooManyRequests() *problem {
	return &problem{
		Status:  http.StatusServiceUnavailable,
		Message: "too many concurrent requests; try again",
	}
}

// takeMemory reserves memory.
func (e *exchange) takeMemory(n int64) error {
	if !e.server.memory.reserveBytes(n) {
		return errNoMemory
	}
	e.held += n
	return nil
}

// keepMemory releases all memory except n bytes.
func (e *exchange) keepMemory(n int64) {
	if e.held > n {
		e.server.memory.releaseBytes(e.held - n)
		e.held = n
	}
}

// errNoMemory is returned if a request exceeds the free memory budget.
var errNoMemory = errors.New("the concurrent requests are too large")

// leastProgress is the number of bytes of an incomplete record that a client must send within Limits.Idle.
const leastProgress = 1 << 14

// extendRead gives the client Limits.Idle for the next record, or for leastProgress bytes of it.
func (e *exchange) extendRead() {
	e.window = 0
	now := time.Now()
	// A writer without deadlines, as in tests, has no deadline to extend. HTTP/2 resets a stream at its write
	// deadline even if there is no data to write, so that deadline must not come before the answer to a withheld
	// body.
	_ = e.clock.SetReadDeadline(now.Add(e.server.limits.Idle))
	_ = e.clock.SetWriteDeadline(now.Add(2 * e.server.limits.Idle))
}

// Read reads from the body and gives up the turn while it waits.
func (e *exchange) Read(p []byte) (int, error) {
	e.leaveTurn()
	n, err := e.r.Body.Read(p)
	e.takeTurn()
	e.window += n
	if e.window >= leastProgress {
		e.extendRead()
	}
	if err != nil && err != io.EOF {
		e.readErr = err
	}
	return n, err
}

// Write sends a part of the answer and gives up the turn while the client receives it.
func (e *exchange) Write(p []byte) (int, error) {
	return e.sendWithin(func() (int, error) {
		return e.w.Write(p)
	})
}

// flush sends the answer written so far.
func (e *exchange) flush() error {
	if err := e.out.Flush(); err != nil {
		return err
	}
	_, err := e.sendWithin(func() (int, error) {
		return 0, e.clock.Flush()
	})
	if errors.Is(err, http.ErrNotSupported) { // a writer of tests
		return nil
	}
	return err
}

// extendWrite gives the client Limits.Idle to receive the next write.
func (e *exchange) extendWrite() {
	_ = e.clock.SetWriteDeadline(time.Now().Add(e.server.limits.Idle)) // as in extendRead
}

func (e *exchange) sendWithin(write func() (int, error)) (int, error) {
	e.extendWrite()
	e.leaveTurn()
	defer e.takeTurn()
	return write()
}

var freeWriters = sync.Pool{New: func() any {
	return bufio.NewWriterSize(nil, bufferSize)
}}

// startBody starts the answer.
func (e *exchange) startBody(contentType string) {
	e.begun = true
	e.w.Header().Set("Content-Type", contentType)
	e.out = freeWriters.Get().(*bufio.Writer)
	e.out.Reset(e)
}

// extendDeadline counts answered records and gives the client time for the next one.
func (e *exchange) extendDeadline(records int) {
	if e.answered == 0 {
		e.conn.streams.Add(1)
	}
	e.answered += records
	e.pending = 0
	e.server.counts.predictions.Add(int64(records))
	if seen, ok := e.w.(*watchedWriter); ok {
		seen.records += records
	}
	e.extendRead()
}

// fail ends an exchange with a problem. A partial answer is aborted, so that no client mistakes it for a complete
// one; in JSON Lines, its last line is the problem.
func (e *exchange) fail(p *problem) {
	e.extendWrite()
	if !e.begun {
		writeProblem(e.w, e.r, p)
		return
	}
	if e.w.Header().Get("Content-Type") == typeLines {
		_ = json.NewEncoder(e.out).Encode(map[string]*problem{"error": p}) // flush returns the error
	}
	_ = e.flush() // the answer is aborted anyway
	e.leaveTurn()
	if body, ok := e.r.Body.(*watchedBody); ok {
		e.server.discardBody(e.w, e.r, body)
	}
	panic(http.ErrAbortHandler)
}

// problemOf returns the problem for an error while a body is read. record is the number of the record, or 0 if
// unknown.
func (e *exchange) problemOf(err error, record int) *problem {
	var file *dataset.FileError
	switch {
	case errors.Is(err, errNoMemory), errors.Is(e.readErr, errNoMemory):
		return &problem{
			Status:  http.StatusServiceUnavailable,
			Message: "the server has reached its limit for request bodies in memory; try again",
		}
	case errors.Is(e.readErr, os.ErrDeadlineExceeded):
		return &problem{
			Status: http.StatusRequestTimeout,
			Record: record,
			Message: fmt.Sprintf(
				"no record arrived within %v; send a complete record, or at least %d bytes of it, in that time",
				e.server.limits.Idle, leastProgress),
		}
	case e.readErr != nil || !errors.As(err, &file):
		return &problem{
			Status:  http.StatusBadRequest,
			Message: "the body ended early",
			Record:  record,
		}
	}
	return problemOfFile(file, record)
}

// problemOfFile returns the problem for a body that cannot be read.
func problemOfFile(file *dataset.FileError, record int) *problem {
	p := &problem{
		Status: http.StatusBadRequest,
		Line:   file.Line,
		Column: file.Column,
		Record: record,
	}
	if errors.Is(file, dataset.ErrLongLine) {
		p.Status = http.StatusRequestEntityTooLarge
	}
	p.Message = withPosition(file.Line, file.Column, file.Msg)
	if file.Line == 0 {
		p.Message = "the body " + file.Msg
	}
	if file.Hint != "" {
		p.Message += "; " + file.Hint
	}
	return p
}

// withPosition prefixes message with its position in the body; zeros are left out.
func withPosition(line, column int, message string) string {
	switch {
	case line > 0 && column > 0:
		return fmt.Sprintf("line %d, column %d: %s", line, column, message)
	case line > 0:
		return fmt.Sprintf("line %d: %s", line, message)
	}
	return message
}
