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

// discard takes what the HTTP server would log.
var discard = log.New(io.Discard, "", 0)

// watched remembers the status of an answer.
type watched struct {
	http.ResponseWriter
	status int
}

func (w *watched) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *watched) Write(b []byte) (int, error) {
	if w.status == 0 {
		w.status = http.StatusOK
	}
	return w.ResponseWriter.Write(b)
}

// Unwrap is for http.ResponseController.
func (w *watched) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// counts are what /metrics tells: nothing about cells or predictions.
type counts struct {
	predictions atomic.Int64

	mu       sync.Mutex
	requests map[answered]int64
	buckets  []int64 // by seconds, cumulative
	seconds  float64
	total    int64
}

type answered struct {
	path   string
	status int
}

// seconds are the upper ends of the buckets of /predict.
var seconds = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10}

func newCounts() *counts {
	return &counts{requests: map[answered]int64{}, buckets: make([]int64, len(seconds))}
}

// request counts an answer. Paths that are not served are one, so that clients cannot fill memory.
func (c *counts) request(path string, status int, took time.Duration) {
	if _, ok := methods[path]; !ok {
		path = "other"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests[answered{path, status}]++
	if path != "/predict" {
		return
	}
	c.total++
	c.seconds += took.Seconds()
	for i, end := range seconds {
		if took.Seconds() <= end {
			c.buckets[i]++
		}
	}
}

// write answers in the text format of Prometheus.
func (c *counts) write(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	c.mu.Lock()
	defer c.mu.Unlock()
	fmt.Fprintf(w, "# HELP dptrain_predictions_total Records that were predicted.\n# TYPE dptrain_predictions_total counter\ndptrain_predictions_total %d\n", c.predictions.Load())
	fmt.Fprint(w, "# HELP dptrain_requests_total Requests by path and status.\n# TYPE dptrain_requests_total counter\n")
	var all []answered
	for a := range c.requests {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b answered) int {
		return slices.Compare([]string{a.path, fmt.Sprint(a.status)}, []string{b.path, fmt.Sprint(b.status)})
	})
	for _, a := range all {
		fmt.Fprintf(w, "dptrain_requests_total{path=%q,status=\"%d\"} %d\n", a.path, a.status, c.requests[a])
	}
	fmt.Fprint(w, "# HELP dptrain_predict_seconds Time per request to /predict.\n# TYPE dptrain_predict_seconds histogram\n")
	for i, end := range seconds {
		fmt.Fprintf(w, "dptrain_predict_seconds_bucket{le=\"%v\"} %d\n", end, c.buckets[i])
	}
	fmt.Fprintf(w, "dptrain_predict_seconds_bucket{le=\"+Inf\"} %d\ndptrain_predict_seconds_sum %v\ndptrain_predict_seconds_count %d\n", c.total, c.seconds, c.total)
}
