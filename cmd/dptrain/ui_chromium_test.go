package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/dptrain/dptrain/experiments/suite"
)

// What a person may set: where screenshots go, and axe.min.js of the npm package axe-core, which then looks at each step.
const (
	shotsEnv = "DPTRAIN_UI_SHOTS"
	axeEnv   = "DPTRAIN_AXE"
)

// A browser is a headless Chromium with one page. It keeps what its console said.
type browser struct {
	t       *testing.T
	ctx     context.Context
	mu      sync.Mutex
	console []string
}

// newBrowser starts a Chromium, or skips the test where there is none.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	path := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if at, err := exec.LookPath(name); err == nil && path == "" {
			path = at
		}
	}
	if path == "" {
		t.Skip("there is no Chromium on this machine")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true))
	alloc, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, closePage := chromedp.NewContext(alloc)
	t.Cleanup(closePage)
	b := &browser{t: t, ctx: ctx}
	call(b, log.Enable, cdp.Empty{})
	err := chromedp.Listen(ctx, func(ev any) {
		switch e := ev.(type) {
		case *runtime.EventConsoleAPICalled:
			b.says("%s %v", e.Type, e.Args)
		case *runtime.EventExceptionThrown:
			b.says("%v", e.ExceptionDetails)
		case *log.EventEntryAdded:
			b.says("%s %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// call carries out a command of the protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) says(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = append(b.console, fmt.Sprintf(format, args...))
}

// clean fails if the console said anything since the last call.
func (b *browser) clean(step string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.console {
		b.t.Errorf("%s: console: %s", step, line)
	}
	b.console = nil
}

func (b *browser) do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	take(b, chromedp.Steps(actions...))
}

// take returns what an action returns.
func take[T any](b *browser, action chromedp.Action[T]) T {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.ctx, 3*time.Minute)
	defer cancel()
	out, err := chromedp.Run(ctx, action)
	if err != nil {
		text, _ := chromedp.Run(b.ctx, chromedp.Evaluate[string](`document.body.innerText`))
		b.t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// eval returns what an expression is.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return take(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// until waits for an expression to be true.
func (b *browser) until(expression string) {
	b.t.Helper()
	take(b, chromedp.Poll[chromedp.Void](expression, chromedp.WithPollingInterval(50*time.Millisecond), chromedp.WithPollingTimeout(2*time.Minute)))
}

// press clicks the button that says text.
func (b *browser) press(text string) {
	b.t.Helper()
	at := fmt.Sprintf(`//button[contains(normalize-space(.), %q) and not(ancestor-or-self::*[@hidden])]`, text)
	for try := range 20 { // a list that is drawn anew loses its buttons
		ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
		_, err := chromedp.Run(ctx, chromedp.Click(at, chromedp.NodeVisible))
		cancel()
		if err == nil {
			return
		}
		if try == 19 {
			b.t.Fatalf("%s: %v", text, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// set gives a field a value, as typing does.
func (b *browser) set(selector, value string) {
	b.t.Helper()
	ok := eval[bool](b, fmt.Sprintf(`(() => { const f = document.querySelector(%q); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true})); return true })()`, selector, value))
	if !ok {
		b.t.Fatal(selector)
	}
}

// screens are the widths and colours in which each step is looked at.
var screens = []struct {
	name          string
	width, height int64
	dark, print   bool
}{
	{"desktop", 1280, 900, false, false}, {"phone", 390, 844, false, false}, {"dark", 1280, 900, true, false}, {"print", 800, 1100, false, true},
}

// look checks a step on each screen, and keeps pictures if they are wanted.
func (b *browser) look(step string) {
	b.t.Helper()
	b.clean(step)
	for _, s := range screens {
		scheme, media := "light", ""
		if s.dark {
			scheme = "dark"
		}
		if s.print {
			media = "print"
		}
		call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: s.width, Height: s.height, DeviceScaleFactor: 1, Mobile: s.width < 500})
		call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: media, Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		b.do(chromedp.Sleep(400*time.Millisecond), chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`)) // pictures are drawn anew
		if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > s.width {
			b.t.Errorf("%s, %s: %d pixels wide", step, s.name, wide)
		}
		if over := eval[int64](b, `(e => e ? e.scrollWidth - e.clientWidth : 0)(document.querySelector("#run-text"))`); over > 0 && s.width < 500 {
			b.t.Errorf("%s, %s: what the run printed scrolls sideways by %d pixels", step, s.name, over)
		}
		if !s.print {
			b.axe(step + ", " + s.name)
		}
		if dir := os.Getenv(shotsEnv); dir != "" {
			shot := take(b, chromedp.FullScreenshot(100))
			if err := os.WriteFile(filepath.Join(dir, step+"-"+s.name+".png"), shot, 0o600); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	call(b, emulation.SetDeviceMetricsOverride, emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 900, DeviceScaleFactor: 1})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
}

// axe fails for what the accessibility checker finds serious or critical.
func (b *browser) axe(step string) {
	b.t.Helper()
	path := os.Getenv(axeEnv)
	if path == "" {
		return
	}
	source, err := os.ReadFile(path)
	if err != nil {
		b.t.Fatal(err)
	}
	take(b, chromedp.Evaluate[chromedp.Void](string(source)))
	found := eval[[]string](b, `axe.run(document, {iframes: false}).then(r => r.violations.map(v => v.impact + " " + v.id + ": " + v.nodes.map(n => n.html.slice(0, 160) + " " + n.any.map(a => a.message)).join(" | ")))`)
	for _, line := range found {
		if strings.HasPrefix(line, "serious") || strings.HasPrefix(line, "critical") {
			b.t.Errorf("%s: axe: %s", step, line)
		} else {
			b.t.Logf("%s: axe: %s", step, line)
		}
	}
}

// uiServer starts `dptrain ui` in a folder and returns its address.
func uiServer(t *testing.T, folder string) string {
	t.Helper()
	stderr := &lockedBuffer{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() { ended <- run(ctx, []string{"ui", folder}, strings.NewReader(""), &bytes.Buffer{}, stderr) }()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("code %d: %s", code, stderr.String())
		}
	})
	for range 600 {
		if at := regexp.MustCompile(`http://\S+`).FindString(stderr.String()); at != "" && strings.HasSuffix(stderr.String(), "\n\n") {
			return at
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal(stderr.String())
	return ""
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// copyOf copies a table of the fixtures into a folder.
func copyOf(t *testing.T, table, folder string) {
	t.Helper()
	write(t, filepath.Join(folder, table), read(t, "../../testdata/"+table))
}

// TestPageInChromium goes all the way in a browser: table, columns, price, simulation, run, stop, report, ledger.
func TestPageInChromium(t *testing.T) {
	b := newBrowser(t)
	folder := t.TempDir()
	copyOf(t, "houses.csv", folder)
	copyOf(t, "loans.csv", folder)
	address := uiServer(t, folder)

	b.do(chromedp.Navigate(strings.SplitN(address, "#", 2)[0]), chromedp.WaitVisible(chromedp.CSS("#alert")))
	if text := eval[string](b, `document.querySelector("#alert").textContent`); !strings.Contains(text, "no token") {
		t.Errorf("without a token: %s", text)
	}
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address), chromedp.WaitVisible(chromedp.CSS("#files button")))
	if at := eval[string](b, `location.href`); strings.Contains(at, "#") {
		t.Errorf("the token stays in the address %s", at)
	}
	b.look("1-table")

	b.press("houses.csv")
	b.until(`document.querySelectorAll("#declared li").length === 10`)
	b.set("#target", "price")
	b.set(`select[aria-label="What is public about area"]`, "range")
	b.set(`input[aria-label="from of area"]`, "10")
	b.set(`input[aria-label="to of area"]`, "500")
	b.set(`select[aria-label="What is public about ocean"]`, "categories")
	b.set(`input[aria-label="categories, with commas of ocean"]`, "inland, near bay, near ocean, island")
	b.set(`select[aria-label="What is public about garden"]`, "exclude")
	b.until(`document.querySelector("#recipe").textContent.includes("exclude: [garden]")`)
	b.look("2-public")

	b.press("Price it")
	b.until(`document.querySelectorAll("#attack circle").length === 200`)
	bars := eval[string](b, `document.querySelector("#attack").textContent`)
	b.set("#slider", "80")
	b.until(fmt.Sprintf(`document.querySelector("#attack").textContent !== %q`, bars))
	b.until(`document.querySelector("#recipe").textContent.includes("epsilon: 4")`)
	b.press("Simulate")
	b.until(`document.querySelector("#simulate-status").textContent.includes(" of ")`)
	b.press("Stop")
	b.until(`document.querySelector("#simulate-status").textContent === "Stopped."`)
	b.press("Simulate")
	b.until(`document.querySelectorAll("#expected polyline").length > 2`)
	b.set("#slider", "50")
	b.until(`document.querySelector("#expected figcaption").textContent.includes("At epsilon 1:") && document.querySelector("#recipe").textContent.includes("epsilon: 1\n")`)
	b.look("3-budget")

	b.press("Ledger")
	b.until(`document.querySelector("#book-note").textContent.includes("no ledger")`)
	b.do(chromedp.Click(chromedp.CSS("#step-ledger summary")))
	b.set(`#register input[name=dataset]`, "houses")
	b.press("Register")
	b.until(`document.querySelectorAll("#accounts svg").length === 1`)
	b.press("Budget")
	b.until(`document.querySelector("#remains").textContent.includes("this run")`)

	b.press("Go on to train")
	b.do(chromedp.Click(chromedp.CSS("#run")))
	b.until(`!document.querySelector("#to-report").hidden`)
	b.look("4-train")
	recipe := read(t, filepath.Join(folder, "recipe.yaml"))
	if shown := eval[string](b, `document.querySelector("#recipe").textContent`); recipe != shown || !strings.Contains(recipe, "area: {lower: 10, upper: 500}") {
		t.Errorf("saved\n%s\nshown\n%s", recipe, shown)
	}

	b.press("Read the report")
	b.until(`!document.querySelector("#report").hidden`)
	b.do(chromedp.Sleep(time.Second)) // the frame loads in its own time
	b.look("5-report")

	b.press("Ledger")
	b.until(`document.querySelector("#accounts").textContent.includes("ended")`)
	b.look("6-ledger")

	b.classify(folder)
	if got := dptrain(t, "verify", filepath.Join(folder, "out")); got.code != 0 {
		t.Errorf("%+v", got)
	}
}

// classify trains a classifier, is refused where results are there already, and reads a recipe that is there.
func (b *browser) classify(folder string) {
	t := b.t
	b.press("Table")
	b.press("loans.csv")
	b.until(`document.querySelector("#target").value === "repaid" || document.querySelector("#target").options.length > 5`)
	b.set("#target", "repaid")
	b.do(chromedp.Click(chromedp.CSS(`input[name=task][value=classification]`)))
	b.set("#classes", "no, yes")
	b.set("#dataset", "")
	b.until(`document.querySelector("#recipe").textContent.includes("task: classification")`)
	b.press("Price it")
	b.until(`document.querySelector("#recipe").textContent.includes("classes: [no, yes]") && document.querySelector("#mistakes").hidden`)
	b.press("Go on to train")
	b.do(chromedp.Click(chromedp.CSS("#run")))
	b.until(`document.querySelector("#alert").textContent.includes("is there already")`)
	b.mu.Lock()
	b.console = nil // of the answer 409
	b.mu.Unlock()
	b.set("#file", "loans.yaml")
	b.set("#out", "loans")
	b.do(chromedp.Click(chromedp.CSS("#run")))
	b.until(`!document.querySelector("#to-report").hidden`)
	b.clean("classify")

	b.press("Table")
	b.press("loans.yaml")
	b.until(`document.querySelector("#recipe-hint").textContent.includes("as it is there") && document.querySelector("#attack").textContent.includes("at most")`)
	b.set("#epsilon", "2")
	b.until(`document.querySelector("#command-text").textContent.includes("--epsilon 2")`)
	b.clean("recipe")
	if got := read(t, filepath.Join(folder, "loans.yaml")); !strings.Contains(got, "dir: loans") {
		t.Error(got)
	}
}

// TestStopInChromium: a run that is stopped on the page ends, leaves nothing behind, and can be begun anew.
func TestStopInChromium(t *testing.T) {
	b := newBrowser(t)
	folder := t.TempDir()
	head, rows, _ := strings.Cut(read(t, "../../testdata/houses.csv"), "\n")
	write(t, filepath.Join(folder, "houses.csv"), head+"\n"+strings.Repeat(rows, 200)) // some ten seconds
	b.do(chromedp.Navigate(uiServer(t, folder)), chromedp.WaitVisible(chromedp.CSS("#files button")))
	b.press("houses.csv")
	b.until(`document.querySelectorAll("#declared li").length === 10`)
	b.set("#target", "price")
	b.press("Price it")
	b.until(`document.querySelectorAll("#attack circle").length === 200`)
	b.press("Go on to train")
	for range 2 {
		b.do(chromedp.Click(chromedp.CSS("#run")))
		b.until(`document.querySelectorAll("#stages li[aria-current]").length === 1`)
		b.press("Stop")
		b.until(`document.querySelector("#run-status").textContent === "Stopped."`)
		if text := eval[string](b, `document.querySelector("#run-text").textContent`); !strings.Contains(text, "interrupted") {
			t.Errorf("a run that was stopped says %q", text)
		}
		if stop := eval[bool](b, `!document.querySelector("#run-stop").hidden || document.querySelector("#run").disabled || !document.querySelector("#to-report").hidden`); stop {
			t.Error("the page is not ready for another run")
		}
		var left []string
		entries, err := os.ReadDir(folder)
		for _, e := range entries {
			left = append(left, e.Name())
		}
		if !slices.Equal(left, []string{"houses.csv", "recipe.yaml"}) {
			t.Errorf("%q are left, %v", left, err)
		}
	}
	b.look("7-stopped")
}

// TestSiteInChromium: the search of the site finds pages, and pages are fetched from nowhere else. The site is what
// scripts/site.sh has built.
func TestSiteInChromium(t *testing.T) {
	if _, err := os.Stat("../../site/search/search_index.json"); err != nil {
		t.Skip("the site is not built")
	}
	b := newBrowser(t)
	server := httptest.NewServer(http.FileServer(http.Dir("../../site")))
	t.Cleanup(server.Close)
	b.do(chromedp.Navigate(server.URL+"/index.html"), chromedp.WaitVisible(chromedp.CSS("main")))
	b.look("site-1-index")
	for _, q := range []struct{ words, page string }{
		{"held-out R²", "proofs/evaluation.html"}, {"abstained", "reference/exit-codes.html"}, {"onnxruntime", "guide/export.html"},
	} {
		b.do(chromedp.Click(chromedp.CSS(".md-search__input")))
		b.set(".md-search__input", "")
		b.do(chromedp.SendKeys(".md-search__input", q.words))
		b.until(fmt.Sprintf(`[...document.querySelectorAll(".md-search-result__link")].some(a => a.href.includes(%q))`, q.page))
	}
	b.look("site-2-search")
	first := eval[string](b, `[...document.querySelectorAll(".md-search-result__link")].find(a => a.offsetParent).href`)
	b.do(chromedp.Navigate(first))
	b.do(chromedp.WaitVisible(chromedp.CSS("article h1")))
	b.look("site-3-found")
	b.do(chromedp.Click(chromedp.CSS(`label[title="Dark"]`)), chromedp.Sleep(400*time.Millisecond))
	b.look("site-4-dark")
	if other := eval[[]string](b, `performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin) && !n.startsWith("blob:") && !n.startsWith("data:"))`); len(other) > 0 {
		t.Errorf("fetched from elsewhere: %q", other)
	}
}

// TestReportsInChromium looks at the reports of five kinds of runs.
func TestReportsInChromium(t *testing.T) {
	b := newBrowser(t)
	for name, args := range map[string][]string{
		"report-linear":         {"../../examples/adassp.yaml"},
		"report-additive":       {"../../examples/boosted-additive.yaml"},
		"report-kernel":         {"../../examples/boosted-kernel.yaml"},
		"report-tukey":          {"../../examples/tukey-fallback.yaml"},
		"report-classification": {"../../examples/classes.yaml"},
	} {
		out := filepath.Join(t.TempDir(), "out")
		if got := dptrain(t, append([]string{"fit", "--quiet", "--out", out}, args...)...); got.code != 0 && got.code != exitAbstained {
			t.Fatalf("%s: %+v", name, got)
		}
		path := filepath.Join(out, "release", "report.html")
		if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
			t.Errorf("%s: %v, %d bytes", name, err, info.Size())
		}
		call(b, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
		b.do(chromedp.Navigate("file://"+path), chromedp.WaitVisible(chromedp.CSS("main")))
		b.look(name)
	}
}

// TestSuitesInChromium looks at the pages of two suites, which have the parts of a report: curves with intervals, and a
// table of many columns.
func TestSuitesInChromium(t *testing.T) {
	b := newBrowser(t)
	tables := t.TempDir()
	for _, name := range []string{"houses", "loans"} {
		write(t, filepath.Join(tables, name+".csv"), numeric(read(t, "../../testdata/"+name+".csv"), 800))
	}
	for name, o := range map[string]suite.Options{suite.Copies: {}, suite.Seed001: {Data: tables}} {
		o.Public, o.Trials, o.Out = true, 1, t.TempDir()
		if _, err := suite.Run(t.Context(), name, o); err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate("file://"+filepath.Join(o.Out, suite.PageFile)), chromedp.WaitVisible(chromedp.CSS("main")))
		if n := eval[int](b, `document.querySelectorAll("figure svg[role=img]").length`); n < 2 {
			t.Errorf("%s: %d figures", name, n)
		}
		if bare := eval[int](b, `[...document.querySelectorAll("svg *")].filter(e => e.tagName !== "title" && !e.classList.length).length`); bare > 0 {
			t.Errorf("%s: %d elements without a class, and so without a colour in the dark", name, bare)
		}
		b.look("suite-" + name)
	}
}

// numeric returns the first lines of a table, with its columns of words left out and the last of numbers as the target.
func numeric(table string, rows int) string {
	lines := strings.Split(table, "\n")[:rows]
	var kept []int
	for i, cell := range strings.Split(lines[1], ",") {
		if _, err := strconv.ParseFloat(cell, 64); err == nil {
			kept = append(kept, i)
		}
	}
	var out strings.Builder
	for _, line := range lines {
		cells := strings.Split(line, ",")
		for n, i := range kept {
			if n > 0 {
				out.WriteByte(',')
			}
			out.WriteString(cells[i])
		}
		out.WriteByte('\n')
	}
	return out.String()
}

// TestPageRefuses: what asks without the token, for another host or from another origin is refused by the command itself.
func TestPageRefuses(t *testing.T) {
	folder := t.TempDir()
	copyOf(t, "houses.csv", folder)
	address, token, _ := strings.Cut(uiServer(t, folder), "#")
	address = strings.TrimSuffix(address, "/")
	ask := func(change func(*http.Request)) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/api/columns", strings.NewReader(`{"path":"houses.csv"}`))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		r.Header.Set("Content-Type", "application/json")
		change(r)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		var out struct{ Out, Error string }
		if err := json.NewDecoder(answer.Body).Decode(&out); err != nil || (answer.StatusCode == http.StatusOK) != strings.Contains(out.Out, `"area"`) {
			t.Errorf("%v %+v", err, out)
		}
		return answer.StatusCode
	}
	for want, change := range map[int]func(*http.Request){
		200: func(*http.Request) {},
		401: func(r *http.Request) { r.Header.Del("Authorization") },
		403: func(r *http.Request) { r.Header.Set("Origin", "http://example.org") },
		421: func(r *http.Request) { r.Host = "example.org" },
	} {
		if got := ask(change); got != want {
			t.Errorf("%d, not %d", got, want)
		}
	}
}
