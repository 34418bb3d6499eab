// Package serve answers requests for predictions over HTTP. It holds a model, which is public, and no private data;
// of what is asked it keeps nothing but counts.
package serve

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"mime"
	"net"
	"net/http"
	"strconv"
	"time"

	"github.com/dptrain/dptrain/regression"
)

// Limits of what a server takes. Zero fields stand for the defaults.
type Limits struct {
	Body    int64         // bytes of a JSON body; default 8 MiB
	Line    int           // bytes of a line of CSV or of JSON lines; default 1 MiB
	Clients int           // requests at once; default 256
	Idle    time.Duration // for the next bytes of a body, or of an answer to be taken; default 30 s
	Drain   time.Duration // for requests under way when the server stops; default 10 s
}

func (l Limits) filled() Limits {
	if l.Body == 0 {
		l.Body = 8 << 20
	}
	if l.Line == 0 {
		l.Line = 1 << 20
	}
	if l.Clients == 0 {
		l.Clients = 256
	}
	if l.Idle == 0 {
		l.Idle = 30 * time.Second
	}
	if l.Drain == 0 {
		l.Drain = 10 * time.Second
	}
	return l
}

// A Server answers for one model.
type Server struct {
	model     regression.Model
	predictor *regression.Predictor
	output    regression.Output
	inputs    []string
	limits    Limits
	slots     chan struct{} // one per request under way
	counts    *counts
}

// New returns a server. Its errors are those of [regression.Compile].
func New(m regression.Model, l Limits) (*Server, error) {
	p, err := regression.Compile(m)
	if err != nil {
		return nil, err
	}
	l = l.filled()
	s := &Server{model: m, predictor: p, output: m.Output(), limits: l, slots: make(chan struct{}, l.Clients), counts: newCounts()}
	for _, c := range m.Inputs() {
		s.inputs = append(s.inputs, c.Name)
	}
	return s, nil
}

// Handler returns the routes, each with its limits and counts.
func (s *Server) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /health", s.health)
	mux.HandleFunc("GET /model", s.describe)
	mux.HandleFunc("GET /openapi.json", s.openAPI)
	mux.HandleFunc("GET /metrics", s.counts.write)
	mux.HandleFunc("POST /predict", s.predict)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if allowed, ok := methods[r.URL.Path]; ok {
			w.Header().Set("Allow", allowed)
			refuse(w, &problem{Status: http.StatusMethodNotAllowed, Message: r.URL.Path + " takes " + allowed})
			return
		}
		refuse(w, &problem{Status: http.StatusNotFound, Message: "there is no such path; /openapi.json lists those that there are"})
	})
	return s.limited(mux)
}

// methods is what paths take.
var methods = map[string]string{"/health": "GET", "/model": "GET", "/openapi.json": "GET", "/metrics": "GET", "/predict": "POST"}

// limited counts requests, and refuses those that are too many at once. Health and metrics are always answered.
func (s *Server) limited(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start, seen := time.Now(), &watched{ResponseWriter: w}
		defer func() { s.counts.request(r.URL.Path, seen.status, time.Since(start)) }()
		seen.Header().Set("X-Content-Type-Options", "nosniff")
		if r.URL.Path == "/predict" {
			select {
			case s.slots <- struct{}{}:
				defer func() { <-s.slots }()
			default:
				seen.Header().Set("Retry-After", "1")
				refuse(seen, &problem{Status: http.StatusServiceUnavailable, Message: "too many requests at once; try again"})
				return
			}
		}
		next.ServeHTTP(seen, r)
	})
}

// Serve answers until ctx ends, then takes no more requests and waits for those under way. Files of a
// certificate and its key, if given, make it HTTPS.
func (s *Server) Serve(ctx context.Context, at net.Listener, certificate, key string) error {
	server := &http.Server{
		Handler: s.Handler(), ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 16,
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:    discard, // it would quote what clients sent
	}
	ended := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() {
		patience, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.limits.Drain)
		defer cancel()
		err := server.Shutdown(patience)
		if err != nil {
			err = errors.Join(fmt.Errorf("requests were still under way after %v", s.limits.Drain), server.Close())
		}
		ended <- err
	})
	defer stop()
	var err error
	if certificate != "" {
		err = server.ServeTLS(at, certificate, key)
	} else {
		err = server.Serve(at)
	}
	if errors.Is(err, http.ErrServerClosed) {
		return <-ended
	}
	return err
}

// A problem is why a request is refused, and its answer.
type problem struct {
	Status  int    `json:"-"`
	Message string `json:"message"`
	Record  int    `json:"record,omitempty"` // from 1; 0: not about a record
}

func refuse(w http.ResponseWriter, p *problem) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(map[string]*problem{"error": p}) // a client that is gone hears nothing
}

func (s *Server) health(w http.ResponseWriter, _ *http.Request) {
	answer(w, map[string]string{"status": "ok"})
}

func answer(w http.ResponseWriter, x any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(x) // a client that is gone hears nothing
}

// predict answers JSON as a whole, CSV and JSON lines while they are read.
func (s *Server) predict(w http.ResponseWriter, r *http.Request) {
	width, p := s.interval(r)
	if p != nil {
		refuse(w, p)
		return
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil {
		kind = ""
	}
	switch kind {
	case "application/json":
		s.predictJSON(w, r, width)
	case "application/x-ndjson", "application/jsonl":
		s.predictLines(w, r, width)
	case "text/csv":
		s.predictCSV(w, r, width)
	default:
		refuse(w, &problem{Status: http.StatusUnsupportedMediaType, Message: "the Content-Type must be application/json, application/x-ndjson or text/csv"})
	}
}

// interval returns the half width of the interval of prediction with the level that the query asks for; 0 for none.
func (s *Server) interval(r *http.Request) (float64, *problem) {
	text := r.URL.Query().Get("interval")
	if text == "" {
		return 0, nil
	}
	level, err := strconv.ParseFloat(text, 64)
	var known []float64
	for _, x := range regression.IntervalsOf(s.model) {
		if err == nil && x.Level == level {
			return x.HalfWidth, nil
		}
		known = append(known, x.Level)
	}
	if known == nil {
		return 0, &problem{Status: http.StatusBadRequest, Message: "the model has no intervals of prediction"}
	}
	return 0, &problem{Status: http.StatusBadRequest, Message: fmt.Sprintf("interval must be one of the levels %v", known)}
}
