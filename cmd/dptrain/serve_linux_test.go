package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/dptrain/dptrain/internal/sys/parallel"
)

// A servingProcess is a running `dptrain serve`.
type servingProcess struct {
	cmd    *exec.Cmd
	at     string // HOST:PORT
	stderr *lockedText
}

// serveProcess starts `dptrain serve` in a shell, after the command before.
func serveProcess(t *testing.T, before string, args ...string) *servingProcess {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &servingProcess{stderr: &lockedText{}}
	p.cmd = exec.CommandContext(
		t.Context(),
		"sh",
		append(
			[]string{
				"-c",
				before + `exec "$0" serve --addr 127.0.0.1:0 "$@"`,
				self,
			},
			args...,
		)...,
	)
	p.cmd.Env = append(
		os.Environ(), asProcess+"=1",
		"GOCOVERDIR="+t.TempDir(),
	)
	p.cmd.Stderr = p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
	})
	for end := time.Now().Add(time.Minute); p.at == "" &&
		time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		p.at = strings.TrimPrefix(
			regexp.MustCompile(`http://[0-9.:]+`).FindString(p.stderr.text()),
			"http://",
		)
	}
	if p.at == "" {
		t.Fatalf(
			"it does not start: %s",
			p.stderr.text(),
		)
	}
	return p
}

// stop sends the process a signal and returns its exit code, or -1 if it does not end in time.
func (p *servingProcess) stop(t *testing.T, within time.Duration) int {
	t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	kill := time.AfterFunc(within, func() {
		_ = p.cmd.Process.Kill()
	})
	defer kill.Stop()
	var ended *exec.ExitError
	err := p.cmd.Wait()
	if err != nil && !errors.As(err, &ended) {
		t.Fatal(err)
	}
	return p.cmd.ProcessState.ExitCode()
}

// statusBytes returns a line of the status of the process in bytes.
func (p *servingProcess) statusBytes(t *testing.T, name string) int {
	t.Helper()
	var kilobytes int
	for line := range strings.Lines(readFile(
		t,
		fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid),
	)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			_, _ = fmt.Sscanf(rest, "%d", &kilobytes)
		}
	}
	if kilobytes == 0 {
		t.Fatalf("there is no %s", name)
	}
	return kilobytes << 10
}

const withheldBody = "POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\n"

// TestServeWithheldConnections opens more connections with withheld bodies than the process may open files. It
// checks that the server still answers, and that it exits with code 0 when it is stopped.
func TestServeWithheldConnections(t *testing.T) {
	p := serveProcess(
		t, "ulimit -n 256; ",
		"../../regression/testdata/model-2.json",
	)
	predict := "POST /predict HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100000\r\n\r\n{"
	for _, text := range []string{withheldBody, predict, "", "GET /"} {
		for range 300 {
			c, err := (&net.Dialer{}).DialContext(
				t.Context(), "tcp", p.at,
			)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				_ = c.Close()
			})
			_, _ = io.WriteString(c, text) // fails if the connection was closed
		}
		client := &http.Client{
			Transport: &http.Transport{DisableKeepAlives: true},
			Timeout:   time.Minute,
		}
		for range 3 {
			r, err := client.Get("http://" + p.at + "/health")
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatalf("beside %q: %v", text, err)
			}
			_ = r.Body.Close()
			r, err = client.Post(
				"http://"+p.at+"/predict",
				"application/x-ndjson",
				strings.NewReader("{}\n"),
			)
			if err != nil || r.StatusCode != http.StatusOK {
				t.Fatalf("beside %q: %v", text, err)
			}
			_ = r.Body.Close()
		}
	}
	code := p.stop(t, time.Minute)
	if code != exitOK {
		t.Errorf(
			"exit code %d: %s",
			code, p.stderr.text(),
		)
	}
}

// TestServeAbortsStreamsAtShutdown checks that an endless stream is aborted when the time limit for shutting down ends,
// that a message reports it, and that the exit code is 0. The output of the process contains no cell.
func TestServeAbortsStreamsAtShutdown(t *testing.T) {
	p := serveProcess(
		t, "",
		"../../regression/testdata/model-2.json",
		"--drain", "1s",
	)
	in, out := io.Pipe()
	go func() {
		for {
			_, err := io.WriteString(out, `{"age":7777}`+"\n")
			if err != nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
	}()
	defer in.Close()
	r, err := http.Post(
		"http://"+p.at+"/predict",
		"application/x-ndjson", in,
	)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	answers := bufio.NewScanner(r.Body)
	if !answers.Scan() {
		t.Fatal(answers.Err())
	}
	r, err = http.Post(
		"http://"+p.at+"/predict",
		"application/json",
		strings.NewReader(`{"records":[{"age":7777`),
	)
	if err == nil {
		_ = r.Body.Close()
	}
	code := p.stop(t, time.Minute)
	if code != exitOK ||
		!strings.Contains(
			p.stderr.text(),
			"note: 1 unfinished request was aborted after 1s",
		) ||
		strings.Contains(p.stderr.text(), "7777") {
		t.Errorf(
			"exit code %d: %s",
			code, p.stderr.text(),
		)
	}
	for answers.Scan() {
	}
	if answers.Err() == nil {
		t.Error("the answer to a stream that was cut off looks whole")
	}
}

// TestServeMemory checks that the process takes at most four times the size of bodies in additional memory while it
// reads and answers them. It took 64 times the size when records were decoded into maps.
func TestServeMemory(t *testing.T) {
	const bodies = 8
	t.Setenv("GOGC", "") // the process collects garbage as it does for a user
	names := "{"
	for i := range 10_000 {
		names += fmt.Sprintf(`"n%d":%d,`, i, i)
	}
	for what, record := range map[string]string{
		"empty":     "{}",
		"one cell":  `{"age":1}`,
		"names":     names + `"age":1}`,
		"depth":     `{"age":` + strings.Repeat("[", 9000) + strings.Repeat("]", 9000) + "}",
		"long text": `{"age":1,"x":"` + strings.Repeat("y", 1_000_000) + `"}`,
	} {
		p := serveProcess(
			t, "",
			"../../regression/testdata/model-2.json",
		)
		before := p.statusBytes(t, "VmHWM")
		size := 2 << 20
		if len(record) < 10 { // half as many records in a body take as many times its bytes
			size = 1 << 20
		}
		body := []byte(`{"records":[` + strings.Repeat(
			record+",",
			size/len(record),
		) + record +
			"]}")
		records := size/len(record) + 1
		var g parallel.Group
		for range bodies {
			g.Go(func() {
				r, err := http.Post(
					"http://"+p.at+"/predict",
					"application/json",
					bytes.NewReader(body),
				)
				if err != nil {
					t.Error(err)
					return
				}
				defer r.Body.Close()
				n := 0
				in := bufio.NewReader(r.Body)
				for err == nil {
					_, err = in.ReadString('{')
					n++
				}
				if n != records+2 ||
					r.StatusCode != http.StatusOK ||
					!errors.Is(err, io.EOF) {
					t.Errorf(
						"%s: %s, %d records, want %d, %v",
						what,
						r.Status,
						n-2,
						records,
						err,
					)
				}
			})
		}
		g.Wait()
		more := p.statusBytes(t, "VmHWM") - before
		if more > 4*bodies*len(body) {
			t.Errorf(
				"%s: %d bodies of %d bytes took %d bytes, %.1f times as many",
				what,
				bodies,
				len(body),
				more,
				float64(more)/float64(bodies*len(body)),
			)
		} else {
			t.Logf(
				"%s: %.1f times the bytes",
				what,
				float64(more)/float64(bodies*len(body)),
			)
		}
		code := p.stop(t, time.Minute)
		if code != exitOK {
			t.Errorf(
				"exit code %d: %s",
				code, p.stderr.text(),
			)
		}
	}
}

// A lockedText collects the output of a process. It is safe for concurrent use.
type lockedText struct {
	mu  sync.Mutex
	all bytes.Buffer
}

// Write implements io.Writer.
func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.Write(p)
}

func (l *lockedText) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all.String()
}

// TestReloadOnHangup replaces the model file of a server and sends SIGHUP while a client sends requests. It checks
// that no request fails, that /model has the hash of the new file, and that an invalid file leaves the server
// unchanged.
func TestReloadOnHangup(t *testing.T) {
	first := readFile(t, "../../regression/testdata/model-2.json")
	second := strings.Replace(
		first,
		`"intercept": {"coefficient":`,
		`"intercept": {"coefficient":1`,
		1,
	)
	if second == first {
		t.Fatal("the models are the same")
	}
	path := filepath.Join(t.TempDir(), "model.json")
	writeFile(t, path, first)
	// A process inherits ignored signals but not handled ones: under nohup, the server would otherwise ignore
	// SIGHUP.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	defer signal.Stop(hangups)
	p := serveProcess(t, "", path)
	web := "http://" + p.at
	fetch := func(url string) string {
		answer, err := http.Get(url) //nolint:noctx // of a test
		if err != nil {
			t.Error(err)
			return ""
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Errorf("%s: %v", answer.Status, err)
		}
		return string(text)
	}
	stop := make(chan struct{})
	stopped := make(chan int)
	go func() {
		answered := 0
		for {
			select {
			case <-stop:
				stopped <- answered
				return
			default:
			}
			answer, err := http.Post(
				web+"/predict",
				"application/json",
				strings.NewReader(`{"records":[{}]}`),
			) //nolint:noctx // of a test
			if err != nil {
				t.Error(err)
				continue
			}
			if answer.StatusCode != http.StatusOK {
				t.Error(answer.Status)
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
			answered++
		}
	}()
	for i, text := range []string{second, first, second, "{}"} {
		writeFile(t, path, text)
		if err := p.cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
		hash := fmt.Sprintf("%x", sha256.Sum256([]byte(text)))
		want := "Reloaded"
		if text == "{}" {
			hash = fmt.Sprintf("%x", sha256.Sum256([]byte(second)))
			want = "the model was not reloaded; the server keeps the previous one"
		}
		for end := time.Now().Add(time.Minute); strings.Count(p.stderr.text(), "eloaded") <= i &&
			time.Now().Before(end); {
			time.Sleep(5 * time.Millisecond)
		}
		got := fetch(web + "/model")
		if !strings.Contains(got, `"sha256":"`+hash+`"`) ||
			!strings.Contains(p.stderr.text(), want) {
			t.Errorf(
				"file %d: %s\n%s",
				i, got, p.stderr.text(),
			)
		}
	}
	close(stop)
	if answered := <-stopped; answered == 0 {
		t.Error("no request was answered")
	}
	if got := dptrain(t, "serve", "--probe", web+"/ready"); got.code != 0 {
		t.Errorf("%+v", got)
	}
	got := dptrain(t, "serve", "--probe", web+"/nothing")
	if got.code != exitData || !strings.Contains(got.stderr, "404") {
		t.Errorf("%+v", got)
	}
	http.DefaultClient.CloseIdleConnections()
	code := p.stop(t, 20*time.Second)
	if code != 0 {
		t.Errorf(
			"code %d: %s",
			code, p.stderr.text(),
		)
	}
	if got := dptrain(t, "serve", "--probe", web+"/ready"); got.code != exitData {
		t.Errorf("a server that ended: %+v", got)
	}
}

// TestServeComparesWithReport serves a release with its report, sends the training table with one column shifted, and
// compares the drift in /metrics with that of the table and the histograms of the report. A model without its report
// has no drift.
func TestServeComparesWithReport(t *testing.T) {
	table := strings.Split(
		strings.TrimSpace(readFile(t, "../../testdata/houses.csv")),
		"\n",
	)
	chdirTemp(t)
	writeFile(
		t, "houses.csv",
		strings.Join(table, "\n")+"\n",
	)
	got := dptrain(t, "fit",
		"--data", "houses.csv",
		"--target", "price",
		"--epsilon", "3",
		"--quiet",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	var r struct {
		Card []struct {
			Column       string
			Lower, Upper float64
			Counts       []float64
		}
	}
	err := json.Unmarshal(
		[]byte(readFile(t, "out/release/report.json")),
		&r,
	)
	if err != nil {
		t.Fatal(err)
	}
	shifted := []string{table[0]}
	for _, row := range table[1:] {
		cells := strings.Split(row, ",")
		if area, err := strconv.ParseFloat(cells[0], 64); err == nil {
			cells[0] = fmt.Sprint(area + 40)
		}
		shifted = append(shifted, strings.Join(cells, ","))
	}
	header := strings.Split(table[0], ",")
	distance := func(k int) float64 {
		c := r.Card[k]
		at := slices.Index(header, c.Column)
		bins := len(c.Counts)
		exact := make([]float64, bins)
		total := 0.
		released := 0.
		for _, row := range shifted[1:] {
			x, err := strconv.ParseFloat(strings.Split(row, ",")[at], 64)
			if err != nil {
				continue
			}
			b := math.Floor((x - c.Lower) / (c.Upper - c.Lower) * float64(bins))
			exact[int(min(max(b, 0), float64(bins-1)))]++
			total++
		}
		for _, n := range c.Counts {
			released += max(n, 0)
		}
		sum := 0.
		for b, n := range exact {
			sum += math.Abs(n/total-max(c.Counts[b], 0)/released) / 2
		}
		return sum
	}
	metrics := func(folder string) string {
		p := serveProcess(
			t, "", "--count-inputs",
			filepath.Join(folder, "model.json"),
		)
		answer, err := http.Post(
			"http://"+p.at+"/predict",
			"text/csv",
			strings.NewReader(strings.Join(shifted, "\n")+"\n"),
		) //nolint:noctx // of a test
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, answer.Body)
		_ = answer.Body.Close()
		if answer, err = http.Get("http://" + p.at + "/metrics"); err != nil { //nolint:noctx // likewise
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		http.DefaultClient.CloseIdleConnections()
		p.stop(t, 20*time.Second)
		return string(text)
	}
	text := metrics("out/release")
	compared := 0
	for k, c := range r.Card {
		match := regexp.MustCompile(`(?m)^dptrain_input_drift\{column="` + c.Column +
			`"\} (\S+)$`).FindStringSubmatch(text)
		if match == nil {
			continue // the target, or a column that is not in the model
		}
		compared++
		got, err := strconv.ParseFloat(match[1], 64)
		want := distance(k)
		if err != nil || math.Abs(got-want) > .01 {
			t.Errorf(
				"%s: a drift of %g, want %g; %v",
				c.Column, got, want, err,
			)
		}
		if c.Column == "area" && got < .15 {
			t.Errorf(
				"a shift of area by 40 gives a drift of %g",
				got,
			)
		}
	}
	if compared < 4 {
		t.Errorf(
			"%d columns are compared:\n%s",
			compared, text,
		)
	}
	for _, folder := range []string{"alone", "other"} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	writeFile(
		t, "alone/model.json",
		readFile(t, "out/release/model.json"),
	)
	text = metrics("alone")
	if strings.Contains(text, "drift") ||
		!strings.Contains(text, "dptrain_inputs_total") {
		t.Errorf("without a report: %s", text)
	}
	writeFile(
		t, "other/report.json",
		readFile(t, "out/release/report.json"),
	)
	writeFile(
		t, "other/model.json",
		readFile(t, "out/release/model.json")+"\n",
	)
	if text := metrics("other"); strings.Contains(text, "drift") {
		t.Errorf("with the report of another file: %s", text)
	}
}
