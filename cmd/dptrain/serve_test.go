package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startServe runs serve with a model until the test ends, and returns its address. It checks that the exit code is
// 0.
func startServe(t *testing.T, args ...string) string {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	printed := make(lines, 9)
	ended := make(chan int, 1)
	go func() {
		ended <- run(
			ctx,
			append([]string{
				"serve", "--addr",
				"127.0.0.1:0",
			}, args...),
			nil,
			&bytes.Buffer{},
			printed,
		)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != exitOK {
			t.Errorf("exit code %d", code)
		}
	})
	select {
	case text := <-printed:
		at := regexp.MustCompile(`http://[0-9.:]+`).FindString(text)
		if at != "" {
			return at
		}
		t.Fatalf("it does not print its address: %s", text)
	case <-time.After(time.Minute):
		t.Fatal("it does not start")
	}
	return ""
}

// lines is a writer that sends the written text to a channel.
type lines chan string

func (l lines) Write(b []byte) (int, error) {
	l <- string(b)
	return len(b), nil
}

// TestServe checks that invalid flags and addresses cause usage errors that name the flag and a remedy, and that an
// unreadable model is a data error.
func TestServe(t *testing.T) {
	const path = "../../regression/testdata/model-2.json"
	taken, err := (&net.ListenConfig{}).Listen(
		t.Context(), "tcp",
		"127.0.0.1:0",
	)
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for _, c := range []struct {
		args   string
		code   int
		reason string
	}{
		{path + " --addr x", exitUsage, "HOST:PORT"},
		{
			path + " --addr 127.0.0.1:99999",
			exitUsage, "from 0 to 65535",
		},
		{
			path + " --addr 127.0.0.1:http",
			exitUsage, "from 0 to 65535",
		},
		{
			path + " --addr 0.0.0.0:0",
			exitUsage, "--plain",
		},
		{path + " --addr :0", exitUsage, "--plain"},
		{
			path + " --addr 192.0.2.1:0 --plain",
			exitUsage, "no such address",
		},
		{
			path + " --addr " + taken.Addr().String(),
			exitUsage, "choose another port",
		},
		{path + " --cert x.pem", exitUsage, "--key"},
		{
			path + " --cert x.pem --key x.pem",
			exitUsage, "x.pem",
		},
		{path + " --max-body 0", exitUsage, "--max-body"},
		{path + " --max-buffered -1", exitUsage, "--max-buffered"},
		{path + " --max-buffered 1000", exitUsage, "--max-body"},
		{path + " --max-requests 0", exitUsage, "--max-requests"},
		{path + " --max-connections 0", exitUsage, "--max-connections"},
		{
			path + " --max-per-client 0",
			exitUsage, "--max-per-client",
		},
		{path + " --idle 0s", exitUsage, "--idle"},
		{path + " --drain -1s", exitUsage, "--drain"},
		{path + " --sheet x", exitUsage, "--sheet"},
		{path + " --separator ab", exitUsage, "--separator"},
		{path + " extra", exitUsage, "a model"},
		{"", exitUsage, "a model"},
		{"nothing.json", exitData, "nothing.json"},
		{"serve_test.go", exitData, "serve_test.go"},
		{
			"../../testdata/houses.csv",
			exitData, "a table, not a model",
		},
	} {
		got := dptrain(t, append([]string{"serve"}, strings.Fields(c.args)...)...)
		if got.code != c.code ||
			!strings.Contains(got.stderr, c.reason) ||
			got.stdout != "" {
			t.Errorf(
				"%s: %+v, want code %d and %q",
				c.args, got, c.code, c.reason,
			)
		}
	}
	at := startServe(t, path)
	r, err := http.Post(
		at+"/predict",
		"application/json",
		strings.NewReader(`{"records":[{"age":1,"ocean":null,"income":2,"kind":"a"}]}`),
	)
	if err != nil || r.StatusCode != http.StatusOK {
		t.Fatal(err)
	}
	_ = r.Body.Close()
}

// servedRecipe trains on a table with semicolons, decimal commas, dates and text columns. Its reading options are in
// the recipe next to the model.
const servedRecipe = `
data:
  path: flats.csv
  target: price
  format: {separator: ";", decimal: ",", missing: [-9]}
  columns:
    size: {lower: 0, upper: 100}
    sold: {date: auto, between: ["2020-01-01", "2024-12-31"]}
    kind: {categories: [old, new, "a;b"], other: true}
    price: {lower: 0, upper: 1000}
privacy: {epsilon: 8}
`

// servedTables is the number of random tables of each form that are served. In 30 tables, each of the cells is in a
// record three times or more, with each end of lines, with a mark and without. scripts/long.sh serve has 1,200.
var servedTables = flag.Int("served-tables", 30, "how many random tables of each form a server predicts")

// TestServeEqualsPredict checks for random tables of CSV, of JSON Lines and of JSON that every record has one answer,
// equal to the output of predict with the same model and reading options. Package serve tests 1,200 of each.
func TestServeEqualsPredict(t *testing.T) {
	chdirTemp(t)
	rng := rand.New(rand.NewPCG(11, 12))
	table := &strings.Builder{}
	table.WriteString("size;sold;kind;price\n")
	for range 2000 {
		size := rng.IntN(1000)
		day := rng.IntN(365)
		kind := []string{"old", "new", `"a;b"`}[rng.IntN(3)]
		fmt.Fprintf(
			table,
			"%d,%d;%s;%s;%d,5\n",
			size/10,
			size%10,
			time.Date(
				2022, 1, 1+day, 0, 0, 0,
				0, time.UTC,
			).Format(time.DateOnly),
			kind,
			size/2+day/3+100*len(kind),
		)
	}
	writeFile(t, "flats.csv", table.String())
	writeFile(t, "recipe.yaml", servedRecipe)
	got := dptrain(
		t, "fit", "recipe.yaml",
		"--out", "out",
		"--quiet",
	)
	if got.code != exitOK {
		t.Fatalf("%+v", got)
	}
	const model = "out/release/model.json"
	at := startServe(t, model)
	names := []string{"size", "sold", "kind", "other"}
	cells := []string{"1", "12,5", "12.5", "1.234,5", "-9", "1e1", "1e999", "", " ", "NA", "45 yrs",
		"<5", "true", "t", `"`, `"x`, "old", " new ", `"a;b"`, "OLD",
		"2022-03-04", "04.03.2022", "2022-03-04T10:00:00Z", "\xff", "\u00a07"}
	quoted := func(text string) string {
		out, _ := json.Marshal(text)
		return string(out)
	}
	for i := range *servedTables {
		rng.Shuffle(len(names), func(i, j int) {
			names[i], names[j] = names[j], names[i]
		})
		var body, objects []string
		end := []string{"\n", "\r\n", "\n\n"}[rng.IntN(3)]
		for range rng.IntN(8) {
			line := make([]string, 1+rng.IntN(len(names)+1))
			object := []string{`"other":0`}
			for f := range line {
				line[f] = cells[rng.IntN(len(cells))]
				value := []string{quoted(line[f]), "null", "true", "1.5", "1e999", "[1]", `{"a":1}`,
					"-9"}[rng.IntN(8)]
				object = append(object, quoted(names[f%len(names)])+":"+value)
			}
			text := strings.Join(line, ";")
			if text != "" {
				body = append(body, text)
			}
			objects = append(objects, "{"+strings.Join(object, ",")+"}")
		}
		if len(objects) > 0 {
			objects[0] = `{"size":1}` // the first record has a column of the model
		}
		mark := []string{"", "\uFEFF"}[rng.IntN(2)]
		csv := mark + strings.Join(
			append([]string{strings.Join(names, ";")}, body...),
			end,
		) + end
		for _, c := range []struct{ kind, stdin, body, records string }{
			{"text/csv", "-", csv, csv},
			{"application/x-ndjson", "-.jsonl", strings.Join(objects, end),
				strings.Join(objects, "\n")},
			{
				"application/json",
				"-.jsonl",
				`{"records":[` + strings.Join(objects, ",") + "]}",
				strings.Join(objects, "\n"),
			},
		} {
			want := dptrainIn(t, c.records, "predict", model, c.stdin)
			if want.code != exitOK {
				t.Fatalf(
					"predict of %q: %+v",
					c.records, want,
				)
			}
			r, err := http.Post(
				at+"/predict", c.kind,
				strings.NewReader(c.body),
			)
			if err != nil {
				t.Fatal(err)
			}
			answer, err := io.ReadAll(r.Body)
			_ = r.Body.Close()
			records := len(objects)
			if c.kind == "text/csv" {
				records = len(body)
			}
			got := parsePredictions(t, c.kind, answer)
			printed := parsePredictions(t, "text/csv", []byte(want.stdout))
			if err != nil ||
				r.StatusCode != http.StatusOK ||
				!slices.Equal(got, printed) ||
				len(got) != records {
				t.Fatalf("table %d, %s %q: %s %v %v, want %v of %d records", i, c.kind, c.body,
					r.Status, err, got, printed, records)
			}
		}
	}
}

// parsePredictions returns the numbers in an answer or in the output of predict.
func parsePredictions(t *testing.T, kind string, answer []byte) []float64 {
	t.Helper()
	type prediction struct{ Prediction float64 }
	var list struct{ Predictions []prediction }
	switch kind {
	case "application/json":
		if err := json.Unmarshal(answer, &list); err != nil {
			t.Fatalf("%q: %v", answer, err)
		}
	case "application/x-ndjson":
		for d := json.NewDecoder(bytes.NewReader(answer)); d.More(); {
			var p prediction
			if err := d.Decode(&p); err != nil {
				t.Fatalf("%q: %v", answer, err)
			}
			list.Predictions = append(list.Predictions, p)
		}
	default:
		for line := range strings.Lines(strings.TrimPrefix(
			string(answer),
			"prediction\n",
		)) {
			y, err := strconv.ParseFloat(strings.TrimSpace(line), 64)
			if err != nil {
				t.Fatalf("%q: %v", answer, err)
			}
			list.Predictions = append(list.Predictions, prediction{y})
		}
	}
	var out []float64
	for _, p := range list.Predictions {
		out = append(out, p.Prediction)
	}
	return out
}
