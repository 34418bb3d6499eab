package serve

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// TestInvalidRequestsAreRefused checks that invalid requests get a 4xx status with the position and a reason that
// quotes no cell, and that the next valid request is answered.
func TestInvalidRequestsAreRefused(t *testing.T) {
	_, web := startHandler(t, numbers, Limits{Body: 2000, Line: 500})
	m := readModel(t, numbers)
	names := headerLine(inputNames(m))
	good := `{"records":[{"` + inputNames(m)[0] + `":1}]}`
	long := strings.Repeat("7", 600)
	for _, c := range []struct {
		kind, body string
		status     int
		reason     string
	}{
		{"application/json", good, 200, "prediction"},
		{
			"application/json",
			"\uFEFF " + good + "\n\n",
			200, "prediction",
		},
		{"application/json", good + "77", 400, "extra text"},
		{"application/json", good[:len(good)-1], 400, "expected"},
		{
			"application/json",
			good[:len(good)-2],
			400, "is not closed",
		},
		{
			"application/json",
			good[:len(good)-3],
			400, "is not closed",
		},
		{"application/json", "{", 400, `{\"records\":`},
		{
			"application/json", "", 400,
			`"line":1,"column":1`,
		},
		{"application/json", "[]", 400, `{\"records\":`},
		{"application/json", "{}", 400, `{\"records\":`},
		{
			"application/json",
			`{"rows":[]}`,
			400, `the only key must be records`,
		},
		{
			"application/json",
			`{"records":[],"x":77}`,
			400, `"column":14`,
		},
		{
			"application/json",
			`{"records":null}`, 400,
			`{\"records\":`,
		},
		{
			"application/json",
			`{"records":{"a":77}}`,
			400, `{\"records\":`,
		},
		{
			"application/json",
			`{"records":[]}`,
			200,
			`{"predictions":[]}`,
		},
		{
			"application/json",
			`{"records":[{}]}`,
			200,
			`{"predictions":[{"prediction":`,
		},
		{
			"application/json",
			`{"records":[{},]}`,
			400, `"column":16`,
		},
		{
			"application/json",
			`{"records":[{}{}]}`,
			400, "comma",
		},
		{
			"application/json",
			`{"records":[{},77]}`,
			400, "must be a JSON object",
		},
		{"application/json", "{\"records\":[{},\n\n {\"a\":\n77x}]}", 400,
			`"line":4,"column":3,"record":2`},
		{"application/json", "{\"records\":[{\"a\":\"7\n7\"}]}", 400,
			`"line":1,"column":20,"record":1`},
		{
			"application/json",
			`{"records":[{"a":[77}]}`,
			400, "not valid JSON",
		},
		{
			"application/json",
			`{"records":[{"nothing":77}]}`,
			400, "none of the columns",
		},
		{
			"application/json",
			`{"records":[` + strings.Repeat(" ", 3000) + "]}",
			413,
			"text/csv",
		},
		{
			"application/json",
			`{"records":[{},{"a":` + long + "}]}",
			413, `"record":2`,
		},
		{"application/json; charset=latin1", good, 415, "UTF-8"},
		{"text/plain", good, 415, "Content-Type"},
		{"", good, 415, "Content-Type"},
		{"a/b/c", good, 415, "Content-Type"},
		{"application/x-ndjson", "", 200, ""},
		{"application/x-ndjson", "\n \r\n\n", 200, ""},
		{"application/x-ndjson", "77\n", 400, "object"},
		{
			"application/x-ndjson",
			"\n\n{\"a\":77,}\n",
			400,
			`"line":3,"column":9,"record":1`,
		},
		{
			"application/x-ndjson",
			`{"a":"` + long + `"}`,
			413, "500 bytes",
		},
		{"application/jsonl", "{}", 200, "prediction"},
		{"text/csv", "", 400, "header"},
		{
			"text/csv",
			"a,b\n77,77", 400,
			`there is no column`,
		},
		{"text/csv", names + names, 200, "prediction"},
		{
			"text/csv",
			strings.Join(
				append(inputNames(m), inputNames(m)[0]),
				",",
			) + "\n",
			400,
			"the same name",
		},
		{
			"text/csv",
			strings.Repeat("7", 1<<20),
			413, "500 bytes",
		},
		{
			"text/csv",
			strings.ReplaceAll(names, ",", ";") + "77",
			200, "prediction",
		},
		{
			"text/csv",
			"1,2,3,77\n1,2,3,77\n",
			400, "no header",
		},
		{"text/csv; charset=klingon", names, 415, "charset"},
		{"text/csv", names, 200, "prediction"},
		{
			"text/csv",
			names + "1\n\n1,2,3,4,5,6,7\n\"a\"b,c\n",
			200, "prediction",
		},
	} {
		status, answer := postBody(
			t, web+"/predict", c.kind,
			strings.NewReader(c.body),
		)
		if status != c.status ||
			!strings.Contains(answer, c.reason) ||
			status != 200 && strings.Contains(answer, "77") {
			t.Errorf(
				"%s %.60q: %d %s; want %d and %q",
				c.kind,
				c.body,
				status,
				answer,
				c.status,
				c.reason,
			)
		}
	}
	for query, want := range map[string]string{
		"interval=x": "levels",
		"interval=2": "levels",
	} {
		status, answer := postBody(
			t,
			web+"/predict?"+query,
			"application/json",
			strings.NewReader(good),
		)
		if status != 400 || !strings.Contains(answer, want) {
			t.Error(status, answer)
		}
	}
	for path, want := range map[string]int{
		"/predict":      405,
		"/nothing":      404,
		"/model":        200,
		"/health":       200,
		"/metrics":      200,
		"/openapi.json": 200,
	} {
		r, err := http.Get(web + path)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(r.Body)
		_ = r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
		if path == "/openapi.json" || path == "/model" {
			var x map[string]any
			if err := json.Unmarshal(body, &x); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestRefusesCompressed checks that a compressed body is refused rather than misread.
func TestRefusesCompressed(t *testing.T) {
	_, web := startHandler(t, numbers, Limits{})
	for coding, want := range map[string]int{
		"gzip":           415,
		"br":             415,
		"identity, gzip": 415,
		"identity":       200,
		"":               200,
	} {
		r, err := http.NewRequestWithContext(
			t.Context(),
			http.MethodPost,
			web+"/predict",
			strings.NewReader("{}\n"),
		)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-ndjson")
		r.Header.Set("Content-Encoding", coding)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.StatusCode != want ||
			want == 415 && answer.Header.Get("Accept-Encoding") != "identity" {
			t.Errorf(
				"%q: %s %v",
				coding, answer.Status, answer.Header,
			)
		}
	}
}

// TestBrokenStreamIsAborted checks that a stream that cannot continue is aborted rather than ended like a complete one.
// The client receives the earlier answers and, in JSON Lines, the reason.
func TestBrokenStreamIsAborted(t *testing.T) {
	s := newServer(
		t, xModel(), dataset.ReadOptions{},
		Limits{Line: 1 << 14},
	)
	_, web := serveHandler(t, s)
	for _, c := range []struct{ kind, record, bad, reason string }{
		{
			"text/csv", "1\n",
			`"` + strings.Repeat("x", 1<<20),
			"",
		},
		{"application/x-ndjson", "{\"x\":1}\n", "{\"x\":1777\n",
			`"line":1001,"column":9,"record":1001`},
		{"application/x-ndjson", "{\"x\":1}\n", strings.Repeat("x", 1<<20),
			`"line":1001,"record":1001`},
	} {
		body := strings.Repeat(c.record, 1000)
		want := 1000
		if c.kind == "text/csv" {
			body = "x\n" + body
			want++
		}
		r, err := http.Post(
			web+"/predict", c.kind,
			strings.NewReader(body+c.bad),
		)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		lines := strings.Split(
			strings.TrimSuffix(string(answer), "\n"),
			"\n",
		)
		if err == nil ||
			len(lines) < want ||
			strings.Contains(string(answer), "777") ||
			!strings.Contains(lines[len(lines)-1], c.reason) {
			t.Errorf(
				"%s: %d lines, the last one %q, %v",
				c.kind,
				len(lines),
				lines[len(lines)-1],
				err,
			)
		}
	}
	n := s.counts.broken.Load()
	if n != 3 {
		t.Errorf("%d answers were broken off", n)
	}
}

// TestClientMayWaitForEachAnswer checks that a client that waits for each answer before sending the next record is
// answered, over HTTP/1.1 and over HTTP/2 without TLS.
func TestClientMayWaitForEachAnswer(t *testing.T) {
	_, at := startServer(t, xModel(), dataset.ReadOptions{}, Limits{})
	var both http.Protocols
	both.SetUnencryptedHTTP2(true)
	second := &http.Transport{Protocols: &both}
	defer second.CloseIdleConnections()
	for _, client := range []*http.Client{http.DefaultClient, {Transport: second}} {
		for kind, head := range map[string]string{
			"text/csv":             "x\n",
			"application/x-ndjson": "",
		} {
			in, out := io.Pipe()
			r, err := http.NewRequestWithContext(
				t.Context(),
				http.MethodPost,
				"http://"+at+"/predict",
				in,
			)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", kind)
			record := func(x int) string {
				if head == "" {
					return fmt.Sprintf("{\"x\":%d}\n{\"x\"", x)[len("{\"x\"")*min(1, x):] // and the start of the next one
				}
				return fmt.Sprintf("%d\n", x)
			}
			go func() {
				_, _ = io.WriteString(out, head+record(0))
			}()
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			lines := bufio.NewScanner(answer.Body)
			if head != "" && !lines.Scan() {
				t.Fatal(lines.Err())
			}
			for x := range 50 {
				want := fmt.Sprint(1 + 2*x)
				if !lines.Scan() || !strings.Contains(lines.Text(), want) {
					t.Fatalf(
						"%s %s: %q, want %s",
						answer.Proto, kind, lines.Text(), want,
					)
				}
				_, err := io.WriteString(out, record(x+1))
				if err != nil {
					t.Fatal(err)
				}
			}
			if head == "" {
				_, _ = io.WriteString(out, ":7}")
			}
			_ = out.Close()
			rest := 0
			for lines.Scan() {
				rest++
			}
			want := 1 + max(0, 1-len(head))
			if rest != want || lines.Err() != nil {
				t.Errorf(
					"%s %s: %d more lines, want %d, %v",
					answer.Proto,
					kind,
					rest,
					want,
					lines.Err(),
				)
			}
			_ = answer.Body.Close()
		}
	}
}

// TestBusyServerAnswers503 checks that requests beyond the limit get status 503 with Retry-After, and that health
// checks are answered.
func TestBusyServerAnswers503(t *testing.T) {
	s, web := startHandler(t, numbers, Limits{Requests: 1})
	s.slots <- struct{}{}
	for _, kind := range []string{
		"application/json",
		"application/x-ndjson",
		"text/csv",
	} {
		body := map[string]string{
			"application/json": `{"records":[]}`,
			"text/csv":         headerLine(inputNames(readModel(t, numbers))),
		}[kind]
		r, err := http.Post(web+"/predict", kind, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusServiceUnavailable ||
			r.Header.Get("Retry-After") == "" {
			t.Error(kind, r.Status, r.Header)
		}
	}
	r, err := http.Get(web + "/health")
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	_ = r.Body.Close()
	<-s.slots
	status, _ := postBody(
		t,
		web+"/predict",
		"application/json",
		strings.NewReader(`{"records":[]}`),
	)
	if status != http.StatusOK {
		t.Error(status)
	}
}

// TestMemoryBudget checks that bodies beyond the budget get status 503 with Retry-After, that earlier bodies are
// answered, and that the whole budget is available afterwards.
func TestMemoryBudget(t *testing.T) {
	s, web := startHandler(
		t, numbers,
		Limits{Buffered: 600 << 10, Body: 500 << 10},
	)
	base := s.limits.Buffered
	half := `{"records":[` + strings.Repeat(" ", 400<<10)
	in, out := io.Pipe()
	first := make(chan string, 1)
	go func() {
		status, answer := postBody(t, web+"/predict", "application/json", in)
		first <- fmt.Sprint(status, answer)
	}()
	_, _ = io.WriteString(out, half)
	waitFor(t, "the first body", func() bool {
		return s.memory.free.Load() < base-(400<<10)
	})
	for _, kind := range []string{
		"application/json", "text/csv",
		"application/x-ndjson",
	} {
		r, err := http.Post(
			web+"/predict", kind,
			strings.NewReader(half+"]}"),
		)
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
		if r.StatusCode != http.StatusServiceUnavailable ||
			r.Header.Get("Retry-After") == "" ||
			r.Header.Get("Connection") != "" && !r.Close {
			t.Errorf(
				"%s: %s %v",
				kind, r.Status, r.Header,
			)
		}
	}
	status, answer := postBody(
		t,
		web+"/predict",
		"application/x-ndjson",
		strings.NewReader("{}\n{}\n"),
	)
	if status != 200 {
		t.Error(status, answer)
	}
	_, _ = io.WriteString(out, "]}")
	_ = out.Close()
	got := <-first
	if !strings.HasPrefix(got, "200") {
		t.Error(got)
	}
	waitFor(t, "the memory", func() bool {
		return s.memory.free.Load() == base
	})
}

// TestShutdownCompletesRequests checks that a server that is shutting down completes the requests in progress, accepts
// no new ones, and ends.
func TestShutdownCompletesRequests(t *testing.T) {
	s := newServer(t, xModel(), dataset.ReadOptions{}, Limits{})
	at, err := new(net.ListenConfig).Listen(
		context.Background(), "tcp",
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
	in, out := io.Pipe()
	r, err := http.NewRequestWithContext(
		context.Background(),
		http.MethodPost,
		"http://"+at.Addr().String()+"/predict",
		in,
	)
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
		answered <- fmt.Sprint(string(text), err)
	}()
	fmt.Fprint(out, "x\n1\n")
	waitFor(t, "the first answer", func() bool {
		return s.counts.predictions.Load() == 1
	})
	stop()
	fmt.Fprintln(out, "2")
	_ = out.Close()
	got := <-answered
	if got != "prediction\n3\n5\n<nil>" {
		t.Errorf("a request under way: %s", got)
	}
	if err := <-ended; err != nil || s.Cut() != 0 {
		t.Error(err, s.Cut())
	}
	if _, err := http.Get("http://" + at.Addr().String() + "/health"); err == nil {
		t.Error("it answers after it ended")
	}
}

// TestStopsInTime checks that neither an endless stream nor withheld headers and bodies keep a server from ending.
func TestStopsInTime(t *testing.T) {
	s := newServer(
		t,
		xModel(),
		dataset.ReadOptions{},
		Limits{
			Drain:  1500 * time.Millisecond,
			Idle:   time.Hour,
			Header: time.Hour,
		},
	)
	at, err := new(net.ListenConfig).Listen(
		context.Background(), "tcp",
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
	for _, text := range []string{"", "GET /hea", withheld,
		"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{"} {
		c := sendText(t, at.Addr().String(), text)
		t.Cleanup(func() {
			_ = c.Close()
		})
	}
	stream := sendText(t, at.Addr().String(), chunked)
	defer stream.Close()
	done := make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(50 * time.Millisecond):
				_, _ = io.WriteString(
					stream,
					"8\r\n{\"x\":1}\n\r\n",
				)
			}
		}
	}()
	defer close(done)
	waitFor(t, "the first answer", func() bool {
		return s.counts.predictions.Load() > 0
	})
	stop()
	select {
	case err := <-ended:
		if err != nil || s.Cut() != 1 {
			t.Error(err, s.Cut())
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the server is not closed")
	}
}

// TestMetrics checks that the counts are grouped by served path and contain no cell.
func TestMetrics(t *testing.T) {
	_, web := startHandler(t, three, Limits{})
	postBody(
		t,
		web+"/predict",
		"application/json",
		strings.NewReader(`{"records":[{},{},{},{},{}]}`),
	)
	for i := range 5 {
		r, err := http.Get(fmt.Sprintf(
			"%s/secret-%d", web, i,
		))
		if err != nil {
			t.Fatal(err)
		}
		_ = r.Body.Close()
	}
	r, err := http.Get(web + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, _ := io.ReadAll(r.Body)
	for _, want := range []string{
		"\ndptrain_predictions_total 5\n",
		"\ndptrain_requests_total{path=\"other\",status=\"404\"} 5\n",
		"\ndptrain_buffered_bytes 0\n",
		"\ndptrain_requests_total{path=\"/predict\",status=\"200\"} 1\n",
		"\ndptrain_predict_seconds_count 1\n", "\ndptrain_broken_total 0\n",
	} {
		if !strings.Contains(string(text), want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "secret") {
		t.Error("the path of a request is shown")
	}
}

var load = flag.Duration("load", 0, "how long TestLoad sends requests; 0 skips it")

// TestLoad prints the number of requests per second with one record each, and reports whether memory grew between
// the first and the last quarter of the run (scripts/long.sh serve).
func TestLoad(t *testing.T) {
	if *load == 0 {
		t.Skip("without -load")
	}
	_, web := startHandler(t, numbers, Limits{})
	record := map[string]any{}
	for _, c := range readModel(t, numbers).Inputs() {
		record[c.Name] = (c.Lower + c.Upper) / 2
	}
	body, _ := json.Marshal(map[string]any{"records": []any{record}})
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	var done, failed atomic.Int64
	end := time.Now().Add(*load)
	var g parallel.Group
	for range 16 {
		g.Go(func() {
			for time.Now().Before(end) {
				r, err := client.Post(
					web+"/predict",
					"application/json",
					bytes.NewReader(body),
				)
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
	t.Logf(
		"%.0f requests a second for %v, client included; heap after collections, in KiB: %v",
		float64(done.Load())/load.Seconds(),
		*load,
		toKiB(heap),
	)
	if failed.Load() > 0 {
		t.Errorf("%d requests failed", failed.Load())
	}
	if slices.Min(heap[6:]) > slices.Max(heap[:2])+1<<20 {
		t.Error("memory grows")
	}
}

func toKiB(list []uint64) []uint64 {
	out := make([]uint64, len(list))
	for i, x := range list {
		out[i] = x >> 10
	}
	return out
}
