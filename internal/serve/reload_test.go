package serve

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// lineModel returns a model with the predictions intercept + slope x, with x clamped to [0, 100].
func lineModel(intercept, slope float64) *regression.Linear {
	return &regression.Linear{
		Target:    "y",
		Lower:     -1e6,
		Upper:     1e6,
		Intercept: intercept,
		Columns: []regression.Column{{
			Name:    "x",
			Lower:   0,
			Upper:   100,
			Missing: 50,
		}},
		Terms: []regression.Term{{Column: 0, Coefficient: slope}},
		Guarantee: &regression.Guarantee{
			Epsilon:  1,
			Delta:    1e-6,
			Mu:       .24,
			Relation: "add-remove",
		},
	}
}

func releaseOf(m regression.Model, hash string) Release {
	return Release{
		Model:   m,
		Schema:  pipeline.SchemaOf(m),
		Reading: dataset.ReadOptions{},
		Hash:    hash,
		Program: "1.2.3",
	}
}

// TestReplaceUnderLoad replaces the model 200 times while clients send requests. It checks that every request is
// answered, and that all predictions of an answer come from the same model.
func TestReplaceUnderLoad(t *testing.T) {
	s, err := New(
		releaseOf(lineModel(0, 1), "a"),
		Limits{}, Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	_, web := serveHandler(t, s)
	body := `{"records":[{"x":1},{"x":2},{"x":3}]}`
	want := map[string]bool{
		`{"predictions":[{"prediction":1},{"prediction":2},{"prediction":3}]}`:    true,
		`{"predictions":[{"prediction":12},{"prediction":14},{"prediction":16}]}`: true,
	}
	var replaced atomic.Bool
	var clients sync.WaitGroup
	var answered, second atomic.Int64
	for range 4 {
		clients.Go(func() {
			for !replaced.Load() {
				status, text := postBody(
					t,
					web+"/predict",
					"application/json",
					strings.NewReader(body),
				)
				text = strings.TrimSpace(text)
				if status != http.StatusOK || !want[text] {
					t.Errorf("%d %s", status, text)
					return
				}
				answered.Add(1)
				if strings.Contains(text, "12") {
					second.Add(1)
				}
			}
		})
	}
	for i := range 200 {
		err := s.Replace(
			releaseOf(
				[]*regression.Linear{lineModel(0, 1), lineModel(10, 2)}[i%2],
				"b",
			))
		if err != nil {
			t.Error(err)
		}
		for seen := answered.Load(); answered.Load() == seen && !t.Failed(); {
			_, text := postBody(
				t,
				web+"/predict",
				"application/json",
				strings.NewReader(body),
			)
			if !want[strings.TrimSpace(text)] {
				t.Error(text)
			}
		}
	}
	replaced.Store(true)
	clients.Wait()
	if second.Load() == 0 || second.Load() == answered.Load() {
		t.Errorf(
			"%d of %d answers are those of the second model",
			second.Load(),
			answered.Load(),
		)
	}
	err = s.Replace(
		releaseOf(
			&regression.Linear{
				Target: "y",
				Lower:  1,
				Upper:  -1,
			},
			"c",
		))
	if err == nil {
		t.Error("a model that contradicts itself replaces another one")
	}
	got := getText(t, web+"/model")
	if !strings.Contains(got, `"sha256":"b"`) {
		t.Errorf("after a refused model: %s", got)
	}
}

func getText(t *testing.T, url string) string {
	t.Helper()
	r, err := http.Get(url) //nolint:noctx // of a test
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestModelIsDescribed checks that /model contains the hash of the file, the version of the program and the
// guarantee.
func TestModelIsDescribed(t *testing.T) {
	s, err := New(
		releaseOf(lineModel(0, 1), "abc"),
		Limits{}, Options{},
	)
	if err != nil {
		t.Fatal(err)
	}
	_, web := serveHandler(t, s)
	var got struct {
		Hash      string               `json:"sha256"`
		Program   string               `json:"program"`
		Guarantee regression.Guarantee `json:"guarantee"`
	}
	if err := json.Unmarshal([]byte(getText(t, web+"/model")), &got); err != nil {
		t.Fatal(err)
	}
	if got.Hash != "abc" ||
		got.Program != "1.2.3" ||
		got.Guarantee.Epsilon != 1 ||
		got.Guarantee.Relation != "add-remove" {
		t.Errorf("%+v", got)
	}
}

// TestNotReadyDuringShutdown checks that a server is not ready once it is shutting down.
func TestNotReadyDuringShutdown(t *testing.T) {
	s, web := startHandler(t, numbers, Limits{})
	for ending, want := range map[bool]string{
		false: `{"status":"ready"}`,
		true:  `{"error":{"message":"the server is stopping"}}`,
	} {
		s.ending.Store(ending)
		got := strings.TrimSpace(getText(t, web+"/ready"))
		if got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

// TestAccessLog checks that the log has one line for each answer, without any text chosen by clients.
func TestAccessLog(t *testing.T) {
	var log bytes.Buffer
	s, err := New(
		releaseOf(lineModel(0, 1), ""),
		Limits{}, Options{AccessLog: &log},
	)
	if err != nil {
		t.Fatal(err)
	}
	_, web := serveHandler(t, s)
	postBody(
		t,
		web+"/predict?interval=secret",
		"application/json",
		strings.NewReader(`{"records":[{"x":1}]}`),
	)
	postBody(
		t,
		web+"/predict",
		"application/x-ndjson",
		strings.NewReader("{\"x\":4711}\n{\"x\":2}\n"),
	)
	getText(t, web+"/secret")
	want := []accessLine{
		{
			Method: "POST",
			Path:   "/predict",
			Status: 400,
		},
		{
			Method:  "POST",
			Path:    "/predict",
			Status:  200,
			Records: 2,
		},
		{
			Method: "GET",
			Path:   "other",
			Status: 404,
		},
	}
	waitFor(t, "three lines", func() bool {
		s.access.mu.Lock()
		defer s.access.mu.Unlock()
		return bytes.Count(
			log.Bytes(),
			[]byte("\n"),
		) == len(want)
	})
	var got []accessLine
	for text := range strings.Lines(log.String()) {
		var line accessLine
		err := json.Unmarshal([]byte(text), &line)
		if err != nil || line.Time == "" || line.Seconds <= 0 {
			t.Errorf("%s: %v", text, err)
		}
		line.Time = ""
		line.Seconds = 0
		got = append(got, line)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if strings.Contains(log.String(), "secret") ||
		strings.Contains(log.String(), "4711") {
		t.Errorf(
			"a line holds what a client sent: %s",
			log.String(),
		)
	}
}

// TestInputCounts sends a table with shifted numbers and with missing and unknown cells. It checks that the counters
// match the counts in the table.
func TestInputCounts(t *testing.T) {
	m := lineModel(0, 1)
	m.Columns = append(
		m.Columns,
		regression.Column{
			Name:       `kind "a"`,
			Type:       regression.Category,
			Categories: []string{"red", "green"},
			Other:      true,
		},
	)
	m.Terms = append(m.Terms, regression.Term{
		Column:      1,
		Category:    "red",
		Coefficient: 1,
	})
	rng := rand.New(rand.NewPCG(3, 4))
	var body strings.Builder
	body.WriteString("x,\"kind \"\"a\"\"\"\n")
	want := map[string]int{}
	const records = 5000
	for range records {
		x := 30 + 100*rng.Float64()
		kind := []string{"red", "green", "blue", ""}[rng.IntN(4)]
		cell := fmt.Sprint(x)
		switch {
		case rng.IntN(10) == 0:
			cell = []string{"", "n/a"}[rng.IntN(2)]
			want[`x",state="missing`]++
		case x > 100:
			want[`x",state="above`]++
		default:
			want[`x",state="known`]++
		}
		if kind == "red" || kind == "green" {
			want[`kind \"a\"",state="known`]++
		} else {
			want[`kind \"a\"",state="unknown`]++
		}
		fmt.Fprintf(&body, "%s,%s\n", cell, kind)
	}
	s, err := New(releaseOf(m, ""), Limits{}, Options{Inputs: true})
	if err != nil {
		t.Fatal(err)
	}
	_, web := serveHandler(t, s)
	status, text := postBody(
		t,
		web+"/predict",
		"text/csv",
		strings.NewReader(body.String()),
	)
	if status != http.StatusOK ||
		strings.Count(text, "\n") != records+1 {
		t.Fatalf(
			"%d, %d lines",
			status, strings.Count(text, "\n"),
		)
	}
	metrics := getText(t, web+"/metrics")
	got := 0
	for _, line := range regexp.MustCompile(
		`(?m)^dptrain_inputs_total\{column="(.*)"\} (\d+)$`).FindAllStringSubmatch(
		metrics,
		-1,
	) {
		got++
		if fmt.Sprint(want[line[1]]) != line[2] {
			t.Errorf(
				"%s: want %d",
				line[0], want[line[1]],
			)
		}
	}
	if got != len(want) {
		t.Errorf(
			"%d counters, want %d:\n%s",
			got, len(want), metrics,
		)
	}
	plain, err := New(releaseOf(m, ""), Limits{}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, web = serveHandler(t, plain)
	if text := getText(t, web+"/metrics"); strings.Contains(text, "inputs") {
		t.Errorf("cells are counted without being asked for: %s", text)
	}
}

// TestDashboardMetricsExist checks that /metrics has every metric used in examples/grafana/dptrain.json.
func TestDashboardMetricsExist(t *testing.T) {
	text, err := os.ReadFile("../../examples/grafana/dptrain.json")
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Panels []struct {
			Title   string `json:"title"`
			Targets []struct {
				Expr string `json:"expr"`
			} `json:"targets"`
		} `json:"panels"`
	}
	if err := json.Unmarshal(text, &board); err != nil {
		t.Fatal(err)
	}
	release := releaseOf(lineModel(0, 1), "")
	release.Histograms = []Histogram{{
		Column: "x",
		Upper:  100,
		Counts: []float64{50, 50},
	}}
	s, err := New(release, Limits{}, Options{Inputs: true})
	if err != nil {
		t.Fatal(err)
	}
	_, web := serveHandler(t, s)
	postBody(
		t,
		web+"/predict",
		"application/json",
		strings.NewReader(`{"records":[{"x":1}]}`),
	)
	metrics := getText(t, web+"/metrics")
	drawn := 0
	for _, p := range board.Panels {
		for _, target := range p.Targets {
			for _, name := range regexp.MustCompile(`dptrain_\w+`).FindAllString(
				target.Expr,
				-1,
			) {
				drawn++
				if !strings.Contains(metrics, "\n"+name+"{") &&
					!strings.Contains(metrics, "\n"+name+" ") {
					t.Errorf(
						"%s: /metrics has no %s",
						p.Title, name,
					)
				}
			}
		}
	}
	if drawn < 6 {
		t.Errorf("%d metrics are drawn", drawn)
	}
}
