package serve

import (
	"encoding/json"
	"io"
	"sync"
	"time"
)

// An accessLog writes one JSON object for each answer. It holds no query, header, address, cell or prediction.
type accessLog struct {
	mu  sync.Mutex
	out io.Writer
}

// An accessLine is one answer in the access log.
type accessLine struct {
	Time    string  `json:"time"`             // RFC 3339, in UTC, of the request
	Method  string  `json:"method"`           // "other" for a method that no path accepts
	Path    string  `json:"path"`             // "other" for a path that is not served
	Status  int     `json:"status"`           // 0 if the client left before an answer
	Records int     `json:"records"`          // number of records predicted
	Seconds float64 `json:"seconds"`          // until the end of the answer
	Broken  bool    `json:"broken,omitempty"` // the answer was broken off
}

// writeLine appends a line. Write errors do not stop the server.
func (l *accessLog) writeLine(line accessLine) {
	text, err := json.Marshal(line)
	if err != nil {
		panic(err) // all fields have a JSON form
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = l.out.Write(append(text, '\n'))
}

// logAnswer writes the line of an answer if the server has an access log.
func (s *Server) logAnswer(
	method, path string,
	seen *watchedWriter,
	aborted bool,
	start time.Time,
) {
	if s.access == nil {
		return
	}
	if _, ok := methods[path]; !ok {
		path = pathOther
	}
	if method != "GET" && method != "POST" {
		method = pathOther
	}
	s.access.writeLine(accessLine{
		Time:    start.UTC().Format(time.RFC3339Nano),
		Method:  method,
		Path:    path,
		Status:  seen.status,
		Records: seen.records,
		Seconds: time.Since(start).Seconds(),
		Broken:  aborted,
	})
}
