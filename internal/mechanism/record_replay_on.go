//go:build replay

package mechanism

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
)

// tap watches the releases of a session in builds with the tag "replay". It
// holds exact private values and must never be part of a shipped binary.
type tap struct {
	rec   *Recorder
	fault Fault
}

// A Release is one watched release: the exact private input, the declared
// bound and what came out, all in grid units.
type Release struct {
	Path  string
	Draw  int
	Part  int // of a draw that is spent in parts
	Try   int // of a private selection, from 1; 0 outside
	Law   budget.Law
	Shape int // side of a symmetric matrix, coordinates of a point, length of a list; 0 for a vector
	Kind  string
	Input Vector
	Bound float64
	Out   Vector // for a choice: the index, or the indices
	// Weights are those of the coordinates of a weighted vector in its norm; nil
	// for every other kind.
	Weights []float64
	// Names are the columns and words that the Input of a lexicon counts, and Words are the
	// published words; both are nil for every other kind.
	Names []string
	Words [][]Word
}

// newRelease describes the release that a ticket paid for.
func newRelease(
	k ticket,
	shape int,
	kind string,
	in Vector,
	bound float64,
	out Vector,
) Release {
	return Release{
		Path:  k.path,
		Draw:  k.draw,
		Part:  k.part,
		Try:   k.try,
		Law:   k.law,
		Shape: shape,
		Kind:  kind,
		Input: in,
		Bound: bound,
		Out:   out,
	}
}

func (x Release) withWeights(w []float64) Release {
	x.Weights = w
	return x
}

// A Recorder collects the releases of a run, and in a second run on a
// neighbouring table puts the first run's outputs in their place (the
// Re:cord-play method, arXiv 2602.17454).
type Recorder struct {
	mu     sync.Mutex
	seen   map[string]Release
	replay map[string]Release
	key    noise.Key
	faults []string
	fault  Fault
	parts  map[string]string // of the leaves, by path
	tries  map[string]int    // how often private selections tried, by path
	force  int               // if positive, how often they are to try
	keep   bool              // whether unreadable columns stay
}

// NewRecorder starts a recording under a key drawn from seed.
func NewRecorder(seed byte) *Recorder {
	r := &Recorder{seen: map[string]Release{}}
	for i := range r.key {
		r.key[i] = seed + byte(i)
	}
	return r
}

// Replay returns a recorder for the neighbouring run: the same key, hence the
// same coins record by record, and the recorded outputs.
func (r *Recorder) Replay() *Recorder {
	return &Recorder{
		seen:   map[string]Release{},
		replay: r.seen,
		key:    r.key,
		fault:  r.fault,
		force:  r.force,
		keep:   r.keep,
	}
}

// Tries returns the number of tries of the private selection at path, which is secret in the
// shipped program.
func (r *Recorder) Tries(path string) int {
	return r.tries[path]
}

// ForceTries makes every private selection try k times, so that a test can compare runs that
// differ in the number of tries only.
func (r *Recorder) ForceTries(k int) *Recorder {
	r.force = k
	return r
}

// KeepColumns keeps the columns whose ranges were not found, so that a test on a few
// records sees every stage of the widest model; see [Session.KeepsColumns].
func (r *Recorder) KeepColumns() *Recorder {
	r.keep = true
	return r
}

// keepsColumns reports whether the test has called [Recorder.KeepColumns].
func (t tap) keepsColumns() bool {
	return t.rec != nil && t.rec.keep
}

// NewRecordedSession is NewSession with a fixed key and a tap.
func NewRecordedSession(p *budget.Priced, r *Recorder) *Session {
	r.parts = map[string]string{}
	for _, l := range p.Leaves() {
		r.parts[l.Path] = l.Part
	}
	r.tries = map[string]int{}
	c := newRunState(p)
	c.key = r.key
	c.tap = tap{r, r.fault}
	return c.sessionAt(p.Tree().Name)
}

// watchTries records the number of tries of a private selection.
func (t tap) watchTries(path string, k int) int {
	if t.rec == nil {
		return k
	}
	t.rec.mu.Lock()
	defer t.rec.mu.Unlock()
	if t.rec.force > 0 {
		k = t.rec.force
	}
	t.rec.tries[path] = k
	return k
}

func (t tap) watchOutput(rel Release) Vector {
	return t.watchRelease(rel).Out
}

// watchWords records the release of a lexicon. The input contains the names of the counts.
func (t tap) watchWords(
	k ticket,
	in Lexicon,
	bound float64,
	out [][]Word,
) [][]Word {
	rel := newRelease(k, len(in.columns), "words", nil, bound, nil)
	if t.rec == nil {
		return out
	}
	err := in.forEachPart(func(columns []WordCounts) {
		for i, c := range columns {
			for j, word := range c.Words {
				rel.Names = append(rel.Names, fmt.Sprintf("%d %s", i, word))
				rel.Input = append(rel.Input, c.Counts[j])
			}
		}
	})
	if err != nil {
		panic(err) // the same was read a moment ago
	}
	rel.Words = out
	return t.watchRelease(rel).Words
}

// watchRelease records a release, and in a second run replaces its output by that of the first run.
func (t tap) watchRelease(rel Release) Release {
	r := t.rec
	if r == nil {
		return rel
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	id := fmt.Sprintf("%s#%d.%d", rel.Path, rel.Draw, rel.Part)
	if rel.Try > 0 {
		id += fmt.Sprintf(" of try %d", rel.Try)
	}
	if r.replay != nil {
		first, ok := r.replay[id]
		switch {
		case !ok:
			r.faults = append(r.faults, id+": released only on the neighbouring table")
		case first.Law != rel.Law || first.Kind != rel.Kind || first.Shape != rel.Shape ||
			rel.Kind != "words" && len(first.Input) != len(rel.Input) ||
			!slices.Equal(first.Weights, rel.Weights):
			r.faults = append(r.faults, id+": another law or shape on the neighbouring table")
		case first.Bound != rel.Bound:
			r.faults = append(r.faults, id+": the declared sensitivity depends on the data")
		default:
			rel.Out = first.Out
			rel.Words = first.Words
		}
	}
	r.seen[id] = rel
	return rel
}

func (t tap) watchVector(
	k ticket,
	in Vector,
	bound float64,
	out Vector,
) Vector {
	return t.watchOutput(newRelease(k, 0, "vector", append(Vector(nil), in...), bound, out))
}

// watchCells watches a release of a vector with an L1 sensitivity.
func (t tap) watchCells(k ticket, in Vector, bound float64, out Vector) Vector {
	return t.watchOutput(newRelease(k, 0, "cells", append(Vector(nil), in...), bound, out))
}

func (t tap) watchSymmetric(
	k ticket,
	in Symmetric,
	bound float64,
	out Vector,
) Vector {
	out = t.watchOutput(
		newRelease(k, in.P, "symmetric", append(Vector(nil), in.Packed...), bound, out))
	return t.withoutNoise(in, out)
}

func (t tap) watchWeighted(
	k ticket,
	in Weighted,
	bound float64,
	out Vector,
) Vector {
	return t.watchOutput(
		newRelease(k, 0, "weighted", append(Vector(nil), in.Values...), bound,
			out).withWeights(in.Weights))
}

func (t tap) watchChoice(k ticket, in Vector, bound float64, out int) int {
	return t.watchChoices(k, in, bound, []int{out})[0]
}

// watchChoices watches a release of several candidates at once.
func (t tap) watchChoices(k ticket, in Vector, bound float64, out []int) []int {
	return t.watchIndices(k, 0, "choice", in, bound, out)
}

// watchLists watches a release of one candidate of each of several lists.
func (t tap) watchLists(k ticket, in Lists, bound float64, out []int) []int {
	return t.watchIndices(k, in.Size, "lists", in.Scores, bound, out)
}

func (t tap) watchIndices(
	k ticket,
	shape int,
	kind string,
	in Vector,
	bound float64,
	out []int,
) []int {
	indices := make(Vector, len(out))
	for i, j := range out {
		indices[i] = int64(j)
	}
	indices = t.watchOutput(newRelease(k, shape, kind, append(Vector(nil), in...), bound, indices))
	out = make([]int, len(indices))
	for i, j := range indices {
		out[i] = int(j)
	}
	return out
}

// watchPoints watches the release of a point of a cloud: the input is the bit
// patterns of all coordinates, the output the pass bit and the bit patterns of
// the released point.
func (t tap) watchPoints(k ticket, in Cloud, out Vector) Vector {
	bits := make(Vector, len(in.values))
	for i, x := range in.values {
		bits[i] = int64(math.Float64bits(x))
	}
	return t.watchOutput(newRelease(k, in.d, "points", bits, 1, out))
}

// Releases returns the recorded releases, sorted by path and draw.
func (r *Recorder) Releases() []Release {
	out := make([]Release, 0, len(r.seen))
	for _, x := range r.seen {
		out = append(out, x)
	}
	sort.Slice(out, func(i, j int) bool {
		if out[i].Try != out[j].Try {
			return out[i].Try < out[j].Try
		}
		if out[i].Path != out[j].Path {
			return out[i].Path < out[j].Path
		}
		if out[i].Draw != out[j].Draw {
			return out[i].Draw < out[j].Draw
		}
		return out[i].Part < out[j].Part
	})
	return out
}

// Compare returns every way in which the neighbouring run b broke the plan of
// run a: a leaf missing, another law, inputs further apart than declared, or
// one record seen in two parts that were priced as disjoint.
// closest is the largest ratio of distance to declared sensitivity, so that a
// test can tell a bound that was approached from one that never was.
func Compare(a, b *Recorder) (faults []string, closest float64) {
	faults = append(faults, b.faults...)
	touched := map[string]bool{}
	for id, x := range a.seen {
		y, ok := b.seen[id]
		if !ok {
			faults = append(faults, id+": released only on the first table")
			continue
		}
		if x.Kind != "words" && len(x.Input) != len(y.Input) {
			continue // reported by watch
		}
		ratio := x.inputDistance(y) / x.Bound
		if ratio > 0 {
			touched[a.parts[x.Path]] = true
		}
		closest = math.Max(closest, ratio)
		if ratio > 1 {
			faults = append(faults,
				fmt.Sprintf("%s: inputs differ by %.17g times the declared sensitivity", id, ratio))
		}
	}
	for p := range touched {
		for q := range touched {
			if p < q && !strings.HasPrefix(q+"/", p+"/") && p != "" {
				faults = append(faults,
					fmt.Sprintf("parts %q and %q, priced as disjoint, both see the record", p, q))
			}
		}
	}
	sort.Strings(faults)
	return faults, closest
}

// inputDistance is the change between two inputs in the norm of the release.
func (x Release) inputDistance(y Release) float64 {
	switch x.Kind {
	case "points": // number of points that differ
		differing := 0
		for i := 0; i < len(x.Input); i += x.Shape {
			if !slices.Equal(x.Input[i:i+x.Shape], y.Input[i:i+x.Shape]) {
				differing++
			}
		}
		return float64(differing)
	case "choice":
		return widthOfChange(x.Input, y.Input)
	case "words":
		return wordDistance(x, y)
	case "lists":
		sum := 0.
		for i := 0; i < len(x.Input); i += x.Shape {
			sum += widthOfChange(x.Input[i:i+x.Shape], y.Input[i:i+x.Shape])
		}
		return sum
	case "cells":
		sum := 0.
		for i := range x.Input {
			sum += math.Abs(float64(y.Input[i] - x.Input[i]))
		}
		return sum
	case "symmetric":
		return packedDistance(x.Shape, x.Input, y.Input)
	case "weighted":
		var sum float64
		for i, w := range x.Weights {
			d := w * float64(y.Input[i]-x.Input[i])
			sum += d * d
		}
		return math.Sqrt(sum)
	default:
		var sum float64
		for i := range x.Input {
			d := float64(y.Input[i] - x.Input[i])
			sum += d * d
		}
		return math.Sqrt(sum)
	}
}

// wordDistance is the L2 distance of counts by name, in grid units.
func wordDistance(x, y Release) float64 {
	change := map[string]float64{}
	for i, name := range x.Names {
		change[name] -= float64(x.Input[i])
	}
	for i, name := range y.Names {
		change[name] += float64(y.Input[i])
	}
	sum := 0.
	for _, d := range change {
		sum += d * d
	}
	return math.Sqrt(sum) / countUnit
}

// widthOfChange is that of the range of the changes of scores.
func widthOfChange(x, y Vector) float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range x {
		d := float64(y[i] - x[i])
		lo, hi = math.Min(lo, d), math.Max(hi, d)
	}
	return hi - lo
}

// packedDistance is the distance of packed symmetric matrices of side p.
func packedDistance(p int, x, y Vector) float64 {
	sum := 0.
	for k := 0; k < len(x); {
		for i := range p {
			for j := i; j < p; j, k = j+1, k+1 {
				d := float64(y[k] - x[k])
				if i != j {
					sum += d * d
				}
				sum += d * d
			}
		}
	}
	return math.Sqrt(sum)
}
