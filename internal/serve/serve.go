// Package serve answers requests for predictions over HTTP. It holds a model, which is public, and no private data.
// It keeps only counts of the requests, and the model can be replaced while requests are answered
// ([Server.Replace]).
//
// Bodies are read with the readers of package dataset, so each record gets the same prediction as from the command
// predict. Every resource that a client can use is bounded: connections (admission.go), requests and the memory of
// their bodies (limits.go), and the time for which a client may keep the server waiting (exchange.go).
package serve

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/parallel"
	"github.com/dptrain/dptrain/regression"
)

// A Release is a model to serve.
type Release struct {
	Model   regression.Model
	Schema  dataset.Schema      // the columns passed to the model
	Reading dataset.ReadOptions // the format of CSV
	Hash    string              // SHA-256 of the model file in hexadecimal digits; "" if unknown
	Program string              // version of the program; "" if unknown
	// Histograms are those of the release, of any columns. Inputs that have one are compared with it if cells are
	// counted.
	Histograms []Histogram
}

// Options of a server in addition to its limits.
type Options struct {
	AccessLog io.Writer // receives one JSON object for each answer; may be nil
	Inputs    bool      // count cells by column and state; these counts depend on the data of clients
}

// A Server answers requests for one model at a time.
type Server struct {
	model  atomic.Pointer[servedModel]
	access *accessLog // may be nil
	inputs bool       // whether cells are counted
	ending atomic.Bool
	limits Limits
	slots  chan struct{} // one for each request in progress
	turns  chan struct{} // one for each request that is computing
	long   chan struct{} // one for each computing request with a long record
	memory memory
	gate   *gate
	counts *counts
	cut    atomic.Int64 // requests aborted at the end of the server
}

// New returns a server for a model. It returns an error for an inconsistent model, and those of
// [dataset.NewStreamFormat].
func New(r Release, l Limits, o Options) (*Server, error) {
	l = l.withDefaults()
	s := &Server{
		limits: l,
		inputs: o.Inputs,
		gate:   newGate(l),
		counts: newCounts(),
		slots:  make(chan struct{}, l.Requests),
		turns:  make(chan struct{}, parallelTurns()),
		long:   make(chan struct{}, longTurns()),
	}
	if o.AccessLog != nil {
		s.access = &accessLog{out: o.AccessLog}
	}
	if err := s.Replace(r); err != nil {
		return nil, err
	}
	s.memory.free.Store(l.Buffered)
	return s, nil
}

// Replace makes the server answer with another model. Requests in progress finish with their old model. If Replace
// returns an error, one of the errors of [New], the server keeps its model.
func (s *Server) Replace(r Release) error {
	model, err := newServedModel(r, s.limits)
	if err != nil {
		return err
	}
	if s.inputs {
		model.inputs = newInputCounts(r.Model)
		model.values = newValueCounts(r.Model, r.Histograms)
	}
	s.model.Store(model)
	return nil
}

// Handler returns the handler of all routes.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.handleHealth)
	mux.HandleFunc("GET /ready", s.handleReady)
	mux.HandleFunc("GET /model", s.handleDescribe)
	mux.HandleFunc("GET /openapi.json", s.openAPI)
	mux.HandleFunc("GET /metrics", s.handleMetrics)
	mux.HandleFunc("POST /predict", s.handlePredict)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed, ok := methods[r.URL.Path]; ok {
			w.Header().Set("Allow", allowed)
			writeProblem(
				w,
				r,
				&problem{
					Status:  http.StatusMethodNotAllowed,
					Message: r.URL.Path + " takes " + allowed,
				},
			)
			return
		}
		writeProblem(
			w,
			r,
			&problem{
				Status:  http.StatusNotFound,
				Message: "unknown path; see /openapi.json for all paths",
			},
		)
	})
	return s.recoverPanics(mux)
}

// methods lists the method of each path.
var methods = map[string]string{
	"/health":       "GET",
	"/ready":        "GET",
	"/model":        "GET",
	"/openapi.json": "GET",
	"/metrics":      "GET",
	"/predict":      "POST",
}

// recoverPanics counts requests, answers those that panic, and disposes of unread bodies.
func (s *Server) recoverPanics(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		seen := &watchedWriter{ResponseWriter: w}
		body := &watchedBody{ReadCloser: r.Body}
		watched := new(http.Request)
		*watched = *r
		watched.Body = body
		aborted := true
		defer func() {
			s.counts.addRequest(r.URL.Path, seen.status, aborted, time.Since(start))
			s.logAnswer(r.Method, r.URL.Path, seen, aborted, start)
			if aborted {
				dropBody(w, r)
			}
		}()
		seen.Header().Set("X-Content-Type-Options", "nosniff")
		if r.URL.Path != "/predict" {
			closeAfter(seen, r)
		}
		if caught := parallel.Catch(func() {
			next.ServeHTTP(seen, watched)
		}); caught != nil {
			if abort, ok := caught.Value.(error); ok && errors.Is(abort, http.ErrAbortHandler) ||
				seen.status != 0 {
				panic(http.ErrAbortHandler)
			}
			writeProblem(
				seen,
				r,
				&problem{
					Status:  http.StatusInternalServerError,
					Message: "internal error: a bug in dptrain",
				},
			)
		}
		aborted = false
		if !body.ended && r.ContentLength != 0 {
			s.discardBody(w, r, body)
		}
	})
}

// closeAfter makes the answer the last one of its connection if the request has a body. It has no effect for HTTP/2,
// where a body is a stream of its own.
func closeAfter(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 && r.ContentLength != 0 {
		w.Header().Set("Connection", "close")
	}
}

// discardBody reads the rest of a body whose answer is complete, for a limited time: a client that sends its whole
// body before it reads the answer would otherwise see a broken connection. It does not wait for a client that
// expects "100 Continue".
func (s *Server) discardBody(
	w http.ResponseWriter,
	r *http.Request,
	body *watchedBody,
) {
	if r.ProtoMajor != 1 {
		return
	}
	defer dropBody(w, r)
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Now().Add(s.limits.Idle)) // fails for a writer without deadlines
	if control.Flush() != nil || !body.begun && r.Header.Get("Expect") != "" {
		return
	}
	const (
		patience = 200 * time.Millisecond
		longest  = 3 * time.Second
	)
	buf := make([]byte, 1<<15)
	end := time.Now().Add(longest)
	for left := 2 * s.limits.Body; left > 0 && time.Now().Before(end); {
		if control.SetReadDeadline(time.Now().Add(patience)) != nil {
			return
		}
		n, err := body.Read(buf)
		if err != nil {
			return
		}
		left -= int64(n)
	}
}

// dropBody makes the HTTP server drop the rest of a body at once instead of waiting for it.
func dropBody(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 {
		_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0)) // a writer without deadlines has none to wait for
	}
}

// Serve answers until ctx ends. It then accepts no more requests, waits up to Limits.Drain for those in progress,
// and aborts the others, which [Server.Cut] counts. If the files of a certificate and its key are given, it serves
// HTTPS. The error is that of a failing listener.
func (s *Server) Serve(
	ctx context.Context,
	at net.Listener,
	certificate, key string,
) error {
	s.gate.wrapListener(at, certificate == "")
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(certificate != "")
	protocols.SetUnencryptedHTTP2(certificate == "")
	server := &http.Server{
		Handler: s.Handler(), Protocols: &protocols, ErrorLog: discardLog, // its messages may quote clients
		ReadHeaderTimeout: s.limits.Header, ReadTimeout: s.limits.Idle,
		WriteTimeout: 2 * s.limits.Idle, IdleTimeout: s.limits.KeepAlive,
		MaxHeaderBytes: 1 << 14,
		HTTP2: &http.HTTP2Config{
			MaxConcurrentStreams:          64,
			MaxReceiveBufferPerConnection: 1 << 16,
			MaxReceiveBufferPerStream:     1 << 16,
			MaxReadFrameSize:              1 << 14,
			MaxDecoderHeaderTableSize:     1 << 12,
			MaxEncoderHeaderTableSize:     1 << 12,
			WriteByteTimeout:              s.limits.Idle,
		},
		BaseContext: func(net.Listener) context.Context {
			return context.WithoutCancel(ctx)
		},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if secure, ok := c.(*tls.Conn); ok {
				c = secure.NetConn()
			}
			return context.WithValue(ctx, connKey{}, c)
		},
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		ended <- s.shutDown(context.WithoutCancel(ctx), server)
	})
	defer stop()
	var err error
	if certificate != "" {
		err = server.ServeTLS(s.gate, certificate, key)
	} else {
		err = server.Serve(s.gate)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return <-ended
	}
	return err
}

// shutDown ends a server. It does not wait for clients that keep the server waiting.
func (s *Server) shutDown(ctx context.Context, server *http.Server) error {
	s.ending.Store(true)
	patience, cancel := context.WithTimeout(ctx, s.limits.Drain)
	defer cancel()
	ticker := time.NewTicker(100 * time.Millisecond)
	defer ticker.Stop()
	ended := make(chan error, 1)
	go func() { ended <- server.Shutdown(patience) }()
	for {
		select {
		case <-ticker.C:
			s.gate.closeStalled()
		case err := <-ended:
			if errors.Is(err, context.DeadlineExceeded) {
				s.cut.Store(int64(len(s.slots)))
				err = server.Close()
			}
			return err
		}
	}
}

// Cut returns how many requests were aborted when the server ended.
func (s *Server) Cut() int {
	return int(s.cut.Load())
}

// A problem is the reason for refusing a request, as sent to the client.
type problem struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Line    int    `json:"line,omitempty"`   // of the body, from 1
	Column  int    `json:"column,omitempty"` // a byte of a line of JSON, or a field of a header of CSV, from 1
	Record  int    `json:"record,omitempty"` // from 1
}

// writeProblem answers with a problem. It closes the connection if the request has a body, which may still be in
// transit.
func writeProblem(w http.ResponseWriter, r *http.Request, p *problem) {
	closeAfter(w, r)
	if p.Status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "1")
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(map[string]*problem{"error": p}) // the client may be gone
}

func (s *Server) handleHealth(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, map[string]string{"status": "ok"})
}

// handleReady answers 200 while the server accepts new requests, and 503 once it is shutting down.
func (s *Server) handleReady(w http.ResponseWriter, r *http.Request) {
	if s.ending.Load() {
		writeProblem(
			w,
			r,
			&problem{
				Status:  http.StatusServiceUnavailable,
				Message: "the server is stopping",
			},
		)
		return
	}
	writeJSON(w, map[string]string{"status": "ready"})
}

func writeJSON(w http.ResponseWriter, x any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(x) // the client may be gone
}

// handlePredict answers a body according to its content type.
func (s *Server) handlePredict(w http.ResponseWriter, r *http.Request) {
	model := s.model.Load()
	width, p := model.halfWidth(r.URL.Query().Get("interval"))
	kind, parameters, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	charset := parameters["charset"]
	isJSON := kind == "application/json" || kind == "application/x-ndjson" ||
		kind == "application/jsonl"
	switch {
	case p != nil:
	case !isJSON && kind != "text/csv":
		p = &problem{
			Status:  http.StatusUnsupportedMediaType,
			Message: "the Content-Type must be application/json, application/x-ndjson or text/csv",
		}
	case isJSON && charset != "" && !strings.EqualFold(charset, "utf-8"):
		p = &problem{
			Status:  http.StatusUnsupportedMediaType,
			Message: "JSON must be UTF-8",
		}
	case isEncoded(r):
		w.Header().Set("Accept-Encoding", "identity")
		p = &problem{
			Status:  http.StatusUnsupportedMediaType,
			Message: "the Content-Encoding is not supported; send the body uncompressed",
		}
	}
	if p != nil {
		writeProblem(w, r, p)
		return
	}
	e := s.beginExchange(w, r, model, width)
	defer e.end()
	switch kind {
	case "application/json":
		p = e.answerJSON()
	case "text/csv":
		p = e.answerCSV(charset)
	default:
		p = e.answerLines()
	}
	if p != nil {
		e.fail(p)
	}
}

// isEncoded reports whether a body is compressed.
func isEncoded(r *http.Request) bool {
	return slices.ContainsFunc(r.Header.Values("Content-Encoding"), func(coding string) bool {
		return coding != "" && !strings.EqualFold(coding, "identity")
	})
}
