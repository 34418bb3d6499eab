package ui

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

const (
	host  = "127.0.0.1:8484"
	token = "TOKENTOKENTOKENTOKENTOKEN2"
)

// recorded is a server that records its commands.
type recorded struct {
	*Server
	handler http.Handler
	folder  string
	calls   [][]string
	run     func(ctx context.Context, c Call) int
}

func newRecorded(t *testing.T) *recorded {
	t.Helper()
	folder, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	r := &recorded{folder: folder, run: func(_ context.Context, c Call) int {
		fmt.Fprintf(c.Stdout, `{"columns":["x","y"]}`)
		return 0
	}}
	keys := 0
	s, err := New(Options{
		Folder: folder,
		Token:  token,
		NewKey: func() string {
			keys++
			return fmt.Sprint("key", keys)
		},
		Run: func(ctx context.Context, c Call) int {
			r.calls = append(r.calls, c.Args)
			return r.run(ctx, c)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	r.Server = s
	r.handler = s.Handler(host)
	r.writeFile(t, "t.csv", "x,y\n1,2\n")
	return r
}

func (r *recorded) writeFile(t *testing.T, name, text string) {
	t.Helper()
	at := filepath.Join(r.folder, name)
	if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
		t.Fatal(err)
	}
	err := os.WriteFile(at, []byte(text), 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

// sendRequest sends a request like the page, after applying change to it.
func (r *recorded) sendRequest(
	method, path, body string, change func(*http.Request),
) *httptest.ResponseRecorder {
	q := httptest.NewRequest(
		method, "http://"+host+path,
		strings.NewReader(body),
	)
	q.Header.Set("Authorization", "Bearer "+token)
	q.Header.Set("Content-Type", "application/json")
	q.Header.Set("Origin", "http://"+host)
	q.Header.Set("Sec-Fetch-Site", "same-origin")
	if change != nil {
		change(q)
	}
	w := httptest.NewRecorder()
	r.handler.ServeHTTP(w, q)
	return w
}

func (r *recorded) askAPI(t *testing.T, what, body string, out any) int {
	t.Helper()
	w := r.sendRequest(http.MethodPost, "/api/"+what, body, nil)
	if out != nil {
		err := json.Unmarshal(w.Body.Bytes(), out)
		if err != nil {
			t.Fatalf(
				"%s: %v: %s",
				what, err, w.Body,
			)
		}
	}
	return w.Code
}

// TestAPIRefusesForeignRequests checks that the API refuses requests from another origin, for another host, without a
// token or with a wrong one, and runs no command for them.
func TestAPIRefusesForeignRequests(t *testing.T) {
	r := newRecorded(t)
	var paths []string
	for _, what := range []string{"files", "columns", "preview", "runs", "recipe", "plan",
		"explain", "fit", "job", "cancel", "report", "ledger", "register",
		"sample", "import"} {
		paths = append(paths, "/api/"+what)
	}
	for name, x := range map[string]struct {
		status int
		change func(*http.Request)
	}{
		"another origin": {403, func(q *http.Request) {
			q.Header.Set("Origin", "http://evil.example")
		}},
		"an opaque origin": {
			403,
			func(q *http.Request) {
				q.Header.Set("Origin", "null")
			},
		},
		"another port": {403, func(q *http.Request) {
			q.Header.Set("Origin", "http://127.0.0.1:8485")
		}},
		"another site": {403, func(q *http.Request) {
			q.Header.Del("Origin")
			q.Header.Set("Sec-Fetch-Site", "cross-site")
		}},
		"same site, other port": {403, func(q *http.Request) {
			q.Header.Set("Sec-Fetch-Site", "same-site")
		}},
		"another host": {421, func(q *http.Request) {
			q.Host = "evil.example"
		}},
		"a name of this host": {421, func(q *http.Request) {
			q.Host = "localhost:8484"
		}},
		"no token": {
			401,
			func(q *http.Request) {
				q.Header.Del("Authorization")
			},
		},
		"an empty token": {401, func(q *http.Request) {
			q.Header.Set("Authorization", "Bearer ")
		}},
		"a wrong token": {401, func(q *http.Request) {
			q.Header.Set("Authorization", "Bearer "+token[1:]+"A")
		}},
		"a part of the token": {401, func(q *http.Request) {
			q.Header.Set("Authorization", "Bearer "+token[:5])
		}},
		"the token in a cookie": {401, func(q *http.Request) {
			q.Header.Del("Authorization")
			q.Header.Set("Cookie", "token="+token)
		}},
		"the token in the query": {401, func(q *http.Request) {
			q.Header.Del("Authorization")
			q.URL.RawQuery = "token=" + token
		}},
		"a form": {415, func(q *http.Request) {
			q.Header.Set("Content-Type", "text/plain")
		}},
	} {
		for _, path := range paths {
			w := r.sendRequest(
				http.MethodPost,
				path,
				`{"path":"t.csv","file":"a.yaml"}`,
				x.change,
			)
			if w.Code != x.status ||
				w.Header().Get("Access-Control-Allow-Origin") != "" {
				t.Errorf(
					"%s, %s: %d %s",
					name, path, w.Code, w.Body,
				)
			}
		}
	}
	for _, method := range []string{http.MethodGet, http.MethodOptions, http.MethodPut,
		http.MethodDelete} {
		w := r.sendRequest(method, "/api/fit", "", nil)
		if w.Code == 200 ||
			w.Header().Get("Access-Control-Allow-Methods") != "" {
			t.Errorf("%s: %d", method, w.Code)
		}
	}
	if len(r.calls) > 0 {
		t.Error(r.calls)
	}
}

func TestAPIRefusesMalformedRequests(t *testing.T) {
	r := newRecorded(t)
	for _, body := range []string{
		"",
		"[]",
		"{",
		`{"unknown":1}`,
		`{"path":1}`,
		`{"path":"` + strings.Repeat("a", maxBody) + `"}`,
	} {
		w := r.sendRequest(http.MethodPost, "/api/files", body, nil)
		if w.Code != 400 {
			t.Errorf("%.20s: %d", body, w.Code)
		}
	}
}

// TestPageHolds checks that the page and its resources have the headers that isolate it from other pages, and
// contain no inline script or style.
func TestPageHolds(t *testing.T) {
	r := newRecorded(t)
	err := fs.WalkDir(web, "web", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name := strings.TrimPrefix(path, "web")
		if name == "/index.html" {
			name = "/"
		}
		w := r.sendRequest(http.MethodGet, name, "", func(q *http.Request) {
			q.Header = http.Header{}
		})
		if w.Code != 200 || w.Body.Len() == 0 {
			t.Errorf("%s: %d", name, w.Code)
		}
		for key, part := range map[string]string{
			"Content-Security-Policy":      "frame-ancestors 'none'",
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			got := w.Header().Get(key)
			if !strings.Contains(got, part) ||
				strings.Contains(got, "unsafe") {
				t.Errorf(
					"%s: %s: %q",
					name, key, got,
				)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	page := r.sendRequest(http.MethodGet, "/", "", nil).Body.String()
	for _, bad := range []string{`<script>`, `<style`, ` style=`, `javascript:`, `https:`,
		` on\w+=`} {
		at := regexp.MustCompile(bad).FindString(page)
		if at != "" {
			t.Errorf("the page has %q", at)
		}
	}
	// A link in another program opens the empty page; other requests from another site are refused.
	cross := func(q *http.Request) {
		q.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	}
	if a, b := r.sendRequest(http.MethodGet, "/", "", cross).Code,
		r.sendRequest(
			http.MethodGet, "/app.js", "",
			cross,
		).Code; a != 200 || b != 403 {
		t.Error(a, b)
	}
}

// TestStaysInFolder checks that no route accepts a name that leads out of the folder.
func TestStaysInFolder(t *testing.T) {
	r := newRecorded(t)
	outside := t.TempDir()
	for name, text := range map[string]string{
		"secret.csv":          "secret\n1\n",
		"release/report.html": "secret",
		"r.yaml":              "data: {path: secret.csv, target: secret}\nprivacy: {epsilon: 1}\n",
	} {
		at := filepath.Join(outside, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			t.Fatal(err)
		}
		err := os.WriteFile(at, []byte(text), 0o600)
		if err != nil {
			t.Fatal(err)
		}
	}
	for link, to := range map[string]string{
		"link":      outside,
		"link.csv":  filepath.Join(outside, "secret.csv"),
		"gone.csv":  filepath.Join(outside, "gone.csv"),
		"link.yaml": filepath.Join(outside, "r.yaml"),
	} {
		err := os.Symlink(to, filepath.Join(r.folder, link))
		if err != nil {
			t.Skip(err)
		}
	}
	out := filepath.Base(outside)
	recipe := func(data, ledger, dir string) string {
		return fmt.Sprintf(
			`{"file":"new.yaml","recipe":{"data":{"path":%q,"target":"y"},"privacy":{"epsilon":1},"ledger":{"path":%q,"dataset":"d"},"output":{"dir":%q}}}`,
			data,
			ledger,
			dir,
		)
	}
	asks := map[string][]string{}
	for _, name := range []string{"..", "../" + out, "../" + out + "/secret.csv",
		filepath.Join(outside, "secret.csv"), "/etc/passwd", "link", "link/secret.csv", "link.csv",
		"gone.csv", "a/../../" + out, "", "link/new.csv"} {
		path := fmt.Sprintf(`{"path":%q}`, name)
		for _, what := range []string{
			"columns", "preview", "report", "ledger",
			"register",
		} {
			asks[what] = append(asks[what], path)
		}
		asks["recipe"] = append(
			asks["recipe"],
			fmt.Sprintf(`{"file":%q}`, name),
		)
		for _, what := range []string{"plan", "explain", "fit"} {
			if name != "" { // an empty name selects the default
				asks[what] = append(
					asks[what],
					recipe(name, "l.ledger", "out"),
					recipe("t.csv", name, "out"),
					fmt.Sprintf(`{"file":%q}`, name),
				)
			}
		}
		if name != "" {
			asks["fit"] = append(
				asks["fit"],
				recipe("t.csv", "l.ledger", name),
				strings.Replace(
					recipe("t.csv", "l.ledger", "out"),
					"new.yaml", name, 1,
				),
			)
		}
	}
	for _, name := range []string{
		"../" + out + "/new.ledger",
		filepath.Join(outside, "new.ledger"),
		"link/new.ledger",
	} {
		asks["register"] = append(
			asks["register"],
			fmt.Sprintf(`{"path":%q}`, name),
		)
	}
	asks["plan"] = append(
		asks["plan"],
		recipe("*.csv", "l.ledger", "out"),
		recipe("-", "l.ledger", "out"),
		`{"file":"link.yaml"}`,
	)
	for what, bodies := range asks {
		for _, body := range bodies {
			w := r.sendRequest(http.MethodPost, "/api/"+what, body, nil)
			if w.Code < 400 ||
				w.Code == 500 ||
				strings.Contains(w.Body.String(), "secret:") {
				t.Errorf(
					"%s %s: %d %s",
					what, body, w.Code, w.Body,
				)
			}
		}
	}
	if len(r.calls) > 0 {
		t.Error(r.calls)
	}
	for _, dir := range []string{
		"..", "link",
		"/",
		"../../..",
	} {
		w := r.sendRequest(
			http.MethodPost,
			"/api/files",
			fmt.Sprintf(`{"path":%q}`, dir),
			nil,
		)
		if strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %s", dir, w.Body)
		}
	}
	_, err := os.Stat(filepath.Join(outside, "new.csv"))
	if err == nil {
		t.Error("written outside")
	}
}

func TestFiles(t *testing.T) {
	r := newRecorded(t)
	for _, name := range []string{"b.parquet", ".hidden.csv", "notes.txt", "recipe.yaml",
		"dptrain.ledger", "sub/x.csv.gz", "out/release/report.html"} {
		r.writeFile(t, name, "x")
	}
	var got struct{ Files []listed }
	code := r.askAPI(
		t, "files",
		`{"path":"."}`,
		&got,
	)
	if code != 200 {
		t.Fatal(code)
	}
	want := []listed{
		{"b.parquet", "b.parquet", "table"},
		{"t.csv", "t.csv", "table"},
		{"out", "out", "results"},
		{"recipe.yaml", "recipe.yaml", "recipe"},
		{"dptrain.ledger", "dptrain.ledger", "ledger"},
		{"sub", "sub", "folder"},
	}
	if !slices.Equal(got.Files, want) {
		t.Error(got.Files)
	}
	r.askAPI(t, "files", `{"path":"sub"}`, &got)
	if !slices.Equal(got.Files, []listed{{"x.csv.gz", "sub/x.csv.gz", "table"}}) {
		t.Error(got.Files)
	}
}

// TestPageRunsTypedCommands checks that the page runs the commands that a person would type, and that their output
// names files relative to the folder.
func TestPageRunsTypedCommands(t *testing.T) {
	r := newRecorded(t)
	r.run = func(_ context.Context, c Call) int {
		fmt.Fprintf(
			c.Stderr, "%s: no",
			c.Args[len(c.Args)-1],
		)
		return 4
	}
	var got output
	r.askAPI(
		t,
		"columns",
		`{"path":"t.csv","format":{"separator":";","sheet":"Data","skip":2,"missing":[-999,1.5]}}`,
		&got,
	)
	if got.Code != 4 || got.Err != "t.csv: no" {
		t.Errorf("%+v", got)
	}
	r.askAPI(
		t, "ledger",
		`{"path":"dptrain.ledger"}`,
		&got,
	)
	r.askAPI(
		t,
		"register",
		`{"path":"dptrain.ledger","total":{"dataset":"d","epsilon":"3","delta":"1e-5","relation":"add-remove"}}`,
		&got,
	)
	for _, name := range []string{"t.csv", "notes.txt", "ledger", "my.ledger.csv", "my.LEDGER",
		".ledger", ".hidden.ledger", "recipe.yaml"} {
		w := r.sendRequest(
			http.MethodPost,
			"/api/register",
			fmt.Sprintf(
				`{"path":%q,"total":{"dataset":"d","epsilon":"3"}}`,
				name,
			),
			nil,
		)
		if w.Code != http.StatusBadRequest ||
			!strings.Contains(w.Body.String(), "end in .ledger") {
			t.Errorf(
				"a ledger named %s: %d %s",
				name, w.Code, w.Body,
			)
		}
	}
	in := func(name string) string {
		return filepath.Join(r.folder, name)
	}
	want := [][]string{
		{
			"init",
			"--json",
			"--missing=-999,1.5",
			"--separator=;",
			"--sheet=Data",
			"--skip=2",
			"--", in("t.csv"),
		},
		{
			"ledger", "show",
			"--json", "--",
			in("dptrain.ledger"),
		},
		{
			"ledger", "init",
			"--dataset=d",
			"--epsilon=3",
			"--relation=add-remove",
			"--unit=",
			"--delta=1e-5",
			"--", in("dptrain.ledger"),
		},
	}
	if fmt.Sprint(r.calls) != fmt.Sprint(want) {
		t.Errorf("%q", r.calls)
	}
}

const good = `{"data":{"path":"t.csv","target":"y"},"privacy":{"epsilon":1}}`

func TestPlan(t *testing.T) {
	r := newRecorded(t)
	r.run = func(_ context.Context, c Call) int {
		text, err := os.ReadFile(c.Args[len(c.Args)-1])
		fmt.Fprintf(c.Stdout, "%s%v", text, err)
		return 0
	}
	var got struct {
		Text     string
		Mistakes []mistake
		output
	}
	r.askAPI(
		t, "plan",
		`{"recipe":`+good+`}`,
		&got,
	)
	text := "data:\n  path: t.csv\n  target: y\nprivacy:\n  epsilon: 1\n"
	if got.Text != text ||
		got.Out != text+"<nil>" ||
		len(got.Mistakes) > 0 {
		t.Errorf("%+v", got)
	}
	args := r.calls[0]
	if !slices.Equal(args[:4],
		[]string{
			"plan", "--json",
			"--data=" + filepath.Join(r.folder, "t.csv"),
			"--",
		}) {
		t.Error(args)
	}
	got.Out = ""
	r.askAPI(
		t,
		"plan",
		`{"recipe":{"data":{"path":"t.csv","target":"y"},"privacy":{"epsilon":-1}}}`,
		&got,
	)
	if len(r.calls) != 1 ||
		len(got.Mistakes) != 1 ||
		got.Mistakes[0].Path != "privacy.epsilon" ||
		got.Mistakes[0].Line != 5 ||
		got.Out != "" {
		t.Errorf("%+v", got)
	}
	r.writeFile(t, "mine.yaml", "# mine\n"+text)
	r.askAPI(
		t, "plan",
		`{"file":"mine.yaml","epsilon":2}`,
		&got,
	)
	args = r.calls[1]
	if got.Text != "# mine\n"+text ||
		!slices.Equal(args[3:],
			[]string{
				"--epsilon=2",
				"--",
				filepath.Join(r.folder, "mine.yaml"),
			}) {
		t.Error(args, got)
	}
	left, err := os.ReadDir(r.drafts)
	if err != nil || len(left) > 0 {
		t.Error(left, err)
	}
	code := r.askAPI(
		t,
		"plan",
		`{"recipe":{"task":"causal","data":{"path":"t.csv"},"causal":{"columns":["x","y"]},"privacy":{"epsilon":1}}}`,
		nil,
	)
	if code != 400 {
		t.Error(code)
	}
}

// TestFit checks that a run saves its recipe and does not replace an existing one without permission, that only one
// run is active at a time, and that it can be stopped.
func TestFit(t *testing.T) {
	r := newRecorded(t)
	began := make(chan bool, 4)
	r.run = func(ctx context.Context, c Call) int {
		c.Progress(0, 3, "read")
		c.Progress(1, 3, "model")
		began <- true
		<-ctx.Done()
		fmt.Fprint(c.Stderr, "dptrain: interrupted")
		return 130
	}
	body := `{"file":"new.yaml","recipe":` + good + `}`
	var st status
	if code := r.askAPI(t, "fit", body, &st); code != 200 || st.Ended {
		t.Fatal(code, st)
	}
	<-began
	saved, err := os.ReadFile(filepath.Join(r.folder, "new.yaml"))
	if err != nil || !strings.Contains(string(saved), "target: y") {
		t.Errorf("%s %v", saved, err)
	}
	if code := r.askAPI(t, "fit", body, nil); code != 409 {
		t.Errorf("a second run: %d", code)
	}
	job := fmt.Sprintf(`{"job":%d}`, st.ID)
	r.askAPI(t, "job", job, &st)
	if st.Ended ||
		st.What != "model" ||
		st.Total != 3 ||
		!slices.Equal(st.Passed, []string{"read", "model"}) {
		t.Errorf("%+v", st)
	}
	r.askAPI(t, "cancel", job, &st)
	if !st.Ended ||
		st.Code != 130 ||
		st.Err != "dptrain: interrupted" {
		t.Errorf("%+v", st)
	}
	if code := r.askAPI(t, "job", `{"job":99}`, nil); code != 404 {
		t.Error(code)
	}
	other := strings.Replace(
		body, `"epsilon":1`,
		`"epsilon":2`, 1,
	)
	if code := r.askAPI(t, "fit", other, nil); code != 409 {
		t.Errorf("replaced a recipe: %d", code)
	}
	code := r.askAPI(
		t,
		"fit",
		strings.Replace(other, `{`, `{"replace":true,`, 1),
		&st,
	)
	if code != 200 {
		t.Errorf("did not replace a recipe: %d", code)
	}
	<-began
	r.askAPI(
		t, "cancel",
		fmt.Sprintf(`{"job":%d}`, st.ID),
		nil,
	)
	want := []string{
		"fit", "--out=" + filepath.Join(r.folder, "out"),
		"--force",
		"--", filepath.Join(r.folder, "new.yaml"),
	}
	last := r.calls[len(r.calls)-1]
	if !slices.Equal(last, want) {
		t.Error(last)
	}
	for _, file := range []string{
		"", "a/b.yaml",
		"t.csv", ".x.yaml",
		"../x.yaml",
	} {
		code := r.askAPI(
			t, "fit",
			strings.Replace(body, "new.yaml", file, 1),
			nil,
		)
		if code < 400 {
			t.Errorf("saved as %q: %d", file, code)
		}
	}
}

// TestExplain checks that a new simulation replaces a running one.
func TestExplain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRecorded(t)
		r.run = func(ctx context.Context, c Call) int {
			if len(r.calls) == 1 {
				<-ctx.Done()
				return 130
			}
			c.Progress(5, 5, "models")
			return 0
		}
		var first, second status
		r.askAPI(
			t, "explain",
			`{"recipe":`+good+`}`,
			&first,
		)
		time.Sleep(time.Second)
		r.askAPI(
			t, "explain",
			`{"recipe":`+good+`}`,
			&second,
		)
		time.Sleep(time.Second)
		r.askAPI(
			t, "job",
			fmt.Sprintf(`{"job":%d}`, first.ID),
			&first,
		)
		r.askAPI(
			t, "job",
			fmt.Sprintf(`{"job":%d}`, second.ID),
			&second,
		)
		if !first.Ended ||
			first.Code != 130 ||
			!second.Ended ||
			second.Code != 0 ||
			second.Done != 5 {
			t.Errorf("%+v %+v", first, second)
		}
	})
}

// TestReport checks that a report can be read only with its key, and in a sandbox.
func TestReport(t *testing.T) {
	r := newRecorded(t)
	r.writeFile(t, "out/release/report.html", "<p>hello")
	var got struct{ URL string }
	r.askAPI(t, "report", `{"path":"out"}`, &got)
	w := r.sendRequest(http.MethodGet, got.URL, "", func(q *http.Request) {
		q.Header.Del("Authorization")
		q.Header.Del("Origin")
	})
	policy := w.Header().Get("Content-Security-Policy")
	if w.Code != 200 ||
		w.Body.String() != "<p>hello" ||
		!strings.HasPrefix(policy, "sandbox;") ||
		!strings.Contains(policy, "frame-ancestors 'self'") {
		t.Error(w.Code, w.Body, policy)
	}
	for _, path := range []string{
		"/report/key2",
		"/report/",
		"/report/..%2f..%2ft.csv",
	} {
		w := r.sendRequest(http.MethodGet, path, "", nil)
		if w.Code != 404 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
	cross := func(q *http.Request) {
		q.Header = http.Header{"Sec-Fetch-Site": {"cross-site"}}
	}
	if w := r.sendRequest(http.MethodGet, got.URL, "", cross); w.Code != 403 {
		t.Error(w.Code)
	}
}

// TestServesUntilContextEnds checks that the page is served on a real listener until the context ends.
func TestServesUntilContextEnds(t *testing.T) {
	r := newRecorded(t)
	server := httptest.NewUnstartedServer(nil)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- r.Serve(ctx, server.Listener)
	}()
	answer, err := http.Get("http://" + server.Listener.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	page, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil ||
		!bytes.Contains(page, []byte("<title>dptrain</title>")) {
		t.Errorf("%v %s", err, page)
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
