// Package browser drives a headless Chromium for tests of pages: it clicks, types and reads, and
// checks each step on several screens. The package is for tests only.
package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/dptrain/dptrain/internal/testkit"
)

// Environment variables for manual checks.
const (
	// ShotsEnv names a folder for screenshots.
	ShotsEnv = "DPTRAIN_UI_SHOTS"
	// axeEnv is the path of axe.min.js from the npm package axe-core, which then checks each step.
	axeEnv = "DPTRAIN_AXE"
)

// A Browser is a headless Chromium with one page. It records the console messages.
type Browser struct {
	Clicks  int // calls of Press and Click
	t       *testing.T
	ctx     context.Context
	mu      sync.Mutex
	console []string
	looks   map[string]bool // schemes and looks of the texts that axe has checked
	kinds   map[string]bool // kinds of elements that axe has checked since the desktop
}

// New starts Chromium. It skips the test if Chromium is not installed.
func New(t *testing.T) *Browser {
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
	b := &Browser{t: t, ctx: ctx, looks: map[string]bool{}, kinds: map[string]bool{}}
	Call(b, log.Enable, cdp.Empty{})
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

// Call executes a command of the DevTools protocol.
func Call[P, R any](b *Browser, command cdp.Command[P, R], params P) {
	b.t.Helper()
	if _, err := chromedp.Call(b.ctx, command, params); err != nil {
		b.t.Fatal(err)
	}
}

func (b *Browser) record(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = append(b.console, fmt.Sprintf(format, args...))
}

// ForgetConsole removes the console messages that no check has seen.
func (b *Browser) ForgetConsole() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.console = nil
}

// CheckConsole fails the test if there are new console messages.
func (b *Browser) CheckConsole(step string) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, line := range b.console {
		b.t.Errorf("%s: console: %s", step, line)
	}
	b.console = nil
}

// Do runs actions. It fails the test with the text of the page if one of them fails or takes three
// minutes.
func (b *Browser) Do(actions ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	Take(b, chromedp.Steps(actions...))
}

// Take returns the result of an action.
func Take[T any](b *Browser, action chromedp.Action[T]) T {
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

// Eval returns the value of a JavaScript expression.
func Eval[T any](b *Browser, expression string) T {
	b.t.Helper()
	return Take(b, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
}

// WaitFor waits until a JavaScript expression is true.
func (b *Browser) WaitFor(expression string) {
	b.t.Helper()
	Take(b, chromedp.Poll[chromedp.Void](expression,
		chromedp.WithPollingInterval(50*time.Millisecond),
		chromedp.WithPollingTimeout(2*time.Minute)))
}

// Press clicks the button with the given text and counts the click.
func (b *Browser) Press(text string) {
	b.t.Helper()
	at := fmt.Sprintf(
		`//button[contains(normalize-space(.), %q) and not(ancestor-or-self::*[@hidden])]`, text)
	for try := range 20 { // redrawing a list removes its buttons
		ctx, cancel := context.WithTimeout(b.ctx, time.Minute)
		_, err := chromedp.Run(ctx, chromedp.Click(at, chromedp.NodeVisible))
		cancel()
		if err == nil {
			b.Clicks++
			return
		}
		if try == 19 {
			b.t.Fatalf("%s: %v", text, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// Click clicks the element of a selector and counts the click.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	b.Do(chromedp.Click(chromedp.CSS(selector), chromedp.NodeVisible))
	b.Clicks++
}

// Fill sets the value of a field as typing does.
func (b *Browser) Fill(selector, value string) {
	b.t.Helper()
	ok := Eval[bool](b,
		fmt.Sprintf(
			`(() => {
				const f = document.querySelector(%q);
				f.value = %q;
				for (const kind of ["input", "change"]) {
					f.dispatchEvent(new Event(kind, {bubbles: true}));
				}
				return true
			})()`,
			selector, value))
	if !ok {
		b.t.Fatal(selector)
	}
}

// A screen is a width and a colour scheme in which steps are checked.
type screen struct {
	name          string
	width, height int64
	dark          bool
	print         bool
}

var screens = []screen{
	{"desktop", 1280, 900, false, false},
	{"phone", 390, 844, false, false},
	{"dark", 1280, 900, true, false},
	{"print", 800, 1100, false, true},
}

// EachScreen calls check on a desktop and on a phone, with the name of the screen.
func (b *Browser) EachScreen(check func(screen string)) {
	b.t.Helper()
	for _, s := range screens[:2] {
		Call(
			b,
			emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{
				Width:             s.width,
				Height:            s.height,
				DeviceScaleFactor: 1,
				Mobile:            s.width < 500,
			},
		)
		b.waitForLayout()
		check(s.name)
	}
}

// waitForLayout waits until a page has its new width. Pages with scripts draw pictures again a moment later.
func (b *Browser) waitForLayout() {
	b.t.Helper()
	Take(b, chromedp.Evaluate[chromedp.Void](
		`new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
			() => document.scripts.length > 0 ? setTimeout(done, 400) : done())))`, chromedp.EvalAwaitPromise))
}

// SmallLabels lists the visible labels of pictures that are smaller than 11 pixels, with their size.
const SmallLabels = `[...document.querySelectorAll("svg text")].filter(t => t.getBoundingClientRect().width > 0)
	.map(t => [t.textContent, parseFloat(getComputedStyle(t).fontSize) * t.getScreenCTM().a])
	.filter(([, size]) => size < 11).map(([text, size]) => text + ": " + size.toFixed(1))`

// CheckScreens checks a step on each screen, and saves screenshots if requested.
func (b *Browser) CheckScreens(step string) {
	b.t.Helper()
	b.CheckConsole(step)
	for _, s := range screens {
		scheme := "light"
		media := ""
		if s.dark {
			scheme = "dark"
		}
		if s.print {
			media = "print"
		}
		Call(b, emulation.SetDeviceMetricsOverride,
			emulation.SetDeviceMetricsOverrideParams{
				Width:             s.width,
				Height:            s.height,
				DeviceScaleFactor: 1,
				Mobile:            s.width < 500,
			})
		Call(b, emulation.SetEmulatedMedia,
			emulation.SetEmulatedMediaParams{
				Media: media,
				Features: []*emulation.MediaFeature{{
					Name:  "prefers-color-scheme",
					Value: scheme,
				}},
			})
		b.waitForLayout()
		b.Do(chromedp.Evaluate[chromedp.Void](`scrollTo(0, 0)`))
		if wide := Eval[int64](b, `document.documentElement.scrollWidth`); wide > s.width {
			b.t.Errorf("%s, %s: %d pixels wide", step, s.name, wide)
		}
		for _, text := range Eval[[]string](b, SmallLabels) {
			b.t.Errorf("%s, %s: a label of a picture is small: %s", step, s.name, text)
		}
		over := Eval[int64](b, `(e => e ? e.scrollWidth - e.clientWidth : 0)(
			document.querySelector("#run-text"))`)
		if over > 0 && s.width < 500 {
			b.t.Errorf("%s, %s: what the run printed scrolls sideways by %d pixels", step, s.name,
				over)
		}
		if !s.print {
			b.checkAccessibility(step+", "+s.name, s)
		}
		if dir := os.Getenv(ShotsEnv); dir != "" {
			shot := Take(b, chromedp.FullScreenshot(100))
			if err := os.WriteFile(filepath.Join(dir, step+"-"+s.name+".png"), shot,
				0o600); err != nil {
				b.t.Fatal(err)
			}
		}
	}
	Call(b, emulation.SetDeviceMetricsOverride,
		emulation.SetDeviceMetricsOverrideParams{
			Width:             1280,
			Height:            900,
			DeviceScaleFactor: 1,
		})
	Call(b, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{})
}

// textLooks lists the looks of the visible texts of a page: their colours, sizes and backgrounds, on which their contrast depends.
// A text with a positioned ancestor can lie over other elements, so that its place in the page is part of its look.
const textLooks = `(() => {
	const looks = new Set();
	const grounds = new Map([[null, ""]]);
	const ground = e => {
		if (!grounds.has(e)) {
			const s = getComputedStyle(e);
			const own = [s.backgroundColor, s.backgroundImage, s.opacity, ""].join(" ").replace("rgba(0, 0, 0, 0) none 1 ", "");
			const place = s.position === "static" ? "" : [e.tagName, e.id, e.getAttribute("class"), ""].join(" ");
			grounds.set(e, ground(e.parentElement) + own + place);
		}
		return grounds.get(e);
	};
	for (const e of document.body.querySelectorAll("*")) {
		if ([...e.childNodes].some(n => n.nodeType === Node.TEXT_NODE && n.data.trim()) && e.checkVisibility()) {
			const s = getComputedStyle(e);
			const color = e instanceof SVGElement ? s.fill + " " + s.fillOpacity : s.color;
			looks.add([color, s.fontSize, s.fontWeight, s.textShadow, ground(e)].join(" "));
		}
	}
	return [...looks];
})()`

// elementKinds lists the kinds of the visible elements of a page: their tags, classes, roles and types.
const elementKinds = `[...new Set([...document.body.querySelectorAll("*")].filter(e => e.checkVisibility()).map(
	e => [e.tagName, ...["class", "role", "type", "tabindex"].map(a => e.getAttribute(a))].join(" ")))]`

// axeOptions returns the options of axe for a screen, or "" if axe has nothing to check. Contrast takes most of its time. It is
// checked on pages with a text whose look axe has not checked in this browser. The other rules are checked on the desktop, and on
// other screens where elements of another kind are visible. With [testkit.FullEnv], all rules apply on all screens.
func (b *Browser) axeOptions(s screen) string {
	b.t.Helper()
	newLook := false
	for _, look := range Eval[[]string](b, textLooks) {
		key := fmt.Sprint(s.dark, " ", look)
		newLook = newLook || !b.looks[key]
		b.looks[key] = true
	}
	newKind := s == screens[0]
	if newKind {
		clear(b.kinds)
	}
	for _, kind := range Eval[[]string](b, elementKinds) {
		newKind = newKind || !b.kinds[kind]
		b.kinds[kind] = true
	}
	const options = `{iframes: false, resultTypes: ["violations"]%s}`
	const contrast = "color-contrast"
	switch {
	case testkit.Full() || newLook && newKind:
		return fmt.Sprintf(options, "")
	case newLook:
		return fmt.Sprintf(options, fmt.Sprintf(`, runOnly: [%q]`, contrast))
	case newKind:
		return fmt.Sprintf(options, fmt.Sprintf(`, rules: {%q: {enabled: false}}`, contrast))
	default:
		return ""
	}
}

// checkAccessibility fails the test for serious or critical findings of axe.
func (b *Browser) checkAccessibility(step string, s screen) {
	b.t.Helper()
	path := os.Getenv(axeEnv)
	if path == "" {
		return
	}
	options := b.axeOptions(s)
	if options == "" {
		return
	}
	if !Eval[bool](b, `"axe" in window`) {
		source, err := os.ReadFile(path)
		if err != nil {
			b.t.Fatal(err)
		}
		Take(b, chromedp.Evaluate[chromedp.Void](string(source)))
	}
	found := Eval[[]string](b, fmt.Sprintf(
		`axe.run(document, %s).then(r => r.violations.map(v => {
			const at = n => n.html.slice(0, 160) + " " + n.any.map(a => a.message);
			return v.impact + " " + v.id + ": " + v.nodes.map(at).join(" | ")
		}))`, options))
	for _, line := range found {
		if strings.HasPrefix(line, "serious") || strings.HasPrefix(line, "critical") {
			b.t.Errorf("%s: axe: %s", step, line)
		} else {
			b.t.Logf("%s: axe: %s", step, line)
		}
	}
}
