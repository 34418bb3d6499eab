package chart

import (
	"fmt"
	"math"
)

// A Heat is a heat map of a table of shares: the larger the share, the more intense the colour. Negative shares have
// another colour.
type Heat struct {
	Title         string
	XLabel        string
	YLabel        string
	Rows, Columns []string
	Shares        [][]float64 // one row per name of Rows; clamped to [-1, 1]
	Texts         [][]string  // printed in cells that are wide enough; nil for no texts
}

// The layout of a heat map.
const (
	heatLeft = 118.
	heatTop  = 40.
	heatRow  = 30.
)

// SVG draws the table.
func (h Heat) SVG() SVG {
	wide := (width - heatLeft - 6) / math.Max(float64(len(h.Columns)), 1)
	row := math.Min(heatRow, math.Max(wide, 17))
	c := newTitled(h.Title, heatTop+row*float64(len(h.Rows))+6)
	c.text("axis", "start", heatLeft, 14, h.XLabel)
	c.text("axis", "end", heatLeft-8, 14, h.YLabel)
	most := int(wide / letter)
	for j, name := range h.Columns {
		if most >= 2 {
			c.text(
				"axis",
				"middle",
				heatLeft+wide*(float64(j)+.5),
				heatTop-6,
				fitWidth(name, most),
			)
		}
	}
	for i, name := range h.Rows {
		y := heatTop + row*float64(i)
		c.text("axis", "end", heatLeft-8, y+row/2+5, fitWidth(name, 13))
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
			x := heatLeft + wide*float64(j)
			c.rect(
				names,
				x+1,
				y+1,
				wide-2,
				row-2,
				fmt.Sprintf(`fill-opacity="%.2f"`, .04+.96*share),
			)
			if len(h.Texts) > 0 && len(h.Texts[i][j]) <= most {
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
