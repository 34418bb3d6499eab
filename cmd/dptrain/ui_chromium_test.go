package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
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
	"github.com/chromedp/chromedp/kb"

	"github.com/dptrain/dptrain/experiments/suite"
)

// Environment variables for manual checks: a folder for screenshots, and the path of axe.min.js from the npm package
// axe-core, which then checks each step.
const (
	shotsEnv = "DPTRAIN_UI_SHOTS"
	axeEnv   = "DPTRAIN_AXE"
)

// A browser is a headless Chromium with one page. It records the console messages and counts the clicks of press and
// click.
type browser struct {
	t       *testing.T
	ctx     context.Context
	clicks  int
	mu      sync.Mutex
	console []string
}

// newBrowser starts Chromium. It skips the test if Chromium is not installed.
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
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		chromedp.Flag("disable-gpu", true), chromedp.Flag("disable-quic", true),
		chromedp.Flag("disable-background-networking", true),
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
			b.record("%s %v", e.Type, e.Args)
		case *runtime.EventExceptionThrown:
			b.record("%v", e.ExceptionDetails)
		case *log.EventEntryAdded:
			b.record("%s %s %s", e.Entry.Level, e.Entry.Text, e.Entry.URL)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// call executes a command of the DevTools protocol.
func call[P, R any](b *browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

func (b *browser) record(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = append(b.console, fmt.Sprintf(format, args...))
}

// checkConsole fails the test if there are new console messages.
func (b *browser) checkConsole(step string) {
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

// take returns the result of an action.
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

// eval returns the value of a JavaScript expression.
func eval[T any](b *browser, expression string) T {
	b.t.Helper()
	return take(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// waitFor waits until a JavaScript expression is true.
func (b *browser) waitFor(expression string) {
	b.t.Helper()
	take(b, chromedp.Poll[chromedp.Void](expression,
		chromedp.WithPollingInterval(50*time.Millisecond),
		chromedp.WithPollingTimeout(2*time.Minute)))
}

// press clicks the button with the given text and counts the click.
func (b *browser) press(text string) {
	b.t.Helper()
	at := fmt.Sprintf(
		`//button[contains(normalize-space(.), %q) and not(ancestor-or-self::*[@hidden])]`, text)
	for try := range 20 { // redrawing a list removes its buttons
		ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
		_, err := chromedp.Run(ctx, chromedp.Click(at, chromedp.NodeVisible))
		cancel()
		if err == nil {
			b.clicks++
			return
		}
		if try == 19 {
			b.t.Fatalf("%s: %v", text, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// click clicks the element of a selector and counts the click.
func (b *browser) click(selector string) {
	b.t.Helper()
	b.do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	b.clicks++
}

// fill sets the value of a field as typing does.
func (b *browser) fill(selector, value string) {
	b.t.Helper()
	ok := eval[bool](b,
		fmt.Sprintf(
			`(() => { const f = document.querySelector(%q); f.value = %q; f.dispatchEvent(new Event("input", {bubbles: true})); f.dispatchEvent(new Event("change", {bubbles: true})); return true })()`,
			selector, value))
	if !ok {
		b.t.Fatal(selector)
	}
}

// screens are the widths and colour schemes in which each step is checked.
var screens = []struct {
	name          string
	width, height int64
	dark, print   bool
}{
	{"desktop", 1280, 900, false, false}, {"phone", 390, 844, false, false},
	{"dark", 1280, 900, true, false}, {"print", 800, 1100, false, true},
}

// checkScreens checks a step on each screen, and saves screenshots if requested.
func (b *browser) checkScreens(step string) {
	b.t.Helper()
	b.checkConsole(step)
	for _, s := range screens {
		scheme, media := "light", ""
		if s.dark {
			scheme = "dark"
		}
		if s.print {
			media = "print"
		}
		call(b, emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{
				Width:             s.width,
				Height:            s.height,
				DeviceScaleFactor: 1,
				Mobile:            s.width < 500,
			})
		call(b, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{
				Media:    media,
				Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
			})
		b.do(chromedp.Sleep(400*time.Millisecond),
			chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`)) // pictures are redrawn
		if wide := eval[int64](b, `document.documentElement.scrollWidth`); wide > s.width {
			b.t.Errorf("%s, %s: %d pixels wide", step, s.name, wide)
		}
		if over := eval[int64](b,
			`(e => e ? e.scrollWidth - e.clientWidth : 0)(document.querySelector("#run-text"))`); over >
			0 &&
			s.width < 500 {
			b.t.Errorf("%s, %s: what the run printed scrolls sideways by %d pixels", step, s.name,
				over)
		}
		if !s.print {
			b.checkAccessibility(step + ", " + s.name)
		}
		if dir := os.Getenv(shotsEnv); dir != "" {
			shot := take(b, chromedp.FullScreenshot(100))
			if err := os.WriteFile(filepath.Join(dir, step+"-"+s.name+".png"), shot,
				0o600); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	call(b, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 900, DeviceScaleFactor: 1})
	call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
}

// checkAccessibility fails the test for serious or critical findings of axe.
func (b *browser) checkAccessibility(step string) {
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
	found := eval[[]string](b,
		`axe.run(document, {iframes: false}).then(r => r.violations.map(v => v.impact + " " + v.id + ": " + v.nodes.map(n => n.html.slice(0, 160) + " " + n.any.map(a => a.message)).join(" | ")))`)
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
	go func() {
		ended <- run(ctx, []string{"ui", folder}, strings.NewReader(""), &bytes.Buffer{}, stderr)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf("code %d: %s", code, stderr.String())
		}
	})
	for range 600 {
		if at := regexp.MustCompile(`http://\S+`).FindString(stderr.String()); at != "" &&
			strings.HasSuffix(stderr.String(), "\n\n") {
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

// TestPageInChromium uses the whole page in a browser: table, columns, price, simulation, run, report, ledger.
func TestPageInChromium(t *testing.T) {
	b := newBrowser(t)
	folder := t.TempDir()
	copyOf(t, "houses.csv", folder)
	copyOf(t, "loans.csv", folder)
	address := uiServer(t, folder)

	b.do(chromedp.Navigate(strings.SplitN(address, "#", 2)[0]),
		chromedp.WaitVisible(chromedp.CSS("#alert")))
	if text := eval[string](b, `document.querySelector("#alert").textContent`); !strings.Contains(
		text, "no token") {
		t.Errorf("without a token: %s", text)
	}
	b.do(chromedp.Navigate("about:blank"), chromedp.Navigate(address),
		chromedp.WaitVisible(chromedp.CSS("#files button")))
	if at := eval[string](b, `location.href`); strings.Contains(at, "#") {
		t.Errorf("the token stays in the address %s", at)
	}
	b.checkScreens("1-table")

	b.press("houses.csv")
	b.waitFor(
		`document.querySelectorAll("#declared li").length === 10 && document.querySelectorAll("#preview tbody tr").length === 10`)
	b.fill("#target", "price")
	b.fill(`select[aria-label="What is public about area"]`, "range")
	b.fill(`input[aria-label="from of area"]`, "500")
	b.fill(`input[aria-label="to of area"]`, "10")
	b.waitFor(
		`document.querySelector("#declared .message.error")?.textContent.includes("smaller number to a larger")`)
	b.fill(`input[aria-label="from of area"]`, "10")
	b.fill(`input[aria-label="to of area"]`, "500")
	b.waitFor(`document.querySelector("#declared .message.error").hidden`)
	b.fill(`select[aria-label="What is public about ocean"]`, "categories")
	b.fill(`input[aria-label="categories, separated by commas of ocean"]`,
		"inland, near bay, near ocean, island")
	b.fill(`select[aria-label="What is public about garden"]`, "exclude")
	b.waitFor(`document.querySelector("#recipe").textContent.includes("exclude: [garden]")`)
	b.checkScreens("2-columns")

	b.press("Next: choose the budget")
	b.waitFor(`document.querySelectorAll("#attack circle").length === 200`)
	bars := eval[string](b, `document.querySelector("#attack").textContent`)
	b.fill("#slider", "80")
	b.waitFor(fmt.Sprintf(`document.querySelector("#attack").textContent !== %q`, bars))
	b.waitFor(`document.querySelector("#recipe").textContent.includes("epsilon: 4")`)
	b.press("Simulate")
	b.waitFor(`document.querySelector("#simulate-status").textContent.includes(" of ")`)
	b.press("Stop")
	b.waitFor(`document.querySelector("#simulate-status").textContent === "Stopped."`)
	b.press("Simulate")
	b.waitFor(`document.querySelectorAll("#expected polyline").length > 2`)
	b.fill("#slider", "50")
	b.waitFor(
		`document.querySelector("#expected figcaption").textContent.includes("At epsilon 1:") && document.querySelector("#recipe").textContent.includes("epsilon: 1\n")`)
	b.checkScreens("3-budget")
	b.checkBudgetErrors()

	b.press("Ledger")
	b.waitFor(`document.querySelector("#book-note").textContent.includes("no ledger")`)
	b.click("#step-ledger summary")
	b.fill(`#register input[name=dataset]`, "houses")
	b.press("Register")
	b.waitFor(`document.querySelectorAll("#accounts svg").length === 1`)
	b.press("Budget")
	b.waitFor(`document.querySelector("#remains").textContent.includes("this run")`)

	b.press("Next: train")
	b.waitFor(`document.querySelector("#run-summary").textContent.includes("houses.csv")`)
	b.click("#run")
	b.waitFor(
		`!document.querySelector("#to-report").hidden && document.querySelector("#run-metric").textContent.includes("R²")`)
	b.checkScreens("4-train")
	recipe := read(t, filepath.Join(folder, "recipe.yaml"))
	if shown := eval[string](b, `document.querySelector("#recipe").textContent`); recipe != shown ||
		!strings.Contains(recipe, "area: {lower: 10, upper: 500}") {
		t.Errorf("saved\n%s\nshown\n%s", recipe, shown)
	}

	b.press("Read the report")
	b.waitFor(`!document.querySelector("#report").hidden`)
	b.do(chromedp.Sleep(time.Second)) // the frame loads asynchronously
	b.checkScreens("5-report")

	b.press("Ledger")
	b.waitFor(`document.querySelector("#accounts").textContent.includes("ended")`)
	b.checkScreens("6-ledger")

	b.trainClassifier(folder)
	if got := dptrain(t, "verify", filepath.Join(folder, "out")); got.code != 0 {
		t.Errorf("%+v", got)
	}
}

// checkBudgetErrors enters an invalid delta and an invalid epsilon, and checks that the errors appear at their
// fields, even in collapsed sections.
func (b *browser) checkBudgetErrors() {
	b.t.Helper()
	b.fill("#delta", "2")
	b.waitFor(
		`document.querySelector("#delta").getAttribute("aria-invalid") === "true" && !document.querySelector("#mistakes").hidden`)
	if open := eval[bool](b, `document.querySelector("#more").open`); open {
		b.t.Error("the details are open before anybody asks for the field")
	}
	b.press("Go to “Delta”")
	b.waitFor(`document.activeElement.id === "delta" && document.querySelector("#more").open`)
	about := eval[string](b,
		`document.getElementById(document.querySelector("#delta").getAttribute("aria-describedby")).textContent`)
	if !strings.Contains(about, "Delta must be at least 0 and below 1") {
		b.t.Errorf("the field is described by %q", about)
	}
	b.checkScreens("3-error")
	b.fill("#delta", "1e-6")
	b.waitFor(
		`!document.querySelector("#delta").hasAttribute("aria-invalid") && document.querySelector("#mistakes").hidden`)
	b.fill("#epsilon", "0")
	b.waitFor(`document.querySelector("#epsilon").getAttribute("aria-invalid") === "true"`)
	b.fill("#epsilon", "1")
	b.waitFor(`!document.querySelector("#epsilon").hasAttribute("aria-invalid")`)
}

// trainClassifier trains a classifier, checks that existing results are not overwritten, compares the two runs, and
// uses an existing recipe.
func (b *browser) trainClassifier(folder string) {
	t := b.t
	b.press("Table")
	b.press("loans.csv")
	b.waitFor(`[...document.querySelector("#target").options].some(o => o.value === "repaid")`)
	b.fill("#target", "repaid")
	b.waitFor(`document.querySelector("#task-message")?.textContent.includes("text, not numbers")`)
	b.click(`#task label:last-child`)
	b.waitFor(`document.querySelector("#task-message").hidden`)
	b.fill("#classes", "no, yes")
	b.fill("#dataset", "")
	b.waitFor(`document.querySelector("#recipe").textContent.includes("task: classification")`)
	b.press("Next: choose the budget")
	b.waitFor(
		`document.querySelector("#recipe").textContent.includes("classes: [no, yes]") && document.querySelector("#mistakes").hidden`)
	b.press("Next: train")
	b.waitFor(
		`document.querySelector("#file").value === "recipe-2.yaml" && document.querySelector("#out").value === "out-2"`)
	b.fill("#file", "recipe.yaml")
	b.click("#run")
	b.waitFor(
		`document.querySelector("#file-message")?.textContent.includes("exists already") && document.activeElement.id === "file"`)
	b.fill("#file", "loans.yaml")
	b.fill("#out", "out")
	b.click("#run")
	b.waitFor(
		`document.querySelector("#out").getAttribute("aria-invalid") === "true" && document.activeElement.id === "out"`)
	b.mu.Lock()
	b.console = nil // from the response 409
	b.mu.Unlock()
	b.fill("#out", "loans")
	b.click("#replace")
	b.click("#run")
	b.waitFor(`document.querySelector("#run-metric").textContent.includes("Accuracy")`)
	b.checkConsole("classification")

	b.press("Compare runs")
	b.waitFor(`document.querySelectorAll(".comparison thead th").length === 2`)
	text := eval[string](b, `document.querySelector("#comparison").innerText`)
	for _, want := range []string{"loans", "out", "price", "repaid", "R²", "Accuracy", "Epsilon",
		"epsilon 2, delta 2e-6"} {
		if !strings.Contains(text, want) {
			t.Errorf("the comparison lacks %q:\n%s", want, text)
		}
	}
	b.checkScreens("8-compare")
	b.click("#run-list li:last-child input")
	b.waitFor(
		`document.querySelectorAll(".comparison thead th").length === 1 && document.querySelector("#comparison-note").textContent.includes("Select another run")`)

	b.press("Table")
	b.press("loans.yaml")
	b.waitFor(
		`document.querySelector("#recipe-hint").textContent.includes("unchanged") && document.querySelector("#attack").textContent.includes("at most")`)
	b.fill("#epsilon", "2")
	b.waitFor(`document.querySelector("#command-text").textContent.includes("--epsilon 2")`)
	b.checkConsole("recipe")
	if got := read(t, filepath.Join(folder, "loans.yaml")); !strings.Contains(got, "dir: loans") {
		t.Error(got)
	}
}

// hospitalExport returns n stays in the format of German hospitals: semicolons, Latin-1, decimal commas, units after
// numbers, and patients with several stays.
func hospitalExport(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 2))
	comma := func(x float64) string { return strings.Replace(fmt.Sprintf("%.1f", x), ".", ",", 1) }
	choose := func(list ...string) string { return list[r.IntN(len(list))] }
	var b strings.Builder
	b.WriteString(
		"Patienten-ID;Aufnahmedatum;Alter;Geschlecht;Gewicht;CRP (mg/l);Blutdruck;Abteilung;Diagnose;Notfall;Kosten (EUR);Bemerkung;Verweildauer (Tage)\r\n")
	for range n {
		age := 18 + r.IntN(80)
		crp := math.Abs(20 + 25*r.NormFloat64())
		pressure := 120 + .3*float64(age) + 12*r.NormFloat64()
		diagnosis := choose("I21.0", "J18.9", "K35.8", "S72.0")
		days := 1.5 + .05*float64(age) + .04*crp + 1.6*r.ExpFloat64()
		if diagnosis == "I21.0" {
			days += 3
		}
		age1, crp1, days1 := fmt.Sprint(age), comma(crp), comma(days)
		if r.Float64() < .1 {
			age1 += " Jahre"
		}
		if crp < 5 {
			crp1 = "<5"
		}
		if r.Float64() < .02 {
			days1 = ""
		}
		admitted := time.Date(2023, 1, 1+r.IntN(720), 0, 0, 0, 0, time.UTC)
		cells := []string{
			fmt.Sprint("P", 100000+r.IntN(n*4/5)), admitted.Format("02.01.2006"), age1,
			choose("m", "w"), comma(76+15*r.NormFloat64()) + choose("", " kg"), crp1,
			fmt.Sprintf("%.0f/%.0f", pressure, .65*pressure),
			choose("Kardiologie", "Chirurgie", "Innere Medizin", "Gyn\xe4kologie"), diagnosis,
			choose("ja", "nein"),
			comma(900 + 19000*r.Float64()),
			choose("keine Auff\xe4lligkeiten", "Entlassung nach Hause", ""), days1,
		}
		b.WriteString(strings.Join(cells, ";") + "\r\n")
	}
	return b.String()
}

// TestHospitalInChromium gets from a hospital export to the report with at most eight clicks. It checks that the
// proposed settings read the file, that the patients are proposed as the unit, and that at least eleven columns are
// used. Every text value has more than 3,000 training records; about 600 are enough for it to be found.
func TestHospitalInChromium(t *testing.T) {
	b := newBrowser(t)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "export.csv"), hospitalExport(16000, 1))
	b.do(chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#files button")))
	b.press("export.csv")
	b.waitFor(`document.querySelectorAll("#proposal-list li").length === 3`)
	b.press("Use these 3 settings")
	b.waitFor(`document.querySelector("#proposals").hidden`)
	b.takeGuidePicture()
	b.checkScreens("10-hospital")
	preview := eval[[]string](b,
		`[...document.querySelectorAll("#preview thead th")].map(h => h.innerText.replace(/\s+/g, " ").trim())`)
	for _, want := range []string{"Patienten-ID person", "Aufnahmedatum date", "Gewicht number",
		"CRP (mg/l) number", "Kosten (EUR) number", "Abteilung text",
		"Verweildauer (Tage) number"} {
		if !slices.Contains(preview, want) {
			t.Errorf("the preview lacks %q: %q", want, preview)
		}
	}
	if letters := eval[string](b,
		`document.querySelector("#preview").textContent`); strings.Contains(letters, "\uFFFD") {
		t.Errorf("the preview has letters that were not read: %s", letters)
	}
	if unit := eval[string](b,
		`document.querySelector("input[name=unit]:checked").value + " " + document.querySelector("#unit-column").value`); unit !=
		"column Patienten-ID" {
		t.Errorf("the proposed unit is %q", unit)
	}
	b.press("Next: choose the budget")
	b.waitFor(`document.querySelectorAll("#attack circle").length === 200`)
	b.press("Next: train")
	b.waitFor(`document.querySelector("#run-summary").textContent.includes("each Patienten-ID")`)
	b.click("#run")
	b.waitFor(`!document.querySelector("#to-report").hidden`)
	b.press("Read the report")
	b.waitFor(
		`!document.querySelector("#report").hidden && document.querySelector("#report-note").textContent.includes("may be published")`)
	b.checkConsole("hospital")
	if b.clicks > 8 {
		t.Errorf("%d clicks from the table to the report", b.clicks)
	}
	var report struct {
		Features struct{ Selected []string }
	}
	text := read(t, filepath.Join(folder, "out", "release", "report.json"))
	if err := json.Unmarshal([]byte(text), &report); err != nil {
		t.Fatal(err)
	}
	if n := len(report.Features.Selected); n < 11 {
		t.Errorf("%d columns are used: %q", n, report.Features.Selected)
	}
	var private []string
	for _, file := range []string{"report.json", "report.html", "recipe.yaml", "model.json"} {
		if released := read(t, filepath.Join(folder, "out", "release", file)); regexp.MustCompile(
			`P1\d{5}`).MatchString(released) {
			private = append(private, file)
		}
	}
	if len(private) > 0 {
		t.Errorf("patients of the preview are in %q", private)
	}
}

// takeGuidePicture saves the screenshot for docs/guide/ui.md if requested. See scripts/pictures.py.
func (b *browser) takeGuidePicture() {
	b.t.Helper()
	dir := os.Getenv(shotsEnv)
	if dir == "" {
		return
	}
	b.do(chromedp.Evaluate[chromedp.Void](
		`document.querySelector("#folder").textContent = "hospital"`))
	call(b, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{Width: 1280, Height: 900, DeviceScaleFactor: 1})
	b.do(chromedp.Sleep(400 * time.Millisecond))
	shot := take(b, chromedp.CaptureScreenshot())
	if err := os.WriteFile(filepath.Join(dir, "ui-columns.png"), shot, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// TestDecimalMarkInChromium checks that a single visible field corrects a wrong decimal mark, before a run and after
// a run that found no numbers in the target.
func TestDecimalMarkInChromium(t *testing.T) {
	b := newBrowser(t)
	folder := t.TempDir()
	write(t, filepath.Join(folder, "export.csv"), hospitalExport(3000, 2))
	b.do(chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#files button")))
	b.press("export.csv")
	b.waitFor(`document.querySelector("#decimal-message")?.textContent.includes("decimal comma")`)
	visible := `(f => f.offsetParent !== null && !f.closest("details"))(document.querySelector("#decimal"))`
	if !eval[bool](b, visible) {
		t.Error("the field of the decimal mark is folded away")
	}
	b.fill("#encoding", "windows-1252")
	b.press("Next: choose the budget")
	b.waitFor(`document.querySelectorAll("#attack circle").length === 200`)
	b.press("Next: train")
	b.waitFor(`document.querySelector("#out").value === "out"`)
	b.click("#run")
	b.waitFor(
		`document.querySelector("#run-status").textContent.includes("“Comma” for “Decimal mark”")`)
	b.checkScreens("9-stopped-early")
	b.press("Go to “Decimal mark”")
	b.waitFor(`document.activeElement.name === "decimal"`)
	kind := func(column string) string {
		return eval[string](b,
			fmt.Sprintf(
				`[...document.querySelectorAll("#preview thead th")].find(h => h.textContent.startsWith(%q)).className`,
				column))
	}
	if got := kind("Gewicht"); got != "text" {
		t.Errorf("with a decimal point Gewicht is %s", got)
	}
	b.click(`#decimal label:last-child`)
	b.waitFor(`document.querySelector("#decimal-message").hidden`)
	for _, column := range []string{"Gewicht", "CRP (mg/l)", "Verweildauer (Tage)"} {
		if got := kind(column); got != "number" {
			t.Errorf("with a decimal comma %s is %s", column, got)
		}
	}
	b.press("Next: choose the budget")
	b.waitFor(`document.querySelector("#recipe").textContent.includes("decimal: \",\"")`)
	b.press("Next: train")
	b.waitFor(`document.querySelector("#out").value === "out-2"`)
	b.click("#run")
	b.waitFor(
		`!document.querySelector("#to-report").hidden && document.querySelector("#run-status").textContent === "Done."`)
	b.checkConsole("decimal mark")
}

// TestKeyboardInChromium gets from the table to the price with the keyboard alone.
func TestKeyboardInChromium(t *testing.T) {
	b := newBrowser(t)
	folder := t.TempDir()
	copyOf(t, "houses.csv", folder)
	b.do(chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#files button")))
	focus := func(want string) {
		t.Helper()
		for range 80 {
			b.do(chromedp.KeyEvent(kb.Tab))
			if eval[bool](b, fmt.Sprintf(`document.activeElement.matches(%q)`, want)) {
				return
			}
		}
		t.Fatalf("Tab does not reach %s", want)
	}
	focus("#files button")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.waitFor(`document.querySelectorAll("#declared li").length === 10`)
	focus("#decimal input")
	b.do(chromedp.KeyEvent(kb.ArrowRight))
	b.waitFor(`document.querySelector("#recipe").textContent.includes("decimal")`)
	b.do(chromedp.KeyEvent(kb.ArrowLeft))
	b.waitFor(`!document.querySelector("#recipe").textContent.includes("decimal")`)
	focus("#step-columns [data-go=budget]")
	b.do(chromedp.KeyEvent(kb.Enter))
	b.waitFor(
		`document.querySelectorAll("#attack circle").length === 200 && document.activeElement.id === "main"`)
	focus("#slider")
	for range 5 {
		b.do(chromedp.KeyEvent(kb.ArrowRight))
	}
	b.waitFor(`document.querySelector("#recipe").textContent.includes("epsilon: 1.3\n")`)
	b.checkConsole("keyboard")
}

// TestStopInChromium checks that a run stopped on the page ends, leaves no results, and can be started again.
func TestStopInChromium(t *testing.T) {
	b := newBrowser(t)
	folder := t.TempDir()
	head, rows, _ := strings.Cut(read(t, "../../testdata/houses.csv"), "\n")
	write(t, filepath.Join(folder, "houses.csv"), head+"\n"+strings.Repeat(rows, 200)) // takes about ten seconds
	b.do(chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#files button")))
	b.press("houses.csv")
	b.waitFor(`document.querySelectorAll("#declared li").length === 10`)
	b.fill("#target", "price")
	b.press("Next: choose the budget")
	b.waitFor(`document.querySelectorAll("#attack circle").length === 200`)
	b.press("Next: train")
	b.waitFor(`document.querySelector("#run-summary").textContent.includes("houses.csv")`)
	for range 2 {
		b.click("#run")
		b.waitFor(`document.querySelectorAll("#stages li[aria-current]").length === 1`)
		b.press("Stop")
		b.waitFor(`document.querySelector("#run-status").textContent.startsWith("Stopped.")`)
		if text := eval[string](b,
			`document.querySelector("#run-text").textContent`); !strings.Contains(text,
			"interrupted") {
			t.Errorf("the output of a run that was stopped is %q", text)
		}
		if stop := eval[bool](b,
			`!document.querySelector("#run-stop").hidden || document.querySelector("#run").disabled || !document.querySelector("#to-report").hidden`); stop {
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
	b.checkScreens("7-stopped")
}

// TestSiteInChromium checks that the search of the site built by scripts/site.sh finds pages, and that the site
// loads no resources from elsewhere.
func TestSiteInChromium(t *testing.T) {
	if _, err := os.Stat("../../site/search/search_index.json"); err != nil {
		t.Skip("the site is not built")
	}
	b := newBrowser(t)
	server := httptest.NewServer(http.FileServer(http.Dir("../../site")))
	t.Cleanup(server.Close)
	b.do(chromedp.Navigate(server.URL+"/index.html"), chromedp.WaitVisible(chromedp.CSS("main")))
	b.checkScreens("site-1-index")
	for _, q := range []struct{ words, page string }{
		{"held-out R²", "proofs/evaluation.html"}, {"abstained", "reference/exit-codes.html"},
		{"onnxruntime", "guide/export.html"},
	} {
		b.do(chromedp.Click(chromedp.CSS(".md-search__input")))
		b.fill(".md-search__input", "")
		b.do(chromedp.SendKeys(".md-search__input", q.words))
		b.waitFor(
			fmt.Sprintf(
				`[...document.querySelectorAll(".md-search-result__link")].some(a => a.href.includes(%q))`,
				q.page))
	}
	b.checkScreens("site-2-search")
	first := eval[string](b,
		`[...document.querySelectorAll(".md-search-result__link")].find(a => a.offsetParent).href`)
	b.do(chromedp.Navigate(first))
	b.do(chromedp.WaitVisible(chromedp.CSS("article h1")))
	b.checkScreens("site-3-found")
	b.do(chromedp.Click(chromedp.CSS(`label[title="Dark"]`)), chromedp.Sleep(400*time.Millisecond))
	b.checkScreens("site-4-dark")
	if other := eval[[]string](b,
		`performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin) && !n.startsWith("blob:") && !n.startsWith("data:"))`); len(
		other) > 0 {
		t.Errorf("fetched from elsewhere: %q", other)
	}
}

// TestReportsInChromium checks the reports of five kinds of runs.
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
		if got := dptrain(t,
			append([]string{"fit", "--quiet", "--out", out}, args...)...); got.code != 0 &&
			got.code != exitAbstained {
			t.Fatalf("%s: %+v", name, got)
		}
		path := filepath.Join(out, "release", "report.html")
		if info, err := os.Stat(path); err != nil || info.Size() > 1<<20 {
			t.Errorf("%s: %v, %d bytes", name, err, info.Size())
		}
		call(b, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
		b.do(chromedp.Navigate("file://"+path), chromedp.WaitVisible(chromedp.CSS("main")))
		b.checkScreens(name)
	}
}

// TestSuitesInChromium checks the pages of two suites, which share elements with reports: curves with intervals, and
// a table with many columns.
func TestSuitesInChromium(t *testing.T) {
	b := newBrowser(t)
	tables := t.TempDir()
	for _, name := range []string{"houses", "loans"} {
		write(t, filepath.Join(tables, name+".csv"),
			numeric(read(t, "../../testdata/"+name+".csv"), 800))
	}
	for name, o := range map[string]suite.Options{suite.Copies: {}, suite.Seed001: {Data: tables}} {
		o.Public, o.Trials, o.Out = true, 1, t.TempDir()
		if _, err := suite.Run(t.Context(), name, o); err != nil {
			t.Fatal(err)
		}
		b.do(chromedp.Navigate("file://"+filepath.Join(o.Out, suite.PageFile)),
			chromedp.WaitVisible(chromedp.CSS("main")))
		if n := eval[int](b, `document.querySelectorAll("figure svg[role=img]").length`); n < 2 {
			t.Errorf("%s: %d figures", name, n)
		}
		if bare := eval[int](b,
			`[...document.querySelectorAll("svg *")].filter(e => e.tagName !== "title" && !e.classList.length).length`); bare >
			0 {
			t.Errorf("%s: %d elements without a class, and so without a colour in the dark", name,
				bare)
		}
		b.checkScreens("suite-" + name)
	}
}

// numeric returns the first rows of a table without its text columns, with the last numeric column as the target.
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

// TestPageRefuses checks that the real command refuses requests without the token, for another host and from another
// origin.
func TestPageRefuses(t *testing.T) {
	folder := t.TempDir()
	copyOf(t, "houses.csv", folder)
	address, token, _ := strings.Cut(uiServer(t, folder), "#")
	address = strings.TrimSuffix(address, "/")
	ask := func(change func(*http.Request)) int {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address+"/api/columns",
			strings.NewReader(`{"path":"houses.csv"}`))
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
		if err := json.NewDecoder(answer.Body).Decode(&out); err != nil ||
			(answer.StatusCode == http.StatusOK) != strings.Contains(out.Out, `"area"`) {
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
