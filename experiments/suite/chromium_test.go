package suite_test

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/dptrain/dptrain/experiments/suite"
	"github.com/dptrain/dptrain/internal/testkit/browser"
)

// TestSuitesInChromium checks the pages of two suites, which share elements with reports: curves with intervals, and
// a table with many columns.
func TestSuitesInChromium(t *testing.T) {
	b := browser.New(t)
	tables := t.TempDir()
	for _, name := range []string{"houses", "loans"} {
		table, err := os.ReadFile("../../testdata/" + name + ".csv")
		if err != nil {
			t.Fatal(err)
		}
		err = os.WriteFile(
			filepath.Join(tables, name+".csv"),
			[]byte(numericTable(string(table), 800)),
			0o600,
		)
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, o := range map[string]suite.Options{
		suite.Copies:  {},
		suite.Seed001: {Data: tables},
	} {
		o.Public = true
		o.Trials = 1
		o.Out = t.TempDir()
		_, err := suite.Run(t.Context(), name, o)
		if err != nil {
			t.Fatal(err)
		}
		b.Do(
			chromedp.Navigate("file://"+filepath.Join(o.Out, suite.PageFile)),
			chromedp.WaitVisible(chromedp.CSS("main")),
		)
		figures := browser.Eval[int](
			b,
			`document.querySelectorAll("figure svg[role=img]").length`,
		)
		if figures < 2 {
			t.Errorf("%s: %d figures", name, figures)
		}
		bare := browser.Eval[int](b, `[...document.querySelectorAll("svg *")].filter(
			e => e.tagName !== "title" && !e.classList.length).length`)
		if bare > 0 {
			t.Errorf(
				"%s: %d elements without a class, and so without a colour in the dark",
				name,
				bare,
			)
		}
		b.CheckScreens("suite-" + name)
	}
}

// numericTable returns the first rows of a table without its text columns, with the last numeric column as the target.
func numericTable(table string, rows int) string {
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
