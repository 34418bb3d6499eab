package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/dptrain/dptrain/internal/recipe"
	"github.com/dptrain/dptrain/internal/testkit"
	"github.com/dptrain/dptrain/internal/testkit/browser"
)

// uiServer starts `dptrain ui` in a folder and returns its address.
func uiServer(t *testing.T, folder string) string {
	t.Helper()
	stderr := &lockedBuffer{}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan int, 1)
	go func() {
		ended <- run(
			ctx,
			[]string{"ui", folder},
			strings.NewReader(""),
			&bytes.Buffer{},
			stderr,
		)
	}()
	t.Cleanup(func() {
		stop()
		if code := <-ended; code != 0 {
			t.Errorf(
				"code %d: %s",
				code, stderr.String(),
			)
		}
	})
	for range 600 {
		at := regexp.MustCompile(`http://\S+`).FindString(stderr.String())
		if at != "" &&
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
	writeFile(
		t, filepath.Join(folder, table),
		readFile(t, "../../testdata/"+table),
	)
}

// TestPageInChromium uses the whole page in a browser: table, columns, price, simulation, run, report, ledger.
func TestPageInChromium(t *testing.T) {
	b := browser.New(t)
	folder := t.TempDir()
	copyOf(t, "houses.csv", folder)
	copyOf(t, "loans.csv", folder)
	address := uiServer(t, folder)

	b.Do(
		chromedp.Navigate(strings.SplitN(address, "#", 2)[0]),
		chromedp.WaitVisible(chromedp.CSS("#alert")),
	)
	text := browser.Eval[string](b, `document.querySelector("#alert").textContent`)
	if !strings.Contains(
		text, "no token") {
		t.Errorf("without a token: %s", text)
	}
	b.Do(
		chromedp.Navigate("about:blank"),
		chromedp.Navigate(address),
		chromedp.WaitVisible(chromedp.CSS("#files button")),
	)
	at := browser.Eval[string](b, `location.href`)
	if strings.Contains(at, "#") {
		t.Errorf("the token stays in the address %s", at)
	}
	b.CheckScreens("1-table")

	b.Press("houses.csv")
	b.WaitFor(
		`document.querySelectorAll("#declared li").length === 10 && document.querySelectorAll("#preview tbody tr").length === 10`)
	b.Fill("#target", "price")
	b.Fill(`select[aria-label="What is public about area"]`, "range")
	b.Fill(`input[aria-label="from of area"]`, "500")
	b.Fill(`input[aria-label="to of area"]`, "10")
	b.WaitFor(
		`document.querySelector("#declared .message.error")?.textContent.includes("smaller number to a larger")`)
	b.Fill(`input[aria-label="from of area"]`, "10")
	b.Fill(`input[aria-label="to of area"]`, "500")
	b.WaitFor(`document.querySelector("#declared .message.error").hidden`)
	b.Fill(`select[aria-label="What is public about ocean"]`, "categories")
	b.Fill(
		`input[aria-label="categories, separated by commas of ocean"]`,
		"inland, near bay, near ocean, island",
	)
	b.Fill(`select[aria-label="What is public about garden"]`, "exclude")
	b.WaitFor(`document.querySelector("#recipe").textContent.includes("exclude: [garden]")`)
	b.CheckScreens("2-columns")

	b.Press("Next: choose the budget")
	b.WaitFor(`document.querySelectorAll("#attack circle").length === 200`)
	bars := browser.Eval[string](b, `document.querySelector("#attack").textContent`)
	b.Fill("#slider", "80")
	b.WaitFor(fmt.Sprintf(
		`document.querySelector("#attack").textContent !== %q`,
		bars,
	))
	b.WaitFor(`document.querySelector("#recipe").textContent.includes("epsilon: 4")`)
	b.Press("Simulate")
	b.WaitFor(`document.querySelector("#simulate-status").textContent.includes(" of ")`)
	b.Press("Stop")
	b.WaitFor(`document.querySelector("#simulate-status").textContent === "Stopped."`)
	b.Press("Simulate")
	b.WaitFor(`document.querySelectorAll("#expected polyline").length > 2`)
	b.Fill("#slider", "50")
	b.WaitFor(
		`document.querySelector("#expected figcaption").textContent.includes("At epsilon 1:") && document.querySelector("#recipe").textContent.includes("epsilon: 1\n")`)
	b.CheckScreens("3-budget")
	checkBudgetErrors(t, b)

	b.Press("Ledger")
	b.WaitFor(`document.querySelector("#book-note").textContent.includes("no ledger")`)
	b.Click("#step-ledger summary")
	b.Fill(`#register input[name=dataset]`, "houses")
	b.Press("Register")
	b.WaitFor(`document.querySelectorAll("#accounts svg").length === 1`)
	b.Press("Budget")
	b.WaitFor(`document.querySelector("#remains").textContent.includes("this run")`)

	b.Press("Next: train")
	b.WaitFor(`document.querySelector("#run-summary").textContent.includes("houses.csv")`)
	b.Click("#run")
	b.WaitFor(
		`!document.querySelector("#to-report").hidden && document.querySelector("#run-metric").textContent.includes("R²")`)
	b.CheckScreens("4-train")
	recipe := readFile(t, filepath.Join(folder, "recipe.yaml"))
	shown := browser.Eval[string](b, `document.querySelector("#recipe").textContent`)
	if recipe != shown ||
		!strings.Contains(recipe, "area: {lower: 10, upper: 500}") {
		t.Errorf(
			"saved\n%s\nshown\n%s",
			recipe, shown,
		)
	}

	b.Press("Read the report")
	b.WaitFor(`!document.querySelector("#report").hidden`)
	b.Do(chromedp.Sleep(time.Second)) // the frame loads asynchronously
	b.CheckScreens("5-report")

	b.Press("Ledger")
	b.WaitFor(`document.querySelector("#accounts").textContent.includes("ended")`)
	b.CheckScreens("6-ledger")

	trainClassifier(t, b, folder)
	got := dptrain(t, "verify", filepath.Join(folder, "out"))
	if got.code != 0 {
		t.Errorf("%+v", got)
	}
}

// checkBudgetErrors enters an invalid delta and an invalid epsilon, and checks that the errors appear at their
// fields, even in collapsed sections.
func checkBudgetErrors(t *testing.T, b *browser.Browser) {
	t.Helper()
	b.Fill("#delta", "2")
	b.WaitFor(
		`document.querySelector("#delta").getAttribute("aria-invalid") === "true" && !document.querySelector("#mistakes").hidden`)
	open := browser.Eval[bool](b, `document.querySelector("#more").open`)
	if open {
		t.Error("the details are open before anybody asks for the field")
	}
	b.Press("Go to “Delta”")
	b.WaitFor(`document.activeElement.id === "delta" && document.querySelector("#more").open`)
	about := browser.Eval[string](
		b,
		`document.getElementById(document.querySelector("#delta").getAttribute("aria-describedby")).textContent`,
	)
	if !strings.Contains(about, "Delta must be at least 0 and below 1") {
		t.Errorf("the field is described by %q", about)
	}
	b.CheckScreens("3-error")
	b.Fill("#delta", "1e-6")
	b.WaitFor(
		`!document.querySelector("#delta").hasAttribute("aria-invalid") && document.querySelector("#mistakes").hidden`)
	b.Fill("#epsilon", "0")
	b.WaitFor(`document.querySelector("#epsilon").getAttribute("aria-invalid") === "true"`)
	b.Fill("#epsilon", "1")
	b.WaitFor(`!document.querySelector("#epsilon").hasAttribute("aria-invalid")`)
}

// trainClassifier trains a classifier, checks that existing results are not overwritten, compares the two runs, and
// uses an existing recipe.
func trainClassifier(t *testing.T, b *browser.Browser, folder string) {
	t.Helper()
	b.Press("Table")
	b.Press("loans.csv")
	b.WaitFor(`[...document.querySelector("#target").options].some(o => o.value === "repaid")`)
	b.Fill("#target", "repaid")
	b.WaitFor(`document.querySelector("#task-message")?.textContent.includes("text, not numbers")`)
	b.Click(`#task label:last-child`)
	b.WaitFor(`document.querySelector("#task-message").hidden`)
	b.Fill("#classes", "no, yes")
	b.Fill("#dataset", "")
	b.WaitFor(`document.querySelector("#recipe").textContent.includes("task: classification")`)
	b.Press("Next: choose the budget")
	b.WaitFor(
		`document.querySelector("#recipe").textContent.includes("classes: [no, yes]") && !document.querySelector("#step-budget [data-go=train]").disabled`)
	b.Press("Next: train")
	b.WaitFor(
		`document.querySelector("#file").value === "recipe-2.yaml" && document.querySelector("#out").value === "out-2"`)
	b.Fill("#file", "recipe.yaml")
	b.Click("#run")
	b.WaitFor(
		`document.querySelector("#file-message")?.textContent.includes("already exists") && document.activeElement.id === "file"`)
	b.Fill("#file", "loans.yaml")
	b.Fill("#out", "out")
	b.Click("#run")
	b.WaitFor(
		`document.querySelector("#out").getAttribute("aria-invalid") === "true" && document.activeElement.id === "out"`)
	b.ForgetConsole() // which has the response 409
	b.Fill("#out", "loans")
	b.Click("#replace")
	b.Click("#run")
	b.WaitFor(`document.querySelector("#run-metric").textContent.includes("Accuracy")`)
	b.CheckConsole("classification")

	b.Press("Compare runs")
	b.WaitFor(`document.querySelectorAll(".comparison thead th").length === 2`)
	text := browser.Eval[string](b, `document.querySelector("#comparison").innerText`)
	for _, want := range []string{"loans", "out", "price", "repaid", "R²", "Accuracy", "Epsilon",
		"epsilon 2, delta 2e-6"} {
		if !strings.Contains(text, want) {
			t.Errorf(
				"the comparison lacks %q:\n%s",
				want, text,
			)
		}
	}
	b.CheckScreens("8-compare")
	b.Click("#run-list li:last-child input")
	b.WaitFor(
		`document.querySelectorAll(".comparison thead th").length === 1 && document.querySelector("#comparison-note").textContent.includes("Select another run")`)

	b.Press("Table")
	b.Press("loans.yaml")
	b.WaitFor(
		`document.querySelector("#recipe-hint").textContent.includes("unchanged") && document.querySelector("#attack").textContent.includes("at most")`)
	b.Fill("#epsilon", "2")
	b.WaitFor(`document.querySelector("#command-text").textContent.includes("--epsilon 2")`)
	b.CheckConsole("recipe")
	got := readFile(t, filepath.Join(folder, "loans.yaml"))
	if !strings.Contains(got, "dir: loans") {
		t.Error(got)
	}
}

// hospitalExport returns n stays in the format of German hospitals: semicolons, Latin-1, decimal commas, units after
// numbers, and patients with several stays.
func hospitalExport(n int, seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 2))
	comma := func(x float64) string {
		return strings.Replace(
			fmt.Sprintf("%.1f", x),
			".", ",", 1,
		)
	}
	choose := func(list ...string) string {
		return list[r.IntN(len(list))]
	}
	var b strings.Builder
	b.WriteString(
		"Patienten-ID;Aufnahmedatum;Alter;Geschlecht;Gewicht;CRP (mg/l);Blutdruck;Abteilung;Diagnose;Notfall;Kosten (EUR);Bemerkung;Verweildauer (Tage)\r\n")
	for range n {
		age := 18 + r.IntN(80)
		crp := math.Abs(20 + 25*r.NormFloat64())
		pressure := 120 + .3*float64(age) + 12*r.NormFloat64()
		diagnosis := choose(
			"I21.0", "J18.9",
			"K35.8", "S72.0",
		)
		days := 1.5 + .05*float64(age) + .04*crp + 1.6*r.ExpFloat64()
		if diagnosis == "I21.0" {
			days += 3
		}
		age1 := fmt.Sprint(age)
		crp1 := comma(crp)
		days1 := comma(days)
		if r.Float64() < .1 {
			age1 += " Jahre"
		}
		switch {
		case r.Float64() < .05:
			crp1 = choose("-999", "k.A.")
		case crp < 5:
			crp1 = "<5"
		}
		if r.Float64() < .02 {
			days1 = ""
		}
		admitted := time.Date(
			2023, 1, 1+r.IntN(720),
			0, 0, 0, 0, time.UTC,
		)
		cells := []string{
			fmt.Sprint("P", 100000+r.IntN(n*4/5)),
			admitted.Format("02.01.2006"),
			age1,
			choose("m", "w"),
			comma(76+15*r.NormFloat64()) + choose("", " kg"),
			crp1,
			fmt.Sprintf("%.0f/%.0f", pressure, .65*pressure),
			choose(
				"Kardiologie",
				"Chirurgie",
				"chirurgie ",
				"Innere Medizin",
				"Gyn\xe4kologie",
			),
			diagnosis,
			choose("ja", "nein"),
			comma(900 + 19000*r.Float64()),
			choose("keine Auff\xe4lligkeiten", "Entlassung nach Hause", ""),
			days1,
		}
		b.WriteString(strings.Join(cells, ";") + "\r\n")
	}
	return b.String()
}

// TestHospitalWorkflowInChromium gets from a hospital export to the report with at most eight clicks. It checks that
// the proposed settings read the file, that the patients are proposed as the unit, and that at least eleven columns are
// used. Every text value has more than 3,000 training records; about 600 are enough for it to be found.
func TestHospitalWorkflowInChromium(t *testing.T) {
	b := browser.New(t)
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "export.csv"), hospitalExport(16000, 1))
	b.Do(
		chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#files button")),
	)
	b.Press("export.csv")
	b.WaitFor(`document.querySelectorAll("#proposal-list li").length === 5`)
	b.Press("Use these 5 settings")
	b.WaitFor(`document.querySelector("#proposals").hidden`)
	takeGuidePicture(t, b)
	b.CheckScreens("10-hospital")
	preview := browser.Eval[[]string](
		b,
		`[...document.querySelectorAll("#preview thead th")].map(h => h.innerText.replace(/\s+/g, " ").trim())`,
	)
	for _, want := range []string{"Patienten-ID person", "Aufnahmedatum date", "Gewicht number",
		"CRP (mg/l) number", "Blutdruck number", "Kosten (EUR) number", "Abteilung text",
		"Verweildauer (Tage) number"} {
		if !slices.Contains(preview, want) {
			t.Errorf("the preview lacks %q: %q", want, preview)
		}
	}
	letters := browser.Eval[string](
		b,
		`document.querySelector("#preview").textContent`,
	)
	if strings.Contains(letters, "\uFFFD") {
		t.Errorf(
			"the preview has letters that were not read: %s",
			letters,
		)
	}
	b.WaitFor(`document.querySelector("#declared").textContent.includes("Of pairs such as 144/94")`)
	unit := browser.Eval[string](
		b,
		`["input[name=unit]:checked", "#unit-column", "#unit-rows"].map(f => document.querySelector(f).value).join(" ")`,
	)
	if unit != fmt.Sprintf("column Patienten-ID %d", recipe.ProposedMaxRows) {
		t.Errorf("the proposed unit is %q", unit)
	}
	b.Press("Next: choose the budget")
	b.WaitFor(`document.querySelectorAll("#attack circle").length === 200`)
	b.Press("Next: train")
	b.WaitFor(`document.querySelector("#run-summary").textContent.includes("each Patienten-ID")`)
	b.Click("#run")
	b.WaitFor(`!document.querySelector("#to-report").hidden`)
	b.Press("Read the report")
	b.WaitFor(
		`!document.querySelector("#report").hidden && document.querySelector("#report-note").textContent.includes("may be published")`)
	b.CheckConsole("hospital")
	if b.Clicks > 8 {
		t.Errorf(
			"%d clicks from the table to the report",
			b.Clicks,
		)
	}
	var report struct {
		Features struct{ Selected []string }
	}
	text := readFile(
		t,
		filepath.Join(folder, "out", "release", "report.json"),
	)
	err := json.Unmarshal([]byte(text), &report)
	if err != nil {
		t.Fatal(err)
	}
	n := len(report.Features.Selected)
	if n < 11 {
		t.Errorf(
			"%d columns are used: %q",
			n, report.Features.Selected,
		)
	}
	var private []string
	for _, file := range []string{
		"report.json", "report.html",
		"recipe.yaml", "model.json",
	} {
		released := readFile(t, filepath.Join(folder, "out", "release", file))
		if regexp.MustCompile(
			`P1\d{5}`).MatchString(released) {
			private = append(private, file)
		}
	}
	if len(private) > 0 {
		t.Errorf("patients of the preview are in %q", private)
	}
}

// takeGuidePicture saves the screenshot for docs/guide/ui.md if requested. See scripts/pictures.py.
func takeGuidePicture(t *testing.T, b *browser.Browser) {
	t.Helper()
	dir := os.Getenv(browser.ShotsEnv)
	if dir == "" {
		return
	}
	b.Do(chromedp.Evaluate[chromedp.Void](
		`document.querySelector("#folder").textContent = "hospital"`))
	browser.Call(
		b,
		emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{
			Width:             1280,
			Height:            900,
			DeviceScaleFactor: 1,
		},
	)
	b.Do(chromedp.Sleep(400 * time.Millisecond))
	shot := browser.Take(b, chromedp.CaptureScreenshot())
	err := os.WriteFile(filepath.Join(dir, "ui-columns.png"), shot, 0o600)
	if err != nil {
		t.Fatal(err)
	}
}

// TestFirstScreenInChromium starts in an empty folder, drops a table on the page, chooses one with the field for files,
// and opens the sample. Each must be in the folder and shown; a table of the same name must be refused.
func TestFirstScreenInChromium(t *testing.T) {
	b := browser.New(t)
	folder := t.TempDir()
	b.Do(
		chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#no-tables")),
	)
	b.CheckScreens("0-empty")
	const table = "a;b\n1;2\n3;4\n"
	drop := func(event, name string) string {
		return fmt.Sprintf(`(() => {
			const data = new DataTransfer();
			data.items.add(new File([%q], %q));
			document.querySelector("#drop").dispatchEvent(new DragEvent(%q, {dataTransfer: data, bubbles: true, cancelable: true}));
			return true;
		})()`, table, name, event)
	}
	browser.Eval[bool](b, drop("dragenter", "mine.csv"))
	b.WaitFor(`document.querySelector("#drop").classList.contains("over")`)
	browser.Eval[bool](b, drop("drop", "mine.csv"))
	b.WaitFor(
		`document.querySelectorAll("#declared li").length === 2 && !document.querySelector("#drop").classList.contains("over")`)
	got := readFile(t, filepath.Join(folder, "mine.csv"))
	if got != table {
		t.Errorf("the file in the folder is %q", got)
	}
	browser.Eval[bool](b, drop("drop", "other.csv")) // has no effect on this step
	b.CheckConsole("drop")

	b.Press("Table")
	b.WaitFor(`document.querySelectorAll("#files button").length === 1`)
	browser.Eval[bool](b, drop("drop", "mine.csv"))
	b.WaitFor(`document.querySelector("#alert").textContent.includes("mine.csv is in the folder already")`)
	b.ForgetConsole() // from the response 409
	browser.Eval[bool](b, drop("drop", "letter.pdf"))
	b.WaitFor(`document.querySelector("#alert").textContent.includes("letter.pdf is not the name of a table")`)
	b.ForgetConsole() // likewise
	browser.Eval[bool](b, `(() => {
		const data = new DataTransfer();
		data.items.add(new File(["c,d\n1,2\n"], "chosen.csv"));
		const field = document.querySelector("#picked");
		field.files = data.files;
		field.dispatchEvent(new Event("change"));
		return true;
	})()`)
	b.WaitFor(`document.querySelector("#table-name").textContent === "chosen.csv"`)
	b.Press("Table")
	b.WaitFor(`document.querySelectorAll("#files button").length === 2`)
	b.Press("Try a sample table")
	b.WaitFor(`document.querySelectorAll("#declared li").length === 10`)
	target := browser.Eval[string](b, `document.querySelector("#target").value`)
	if target != "price" {
		t.Errorf("the target of the sample is %q", target)
	}
	b.CheckConsole("sample")
	var names []string
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	if !slices.Equal(names, []string{"chosen.csv", "mine.csv", "sample-houses.csv"}) {
		t.Errorf(
			"%q are in the folder, %v",
			names, err,
		)
	}
}

// TestDecimalMarkInChromium checks that a single visible field corrects a wrong decimal mark, before a run and after
// a run that found no numbers in the target.
func TestDecimalMarkInChromium(t *testing.T) {
	b := browser.New(t)
	folder := t.TempDir()
	writeFile(t, filepath.Join(folder, "export.csv"), hospitalExport(3000, 2))
	b.Do(
		chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#files button")),
	)
	b.Press("export.csv")
	b.WaitFor(`document.querySelector("#decimal-message")?.textContent.includes("decimal comma")`)
	visible := `(f => f.offsetParent !== null && !f.closest("details"))(document.querySelector("#decimal"))`
	if !browser.Eval[bool](b, visible) {
		t.Error("the field of the decimal mark is folded away")
	}
	b.Fill("#encoding", "windows-1252")
	b.Press("Next: choose the budget")
	b.WaitFor(`document.querySelectorAll("#attack circle").length === 200`)
	b.Press("Next: train")
	b.WaitFor(`document.querySelector("#out").value === "out"`)
	b.Click("#run")
	b.WaitFor(
		`document.querySelector("#run-status").textContent.includes("“Comma” for “Decimal mark”")`)
	b.CheckScreens("9-stopped-early")
	b.Press("Go to “Decimal mark”")
	b.WaitFor(`document.activeElement.name === "decimal"`)
	kind := func(column string) string {
		return browser.Eval[string](
			b,
			fmt.Sprintf(
				`[...document.querySelectorAll("#preview thead th")].find(h => h.textContent.startsWith(%q)).className`,
				column),
		)
	}
	got := kind("Gewicht")
	if got != "text" {
		t.Errorf("with a decimal point Gewicht is %s", got)
	}
	b.Click(`#decimal label:last-child`)
	b.WaitFor(`document.querySelector("#decimal-message").hidden`)
	for _, column := range []string{
		"Gewicht",
		"CRP (mg/l)",
		"Verweildauer (Tage)",
	} {
		got := kind(column)
		if got != "number" {
			t.Errorf(
				"with a decimal comma %s is %s",
				column, got,
			)
		}
	}
	b.Press("Next: choose the budget")
	b.WaitFor(`document.querySelector("#recipe").textContent.includes("decimal: \",\"")`)
	b.Press("Next: train")
	b.WaitFor(`document.querySelector("#out").value === "out-2"`)
	b.Click("#run")
	b.WaitFor(
		`!document.querySelector("#to-report").hidden && document.querySelector("#run-status").textContent === "Done."`)
	b.CheckConsole("decimal mark")
}

// TestKeyboardInChromium gets from the table to the price with the keyboard alone.
func TestKeyboardInChromium(t *testing.T) {
	b := browser.New(t)
	folder := t.TempDir()
	copyOf(t, "houses.csv", folder)
	b.Do(
		chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#files button")),
	)
	focus := func(want string) {
		t.Helper()
		for range 80 {
			b.Do(chromedp.KeyEvent(kb.Tab))
			if browser.Eval[bool](b, fmt.Sprintf(`document.activeElement.matches(%q)`, want)) {
				return
			}
		}
		t.Fatalf("Tab does not reach %s", want)
	}
	focus("#files button")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.WaitFor(`document.querySelectorAll("#declared li").length === 10`)
	focus("#decimal input")
	b.Do(chromedp.KeyEvent(kb.ArrowRight))
	b.WaitFor(`document.querySelector("#recipe").textContent.includes("decimal")`)
	b.Do(chromedp.KeyEvent(kb.ArrowLeft))
	b.WaitFor(`!document.querySelector("#recipe").textContent.includes("decimal")`)
	focus("#step-columns [data-go=budget]")
	b.Do(chromedp.KeyEvent(kb.Enter))
	b.WaitFor(
		`document.querySelectorAll("#attack circle").length === 200 && document.activeElement.id === "main"`)
	focus("#slider")
	for range 5 {
		b.Do(chromedp.KeyEvent(kb.ArrowRight))
	}
	b.WaitFor(`document.querySelector("#recipe").textContent.includes("epsilon: 1.3\n")`)
	b.CheckConsole("keyboard")
}

// TestStopInChromium checks that a run stopped on the page ends, leaves no results, and can be started again.
func TestStopInChromium(t *testing.T) {
	b := browser.New(t)
	folder := t.TempDir()
	head, rows, _ := strings.Cut(
		readFile(t, "../../testdata/houses.csv"),
		"\n",
	)
	writeFile(t, filepath.Join(folder, "houses.csv"), head+"\n"+strings.Repeat(rows, 200)) // takes about ten seconds
	b.Do(
		chromedp.Navigate(uiServer(t, folder)),
		chromedp.WaitVisible(chromedp.CSS("#files button")),
	)
	b.Press("houses.csv")
	b.WaitFor(`document.querySelectorAll("#declared li").length === 10`)
	b.Fill("#target", "price")
	b.Press("Next: choose the budget")
	b.WaitFor(`document.querySelectorAll("#attack circle").length === 200`)
	b.Press("Next: train")
	b.WaitFor(`document.querySelector("#run-summary").textContent.includes("houses.csv")`)
	for range 2 {
		b.Click("#run")
		b.WaitFor(`document.querySelectorAll("#stages li[aria-current]").length === 1`)
		b.Press("Stop")
		b.WaitFor(`document.querySelector("#run-status").textContent.startsWith("Stopped.")`)
		text := browser.Eval[string](
			b,
			`document.querySelector("#run-text").textContent`,
		)
		if !strings.Contains(text, "interrupted") {
			t.Errorf(
				"the output of a run that was stopped is %q",
				text,
			)
		}
		stop := browser.Eval[bool](
			b,
			`!document.querySelector("#run-stop").hidden || document.querySelector("#run").disabled || !document.querySelector("#to-report").hidden`,
		)
		if stop {
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
	b.CheckScreens("7-stopped")
}

// TestSiteInChromium checks that the search of the site built by scripts/site.sh finds pages, and that the site
// loads no resources from elsewhere.
func TestSiteInChromium(t *testing.T) {
	_, err := os.Stat("../../site/search/search_index.json")
	if err != nil {
		t.Skip("the site is not built")
	}
	b := browser.New(t)
	server := httptest.NewServer(http.FileServer(http.Dir("../../site")))
	t.Cleanup(server.Close)
	b.Do(
		chromedp.Navigate(server.URL+"/index.html"),
		chromedp.WaitVisible(chromedp.CSS("main")),
	)
	b.CheckScreens("site-1-index")
	for _, q := range []struct{ words, page string }{
		{"held out R²", "proofs/evaluation.html"}, // "held-", as typed, would be an invalid query
		{"abstained", "reference/exit-codes.html"},
		{"onnxruntime", "guide/export.html"},
	} {
		b.Do(chromedp.Click(chromedp.CSS(".md-search__input")))
		b.Fill(".md-search__input", "")
		b.Do(chromedp.SendKeys(".md-search__input", q.words))
		b.WaitFor(
			fmt.Sprintf(
				`[...document.querySelectorAll(".md-search-result__link")].some(a => a.href.includes(%q))`,
				q.page))
	}
	b.CheckScreens("site-2-search")
	first := browser.Eval[string](
		b,
		`[...document.querySelectorAll(".md-search-result__link")].find(a => a.offsetParent).href`,
	)
	b.Do(chromedp.Navigate(first))
	b.Do(chromedp.WaitVisible(chromedp.CSS("article h1")))
	b.CheckScreens("site-3-found")
	b.Do(
		chromedp.Click(chromedp.CSS(`label[title="Dark"]`)),
		chromedp.Sleep(400*time.Millisecond),
	)
	b.CheckScreens("site-4-dark")
	other := browser.Eval[[]string](
		b,
		`performance.getEntriesByType("resource").map(e => e.name).filter(n => !n.startsWith(location.origin) && !n.startsWith("blob:") && !n.startsWith("data:"))`,
	)
	if len(
		other) > 0 {
		t.Errorf("fetched from elsewhere: %q", other)
	}
}

// TestReportsInChromium checks the reports of six kinds of runs, or of ten with [testkit.FullEnv]: on a desktop and on a phone, no label of a picture is
// cut or smaller than 11 pixels, and on a desktop no description of the data scrolls sideways.
func TestReportsInChromium(t *testing.T) {
	b := browser.New(t)
	folder := t.TempDir()
	export := filepath.Join(folder, "export.csv")
	writeFile(t, export, hospitalExport(8000, 3))
	const testdata = "../../testdata/"
	reading := []string{
		"--separator", ";",
		"--decimal", ",",
		"--encoding", "windows-1252",
		"--unit", "Patienten-ID",
		"--max-rows", "2",
		"--date", "Aufnahmedatum=auto",
	}
	reports := map[string][]string{
		"report-linear": {"fit", "../../examples/adassp.yaml"},
		"report-additive": {
			"fit",
			"../../examples/boosted-additive.yaml",
		},
		"report-kernel": {
			"fit",
			"../../examples/boosted-kernel.yaml",
		},
		"report-tukey": {
			"fit",
			"../../examples/tukey-fallback.yaml",
		},
		"report-search":         {"fit", "../../examples/search.yaml"},
		"report-classification": {"fit", "../../examples/classes.yaml"},
		"report-many-classes": {
			"fit",
			"--data", testdata + "leaves.csv",
			"--target", "species",
			"--task", "classification",
			"--epsilon", "2",
		},
		"report-groups": {
			"fit",
			"--data", testdata + "houses.csv",
			"--target", "price",
			"--epsilon", "1",
			"--by", "ocean",
		},
		"report-hospital": append(
			[]string{
				"fit",
				"--data", export,
				"--target", "Verweildauer (Tage)",
				"--epsilon", "1",
				"--fold", "case",
			},
			reading...,
		),
		"report-describe": {
			"describe", testdata + "houses.csv",
			"--epsilon", "1",
			"--by", "ocean",
		},
	}
	if !testkit.Full() { // whose parts the others have
		for _, name := range []string{"report-linear", "report-additive", "report-tukey", "report-search"} {
			delete(reports, name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(reports)) {
		args := reports[name]
		out := filepath.Join(t.TempDir(), "out")
		if args[0] == "fit" {
			args = append(args, "--quiet")
		}
		got := dptrain(t, append(args, "--out", out)...)
		if got.code != 0 && got.code != exitAbstained {
			t.Fatalf("%s: %+v", name, got)
		}
		path := filepath.Join(out, "release", "report.html")
		info, err := os.Stat(path)
		if err != nil || info.Size() > 1<<20 {
			t.Errorf(
				"%s: %v, %d bytes",
				name, err, info.Size(),
			)
		}
		browser.Call(b, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true})
		b.Do(
			chromedp.Navigate("file://"+path),
			chromedp.WaitVisible(chromedp.CSS("main")),
		)
		b.EachScreen(func(screen string) {
			b.Do(chromedp.Evaluate[chromedp.Void](openAll))
			cut := browser.Eval[[]string](b, cutLabels)
			if len(cut) > 0 {
				t.Errorf(
					"%s, %s: labels of pictures are cut: %q",
					name, screen, cut,
				)
			}
			small := browser.Eval[[]string](b, browser.SmallLabels)
			if len(small) > 0 {
				t.Errorf(
					"%s, %s: labels of pictures are small: %q",
					name, screen, small,
				)
			}
			b.Do(chromedp.Evaluate[chromedp.Void](closeAll))
			wide := browser.Eval[[]string](b, wideTables)
			if len(wide) > 0 && screen == "desktop" {
				t.Errorf(
					"%s: the tables of %q scroll sideways",
					name, wide,
				)
			}
		})
		b.CheckScreens(name)
	}
}

// openAll opens all that is folded, and closeAll folds it again.
const (
	openAll  = `document.querySelectorAll("details").forEach(d => d.open = true)`
	closeAll = `document.querySelectorAll("details").forEach(d => d.open = false)`
)

// cutLabels lists the labels that reach beyond their picture.
const cutLabels = `[...document.querySelectorAll("svg")].flatMap(s => {
	const v = s.getBoundingClientRect();
	return [...s.querySelectorAll("text")].filter(t => {
		const b = t.getBoundingClientRect();
		return b.width > 0 && (b.left < v.left - 1 || b.right > v.right + 1 || b.top < v.top - 2 || b.bottom > v.bottom + 2);
	}).map(t => t.textContent);
})`

// wideTables lists the sections about the data with a table that is wider than the page.
const wideTables = `[...document.querySelectorAll("#data .scroll, #columns .scroll, #prototypes .scroll")]
	.filter(s => s.clientWidth > 0 && s.scrollWidth > s.clientWidth + 1)
	.map(s => s.closest("section").id)`

// TestPageRefuses checks that the real command refuses requests without the token, for another host and from another
// origin.
func TestPageRefuses(t *testing.T) {
	folder := t.TempDir()
	copyOf(t, "houses.csv", folder)
	address, token, _ := strings.Cut(uiServer(t, folder), "#")
	address = strings.TrimSuffix(address, "/")
	ask := func(change func(*http.Request)) int {
		r, err := http.NewRequestWithContext(
			t.Context(),
			http.MethodPost,
			address+"/api/columns",
			strings.NewReader(`{"path":"houses.csv"}`),
		)
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
		err = json.NewDecoder(answer.Body).Decode(&out)
		if err != nil ||
			(answer.StatusCode == http.StatusOK) != strings.Contains(out.Out, `"area"`) {
			t.Errorf("%v %+v", err, out)
		}
		return answer.StatusCode
	}
	for want, change := range map[int]func(*http.Request){
		200: func(*http.Request) {},
		401: func(r *http.Request) {
			r.Header.Del("Authorization")
		},
		403: func(r *http.Request) {
			r.Header.Set("Origin", "http://example.org")
		},
		421: func(r *http.Request) {
			r.Host = "example.org"
		},
	} {
		if got := ask(change); got != want {
			t.Errorf("%d, not %d", got, want)
		}
	}
}
