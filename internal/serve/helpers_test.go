package serve

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// Model files used by the tests.
const (
	numbers = "../../regression/testdata/model-2.json"
	chances = "../../regression/testdata/model-2-probability.json"
	three   = "../export/testdata/three.json"
	kernel  = "../../regression/testdata/model-2-kernel.json"
)

func readModel(t testing.TB, path string) regression.Model {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m, err := regression.DecodeModel(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newServer(
	t testing.TB,
	m regression.Model,
	opts dataset.ReadOptions,
	l Limits,
) *Server {
	t.Helper()
	s, err := New(
		Release{
			Model:   m,
			Schema:  pipeline.SchemaOf(m),
			Reading: opts,
		},
		l,
		Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// startHandler returns a server for a model, and the address of its handler behind a listener without limits.
func startHandler(t testing.TB, path string, l Limits) (*Server, string) {
	t.Helper()
	return serveHandler(t, newServer(t, readModel(t, path), dataset.ReadOptions{}, l))
}

func serveHandler(t testing.TB, s *Server) (*Server, string) {
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return s, web.URL
}

// mustTable reads CSV with the inputs of a model.
func mustTable(t testing.TB, m regression.Model, text string) *dataset.Table {
	t.Helper()
	table, _, err := dataset.ReadFrom(
		context.Background(),
		strings.NewReader(text),
		"x.csv",
		pipeline.SchemaOf(m),
		dataset.ReadOptions{},
	)
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// startServer starts a server with all its limits and stops it at the end of the test. The test fails if stopping takes
// longer than the time for requests in progress, or leaves goroutines behind.
func startServer(
	t *testing.T,
	m regression.Model,
	opts dataset.ReadOptions,
	l Limits,
) (*Server, string) {
	t.Helper()
	before := runtime.NumGoroutine()
	s := newServer(t, m, opts, l)
	at, err := (&net.ListenConfig{}).Listen(
		t.Context(), "tcp",
		"127.0.0.1:0",
	)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- s.Serve(ctx, at, "", "")
	}()
	t.Cleanup(func() {
		http.DefaultClient.CloseIdleConnections()
		stop()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(s.limits.Drain + 20*time.Second):
			t.Error("the server does not end")
		}
		waitFor(t, "goroutines to end", func() bool {
			return runtime.NumGoroutine() <= before+2
		})
		free := s.memory.free.Load()
		if free != s.limits.Buffered ||
			len(s.slots) != 0 ||
			len(s.turns) != 0 ||
			len(s.long) != 0 ||
			s.gate.countConns() != 0 {
			t.Errorf(
				"left behind: %d bytes, %d requests, %d turns, %d connections",
				s.limits.Buffered-free,
				len(s.slots),
				len(s.turns),
				s.gate.countConns(),
			)
		}
	})
	return s, at.Addr().String()
}

// waitFor waits until holds returns true, for at most ten seconds.
func waitFor(t testing.TB, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Errorf("waited in vain for %s", what)
			return
		}
	}
}

func postBody(t testing.TB, url, kind string, body io.Reader) (status int, text string) {
	t.Helper()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", kind)
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(data)
}

// xModel returns a model with one numeric input x and the prediction 1 + 2x.
func xModel() regression.Model {
	return &regression.Linear{
		Target:    "y",
		Lower:     -1e9,
		Upper:     1e9,
		Intercept: 1,
		Columns: []regression.Column{{
			Name:    "x",
			Lower:   -1e6,
			Upper:   1e6,
			Missing: 5,
		}},
		Terms: []regression.Term{{Column: 0, Coefficient: 2}},
	}
}

// commandPredictions returns the output of the command predict for a table and a model, one line per record.
func commandPredictions(
	t testing.TB,
	m regression.Model,
	name string,
	table []byte,
	opts dataset.ReadOptions,
) []string {
	t.Helper()
	type lines struct{ text []string }
	var out []string
	err := dataset.StreamFrom(
		context.Background(),
		bytes.NewReader(table),
		name,
		pipeline.SchemaOf(m),
		opts,
		dataset.Consumer[lines]{
			Begin: func(dataset.Head) error {
				return nil
			},
			Work: func(b *dataset.Batch) (lines, error) {
				values, err := m.Predict(nil, pipeline.RowsOf(b.Table.View()))
				var l lines
				for _, y := range values {
					classes := m.Output().Classes
					if classes != nil {
						l.text = append(l.text, classes[int(y)])
					} else {
						l.text = append(l.text, fmt.Sprint(math.Float64bits(y)))
					}
				}
				return l, err
			},
			Emit: func(l lines) error {
				out = append(out, l.text...)
				return nil
			},
		},
	)
	if err != nil {
		t.Fatalf("%q: %v", table, err)
	}
	return out
}

func predictionText(p any) string {
	if y, ok := p.(float64); ok {
		return fmt.Sprint(math.Float64bits(y))
	}
	return fmt.Sprint(p)
}

func headerLine(names []string) string {
	return strings.Join(names, ",") + "\n"
}

func inputNames(m regression.Model) []string {
	var out []string
	for _, c := range m.Inputs() {
		out = append(out, c.Name)
	}
	return out
}
