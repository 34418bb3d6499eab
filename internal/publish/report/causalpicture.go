package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strings"
)

// The layout of the picture, in pixels.
const (
	panelSide    = 240
	panelMargin  = 48
	panelPitch   = panelSide + 2*panelMargin
	panelsPerRow = 4
)

// Picture writes the noisy histograms of a study as an SVG picture: one panel per pair, with x to the right and y
// upwards, darker for a larger count and red below zero. The picture depends only on released values, and equal
// accounts give equal bytes. It returns the errors of w.
func (c *Causal) Picture(w io.Writer) error {
	columns := min(max(len(c.Pairs), 1), panelsPerRow)
	rows := (len(c.Pairs) + panelsPerRow - 1) / panelsPerRow
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="11">`+
			"\n",
		columns*panelPitch, max(rows, 1)*panelPitch)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#ffffff"/>`+"\n", columns*panelPitch,
		max(rows, 1)*panelPitch)
	for i, p := range c.Pairs {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`+"\n",
			i%panelsPerRow*panelPitch+panelMargin, i/panelsPerRow*panelPitch+panelMargin)
		c.panel(&b, p)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	_, err := io.WriteString(w, b.String())
	return err
}

// panel draws one pair.
func (c *Causal) panel(b *strings.Builder, p CausalPair) {
	n := len(p.Counts)
	largest := 1.
	for _, row := range p.Counts {
		for _, x := range row {
			largest = math.Max(largest, math.Abs(x))
		}
	}
	side := float64(panelSide) / float64(n)
	for i, row := range p.Counts {
		for j, x := range row {
			fmt.Fprintf(b, `<rect x="%.2f" y="%.2f" width="%.2f" height="%.2f" fill="%s"/>`+"\n",
				float64(i)*side, float64(n-1-j)*side, side, side, cellColour(x/largest))
		}
	}
	fmt.Fprintf(
		b,
		`<rect width="%d" height="%d" fill="none" stroke="#444444"/>`+"\n",
		panelSide,
		panelSide,
	)
	c.panelTexts(b, p)
}

// panelTexts writes the answer above the picture of a pair, and the names and ranges of its columns along the axes.
func (c *Causal) panelTexts(b *strings.Builder, p CausalPair) {
	const middle = panelSide / 2
	text := func(x, y int, anchor, more, s string) {
		fmt.Fprintf(
			b,
			`<text x="%d" y="%d" text-anchor="%s"%s>%s</text>`+"\n",
			x,
			y,
			anchor,
			more,
			escaped(s),
		)
	}
	number := func(x, y int, anchor string, v float64) {
		text(x, y, anchor, "", fmt.Sprintf("%.4g", v))
	}
	noise := fmt.Sprintf(
		"stability %.2f, noise %s of scale %.3g",
		p.Stability,
		p.Noise.Law,
		p.Noise.Scale,
	)
	text(middle, -20, "middle", ` font-weight="bold"`, p.answer())
	text(middle, -6, "middle", "", noise)
	x := c.columnNamed(p.X)
	number(0, panelSide+14, "start", x.Lower)
	number(panelSide, panelSide+14, "end", x.Upper)
	text(middle, panelSide+28, "middle", "", printableName(p.X))
	y := c.columnNamed(p.Y)
	rotated := fmt.Sprintf(` transform="rotate(-90 -8 %d)"`, middle)
	number(-4, panelSide, "end", y.Lower)
	number(-4, 10, "end", y.Upper)
	text(-8, middle, "middle", rotated, printableName(p.Y))
}

// columnNamed returns the column with that name, or a placeholder with only the name if there is no such column.
func (c *Causal) columnNamed(name string) CausalColumn {
	for _, x := range c.Columns {
		if x.Name == name {
			return x
		}
	}
	return CausalColumn{Name: name}
}

// cellColour is the colour of a count in [-1, 1]: from white to blue, and to red below zero.
func cellColour(x float64) string {
	x = math.Min(math.Max(x, -1), 1)
	mix := func(to, share float64) int {
		return int(math.Round(255 + (to-255)*share))
	}
	if x < 0 {
		return fmt.Sprintf("#%02x%02x%02x", mix(200, -x), mix(60, -x), mix(60, -x))
	}
	return fmt.Sprintf("#%02x%02x%02x", mix(12, x), mix(60, x), mix(120, x))
}

// escaped returns s as text for an SVG element.
func escaped(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}
