package report

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/numeric/direction"
	"github.com/dptrain/dptrain/internal/recipe"
)

// VerifyCausal is [Verify] for the release of a study of causal directions. Beside the
// steps, the guarantee, the recipe and the ledger it reads the released counts anew: the
// scores, the redraws, the directions and the picture are functions of causal.json.
func VerifyCausal(ctx context.Context, dir string, o VerifyOptions) (*Verification, error) {
	raw, err := readLimited(filepath.Join(dir, causalFile), MaxBytes)
	if err != nil {
		return nil, err
	}
	c, err := DecodeCausal(bytes.NewReader(raw))
	if err != nil {
		return nil, err
	}
	// The steps of a study are those of a run, in the words of a report.
	v := &verifier{dir: dir, raw: raw, out: &Verification{}, report: &Report{
		Format: sharedFormat(c.Format), Guarantee: c.Guarantee, Events: c.Events, Task: TaskCausal, Target: c.target(), Model: Model{Method: c.Method}, Ledger: c.Ledger,
		Unprotected: c.Unprotected, Accounting: c.Accounting,
	}}
	v.signature(causalFile, o.Key)
	v.causalChecksum(c)
	v.causalFiles(c)
	v.steps()
	v.guarantee()
	v.causalPlan(c)
	v.add("directions", "the scores, the stability and the direction of every pair follow from its counts", c.readingProblems())
	v.add("noise", "the noise of every pair is that of its step", c.noiseProblems())
	v.release = c.Checksum
	return v.out, v.ledger(ctx, o)
}

// causalChecksum compares the account with what it would be if it were written now.
func (v *verifier) causalChecksum(c *Causal) {
	var b strings.Builder
	if err := EncodeCausal(&b, c); err != nil || b.String() != string(v.raw) {
		v.add(causalFile, "", []string{"the file is not as dptrain wrote it: its checksum does not fit"})
		return
	}
	v.add(causalFile, "the file is as it was written, by its checksum", nil)
}

// causalFiles compares the other files with their hashes, and the picture with the counts.
func (v *verifier) causalFiles(c *Causal) {
	entries, err := os.ReadDir(v.dir)
	for _, e := range entries {
		if !slices.Contains([]string{causalFile, pictureFile, recipeFile}, e.Name()) && !isSignature(e.Name()) {
			v.add("folder", "", []string{shown(e.Name()) + " is no file of a study of causal directions"})
		}
	}
	if err != nil {
		v.skip("folder", "it cannot be listed, so other files in it were not looked for")
	}
	var picture bytes.Buffer
	var drawn error
	if c.Method != anmMethod {
		drawn = c.Picture(&picture)
	}
	for _, f := range []struct {
		name, hash string
		size       int
	}{{pictureFile, c.Files.Picture, MaxBytes}, {recipeFile, c.Files.Recipe, maxRecipeBytes}} {
		data, err := readLimited(filepath.Join(v.dir, f.name), f.size)
		gone := errors.Is(err, os.ErrNotExist)
		switch {
		case gone && f.hash == "":
			v.add(f.name, "there is none, as the account says", nil)
		case err != nil:
			v.add(f.name, "", []string{"the file cannot be read: " + reasonOf(err)})
		case hashOf(data) != f.hash:
			v.add(f.name, "", []string{"it is another file than the account names: its SHA-256 is " + hashOf(data)})
		case f.name == pictureFile && (drawn != nil || !bytes.Equal(data, picture.Bytes())):
			v.add(f.name, "", []string{"it is not the picture of the released counts"})
		default:
			v.add(f.name, "it is the file that the account names, by its SHA-256", nil)
		}
	}
}

// causalPlan compares the account with the recipe and with the plan that it has.
func (v *verifier) causalPlan(c *Causal) {
	const name = "plan"
	data, err := readLimited(filepath.Join(v.dir, recipeFile), maxRecipeBytes)
	if errors.Is(err, os.ErrNotExist) {
		v.skip(name, "there is no recipe, so the steps were not compared with those of one")
		return
	}
	if err != nil {
		return // causalFiles said so
	}
	r, problems := recipe.Parse(recipeFile, data)
	if len(problems) > 0 {
		v.add("recipe", "", []string{"it cannot be read: " + problems[0].Error()})
		return
	}
	if r.Task != TaskCausal {
		v.add("recipe", "", []string{"its task is " + r.Task})
		return
	}
	study, err := r.Study(r.Data.Header)
	if err != nil {
		v.add("recipe", "", []string{"it has no study with these columns: " + err.Error()})
		return
	}
	var out []string
	entered, dataset := "", ""
	if c.Ledger != nil {
		entered = c.Ledger.Dataset
	}
	if r.Ledger != nil {
		dataset = r.Ledger.Dataset
	}
	if entered != dataset {
		out = append(out, "the data set in the ledger is another one")
	}
	if (c.Protected == protectedTest) != study.TestOnly || c.Protected != protectedTest && c.Protected != protectedAll {
		out = append(out, "other records are protected than the account says")
	}
	if !sameJSON(c.Unprotected, list(study.Facts())) {
		out = append(out, "unprotected does not list what the recipe states about the data")
	}
	v.add("recipe", "it states what the account says it states", append(out, c.columnProblems(study.Schema.Names())...))
	plan, err := study.Plan()
	if err != nil {
		v.add(name, "", []string{"the recipe has no price: " + err.Error()})
		return
	}
	v.add(name, "the recipe has these steps, law by law, and this guarantee; no table was read", v.leafProblems(plan.Priced))
}

// leafProblems compares the steps with those of a plan made anew.
func (v *verifier) leafProblems(plan *budget.Priced) []string {
	out := guaranteeProblems(v.report.Guarantee, GuaranteeOf(plan.Guarantee()), "the plan of the recipe has")
	leaves, events := plan.Leaves(), v.report.Events
	if len(leaves) != len(events) {
		return append(out, fmt.Sprintf("the account has %d steps, and the plan of the recipe %d", len(events), len(leaves)))
	}
	for i, e := range events {
		l := leaves[i]
		if e.ID != l.Path || e.Law != l.Law.Kind.String() || e.Draws != l.Law.Draws || !near(e.Mu, l.Law.Mu) || !near(e.Epsilon,
			l.Law.Epsilon) || !near(e.Delta, l.Law.Delta) {
			out = append(out, fmt.Sprintf("step %d is another one than in the plan of the recipe", i+1))
		}
	}
	return out
}

// columnProblems compares the columns, and the pairs of them, with those of a study.
func (c *Causal) columnProblems(names []string) []string {
	var have []string
	for _, x := range c.Columns {
		have = append(have, x.Name)
	}
	if !slices.Equal(have, names) {
		return []string{"the columns are not those of the recipe"}
	}
	k := 0
	for i := range names {
		for j := i + 1; j < len(names); j++ {
			if k >= len(c.Pairs) || c.Pairs[k].X != names[i] || c.Pairs[k].Y != names[j] {
				return []string{"the pairs are not those of the columns"}
			}
			k++
		}
	}
	if k != len(c.Pairs) {
		return []string{"there are more pairs than the columns have"}
	}
	return nil
}

// readingProblems reads the counts anew.
func (c *Causal) readingProblems() []string {
	if c.Method == anmMethod {
		return c.baselineProblems()
	}
	var seed mechanism.Seed
	n, err := hex.Decode(seed[:], []byte(c.Redraws.Seed[:min(len(c.Redraws.Seed), 2*len(seed))]))
	if err != nil || n != len(seed) || len(c.Redraws.Seed) != 2*len(seed) {
		return []string{"the seed of the redraws is none"}
	}
	if c.Redraws.Number != direction.Redraws || c.Redraws.Least != direction.Decided || c.Redraws.Dependent != direction.Dependent {
		return []string{fmt.Sprintf("there were %d redraws for a stability of %v and a dependence of %v, and this version makes %d for %v and %v",
			c.Redraws.Number, c.Redraws.Least, c.Redraws.Dependent, direction.Redraws, direction.Decided, direction.Dependent)}
	}
	src := seed.Stream()
	var out []string
	for i, p := range c.Pairs {
		noise := direction.Noise{Scale: p.Noise.Scale}
		if p.Noise.Law == budget.Gaussian.String() {
			noise = direction.Noise{Scale: p.Noise.Scale / math.Sqrt2, Gaussian: true}
		}
		if again := c.again(p, direction.Read(p.histogram(), noise, src)); !again.same(p) {
			out = append(out, fmt.Sprintf("pair %d, %s and %s, does not follow from its counts", i+1, shown(p.X), shown(p.Y)))
		}
	}
	return out
}

// anmMethod is the name of the baseline.
const anmMethod = "anm"

// baselineProblems reads what the baseline released anew.
func (c *Causal) baselineProblems() []string {
	var out []string
	for i, p := range c.Pairs {
		b := p.Baseline
		again := &direction.Baseline{Score: b.Score, Difference: b.Difference, Scale: b.Scale, Quartiles: b.Quartiles}
		r := again.Read()
		if !near(again.Difference, b.Difference) || !near(r.Stability, p.Stability) || directionText(r.Preferred) != p.Preferred ||
			directionText(r.Direction) != p.Direction {
			out = append(out, fmt.Sprintf("pair %d, %s and %s, does not follow from what was released", i+1, shown(p.X), shown(p.Y)))
		}
	}
	return out
}

// again returns a pair with another reading of its counts.
func (c *Causal) again(p CausalPair, r direction.Reading) CausalPair {
	out := p
	out.Preferred, out.Stability, out.Dependence = directionText(r.Preferred), r.Stability, r.Dependence
	out.Vote, out.Likelihood = directionText(r.Vote), "projected"
	if r.Signed {
		out.Likelihood = "signed"
	}
	out.Direction, out.Records = directionText(r.Direction), p.histogram().Total()
	if c.columnNamed(p.X).Unread || c.columnNamed(p.Y).Unread {
		out.Direction = Undecided
	}
	out.Scores = nil
	for _, s := range r.Scores {
		out.Scores = append(out.Scores, CausalScore{s.Name, s.Forward, s.Backward, directionText(s.Prefers())})
	}
	return out
}

// same reports whether two readings agree as far as two processors do.
func (p CausalPair) same(q CausalPair) bool {
	alike := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, math.Abs(a)) }
	return p.Direction == q.Direction && p.Preferred == q.Preferred && p.Vote == q.Vote && p.Likelihood == q.Likelihood &&
		near(p.Stability, q.Stability) && near(p.Dependence, q.Dependence) && near(p.Records, q.Records) &&
		slices.EqualFunc(p.Scores, q.Scores, func(a, b CausalScore) bool {
			return a.Name == b.Name && a.Prefers == b.Prefers && alike(a.XToY, b.XToY) && alike(a.YToX, b.YToX)
		})
}

// noiseProblems compares the noise of each pair with that of its step.
func (c *Causal) noiseProblems() []string {
	var out []string
	for _, e := range c.Events { // every pure step of a study is Laplace noise on counts
		if e.Law == budget.Pure.String() && !(e.Scale >= e.Sensitivity/e.Epsilon*(1-computedTolerance)) {
			out = append(out, fmt.Sprintf("%s: the noise scale is %v, and its law asks for at least %v", shown(e.ID), e.Scale,
				e.Sensitivity/e.Epsilon))
		}
	}
	for i, p := range c.Pairs {
		if b := p.Baseline; b != nil {
			k := slices.IndexFunc(c.Events, func(e Event) bool { return e.ID == "causal/all/difference" })
			if b.Scale > 0 && (k < 0 || math.Abs(b.Scale-c.Events[k].Scale) > computedTolerance*b.Scale) {
				out = append(out, "the noise of the difference is not that of its step")
			}
			continue
		}
		name := fmt.Sprintf("causal/all/pairs/pair-%d", i+1)
		k := slices.IndexFunc(c.Events, func(e Event) bool { return e.ID == name })
		if k < 0 {
			out = append(out, name+" is not among the steps")
			continue
		}
		e := c.Events[k]
		least := e.Sensitivity / e.Epsilon
		if e.Law == budget.Gaussian.String() {
			least = e.Sensitivity / e.Mu
		}
		if !(e.Scale >= least*(1-computedTolerance)) || math.Abs(p.Noise.Scale-e.Scale) > 1e-4*e.Scale {
			out = append(out, fmt.Sprintf("%s: its noise is not what its law asks for", name))
		}
	}
	return out
}
