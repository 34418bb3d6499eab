package report

import (
	"bytes"
	"strings"
	"testing"
)

// TestPageHead checks that the texts of the recipe's section about are at the head of the page, escaped, with the
// title in place of the default one; that the head shows the interval of the metric; and that the trust model is a
// section.
func TestPageHead(t *testing.T) {
	s := evilSource(7)
	s.Recipe = []byte(
		"version: 1\ntask: regression\ndata:\n  target: y\n  header: [x, y]\nprivacy:\n  epsilon: 1\n" +
			"about: {title: A <b>title</b>, publisher: Statistics office, date: '2026-11-26'}\n")
	html, markdown := pageOn(t, s)
	for _, want := range []string{"<h1>A &lt;b&gt;title&lt;/b&gt;</h1>",
		"<dt>Publisher</dt><dd>Statistics office</dd>", "<dt>Date</dt><dd>2026-11-26</dd>",
		"<title>R² and its interval</title>", "Trust model and side channels", "NIST SP 800-226"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is missing", want)
		}
	}
	if !strings.Contains(markdown, "* Publisher: Statistics office\n") {
		t.Errorf("%s", markdown[:600])
	}
	s.Recipe = nil
	html, _ = pageOn(t, s)
	if strings.Contains(html, "Statistics office") ||
		!strings.Contains(html, "<h1>Private model of ") {
		t.Error("a head without a recipe")
	}
	s.Report.Metrics.R2.Lower = -1
	s.Report.Metrics.R2.Upper = .9
	var b bytes.Buffer
	err := HTML(&b, s)
	if err != nil ||
		strings.Contains(b.String(), "NaN") ||
		!strings.Contains(b.String(), "somewhere in this interval") {
		t.Errorf("an R² that is not reported: %v", err)
	}
}
