package chart

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"
)

// A Heat is a heat map of a table of shares: the larger the share, the more intense the colour. Negative shares have
// another colour.
type Heat struct {
	Title         string
	XLabel        string
	YLabel        string
	Rows, Columns []string
	Shares        [][]float64 // one row per name of Rows; clamped to [-1, 1]
	Texts         [][]string  // printed if all of them fit into their cells; nil for no texts
}

// The layout of a heat map.
const (
	heatNames = 13 // maximum number of characters of the name of a row
	heatTop   = 40.
	heatRow   = 30.
	heatDigit = 9.4 // width of a digit in the largest type
	heatMark  = 5.4 // width of a comma, a point or a hyphen
)

// SVG draws the table.
func (h Heat) SVG() SVG {
	left := 14 + letter*float64(min(h.longestName(), heatNames))
	wide := (width - left - 6) / math.Max(float64(len(h.Columns)), 1)
	row := math.Min(heatRow, math.Max(wide, 17))
	c := newTitled(h.Title, heatTop+row*float64(len(h.Rows))+6)
	c.text("axis", "start", left, 14, h.XLabel)
	c.text("axis", "end", left-8, 14, h.YLabel)
	most := int(wide / letter)
	for j, name := range h.Columns {
		if most >= 2 {
			c.text(
				"axis",
				"middle",
				left+wide*(float64(j)+.5),
				heatTop-6,
				fitWidth(name, most),
			)
		}
	}
	fits := h.textsFit(wide - 4)
	for i, name := range h.Rows {
		y := heatTop + row*float64(i)
		c.text("axis", "end", left-8, y+row/2+5, fitWidth(name, heatNames))
		for j := range h.Columns {
			share := math.Min(math.Max(h.Shares[i][j], -1), 1)
			names := "hot"
			if !isFinite(share) {
				share = 0
			}
			if share < 0 {
				share = -share
				names = "cold"
			}
			x := left + wide*float64(j)
			c.rect(
				names,
				x+1,
				y+1,
				wide-2,
				row-2,
				fmt.Sprintf(`fill-opacity="%.2f"`, .04+.96*share),
			)
			if fits {
				names := "note"
				if share > .75 {
					names = "inverse"
				}
				c.text(names, "middle", x+wide/2, y+row/2+5, h.Texts[i][j])
			}
		}
	}
	return c.endSVG()
}

// longestName is the number of characters of the longest label left of the cells.
func (h Heat) longestName() int {
	most := utf8.RuneCountInString(h.YLabel)
	for _, name := range h.Rows {
		most = max(most, utf8.RuneCountInString(name))
	}
	return most
}

// textsFit reports whether there are texts, all of at most this width in the largest type.
func (h Heat) textsFit(wide float64) bool {
	for _, row := range h.Texts {
		for _, text := range row {
			size := 0.
			for _, r := range text {
				if strings.ContainsRune(",.-", r) {
					size += heatMark
				} else {
					size += heatDigit
				}
			}
			if size > wide {
				return false
			}
		}
	}
	return len(h.Texts) > 0
}
