package serve

import (
	"errors"
	"io"
	"net/http"
	"sort"
	"strconv"

	"github.com/dptrain/dptrain/dataset"
)

// Content types of answers.
const (
	typeLines = "application/x-ndjson"
	typeCSV   = "text/csv; charset=utf-8"
	typeJSON  = "application/json"
)

// A streamBody is a body that is not kept in memory. It reserves memory only for a line longer than the buffers.
type streamBody struct{ *exchange }

// Read implements io.Reader.
func (b streamBody) Read(p []byte) (int, error) {
	n, err := b.exchange.Read(p)
	b.pending += int64(n)
	if b.pending > longRecord && !b.isLong {
		b.nextTurn(b.pending)
	}
	if more := b.model.memory + b.pending - b.held; b.pending > bufferSize && more > 0 {
		if err := b.takeMemory(more); err != nil {
			b.readErr = err
			return 0, err
		}
	}
	return n, err
}

// answerLines answers JSON Lines while reading them, one prediction per line.
func (e *exchange) answerLines() *problem {
	if err := e.takeMemory(e.model.memory); err != nil {
		return e.problemOf(err, 0)
	}
	records, err := e.model.lines.Open(streamBody{e}, bufferSize)
	if err != nil {
		return e.problemOf(err, 0)
	}
	batch, err := records.Next()
	if err != nil && err != io.EOF {
		return e.problemOf(err, 1)
	}
	if p := e.takeSlot(); p != nil {
		return p
	}
	e.startBody(typeLines)
	return e.finish(e.answerStream(records, batch, err, e.model.appendLine))
}

// answerCSV answers CSV while reading it, with a header line and one line per record.
func (e *exchange) answerCSV(charset string) *problem {
	if err := e.takeMemory(e.model.memory); err != nil {
		return e.problemOf(err, 0)
	}
	format, p := e.model.csvFormat(charset)
	if p != nil {
		return p
	}
	records, err := format.Open(streamBody{e}, bufferSize)
	if err != nil {
		return e.problemOf(err, 0)
	}
	if p := e.takeSlot(); p != nil {
		return p
	}
	e.startBody(typeCSV)
	_, _ = e.out.WriteString(e.model.csvHeader(e.width)) // flush returns the error
	if !records.Buffered() {
		if err := e.flush(); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	batch, err := records.Next()
	return e.finish(e.answerStream(records, batch, err, e.model.appendCSV))
}

// finish sends the rest of an answer and returns p. It sends no data if p is not nil, because the answer cannot be
// completed.
func (e *exchange) finish(p *problem) *problem {
	if p == nil && e.out.Flush() != nil {
		panic(http.ErrAbortHandler)
	}
	return p
}

// An appender appends the answer to record k of a batch.
type appender func(dst []byte, a answers, k int, width float64) []byte

// answerStream answers a request batch by batch. batch and err are the results of the first call of records.Next.
func (e *exchange) answerStream(
	records *dataset.RecordReader,
	batch *dataset.Batch,
	err error,
	line appender,
) *problem {
	var text []byte
	for ; err == nil; batch, err = records.Next() {
		a := e.model.predictBatch(batch)
		for k := range a.n {
			text = line(text[:0], a, k, e.width)
			if _, err := e.out.Write(text); err != nil {
				panic(http.ErrAbortHandler) // the client is gone, or takes nothing
			}
		}
		e.extendDeadline(a.n)
		e.keepMemory(e.model.memory)
		if e.whole || records.Buffered() {
			continue
		}
		if err := e.flush(); err != nil {
			panic(http.ErrAbortHandler)
		}
	}
	if !errors.Is(err, io.EOF) {
		return e.problemOf(err, e.answered+1)
	}
	return nil
}

// answerJSON answers {"records": [...]}. The whole body is checked before the first answer.
func (e *exchange) answerJSON() *problem {
	body := &spool{}
	defer body.release()
	if p := e.receiveBody(body); p != nil {
		return p
	}
	if p := e.checkBody(body); p != nil {
		return p
	}
	if err := e.takeMemory(e.model.memory); err != nil {
		return e.problemOf(err, 0)
	}
	if p := e.takeSlot(); p != nil {
		return p
	}
	records, err := e.model.lines.Open(
		&recordLines{envelope: newEnvelope(body, e.server.limits.Line)},
		int(min(bufferSize, body.size)))
	var batch *dataset.Batch
	if err == nil {
		batch, err = records.Next()
	}
	var refused *dataset.FileError
	if errors.As(err, &refused) {
		without := *refused
		without.Line, without.Column = 0, 0 // they refer to a line that the client did not write
		return problemOfFile(&without, 1)
	}
	e.startBody(typeJSON)
	e.whole = true
	_, _ = e.out.WriteString(`{"predictions":[`) // flush returns the error
	first := true
	p := e.answerStream(records, batch, err,
		func(dst []byte, a answers, k int, width float64) []byte {
			if !first {
				dst = append(dst, ',')
			}
			first = false
			return e.model.appendObject(dst, a, k, width)
		})
	if p == nil {
		_, _ = e.out.WriteString("]}\n") // likewise
	}
	return e.finish(p)
}

// receiveBody reads a body into memory.
func (e *exchange) receiveBody(body *spool) *problem {
	most := e.server.limits.Body
	tooLarge := &problem{Status: http.StatusRequestEntityTooLarge,
		Message: "the body is longer than " + bytesText(most) +
			"; send text/csv or application/x-ndjson, which can have any length"}
	if e.r.ContentLength > most {
		return tooLarge
	}
	for {
		room, err := body.readBuffer(e)
		if err != nil {
			return e.problemOf(err, 0)
		}
		n, err := e.Read(room)
		body.addBytes(n)
		switch {
		case body.size > most:
			return tooLarge
		case err == io.EOF:
			return nil
		case err != nil:
			return e.problemOf(err, 0)
		}
	}
}

// checkBody checks a body from start to end.
func (e *exchange) checkBody(body *spool) *problem {
	records := newEnvelope(body, e.server.limits.Line)
	pause := int64(fairShare)
	for n := 1; ; n++ {
		text, p := records.nextRecord()
		if p != nil {
			return p
		}
		if text == nil {
			return nil
		}
		if size := int64(len(text)); size > longRecord && !e.isLong {
			e.nextTurn(size)
		}
		if err := dataset.CheckObject(text); err != nil {
			err.Line, err.Column = body.lineAndColumn(records.start + int64(err.Column) - 1)
			return problemOfFile(err, n)
		}
		if at := records.bytesConsumed(); at >= pause {
			pause = at + fairShare
			e.nextTurn(int64(len(text)))
		}
	}
}

// bytesText formats a number of bytes for messages.
func bytesText(n int64) string {
	units := []string{"bytes", "KiB", "MiB", "GiB"}
	u := sort.Search(len(units)-1, func(u int) bool {
		return n%(1024<<(10*u)) != 0
	})
	return strconv.FormatInt(n>>(10*u), 10) + " " + units[u]
}
