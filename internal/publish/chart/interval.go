package chart

// An Interval is an estimate with its confidence interval on an axis. Reference, if it has a name, is a value for
// comparison.
type Interval struct {
	Title         string
	Value         float64
	Low           float64
	High          float64
	From, To      float64 // the ends of the axis
	Reference     float64
	ReferenceName string
}

// SVG draws the interval.
func (p Interval) SVG() SVG {
	const height, axis, middle = 72., 46., 30.
	c := newTitled(p.Title, height)
	x := scale{p.From, p.To, 12, width - 12}
	c.line("axis", x.from, axis, x.to, axis)
	for _, t := range ticks(p.From, p.To, 6) {
		c.line("axis", x.position(t), axis, x.position(t), axis+4)
		c.text("axis", "middle", x.position(t), axis+20, tickLabel(t))
	}
	within := func(v float64) float64 {
		return x.position(min(max(v, p.From), p.To))
	}
	if p.ReferenceName != "" && isFinite(p.Reference) {
		c.line("diagonal", within(p.Reference), 18, within(p.Reference), axis)
		anchor := "middle"
		switch at := within(p.Reference); {
		case at < width/3:
			anchor = "start"
		case at > 2*width/3:
			anchor = "end"
		}
		c.text("axis", anchor, within(p.Reference), 14, fitWidth(p.ReferenceName, 36))
	}
	if isFinite(p.Low) && isFinite(p.High) && p.Low <= p.High {
		c.rect(
			"mark",
			within(p.Low),
			middle-6,
			max(within(p.High)-within(p.Low), 1),
			12,
		)
	}
	if isFinite(p.Value) {
		c.line("whisker", within(p.Value), middle-9, within(p.Value), middle+9)
	}
	return c.endSVG()
}
