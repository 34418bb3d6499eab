package serve

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/dptrain/dptrain/dataset"
)

// Requests of clients that stop sending.
const (
	withheld = "POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"
	chunked  = "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n"
)

// sendText opens a connection and sends text.
func sendText(t *testing.T, at, text string) net.Conn {
	t.Helper()
	c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.WriteString(c, text) // fails if the connection is refused
	return c
}

// answerOf reads the answer from a connection.
func answerOf(t *testing.T, c net.Conn) (status int, body string) {
	t.Helper()
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Error(err)
	}
	if r.StatusCode >= 400 && !r.Close {
		t.Errorf("%s does not close the connection", r.Status)
	}
	return r.StatusCode, string(text)
}

// TestWithheldBodies checks that a client that withholds a body gets an immediate answer if the body is not needed
// and status 408 otherwise, and that its resources are released.
func TestWithheldBodies(t *testing.T) {
	s, at := startServer(
		t,
		xModel(),
		dataset.ReadOptions{},
		Limits{
			Idle:      300 * time.Millisecond,
			Header:    time.Hour,
			KeepAlive: time.Hour,
		},
	)
	for request, want := range map[string]int{
		withheld: 405,
		strings.Replace(withheld, "/health", "/nothing", 1): 404,
		strings.Replace(withheld, "POST", "GET", 1):         200,
		strings.Replace(withheld, "/health", "/predict", 1): 415,
		strings.Replace(withheld, "100000", "100", 1):       405,
		strings.Replace(chunked, "/predict", "/metrics", 1): 405,
		chunked:                    408,
		chunked + "8\r\n{\"x\":1}": 408,
		strings.Replace(chunked, "application/x-ndjson", "text/csv", 1):         408,
		strings.Replace(chunked, "application/x-ndjson", "application/json", 1): 408,
		chunked + "zz\r\n": 400,
		strings.Replace(
			withheld,
			"/health",
			"/predict",
			1,
		)[:0] + "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\n": 413,
		"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\nContent-Encoding: gzip\r\n\r\n": 415,
	} {
		c := sendText(t, at, request)
		status, body := answerOf(t, c)
		if status != want {
			t.Errorf(
				"%q: %d %s, want %d",
				request, status, body, want,
			)
		}
		n, err := io.Copy(io.Discard, c)
		if n != 0 ||
			err != nil && strings.Contains(err.Error(), "timeout") {
			t.Errorf(
				"%q: the connection stays open: %d bytes, %v",
				request, n, err,
			)
		}
		_ = c.Close()
	}
	waitFor(t, "connections to end", func() bool {
		return s.gate.countConns() == 0
	})
}

// TestExpectContinue checks that a client that waits for "100 Continue" receives it only if the server needs the
// body.
func TestExpectContinue(t *testing.T) {
	_, at := startServer(t, xModel(), dataset.ReadOptions{}, Limits{})
	for _, kind := range []string{
		"application/json", "text/csv",
		"application/x-ndjson",
	} {
		body := map[string]string{
			"application/json":     `{"records":[{"x":3}]}`,
			"text/csv":             "x\n3\n",
			"application/x-ndjson": `{"x":3}`,
		}[kind]
		c := sendText(
			t,
			at,
			fmt.Sprintf(
				"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
				kind,
				len(body),
			),
		)
		in := bufio.NewReader(c)
		if line, err := in.ReadString('\n'); err != nil ||
			!strings.HasPrefix(line, "HTTP/1.1 100") {
			t.Fatalf(
				"%s: %q, %v",
				kind, line, err,
			)
		}
		_, _ = in.ReadString('\n')
		_, _ = io.WriteString(c, body)
		r, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(kind, err)
		}
		text, err := io.ReadAll(r.Body)
		if err != nil ||
			r.StatusCode != http.StatusOK ||
			!strings.Contains(string(text), "7") {
			t.Errorf(
				"%s: %s %q %v",
				kind, r.Status, text, err,
			)
		}
		_ = r.Body.Close()
		_ = c.Close()
	}
}

// TestSendsFirst checks that a client that sends a large body before reading receives the reason for the refusal.
func TestSendsFirst(t *testing.T) {
	_, at := startServer(
		t, xModel(), dataset.ReadOptions{},
		Limits{Body: 1 << 20},
	)
	for _, kind := range []string{"application/json", "text/plain"} {
		c := sendText(
			t,
			at,
			fmt.Sprintf(
				"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n",
				kind,
				2<<20,
			),
		)
		_, err := c.Write(make([]byte, 2<<20))
		if err != nil {
			t.Errorf("%s: %v", kind, err)
		}
		status, _ := answerOf(t, c)
		if status != 413 && status != 415 {
			t.Errorf("%s: %d", kind, status)
		}
		_ = c.Close()
	}
}

// TestManyStalledClientsDoNotBlockOthers opens more connections than the limits allow that withhold headers, bodies or
// the next record. It checks that health checks and predictions are answered at once, and that an honest stream
// continues.
func TestManyStalledClientsDoNotBlockOthers(t *testing.T) {
	for what, l := range map[string]Limits{
		"in all":     {Connections: 40, PerClient: 40},
		"per client": {Connections: 1000, PerClient: 40},
		"requests": {
			Connections: 1000,
			PerClient:   1000,
			Requests:    40,
		},
	} {
		t.Run(what, func(t *testing.T) {
			l.Idle = time.Hour
			l.Header = time.Hour
			l.KeepAlive = time.Hour
			s, at := startServer(t, xModel(), dataset.ReadOptions{}, l)
			honest := sendText(t, at, chunked)
			defer honest.Close()
			answers := bufio.NewReader(honest)
			record := func() {
				t.Helper()
				before := s.counts.predictions.Load()
				_, err := io.WriteString(
					honest,
					"8\r\n{\"x\":1}\n\r\n",
				)
				if err != nil {
					t.Fatal(err)
				}
				waitFor(t, "an answer", func() bool {
					return s.counts.predictions.Load() > before
				})
			}
			record()
			for round, text := range []string{
				withheld, "", "GET /he",
				"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{",
				chunked,
				"POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: text/csv\r\nContent-Length: 99\r\n\r\nx\n",
			} {
				for range 60 {
					c := sendText(t, at, text)
					t.Cleanup(func() {
						_ = c.Close()
					})
				}
				record()
				client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
				r, err := client.Get("http://" + at + "/health")
				if err != nil {
					t.Fatalf("round %d: %v", round, err)
				}
				_ = r.Body.Close()
				r, err = client.Post(
					"http://"+at+"/predict",
					"application/json",
					strings.NewReader(`{"records":[{"x":1}]}`),
				)
				if err != nil || r.StatusCode != http.StatusOK {
					t.Fatalf(
						"round %d: %v %+v",
						round, err, r,
					)
				}
				_ = r.Body.Close()
				record()
			}
			_, _ = io.WriteString(honest, "0\r\n\r\n")
			r, err := http.ReadResponse(answers, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer r.Body.Close()
			text, err := io.ReadAll(r.Body)
			if err != nil || strings.Count(string(text), "\n") != 13 {
				t.Errorf(
					"the honest stream: %q, %v",
					text, err,
				)
			}
		})
	}
}

// TestFullServerRefusesConnection checks that a new connection is refused if all connections belong to clients that
// keep the server busy.
func TestFullServerRefusesConnection(t *testing.T) {
	l := Limits{Connections: 2, PerClient: 1}.withDefaults()
	g := newGate(l)
	g.plain = true
	conn := func(address string) *clientConn {
		_, theirs := net.Pipe()
		c := &clientConn{
			Conn:   theirs,
			gate:   g,
			client: clientOf(&net.TCPAddr{IP: net.ParseIP(address)}),
		}
		c.markActive()
		return c
	}
	first := conn("10.0.0.1")
	second := conn("10.0.0.1")
	third := conn("10.0.0.1")
	first.working.Add(1)
	if !g.admitConn(first) || g.admitConn(second) {
		t.Error("a client has more connections than the limit")
	}
	first.working.Add(-1)
	if !g.admitConn(third) || g.countConns() != 1 {
		t.Error("a client that keeps the server waiting has not lost its connection")
	}
	other := conn("10.0.0.2")
	last := conn("10.0.0.3")
	if !g.admitConn(other) {
		t.Error("another client has no place")
	}
	third.working.Add(1)
	other.streams.Add(1) // it has not been silent for long
	if g.admitConn(last) {
		t.Error("the limit of all connections was passed")
	}
	other.streams.Add(-1)
	if !g.admitConn(last) || g.countConns() != 2 {
		t.Error("no connection made room")
	}
	for _, c := range []*clientConn{first, second, third, other, last} {
		_ = c.Close()
	}
	if g.countConns() != 0 || len(g.perClient) != 0 {
		t.Errorf(
			"%d connections and %d clients are left",
			g.countConns(), len(g.perClient),
		)
	}
	for address, want := range map[string]string{
		"1.2.3.4":        "1.2.3.4/32",
		"::ffff:1.2.3.4": "1.2.3.4/32",
		"2001:db8::1":    "2001:db8::/64",
		"::1":            "::1/128",
	} {
		got := clientOf(&net.TCPAddr{IP: net.ParseIP(address)}).String()
		if got != want {
			t.Errorf(
				"%s is client %s, want %s",
				address, got, want,
			)
		}
	}
}

// TestSlowStreamGoesOn checks that a stream continues for many times the idle limit as long as each interval has a
// record, and ends after an interval without one.
func TestSlowStreamGoesOn(t *testing.T) {
	const idle = 400 * time.Millisecond
	s, at := startServer(t, xModel(), dataset.ReadOptions{}, Limits{Idle: idle})
	c := sendText(t, at, chunked)
	defer c.Close()
	for range 20 {
		time.Sleep(idle / 4)
		_, err := io.WriteString(
			c,
			"8\r\n{\"x\":1}\n\r\n",
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "all answers", func() bool {
		return s.counts.predictions.Load() == 20
	})
	_ = c.SetReadDeadline(time.Now().Add(20 * time.Second))
	r, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	lines := strings.Split(string(text), "\n")
	if err == nil ||
		len(lines) < 21 ||
		!strings.Contains(lines[20], "no record arrived within") {
		t.Errorf("%q, %v", text, err)
	}
}

// TestIncompleteRecordKeepsDeadline checks that bytes that do not complete a record do not extend the deadline of a
// client.
func TestIncompleteRecordKeepsDeadline(t *testing.T) {
	_, at := startServer(
		t,
		xModel(),
		dataset.ReadOptions{},
		Limits{Idle: 400 * time.Millisecond},
	)
	for _, request := range []string{
		chunked,
		strings.Replace(chunked, "application/x-ndjson", "application/json", 1),
		strings.Replace(chunked, "application/x-ndjson", "text/csv", 1),
	} {
		c := sendText(t, at, request)
		ended := make(chan bool)
		go func() {
			defer close(ended)
			for range 100 {
				_, err := io.WriteString(c, "1\r\n \r\n")
				if err != nil {
					return
				}
				time.Sleep(50 * time.Millisecond)
			}
			t.Errorf("%q: it goes on for ever", request)
		}()
		status, body := answerOf(t, c)
		if status != 408 {
			t.Errorf(
				"%q: %d %s",
				request, status, body,
			)
		}
		_ = c.Close()
		<-ended
	}
}

// TestClientThatReadsNothingIsDisconnected checks that a client that does not read its answers is disconnected.
func TestClientThatReadsNothingIsDisconnected(t *testing.T) {
	s, at := startServer(
		t,
		xModel(),
		dataset.ReadOptions{},
		Limits{Idle: 300 * time.Millisecond},
	)
	c := sendText(
		t,
		at,
		strings.Replace(
			chunked,
			"Transfer-Encoding: chunked",
			"Content-Length: 1000000000",
			1,
		),
	)
	defer c.Close()
	text := []byte(strings.Repeat("{}\n", 10_000))
	_ = c.SetWriteDeadline(time.Now().Add(20 * time.Second))
	var err error
	for err == nil {
		_, err = c.Write(text)
	}
	if strings.Contains(err.Error(), "timeout") {
		t.Error(err)
	}
	waitFor(t, "the request to end", func() bool {
		return len(s.slots) == 0
	})
}
