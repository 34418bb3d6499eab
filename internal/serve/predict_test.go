package serve

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dptrain/dptrain/dataset"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/regression"
)

// cellTexts returns the texts of cells of every valid and invalid form.
func cellTexts(m regression.Model) []string {
	out := []string{"1", "-2.5", "1e3", "1e999", "", " ", "NA", "45 yrs", "<5", "1,234.5", "x", `"`,
		`"a`, `b"`, `""`, `"quoted"`, "\t7 ", "true", "t", "\xff", "0x10",
		"1_000", "∞", "\u00a05", "1;2", "2024-01-31", strings.Repeat("9", 400)}
	for _, c := range m.Inputs() {
		out = append(out, c.Categories...)
		out = append(
			out,
			strconv.FormatFloat((c.Lower+c.Upper)/3, 'g', -1, 64),
		)
	}
	return out
}

// randomTable returns a CSV table with malformed lines of every kind.
func randomTable(rng *rand.Rand, m regression.Model) []byte {
	names := append([]string{"other"}, inputNames(m)...)
	rng.Shuffle(len(names), func(i, j int) {
		names[i], names[j] = names[j], names[i]
	})
	forms := cellTexts(m)
	ends := []string{
		"\n", "\n",
		"\r\n", "\n\n",
		"\r\n\r\n",
	}
	var b strings.Builder
	if rng.IntN(4) == 0 {
		b.WriteString("\uFEFF")
	}
	b.WriteString(strings.Join(names, ",") + ends[rng.IntN(len(ends))])
	for range rng.IntN(40) {
		width := len(names)
		if rng.IntN(4) == 0 {
			width = 1 + rng.IntN(len(names)+3)
		}
		for f := range width {
			if f > 0 {
				b.WriteByte(',')
			}
			b.WriteString(forms[rng.IntN(len(forms))])
		}
		b.WriteString(ends[rng.IntN(len(ends))])
	}
	if rng.IntN(2) == 0 {
		b.WriteString("7,8")
	}
	return []byte(b.String())
}

// randomObjects returns JSON objects with values of every type.
func randomObjects(rng *rand.Rand, m regression.Model) []string {
	names := append([]string{"other", "with \" quote", "é"}, inputNames(m)...)
	out := make([]string, rng.IntN(30))
	for i := range out {
		var members []string
		if i == 0 { // the first record must have an input
			members = append(members, strconv.Quote(names[3])+":null")
		}
		for range rng.IntN(2 * len(names)) {
			name, _ := json.Marshal(names[rng.IntN(len(names))])
			value := []string{"null", "true", "false", "0", "-1.5e2", "1e999",
				"123456789012345678901", `[1,"}"]`, `{"a":{"b":"]"}}`, `"\ud83d\ude00"`, `"\u0031"`,
				`"a\nb"`}[rng.IntN(12)]
			if rng.IntN(2) == 0 {
				forms := cellTexts(m)
				quoted, _ := json.Marshal(forms[rng.IntN(len(forms))])
				value = string(quoted)
			}
			members = append(
				members,
				string(name)+[]string{":", " : "}[rng.IntN(2)]+value,
			)
		}
		out[i] = "{" + strings.Join(
			members,
			[]string{",", " ,\t"}[rng.IntN(2)],
		) + "}"
	}
	return out
}

// TestEqualsPredict checks for every kind of model and 300 random bodies of each content type (1,200 in full) that every record
// has one answer, equal to the prediction of the command predict. Bodies are read with the reading options of the
// model.
func TestEqualsPredict(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, path := range []string{numbers, chances, three, kernel} {
		m := readModel(t, path)
		for _, opts := range []dataset.ReadOptions{
			{},
			{Format: dataset.Format{
				Strict:  true,
				Quote:   '\'',
				Missing: []float64{1},
			}},
			{Format: dataset.Format{MultilineQuotes: true}},
		} {
			_, web := serveHandler(t, newServer(t, m, opts, Limits{}))
			for range testkit.Size(25, 100) {
				table := randomTable(rng, m)
				want := commandPredictions(t, m, "body.csv", table, opts)
				status, answer := postBody(
					t,
					web+"/predict",
					"text/csv",
					strings.NewReader(string(table)),
				)
				got := columnOf(t, answer)
				if status != http.StatusOK || !slices.Equal(got, want) {
					t.Fatalf(
						"%s %+v %q: %d %q, want %q",
						path, opts, table, status, got, want,
					)
				}
				objects := randomObjects(rng, m)
				lines := strings.Join(objects, "\n")
				withNames := opts
				withNames.Names = inputNames(m)
				want = commandPredictions(t, m, "body.jsonl", []byte(lines), withNames)
				if len(want) != len(objects) {
					t.Fatalf(
						"%d predictions of %d records",
						len(want), len(objects),
					)
				}
				status, answer = postBody(
					t,
					web+"/predict",
					"application/x-ndjson",
					strings.NewReader(lines),
				)
				got = linesOf(t, answer)
				if status != http.StatusOK || !slices.Equal(got, want) {
					t.Fatalf(
						"%s %s: %d %q, want %q",
						path, lines, status, got, want,
					)
				}
				body := "\n{ \"records\" :\n[" + strings.Join(objects, ",\n ") + " ]\n}\n"
				status, answer = postBody(
					t,
					web+"/predict",
					"application/json",
					strings.NewReader(body),
				)
				got = listOf(t, answer)
				if status != http.StatusOK || !slices.Equal(got, want) {
					t.Fatalf(
						"%s %s: %d %q, want %q",
						path, body, status, got, want,
					)
				}
			}
		}
	}
}

// columnOf returns the predictions in a CSV answer.
func columnOf(t *testing.T, answer string) []string {
	t.Helper()
	rows, err := csv.NewReader(strings.NewReader(answer)).ReadAll()
	if err != nil ||
		len(rows) == 0 ||
		rows[0][0] != "prediction" {
		t.Fatalf("%q: %v", answer, err)
	}
	var out []string
	for _, row := range rows[1:] {
		if y, err := strconv.ParseFloat(row[0], 64); err == nil {
			out = append(out, predictionText(y))
		} else {
			out = append(out, row[0])
		}
	}
	return out
}

// A predictionOf is a prediction in JSON.
type predictionOf struct {
	Prediction    any
	Lower, Upper  *float64
	Probabilities map[string]float64
	Error         *problem
}

func linesOf(t *testing.T, answer string) []string {
	t.Helper()
	var out []string
	for d := json.NewDecoder(strings.NewReader(answer)); ; {
		var p predictionOf
		err := d.Decode(&p)
		if err == io.EOF {
			return out
		} else if err != nil {
			t.Fatalf("%q: %v", answer, err)
		}
		out = append(out, predictionText(p.Prediction))
	}
}

func listOf(t *testing.T, answer string) []string {
	t.Helper()
	var list struct{ Predictions []predictionOf }
	err := json.Unmarshal([]byte(answer), &list)
	if err != nil {
		t.Fatalf("%q: %v", answer, err)
	}
	var out []string
	for _, p := range list.Predictions {
		out = append(out, predictionText(p.Prediction))
	}
	return out
}

// TestPredictIntervalsAndProbabilities checks intervals, probabilities and the CSV header, with class names that need
// quotes.
func TestPredictIntervalsAndProbabilities(t *testing.T) {
	m := readModel(t, numbers)
	_, web := startHandler(t, numbers, Limits{})
	interval := regression.IntervalsOf(m)[0]
	body := headerLine(inputNames(m)) + strings.Repeat("1,", len(m.Inputs())-1) + "2\n"
	status, answer := postBody(
		t,
		web+"/predict?interval="+fmt.Sprint(interval.Level),
		"text/csv",
		strings.NewReader(body),
	)
	var y, lower, upper float64
	if n, err := fmt.Sscanf(answer, "prediction,lower,upper\n%g,%g,%g\n", &y, &lower,
		&upper); n != 3 ||
		status != 200 ||
		math.Abs(y-lower-interval.HalfWidth)+math.Abs(upper-y-interval.HalfWidth) > 1e-9 {
		t.Errorf("%q: %v", answer, err)
	}
	status, answer = postBody(
		t,
		web+"/predict?interval="+fmt.Sprint(interval.Level),
		"application/json",
		strings.NewReader(`{"records":[{}]}`),
	)
	if status != 200 ||
		!strings.Contains(answer, `,"lower":`) ||
		!strings.Contains(answer, `,"upper":`) {
		t.Error(answer)
	}

	classes := []string{"", `a "b", c`, "line\nbreak"}
	score := func(intercept float64) regression.Model {
		l := *xModel().(*regression.Linear)
		l.Target = "kind"
		l.Intercept = intercept
		return &l
	}
	c := &regression.Classifier{
		Target:  "kind",
		Classes: classes,
		Scores:  []regression.Model{score(0), score(1), score(0)},
	}
	if err := c.Validate(); err != nil {
		t.Fatal(err)
	}
	c.Scores[0].(*regression.Linear).Terms[0].Coefficient = -1
	c.Scores[2].(*regression.Linear).Terms[0].Coefficient = 5
	_, web = serveHandler(t, newServer(t, c, dataset.ReadOptions{}, Limits{}))
	want := commandPredictions(
		t,
		c,
		"x.csv",
		[]byte("x\n-100\n0\n100\n"),
		dataset.ReadOptions{},
	)
	_, answer = postBody(
		t,
		web+"/predict",
		"text/csv",
		strings.NewReader("x\n-100\n0\n100\n"),
	)
	got := columnOf(t, answer)
	if !slices.Equal(got, want) || !slices.Equal(want, classes) {
		t.Errorf("%q, want %q", got, want)
	}
	_, answer = postBody(
		t,
		web+"/predict",
		"application/x-ndjson",
		strings.NewReader("{\"x\":-100}\n{\"x\":0}\n{\"x\":100}\n"),
	)
	if got := linesOf(t, answer); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}

	two := readModel(t, chances).(*regression.Classifier)
	_, web = startHandler(t, chances, Limits{})
	rows := pipeline.RowsOf(mustTable(
		t, two,
		headerLine(inputNames(two))+"1\n,,\n",
	).View())
	wantChances, err := two.Probabilities(nil, rows)
	if err != nil {
		t.Fatal(err)
	}
	_, answer = postBody(
		t,
		web+"/predict",
		"text/csv",
		strings.NewReader(headerLine(inputNames(two))+"1\n,,\n"),
	)
	lines := strings.Split(answer, "\n")
	if lines[0] != "prediction,probability of "+two.Classes[0]+",probability of "+two.Classes[1] {
		t.Error(lines[0])
	}
	for i, p := range wantChances {
		if !strings.HasSuffix(lines[i+1], fmt.Sprintf(",%v,%v", 1-p, p)) {
			t.Errorf(
				"%s, want %v",
				lines[i+1], p,
			)
		}
	}
	_, answer = postBody(
		t,
		web+"/predict",
		"application/x-ndjson",
		strings.NewReader("{}"),
	)
	var p predictionOf
	err = json.Unmarshal([]byte(answer), &p)
	if err != nil || len(p.Probabilities) != 2 {
		t.Errorf("%s: %v", answer, err)
	}
}

// TestBodiesAreReadAsModelDeclares checks that bodies are read with the dialect, the character set and the header
// setting of the model, and that the charset parameter of a request overrides the character set.
func TestBodiesAreReadAsModelDeclares(t *testing.T) {
	m := xModel()
	m.(*regression.Linear).Columns[0].Name = "größe"
	for _, c := range []struct {
		opts       dataset.ReadOptions
		kind, body string
		want       []float64
	}{
		{
			dataset.ReadOptions{Format: dataset.Format{
				Separator: ';',
				Decimal:   ',',
				Skip:      1,
			}},
			"text/csv",
			"title\na;größe\n1;2,5\n",
			[]float64{6},
		},
		{
			dataset.ReadOptions{Format: dataset.Format{Encoding: "latin1"}},
			"text/csv",
			"gr\xf6\xdfe\n3\n",
			[]float64{7},
		},
		{
			dataset.ReadOptions{Format: dataset.Format{Encoding: "latin1"}},
			"text/csv; charset=UTF-8",
			"größe\n3\n",
			[]float64{7},
		},
		{
			dataset.ReadOptions{},
			"text/csv;charset=windows-1252",
			"gr\xf6\xdfe\n3\n",
			[]float64{7},
		},
		{
			dataset.ReadOptions{Format: dataset.Format{
				Encoding:  "latin1",
				Separator: ';',
			}},
			"application/x-ndjson; charset=utf-8",
			`{"größe":3}`,
			[]float64{7},
		},
		{
			dataset.ReadOptions{Names: []string{"a", "größe"}},
			"text/csv",
			"1,2\n3,4\n",
			[]float64{5, 9},
		},
		{
			dataset.ReadOptions{Names: []string{"a", "größe"}},
			"application/x-ndjson",
			`{"größe":4}`,
			[]float64{9},
		},
		{
			dataset.ReadOptions{Format: dataset.Format{Missing: []float64{-9}}},
			"application/json",
			`{"records":[{"größe":-9},{"größe":"-9.0"}]}`,
			[]float64{11, 11},
		},
		{
			dataset.ReadOptions{Format: dataset.Format{MultilineQuotes: true}},
			"text/csv",
			"größe,a\n1,\"x\n2\"\n3,4\n",
			[]float64{3, 7},
		},
	} {
		_, web := serveHandler(t, newServer(t, m, c.opts, Limits{}))
		status, answer := postBody(
			t, web+"/predict", c.kind,
			strings.NewReader(c.body),
		)
		var got []string
		switch {
		case status != http.StatusOK:
		case strings.HasPrefix(c.kind, "text/csv"):
			got = columnOf(t, answer)
		case strings.HasPrefix(c.kind, "application/json"):
			got = listOf(t, answer)
		default:
			got = linesOf(t, answer)
		}
		var want []string
		for _, y := range c.want {
			want = append(want, predictionText(y))
		}
		if !slices.Equal(got, want) {
			t.Errorf(
				"%+v %s %q: %d %s, want %v",
				c.opts,
				c.kind,
				c.body,
				status,
				answer,
				c.want,
			)
		}
	}
}
