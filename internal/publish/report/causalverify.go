package report

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
)

// verify compares a study with its recipe and its plan, and reads the released counts anew: the scores, the redraws and
// the directions are functions of the report.
func (c *Causal) verify(v *verifier) {
	c.verifyPlan(v)
	v.add("directions",
		"the scores, the stability and the direction of every pair follow from its counts",
		c.readingProblems())
	v.add(
		"noise",
		"the noise of every pair matches its step",
		c.noiseProblems(v.report.Events),
	)
}

// hashedFiles lists the files of a study.
func (c *Causal) hashedFiles(v *verifier) []hashedFile {
	h := v.report.Files
	return []hashedFile{
		{
			name:     pictureFile,
			hash:     h.Picture,
			size:     MaxBytes,
			optional: true,
			problem:  c.pictureProblem,
		},
		{
			name:     recipeFile,
			hash:     h.Recipe,
			size:     maxRecipeBytes,
			optional: true,
		},
	}
}

// pictureProblem compares a picture with that of the counts.
func (c *Causal) pictureProblem(data []byte) string {
	var picture bytes.Buffer
	if c.Method == anmMethod || c.Picture(&picture) != nil || !bytes.Equal(data, picture.Bytes()) {
		return "it differs from the picture of the released counts"
	}
	return ""
}

// verifyPlan compares the report with the recipe and with the plan that it has.
func (c *Causal) verifyPlan(v *verifier) {
	r, header, ok := v.recipe()
	if !ok {
		return
	}
	if r.Task != TaskCausal {
		v.add("recipe", "", []string{"its task is " + r.Task})
		return
	}
	study, err := r.Study(header)
	if err != nil {
		v.add(
			"recipe",
			"",
			[]string{"it describes no valid study with these columns: " + err.Error()},
		)
		return
	}
	out := v.dataSetProblems(r)
	if (c.Protected == protectedTest) != study.TestOnly ||
		c.Protected != protectedTest && c.Protected != protectedAll {
		out = append(out, "it protects other records than the report")
	}
	if !sameJSON(v.report.Unprotected, list(study.Facts())) {
		out = append(out, "unprotected does not match the facts stated in the recipe")
	}
	v.add("recipe", "it states the same public facts as the report",
		append(out, c.columnProblems(study.Schema.Names())...))
	plan, err := study.Plan()
	if err != nil {
		v.add("plan", "", []string{"the recipe cannot be planned: " + err.Error()})
		return
	}
	problems, _ := v.leafProblems(plan.Priced)
	v.add("plan", "planning the recipe gives the same steps and guarantee; no table was read",
		problems)
}

// columnProblems compares the columns, and their pairs, with those of a study.
func (c *Causal) columnProblems(names []string) []string {
	var have []string
	for _, x := range c.Columns {
		have = append(have, x.Name)
	}
	if !slices.Equal(have, names) {
		return []string{"the columns differ from the recipe"}
	}
	k := 0
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			if k >= len(c.Pairs) || c.Pairs[k].X != names[i] || c.Pairs[k].Y != names[j] {
				return []string{"the pairs do not match the columns"}
			}
			k++
		}
	}
	if k != len(c.Pairs) {
		return []string{"there are more pairs than pairs of columns"}
	}
	return nil
}

// readingProblems recomputes the results from the counts.
func (c *Causal) readingProblems() []string {
	if c.Method == anmMethod {
		return c.baselineProblems()
	}
	var seed mechanism.Seed
	n, err := hex.Decode(seed[:], []byte(c.Redraws.Seed[:min(len(c.Redraws.Seed), 2*len(seed))]))
	if err != nil || n != len(seed) || len(c.Redraws.Seed) != 2*len(seed) {
		return []string{"the seed of the redraws is invalid"}
	}
	if c.Redraws.Number != direction.Redraws || c.Redraws.Least != direction.Decided ||
		c.Redraws.Dependent != direction.Dependent {
		return []string{fmt.Sprintf(
			"there were %d redraws for a stability of %v and a dependence of %v, but this version makes %d for %v and %v",
			c.Redraws.Number, c.Redraws.Least, c.Redraws.Dependent, direction.Redraws,
			direction.Decided, direction.Dependent)}
	}
	src := seed.Stream()
	var out []string
	for i, p := range c.Pairs {
		noise := direction.Noise{Scale: p.Noise.Scale}
		if p.Noise.Law == budget.Gaussian.String() {
			noise = direction.Noise{
				Scale:    p.Noise.Scale / math.Sqrt2,
				Gaussian: true,
			}
		}
		if again := c.withReading(p, direction.Read(p.histogram(), noise, src)); !again.agrees(p) {
			out = append(out,
				fmt.Sprintf("pair %d, %s and %s, does not follow from its counts", i+1, printableName(p.X),
					printableName(p.Y)))
		}
	}
	return out
}

// anmMethod is the name of the baseline.
const anmMethod = "anm"

// baselineProblems recomputes the results from the released values of the baseline.
func (c *Causal) baselineProblems() []string {
	var out []string
	for i, p := range c.Pairs {
		b := p.Baseline
		again := &direction.Baseline{
			Score:      b.Score,
			Difference: b.Difference,
			Scale:      b.Scale,
			Quartiles:  b.Quartiles,
		}
		r := again.Read()
		if !nearlyEqual(again.Difference, b.Difference) || !nearlyEqual(r.Stability, p.Stability) ||
			directionText(r.Preferred) != p.Preferred ||
			directionText(r.Direction) != p.Direction {
			out = append(out,
				fmt.Sprintf("pair %d, %s and %s, does not follow from what was released", i+1,
					printableName(p.X), printableName(p.Y)))
		}
	}
	return out
}

// withReading returns a copy of the pair with the results of another reading of its counts.
func (c *Causal) withReading(p CausalPair, r direction.Reading) CausalPair {
	out := p
	out.Preferred = directionText(r.Preferred)
	out.Stability = r.Stability
	out.Dependence = r.Dependence
	out.Vote = directionText(r.Vote)
	out.Likelihood = "projected"
	if r.Signed {
		out.Likelihood = "signed"
	}
	out.Direction, out.Records = directionText(r.Direction), p.histogram().Total()
	if c.columnNamed(p.X).Unread || c.columnNamed(p.Y).Unread {
		out.Direction = Undecided
	}
	out.Scores = nil
	for _, s := range r.Scores {
		out.Scores = append(out.Scores,
			CausalScore{s.Name, s.Forward, s.Backward, directionText(s.Prefers())})
	}
	return out
}

// agrees reports whether two readings agree up to the differences between processors.
func (p CausalPair) agrees(q CausalPair) bool {
	alike := func(a, b float64) bool {
		return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(a))
	}
	return p.Direction == q.Direction && p.Preferred == q.Preferred && p.Vote == q.Vote &&
		p.Likelihood == q.Likelihood &&
		nearlyEqual(p.Stability, q.Stability) && nearlyEqual(p.Dependence, q.Dependence) &&
		nearlyEqual(p.Records, q.Records) &&
		slices.EqualFunc(p.Scores, q.Scores, func(a, b CausalScore) bool {
			return a.Name == b.Name && a.Prefers == b.Prefers && alike(a.XToY, b.XToY) &&
				alike(a.YToX, b.YToX)
		})
}

// noiseProblems compares the noise of each pair with that of its step.
func (c *Causal) noiseProblems(events []Event) []string {
	var out []string
	for _, e := range events { // every pure step of a study is Laplace noise on counts
		if e.Law == budget.Pure.String() &&
			!(e.Scale >= e.Sensitivity/e.Epsilon*(1-computedTolerance)) {
			out = append(out,
				fmt.Sprintf("%s: the noise scale is %v, but its noise distribution requires at least %v",
					printableName(e.ID), e.Scale,
					e.Sensitivity/e.Epsilon))
		}
	}
	for i, p := range c.Pairs {
		if b := p.Baseline; b != nil {
			k := slices.IndexFunc(events, func(e Event) bool {
				return e.ID == "causal/all/difference"
			})
			if b.Scale > 0 &&
				(k < 0 || math.Abs(b.Scale-events[k].Scale) > computedTolerance*b.Scale) {
				out = append(out, "the noise of the difference does not match its step")
			}
			continue
		}
		name := fmt.Sprintf("causal/all/pairs/pair-%d", i+1)
		k := slices.IndexFunc(events, func(e Event) bool {
			return e.ID == name
		})
		if k < 0 {
			out = append(out, name+" is not among the steps")
			continue
		}
		e := events[k]
		least := e.Sensitivity / e.Epsilon
		if e.Law == budget.Gaussian.String() {
			least = e.Sensitivity / e.Mu
		}
		if !(e.Scale >= least*(1-computedTolerance)) ||
			math.Abs(p.Noise.Scale-e.Scale) > 1e-4*e.Scale {
			out = append(out, fmt.Sprintf("%s: its noise does not match its noise distribution", name))
		}
	}
	return out
}
