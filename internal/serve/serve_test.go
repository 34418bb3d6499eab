package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/carry"
	"github.com/dptrain/dptrain/regression"
)

func model(t testing.TB, path string) regression.Model {
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

const (
	numbers = "../../regression/testdata/model-2.json"
	chances = "../../regression/testdata/model-2-probability.json"
	three   = "../export/testdata/three.json"
)

func server(t testing.TB, path string, l Limits) (*Server, *httptest.Server) {
	t.Helper()
	s, err := New(model(t, path), l)
	if err != nil {
		t.Fatal(err)
	}
	web := httptest.NewServer(s.Handler())
	t.Cleanup(web.Close)
	return s, web
}

func post(t testing.TB, url, kind string, body io.Reader) (status int, text string) {
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

// records returns records as maps, with cells of every sort.
func records(m regression.Model, n int) []map[string]any {
	r := rand.New(rand.NewPCG(3, 3))
	out := make([]map[string]any, n)
	for i := range out {
		out[i] = map[string]any{"ignored": "x"}
		for _, c := range m.Inputs() {
			switch {
			case r.IntN(6) == 0:
				out[i][c.Name] = []any{nil, "", "abc", "1e999", " 7 ", true}[r.IntN(6)]
			case c.Type == regression.Numeric:
				out[i][c.Name] = c.Lower + (c.Upper-c.Lower)*r.Float64()
			case len(c.Categories) > 0:
				out[i][c.Name] = c.Categories[r.IntN(len(c.Categories))]
			default:
				out[i][c.Name] = "?"
			}
		}
	}
	return out
}

// TestPredict: JSON, JSON lines and CSV have the predictions of the model, with probabilities and intervals.
func TestPredict(t *testing.T) {
	for _, path := range []string{numbers, chances, three, "../../regression/testdata/model-2-kernel.json"} {
		s, web := server(t, path, Limits{})
		rows := records(s.model, 700)
		var want []prediction
		for _, row := range rows {
			cells, p := s.cells(nil, row)
			if p != nil {
				t.Fatal(p.Message)
			}
			y := s.predictor.PredictRow(cells)
			w := prediction{Prediction: y}
			if classes := s.output.Classes; classes != nil {
				w.Prediction = classes[int(y)]
				if list, err := s.predictor.ClassProbabilitiesRow(cells); err == nil {
					w.Probabilities = map[string]float64{}
					for i, x := range list {
						w.Probabilities[classes[i]] = x
					}
				}
			}
			want = append(want, w)
		}
		query := ""
		if list := regression.IntervalsOf(s.model); len(list) > 0 {
			query = fmt.Sprintf("?interval=%v", list[0].Level)
			for i := range want {
				lower, upper := want[i].Prediction.(float64)-list[0].HalfWidth, want[i].Prediction.(float64)+list[0].HalfWidth
				want[i].Lower, want[i].Upper = &lower, &upper
			}
		}
		body, err := json.Marshal(map[string]any{"records": rows})
		if err != nil {
			t.Fatal(err)
		}
		status, text := post(t, web.URL+"/predict"+query, "application/json; charset=utf-8", bytes.NewReader(body))
		var got struct{ Predictions []prediction }
		if err := json.Unmarshal([]byte(text), &got); err != nil || status != http.StatusOK {
			t.Fatal(status, err, text)
		}
		same(t, path+" JSON", want, got.Predictions)

		var lines, table bytes.Buffer
		out := csv.NewWriter(&table)
		header := append([]string{"ignored"}, s.inputs...)
		_ = out.Write(header)
		for _, row := range rows {
			line, _ := json.Marshal(row)
			lines.Write(append(line, '\n'))
			var cells []string
			for _, name := range header {
				cells = append(cells, text1(row[name]))
			}
			_ = out.Write(cells)
		}
		out.Flush()
		status, text = post(t, web.URL+"/predict"+query, "application/x-ndjson", &lines)
		var streamed []prediction
		for dec := json.NewDecoder(strings.NewReader(text)); dec.More(); {
			var p prediction
			if err := dec.Decode(&p); err != nil {
				t.Fatal(err)
			}
			streamed = append(streamed, p)
		}
		if same(t, path+" lines", want, streamed); status != http.StatusOK {
			t.Error(status)
		}
		status, text = post(t, web.URL+"/predict"+query, "text/csv", &table)
		rowsOut, err := csv.NewReader(strings.NewReader(text)).ReadAll()
		if err != nil || status != http.StatusOK || len(rowsOut) != len(want)+1 || !slices.Equal(rowsOut[0], s.header(1)[:len(rowsOut[0])]) {
			t.Fatal(status, err, len(rowsOut))
		}
		for i, w := range want {
			if !slices.Equal(rowsOut[i+1], s.row(w)) {
				t.Fatalf("%s: CSV row %d is %v, want %v", path, i, rowsOut[i+1], s.row(w))
			}
		}
	}
}

// text1 is a cell as CSV has it.
func text1(x any) string {
	switch x := x.(type) {
	case nil:
		return ""
	case float64:
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	return fmt.Sprint(x)
}

func same(t *testing.T, name string, want, got []prediction) {
	t.Helper()
	w, _ := json.Marshal(want)
	g, _ := json.Marshal(got)
	if !bytes.Equal(w, g) {
		t.Errorf("%s: %.300s, want %.300s", name, g, w)
	}
}

// TestRefuses: bad requests have a status of 4xx and a reason, and the next good one is answered.
func TestRefuses(t *testing.T) {
	s, web := server(t, numbers, Limits{Body: 2000, Line: 500})
	good := func() string {
		b, _ := json.Marshal(map[string]any{"records": records(s.model, 1)})
		return string(b)
	}()
	header := strings.Join(s.inputs, ",") + "\n"
	for _, c := range []struct {
		kind, body string
		status     int
		reason     string
	}{
		{"application/json", good, 200, "prediction"},
		{"application/json", good + "x", 400, "follows"},
		{"application/json", "{", 400, "JSON"},
		{"application/json", "[]", 400, "JSON"},
		{"application/json", "{}", 400, `{\"records\":`},
		{"application/json", `{"rows":[]}`, 400, "rows"},
		{"application/json", `{"records":[]}`, 200, `"predictions":[]`},
		{"application/json", `{"records":[{}]}`, 400, `"record":1`},
		{"application/json", strings.Replace(good, "}]", "},{\"age\":1}]", 1), 400, `"record":2`},
		{"application/json", `{"records":[` + strings.Repeat(" ", 3000) + "]}", 413, "text/csv"},
		{"text/plain", good, 415, "Content-Type"},
		{"", good, 415, "Content-Type"},
		{"application/x-ndjson", "1\n", 400, "object"},
		{"application/x-ndjson", `{"a":"` + strings.Repeat("x", 600) + `"}`, 413, "500"},
		{"text/csv", "", 400, "header"},
		{"text/csv", "a,b\n", 400, "lacks"},
		{"text/csv", strings.Join(append(s.inputs, s.inputs[0]), ",") + "\n", 400, "twice"},
		{"text/csv", strings.Repeat("x", 1<<20), 413, "500"},
		{"text/csv", header, 200, "prediction"},
		{"text/csv", header + "1\n\n1,2,3,4,5,6,7\n\"a\"b,c\n", 200, "prediction"},
	} {
		status, text := post(t, web.URL+"/predict", c.kind, strings.NewReader(c.body))
		if status != c.status || !strings.Contains(text, c.reason) {
			t.Errorf("%s %.60q: %d %s; want %d and %q", c.kind, c.body, status, text, c.status, c.reason)
		}
	}
	for query, want := range map[string]string{"interval=x": "levels", "interval=2": "levels"} {
		if status, text := post(t, web.URL+"/predict?"+query, "application/json", strings.NewReader(good)); status != 400 || !strings.Contains(text, want) {
			t.Error(status, text)
		}
	}
	for path, want := range map[string]int{"/predict": 405, "/nothing": 404, "/model": 200, "/health": 200, "/metrics": 200, "/openapi.json": 200} {
		r, err := http.Get(web.URL + path)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
		if path == "/openapi.json" || path == "/model" {
			var x map[string]any
			if err := json.Unmarshal(text, &x); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestBrokenStream: a stream that cannot go on is broken off, not ended as if it were whole.
func TestBrokenStream(t *testing.T) {
	s, web := server(t, numbers, Limits{Line: 1 << 14})
	body := strings.Join(s.inputs, ",") + "\n" + strings.Repeat("1,2,3,4\n", 1000) + `"` + strings.Repeat("x", 1<<20)
	r, err := http.Post(web.URL+"/predict", "text/csv", strings.NewReader(body))
	if err != nil {
		return // broken before the header arrived
	}
	defer r.Body.Close()
	if _, err := io.ReadAll(r.Body); err == nil {
		t.Error("the answer to half of a table looks whole")
	}
}

// TestStreams: the first answer comes before the end of the body.
func TestStreams(t *testing.T) {
	s, web := server(t, numbers, Limits{})
	in, out := io.Pipe()
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		fmt.Fprintln(out, strings.Join(s.inputs, ","))
		for range 2 * batch {
			fmt.Fprintln(out, "1,inland,2,a")
		}
	}()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, web.URL+"/predict", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/csv")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	lines := bufio.NewScanner(answer.Body)
	for range batch {
		if !lines.Scan() {
			t.Fatal(lines.Err())
		}
	}
	<-sent
	_ = out.Close() // only now
	rest := 0
	for lines.Scan() {
		rest++
	}
	if rest != batch+1 || lines.Err() != nil {
		t.Error(rest, lines.Err())
	}
}

// TestBusy: beyond the limit there is 503, and health is answered.
func TestBusy(t *testing.T) {
	s, web := server(t, numbers, Limits{Clients: 1})
	s.slots <- struct{}{}
	if status, _ := post(t, web.URL+"/predict", "application/json", strings.NewReader("{}")); status != http.StatusServiceUnavailable {
		t.Error(status)
	}
	r, err := http.Get(web.URL + "/health")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	<-s.slots
	if status, _ := post(t, web.URL+"/predict", "application/json", strings.NewReader(`{"records":[]}`)); status != http.StatusOK {
		t.Error(status)
	}
}

// TestStops: a server that is told to stop ends what is under way, takes nothing more, and returns.
func TestStops(t *testing.T) {
	s, err := New(model(t, numbers), Limits{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := new(net.ListenConfig).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, at, "", "") }()
	in, out := io.Pipe()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, "http://"+at.Addr().String()+"/predict", in)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "text/csv")
	answered := make(chan string, 1)
	go func() {
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			answered <- err.Error()
			return
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		answered <- fmt.Sprint(strings.Count(string(text), "\n"), err)
	}()
	fmt.Fprintln(out, strings.Join(s.inputs, ","))
	for len(s.slots) == 0 {
		runtime.Gosched()
	}
	stop()
	fmt.Fprintln(out, "1,inland,2,a")
	_ = out.Close()
	if got := <-answered; got != "2 <nil>" {
		t.Errorf("a request under way: %s", got)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := http.Get("http://" + at.Addr().String() + "/health"); err == nil {
		t.Error("it answers after it ended")
	}
}

// TestMetrics: counts are by served paths and hold no cell.
func TestMetrics(t *testing.T) {
	s, web := server(t, three, Limits{})
	b, _ := json.Marshal(map[string]any{"records": records(s.model, 5)})
	post(t, web.URL+"/predict", "application/json", bytes.NewReader(b))
	for i := range 5 {
		r, err := http.Get(fmt.Sprintf("%s/secret-%d", web.URL, i))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
	}
	r, err := http.Get(web.URL + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	for _, want := range []string{
		"\ndptrain_predictions_total 5\n", "\ndptrain_requests_total{path=\"other\",status=\"404\"} 5\n",
		"\ndptrain_requests_total{path=\"/predict\",status=\"200\"} 1\n", "\ndptrain_predict_seconds_count 1\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "secret") {
		t.Error("the path of a request is told")
	}
}

var load = flag.Duration("load", 0, "how long TestLoad sends requests; 0 skips it")

// TestLoad prints how many requests a second are answered, one record each, and reports whether memory grew
// between the first and the last quarter (scripts/long.sh serve).
func TestLoad(t *testing.T) {
	if *load == 0 {
		t.Skip("without -load")
	}
	s, web := server(t, numbers, Limits{})
	body, _ := json.Marshal(map[string]any{"records": records(s.model, 1)})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var done, failed atomic.Int64
	end := time.Now().Add(*load)
	var g carry.Group
	for range 16 {
		g.Go(func() {
			for time.Now().Before(end) {
				r, err := client.Post(web.URL+"/predict", "application/json", bytes.NewReader(body))
				if err != nil || r.StatusCode != http.StatusOK {
					failed.Add(1)
					continue
				}
				_, _ = io.Copy(io.Discard, r.Body)
				_ = r.Body.Close()
				done.Add(1)
			}
		})
	}
	var heap []uint64
	for range 8 {
		time.Sleep(*load / 9)
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		heap = append(heap, m.HeapAlloc)
	}
	g.Wait()
	t.Logf("%.0f requests a second for %v, client included; heap after collections, in KiB: %v", float64(done.Load())/load.Seconds(), *load, kib(heap))
	if failed.Load() > 0 {
		t.Errorf("%d requests failed", failed.Load())
	}
	if slices.Min(heap[6:]) > slices.Max(heap[:2])+1<<20 {
		t.Error("memory grows")
	}
}

func kib(list []uint64) []uint64 {
	out := make([]uint64, len(list))
	for i, x := range list {
		out[i] = x >> 10
	}
	return out
}
