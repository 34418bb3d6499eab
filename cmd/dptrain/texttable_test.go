package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	api "github.com/dptrain/dptrain"
	"github.com/dptrain/dptrain/adassp"
	"github.com/dptrain/dptrain/internal/ui"
)

// writeTextTable writes table.csv, which has a text column, a numeric column, and a target that depends on both.
func writeTextTable(t *testing.T) {
	t.Helper()
	colors := []string{"red", "green", "blue"}
	var table strings.Builder
	table.WriteString("color,size,price\n")
	for i := range 6000 {
		color := i % 3
		size := float64(i*7919%1009) / 100
		fmt.Fprintf(
			&table,
			"%s,%.2f,%.2f\n",
			colors[color], size,
			20*float64(color)+size,
		)
	}
	writeFile(t, "table.csv", table.String())
}

// modelInputs returns the columns of a model file in order, with the categories of text columns.
func modelInputs(t *testing.T, path string) []string {
	t.Helper()
	var model struct {
		Columns []struct {
			Name       string
			Categories []string
		}
	}
	err := json.Unmarshal([]byte(readFile(t, path)), &model)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, c := range model.Columns {
		slices.Sort(c.Categories)
		out = append(
			out,
			strings.TrimSpace(c.Name+" "+strings.Join(c.Categories, " ")),
		)
	}
	slices.Sort(out)
	return out
}

// fitOnPage trains in the working directory through the requests of the page.
func fitOnPage(t *testing.T, recipe string) {
	t.Helper()
	const host, token = "127.0.0.1:8484", "token"
	keys := 0
	a := newApp(strings.NewReader(""), t.Output(), t.Output())
	server, err := ui.New(ui.Options{
		Folder: ".",
		Token:  token,
		NewKey: func() string {
			keys++
			return fmt.Sprint("key", keys)
		},
		Run: a.inProcess,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	handler := server.Handler(host)
	ask := func(what, body string, out any) {
		q := httptest.NewRequest(
			http.MethodPost,
			"http://"+host+"/api/"+what,
			strings.NewReader(body),
		)
		for key, value := range map[string]string{
			"Authorization":  "Bearer " + token,
			"Content-Type":   "application/json",
			"Origin":         "http://" + host,
			"Sec-Fetch-Site": "same-origin",
		} {
			q.Header.Set(key, value)
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, q)
		if w.Code != http.StatusOK {
			t.Fatalf(
				"%s %s: %d %s",
				what, body, w.Code, w.Body,
			)
		}
		err := json.Unmarshal(w.Body.Bytes(), out)
		if err != nil {
			t.Fatal(err)
		}
	}
	var job struct {
		Job   int
		Ended bool
		Code  int
		Err   string
	}
	ask(
		"fit",
		`{"file":"page.yaml","recipe":`+recipe+`}`,
		&job,
	)
	for !job.Ended {
		time.Sleep(20 * time.Millisecond)
		ask(
			"job",
			fmt.Sprintf(`{"job":%d}`, job.Job),
			&job,
		)
	}
	if job.Code != 0 {
		t.Fatalf(
			"the page: code %d, %s",
			job.Code, job.Err,
		)
	}
}

// fitInPython trains with the Python estimator, without settings for text, and writes the release to out. It returns
// false if there is no Python with numpy and pandas.
func fitInPython(t *testing.T, out string) bool {
	t.Helper()
	python := os.Getenv("DPTRAIN_PYTHON")
	if python == "" {
		return false
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	const script = "import sys, pandas; from dptrain import DPRegressor; t = pandas.read_csv('table.csv'); " +
		"DPRegressor(3, method='joint-gram').fit(t.drop(columns='price'), t['price']).save(sys.argv[1])"
	cmd := exec.CommandContext(
		t.Context(), python, "-W",
		"ignore", "-c", script, out,
	)
	cmd.Env = append(
		os.Environ(),
		asProcess+"=1",
		"DPTRAIN="+self,
		"PYTHONPATH="+pythonPackage,
		"GOCOVERDIR="+t.TempDir(),
	)
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return true
}

// pythonPackage returns the folder of the Python package.
var pythonPackage = func() string {
	path, err := filepath.Abs("../../python")
	if err != nil {
		panic(err)
	}
	return path
}()

// TestTextColumnsHaveOneDefault checks that a table without declarations gives a model with the same columns and
// categories through every interface: text columns are found privately. An interface set to read numbers only has no
// text column. The method is the quickest, because columns are found before the training. Each category has about 1,600 training records, which is more than 20 standard deviations of the
// noise above the threshold. The range of a column with at least 5,000 numbers is found except with probability
// 1e-9.
func TestTextColumnsHaveOneDefault(t *testing.T) {
	chdirTemp(t)
	writeTextTable(t)
	fit := func(args ...string) {
		t.Helper()
		got := dptrain(t, append([]string{"fit", "-q"}, args...)...)
		if got.code != 0 {
			t.Fatalf("%v: %+v", args, got)
		}
	}
	const recipe = `{"data":{"path":"table.csv","target":"price"%s},"privacy":{"epsilon":3},"model":{"method":"joint-gram"},"output":{"dir":%q}}`
	flags := []string{
		"--data", "table.csv",
		"--target", "price", "--epsilon",
		"3", "--method", "joint-gram",
	}
	writeFile(
		t,
		"recipe.yaml",
		"data: {path: table.csv, target: price}\nprivacy: {epsilon: 3}\nmodel: {method: joint-gram}\n",
	)
	writeFile(
		t,
		"piped.yaml",
		"data: {path: \"-\", target: price}\nprivacy: {epsilon: 3}\nmodel: {method: joint-gram}\n",
	)

	fit(append(flags, "--out", "flags")...)
	fit(append(
		flags, "--engine", "stream",
		"--scratch", ".",
		"--out", "stream",
	)...)
	fit("recipe.yaml", "--out", "recipe")
	if got := dptrainIn(t, readFile(t, "table.csv"), "fit", "piped.yaml", "-q", "--out",
		"piped"); got.code != 0 {
		t.Fatalf("piped: %+v", got)
	}
	fitOnPage(t, fmt.Sprintf(recipe, `,"undeclared":"found"`, "ticked")) // the initial request of the page
	if err := os.Remove("page.yaml"); err != nil {
		t.Fatal(err)
	}
	fitOnPage(t, fmt.Sprintf(recipe, "", "page"))
	fitWithGo(t, "go")
	outs := []string{
		"flags", "stream", "recipe", "piped",
		"ticked", "page", "go",
	}
	want := []string{"color blue green red", "size"}
	for _, out := range outs {
		got := modelInputs(t, out+"/release/model.json")
		if !slices.Equal(got, want) {
			t.Errorf(
				"%s: the model has %q, want %q",
				out, got, want,
			)
		}
	}
	if fitInPython(t, "python") {
		got := modelInputs(t, "python/model.json")
		if !slices.Equal(got, want) {
			t.Errorf(
				"python: the model has %q, want %q",
				got, want,
			)
		}
	}

	var got []string
	for range 3 { // an empty bin of the text column passes in at most one run in 1,000
		fit(append(
			flags, "--undeclared", "numbers",
			"--out", "numbers",
			"--force",
		)...)
		got = modelInputs(t, "numbers/release/model.json")
		if slices.Equal(got, []string{"size"}) {
			return
		}
	}
	t.Errorf("numbers: the model has %q", got)
}

// fitWithGo trains with the Go package.
func fitWithGo(t *testing.T, out string) {
	t.Helper()
	table, err := api.Open("table.csv")
	if err != nil {
		t.Fatal(err)
	}
	plan, err := api.Run{Target: "price", Epsilon: 3, Model: adassp.JointGram{}}.Plan(table)
	if err != nil {
		t.Fatal(err)
	}
	fit, err := plan.Fit(t.Context(), table)
	if err != nil {
		t.Fatal(err)
	}
	if err := fit.Save(out); err != nil {
		t.Fatal(err)
	}
}
