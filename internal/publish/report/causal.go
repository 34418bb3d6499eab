package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/train/causal"
	"github.com/dptrain/dptrain/internal/train/pipeline"
)

// Causal is the section of a study of causal directions.
type Causal struct {
	Method string `json:"method"` // "histogram" or "anm"
	// Protected says which records the guarantee is about: "all", or "test" for those that the
	// baseline judges by.
	Protected string `json:"protected"`
	// Columns are the columns of the study, with the ranges that were cut into bins.
	Columns []CausalColumn `json:"columns"`
	Pairs   []CausalPair   `json:"pairs"`
	// Redraws says how stabilities came about.
	Redraws CausalRedraws `json:"redraws"`
}

// CausalColumn is a column of a study.
type CausalColumn struct {
	Name  string  `json:"name"`
	Lower float64 `json:"lower"`
	Upper float64 `json:"upper"`
	// Declared is true for a range stated in the recipe, and false for one that was released.
	Declared bool `json:"declared"`
	Unread   bool `json:"unread"` // no range was found
}

// The directions of a pair.
const (
	XCausesY  = "x causes y"
	YCausesX  = "y causes x"
	Undecided = "undecided"
)

// CausalPair is the answer for two columns, x and y.
type CausalPair struct {
	X         string  `json:"x"`
	Y         string  `json:"y"`
	Direction string  `json:"direction"`      // preferred by the likelihood, if stable: one of the three above
	Preferred string  `json:"preferred"`      // preferred by the likelihood, stable or not
	Stability float64 `json:"stability"`      // share of the redraws with the same preference
	Vote      string  `json:"vote,omitempty"` // majority of hsic, anmlik and loci
	// Dependence is the share of redraws, made with x and y independent, that appear less dependent than the released
	// counts.
	Dependence float64 `json:"dependence,omitempty"`
	// Likelihood names the cells used by the score anmlik: "signed" or "projected".
	Likelihood string        `json:"likelihood,omitempty"`
	Scores     []CausalScore `json:"scores,omitempty"` // first blend, which decides
	Records    float64       `json:"records,omitempty"`
	Noise      *CausalNoise  `json:"noise,omitempty"`
	// Counts are the noisy counts: one row per bin of x and one column per bin of y, in increasing order.
	Counts [][]float64 `json:"counts,omitempty"`
	// Baseline is the result of the method anm, and replaces all fields from vote on.
	Baseline *CausalBaseline `json:"baseline,omitempty"`
}

// CausalBaseline is the result of the method anm for a pair.
type CausalBaseline struct {
	Score string `json:"score"`
	Train int    `json:"train"` // numbers of records, public
	Test  int    `json:"test"`
	// Difference is the score of y to x minus that of x to y: above 0, "x causes y" is preferred.
	Difference float64   `json:"difference"`
	Scale      float64   `json:"scale"`               // of the Laplace noise in it; 0 for iqr
	Quartiles  []float64 `json:"quartiles,omitempty"` // released by iqr
}

// CausalScore is a measure for both directions; the direction with the smaller value is preferred.
type CausalScore struct {
	Name    string  `json:"name"`
	XToY    float64 `json:"x_to_y"`
	YToX    float64 `json:"y_to_x"`
	Prefers string  `json:"prefers"`
}

// CausalNoise describes the noise in every count, before rounding to a whole number.
type CausalNoise struct {
	Law string `json:"law"` // laplace or gaussian
	// Scale is the scale of Laplace noise, or the standard deviation of Gaussian noise.
	Scale float64 `json:"scale"`
}

// CausalRedraws describes how the stability of a pair was computed. The redraws of all pairs come from one public
// stream with this seed, in the order of the pairs.
type CausalRedraws struct {
	Number int     `json:"number"`
	Least  float64 `json:"least"` // stability below which a pair is undecided
	// Dependent is the dependence below which a pair is undecided.
	Dependent float64 `json:"dependent"`
	Seed      string  `json:"seed"` // in hex
}

// NewCausal returns the report of a study. It looks at the public half of the result only.
func NewCausal(res *causal.Result) *Report {
	r := newReport(
		CausalFormat,
		res.Guarantee,
		res.Addition,
		res.Unprotected,
		res.Warnings,
	)
	r.addEvents(res.Events, &pipeline.Result{})
	c := &Causal{
		Method:    res.Method,
		Protected: protectedAll,
		Redraws: CausalRedraws{direction.Redraws, direction.Decided, direction.Dependent,
			res.Seed},
	}
	if res.TestOnly {
		c.Protected = protectedTest
	}
	for _, x := range res.Columns {
		c.Columns = append(c.Columns,
			CausalColumn{
				Name:     x.Name,
				Lower:    x.Lower,
				Upper:    x.Upper,
				Declared: x.Declared,
				Unread:   x.Unread,
			})
	}
	for _, p := range res.Pairs {
		c.Pairs = append(c.Pairs, causalPair(p))
	}
	r.Causal = c
	return r
}

// The values of Causal.Protected.
const (
	protectedAll  = "all"
	protectedTest = "test"
)

func causalPair(p direction.Pair) CausalPair {
	if b := p.Baseline; b != nil {
		return CausalPair{
			X:         p.X,
			Y:         p.Y,
			Direction: directionText(p.Direction),
			Preferred: directionText(p.Preferred),
			Stability: p.Stability,
			Baseline:  &CausalBaseline{b.Score, b.Train, b.Test, b.Difference, b.Scale, b.Quartiles},
		}
	}
	out := CausalPair{
		X:          p.X,
		Y:          p.Y,
		Direction:  directionText(p.Direction),
		Preferred:  directionText(p.Preferred),
		Stability:  p.Stability,
		Dependence: p.Dependence,
		Vote:       directionText(p.Vote),
		Likelihood: "projected",
		Records:    p.Total(),
		Noise:      causalNoise(p.Noise),
	}
	if p.Signed {
		out.Likelihood = "signed"
	}
	for _, s := range p.Scores {
		out.Scores = append(out.Scores,
			CausalScore{s.Name, s.Forward, s.Backward, directionText(s.Prefers())})
	}
	for i := range p.B {
		out.Counts = append(out.Counts, p.Counts[i*p.B:(i+1)*p.B])
	}
	return out
}

func causalNoise(n direction.Noise) *CausalNoise {
	if n.Gaussian {
		return &CausalNoise{"gaussian", n.Sigma()}
	}
	return &CausalNoise{"laplace", n.Scale}
}

// directionText names a direction: 1, -1, or 0 for undecided.
func directionText(d int) string {
	return map[int]string{
		1:  XCausesY,
		-1: YCausesX,
	}[d] + map[bool]string{true: Undecided}[d == 0]
}

// target names the columns, in the place where runs with a model name their target.
func (c *Causal) target() string {
	var names []string
	for _, x := range c.Columns {
		names = append(names, x.Name)
	}
	return strings.Join(names, ", ")
}

// validate refuses pairs without a square of counts, a score or a noise, unless the baseline released them.
func (c *Causal) validate(*Report) error {
	for i, p := range c.Pairs {
		if p.Baseline != nil && c.Method == anmMethod {
			continue
		}
		b := len(p.Counts)
		if b < direction.MinBins || b > direction.MaxBins ||
			slices.ContainsFunc(p.Counts, func(row []float64) bool {
				return len(row) != b
			}) {
			return fmt.Errorf("%w: the counts of pair %d are no square of %d to %d bins",
				ErrContent, i+1, direction.MinBins, direction.MaxBins)
		}
		if len(p.Scores) == 0 || p.Noise == nil {
			return fmt.Errorf("%w: pair %d has no score or no noise", ErrContent, i+1)
		}
	}
	return nil
}

// histogram returns the counts of a pair.
func (p CausalPair) histogram() direction.Histogram {
	return direction.Histogram{
		B:      len(p.Counts),
		Counts: slices.Concat(p.Counts...),
	}
}

// answer describes the result of a pair.
func (p CausalPair) answer() string {
	switch p.Direction {
	case XCausesY:
		return printableName(p.X) + " causes " + printableName(p.Y)
	case YCausesX:
		return printableName(p.Y) + " causes " + printableName(p.X)
	}
	return "undecided between " + printableName(p.X) + " and " + printableName(p.Y)
}

// text prints the ranges, and the direction and the scores of every pair.
func (c *Causal) text(r *Report) string {
	rows := newRows(r)
	if c.Protected == protectedTest {
		rows.add("Protected",
			"only the test records, about half of all. The guarantee above is about them; the training records are not protected")
	}
	var ranges []string
	for _, x := range c.Columns {
		from := "found privately"
		switch {
		case x.Declared:
			from = "declared"
		case x.Unread:
			from = "none was found"
		}
		ranges = append(ranges,
			fmt.Sprintf("%s %.6g to %.6g (%s)", printableName(x.Name), x.Lower, x.Upper, from))
	}
	rows.add("Ranges", strings.Join(ranges, ", "))
	for _, p := range c.Pairs {
		if p.Baseline != nil {
			rows.add("Direction", p.answer()+"; "+p.baseline(c.Redraws.Least))
			continue
		}
		rows.add("Direction", p.answer()+"; "+p.reasons(c.Redraws))
		rows.add("Scores", p.scores())
	}
	return rows.finish(r)
}

// reasons describes how certain the answer is.
func (p CausalPair) reasons(r CausalRedraws) string {
	s := fmt.Sprintf("stability %.2f: the share of %d redraws of the noisy histogram that agree",
		p.Stability, r.Number)
	switch {
	case p.Direction == Undecided && p.Dependence < r.Dependent:
		s += fmt.Sprintf(
			". The counts show no dependence: %.0f%% of redraws without dependence look less dependent, and a direction is only reported "+
				"from %.0f%% on", 100*p.Dependence, 100*r.Dependent)
	case p.Direction == Undecided:
		s += fmt.Sprintf("; a direction is reported from %.2f on", r.Least)
		if p.Preferred != Undecided {
			s += "; preferred, " + p.named(p.Preferred)
		}
	}
	return fmt.Sprintf("%s. %d x %d bins, about %.0f records, %s noise of scale %.4g in each count",
		s, len(p.Counts), len(p.Counts),
		p.Records, p.Noise.Law, p.Noise.Scale)
}

// baseline describes the result of the method anm.
func (p CausalPair) baseline(least float64) string {
	b := p.Baseline
	s := fmt.Sprintf(
		"baseline anm with score %s on %d records, fitted to %d: the score of %s to %s is smaller than the reverse by %.4g",
		b.Score, b.Test, b.Train, printableName(p.X), printableName(p.Y), b.Difference)
	if b.Scale == 0 {
		return s + ", from noisy quartiles, without a measure of confidence"
	}
	s += fmt.Sprintf(
		", with Laplace noise of scale %.4g. The noise preserves the sign with probability %.2f", b.Scale,
		p.Stability)
	if p.Direction == Undecided {
		s += fmt.Sprintf("; a direction is reported from %.2f on", least)
	}
	return s
}

// named describes a direction using the names of the columns.
func (p CausalPair) named(d string) string {
	p.Direction = d
	return p.answer()
}

// scores lists the scores, the direction preferred by each, and the vote.
func (p CausalPair) scores() string {
	var parts []string
	for _, s := range p.Scores {
		parts = append(parts, fmt.Sprintf("%s %.4f against %.4f", s.Name, s.XToY, s.YToX))
	}
	return fmt.Sprintf(
		"%s to %s against the reverse, where the smaller score is preferred: %s; vote of hsic, anmlik and loci: %s",
		printableName(p.X), printableName(p.Y), strings.Join(parts, ", "), p.named(p.Vote))
}
