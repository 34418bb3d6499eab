package serve

import (
	"fmt"
	"io"
	"log"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// discardLog discards the messages of the HTTP server.
var discardLog = log.New(io.Discard, "", 0)

// A watchedWriter records the status of an answer and the number of its predictions.
type watchedWriter struct {
	http.ResponseWriter
	status  int
	records int
}

// WriteHeader implements http.ResponseWriter.
func (w *watchedWriter) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

// Write implements http.ResponseWriter.
func (w *watchedWriter) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap supports http.ResponseController.
func (w *watchedWriter) Unwrap() http.ResponseWriter {
	return w.ResponseWriter
}

// A watchedBody records how much of a body has been read.
type watchedBody struct {
	io.ReadCloser
	begun bool
	ended bool
}

// Read implements io.Reader.
func (b *watchedBody) Read(p []byte) (int, error) {
	b.begun = true
	n, err := b.ReadCloser.Read(p)
	b.ended = b.ended || err == io.EOF
	return n, err
}

// counts are the values of /metrics, except those of inputs. They do not depend on cells or predictions.
type counts struct {
	predictions atomic.Int64
	broken      atomic.Int64 // aborted answers

	mu       sync.Mutex
	requests map[routeStatus]int64
	buckets  []int64 // by duration in seconds, cumulative
	seconds  float64
	total    int64
}

type routeStatus struct {
	path   string
	status int
}

// bucketBounds are the upper bounds in seconds of the buckets for /predict.
var bucketBounds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func newCounts() *counts {
	return &counts{
		requests: map[routeStatus]int64{},
		buckets:  make([]int64, len(bucketBounds)),
	}
}

// pathOther counts all paths that are not served and all methods that no path accepts.
const pathOther = "other"

// addRequest counts an answer. All paths that are not served share one counter, so that clients cannot exhaust
// memory.
func (c *counts) addRequest(
	path string,
	status int,
	broken bool,
	took time.Duration,
) {
	if broken {
		c.broken.Add(1)
	}
	if _, ok := methods[path]; !ok {
		path = pathOther
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[routeStatus{path, status}]++
	if path != "/predict" {
		return
	}
	c.total++
	c.seconds += took.Seconds()
	for i, end := range bucketBounds {
		if took.Seconds() <= end {
			c.buckets[i]++
		}
	}
}

// handleMetrics answers with the counts in the Prometheus text format.
func (s *Server) handleMetrics(w http.ResponseWriter, _ *http.Request) {
	c := s.counts
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	fmt.Fprintf(w,
		"# HELP dptrain_connections Connections that are open.\n# TYPE dptrain_connections gauge\ndptrain_connections %d\n",
		s.gate.countConns())
	fmt.Fprintf(w,
		"# HELP dptrain_buffered_bytes Memory reserved for requests.\n# TYPE dptrain_buffered_bytes gauge\ndptrain_buffered_bytes %d\n",
		s.limits.Buffered-s.memory.free.Load())
	fmt.Fprintf(w,
		"# HELP dptrain_broken_total Responses that were aborted.\n# TYPE dptrain_broken_total counter\ndptrain_broken_total %d\n",
		c.broken.Load())
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(w,
		"# HELP dptrain_predictions_total Records that were predicted.\n# TYPE dptrain_predictions_total counter\ndptrain_predictions_total %d\n",
		c.predictions.Load())
	fmt.Fprint(w,
		"# HELP dptrain_requests_total Requests by path and status.\n# TYPE dptrain_requests_total counter\n")
	var all []routeStatus
	for a := range c.requests {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b routeStatus) int {
		return slices.Compare([]string{a.path, fmt.Sprint(a.status)},
			[]string{b.path, fmt.Sprint(b.status)})
	})
	for _, a := range all {
		fmt.Fprintf(w, "dptrain_requests_total{path=%q,status=\"%d\"} %d\n", a.path, a.status,
			c.requests[a])
	}
	fmt.Fprint(w,
		"# HELP dptrain_predict_seconds Time per request to /predict.\n# TYPE dptrain_predict_seconds histogram\n")
	for i, end := range bucketBounds {
		fmt.Fprintf(
			w,
			"dptrain_predict_seconds_bucket{le=\"%v\"} %d\n",
			end,
			c.buckets[i],
		)
	}
	fmt.Fprintf(w,
		"dptrain_predict_seconds_bucket{le=\"+Inf\"} %d\ndptrain_predict_seconds_sum %v\ndptrain_predict_seconds_count %d\n",
		c.total, c.seconds, c.total)
	model := s.model.Load()
	if model.inputs != nil {
		writeInputs(w, model.inputs)
		writeValues(w, model.values)
	}
}
