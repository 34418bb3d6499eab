package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/ledger"
	"github.com/dptrain/dptrain/internal/sys/fault"
	"github.com/dptrain/dptrain/internal/train/rescale"
	"github.com/dptrain/dptrain/regression"
)

// model compares the model with the report.
func (v *verifier) model() {
	const name = "model"
	data, err := readLimited(filepath.Join(v.dir, modelFile), regression.MaxModelBytes)
	switch r := v.report; {
	case err != nil && r.Model.Kind == "":
		v.add(name, "there is none: "+v.report.WhyNoModel(), nil)
		return
	case err != nil:
		return // reported by files
	case r.Model.Kind == "":
		v.add(name, "",
			[]string{"there is one, but the report states that there is none: " + r.WhyNoModel()})
		return
	}
	m, err := regression.DecodeModel(bytes.NewReader(data))
	if err != nil {
		v.add(name, "", []string{"it cannot be read: " + err.Error()})
		return
	}
	var file struct {
		Guarantee *modelGuarantee `json:"guarantee"`
	}
	problems := modelProblems(m, v.report)
	if err := json.Unmarshal(data, &file); err != nil || file.Guarantee == nil ||
		!file.Guarantee.matches(v.report.Guarantee) {
		problems = append(problems, "its guarantee differs from the report")
	}
	v.add(name, "its kind, target, columns and guarantee match the report", problems)
}

// modelGuarantee is the key guarantee of model.json.
type modelGuarantee struct {
	Epsilon  float64 `json:"epsilon"`
	Delta    float64 `json:"delta"`
	Mu       float64 `json:"mu"`
	Relation string  `json:"relation"`
	Unit     *Unit   `json:"unit"`
}

// matches reports whether a model has the guarantee of a report.
func (m *modelGuarantee) matches(g Guarantee) bool {
	mu := 0.
	if g.Mu != nil {
		mu = *g.Mu
	}
	return m.Epsilon == g.Epsilon && m.Delta == g.Delta && m.Mu == mu && m.Relation == g.Relation &&
		(m.Unit == nil) == (g.Unit == nil) && (m.Unit == nil || *m.Unit == *g.Unit)
}

// modelProblems compares the target and the inputs of a model with the report.
func modelProblems(m regression.Model, r *Report) []string {
	var out []string
	o := m.Output()
	if _, ok := m.(*regression.Neighbours); ok {
		out = append(out, "it was trained without privacy, by `dptrain compress`")
	}
	if m.Kind() != r.Model.Kind {
		out = append(out,
			fmt.Sprintf("its kind is %s, but %s in the report", m.Kind(), printableName(r.Model.Kind)))
	}
	if o.Task != r.Task || o.Target != r.Target {
		out = append(out, fmt.Sprintf("it is a %s of %s, but a %s of %s in the report",
			o.Task, printableName(o.Target), printableName(r.Task), printableName(r.Target)))
	}
	var back rescale.Transform
	if l := regression.LinearPart(m); l != nil && l.Back != nil {
		back = rescale.Transform(l.Back.Transform)
	}
	if said := r.transform(); back != said {
		out = append(out,
			fmt.Sprintf("it predicts %s, but %s in the report", back.Name(printableName(r.Target)),
				said.Name(printableName(r.Target))))
	}
	for _, c := range m.Inputs() {
		if !slices.Contains(r.Features.Selected, c.Name) {
			out = append(out,
				"it uses column "+printableName(c.Name)+", which features.selected does not contain")
		}
	}
	same := func(a Interval, b regression.Interval) bool {
		return a.Level == b.Level && a.HalfWidth == b.HalfWidth
	}
	if r.hasChecksum() && !slices.EqualFunc(r.Metrics.Intervals, regression.IntervalsOf(m), same) {
		out = append(out, "its prediction intervals differ from the report")
	}
	if c := r.Metrics.Confusion; c != nil && !slices.Equal(c.Classes, o.Classes) {
		out = append(out, "its classes differ from the confusion matrix")
	}
	for _, f := range r.Unprotected {
		if stated, ok := f.Value.([]any); ok && f.Name == "classes of "+r.Target &&
			!sameJSON(stated, o.Classes) {
			out = append(out, "its classes differ from the report")
		}
	}
	return out
}

// ledger looks for the run in its ledger. It returns an error if the ledger cannot be read.
func (v *verifier) ledger(ctx context.Context, o VerifyOptions) error {
	const name = "ledger"
	entered := v.report.Ledger
	if entered == nil {
		v.skip(name, "the run was not recorded in a ledger")
		return nil
	}
	claim := ledger.Claim{
		Head:    ledger.Head{Sequence: entered.Entry, Hash: entered.Head},
		Nonce:   entered.Nonce,
		Release: v.release,
	}
	shared := sharedProblems(claim, o)
	if o.Ledger == nil {
		if len(shared) > 0 {
			v.add(name, "", shared)
			return nil
		}
		v.skip(name,
			fmt.Sprintf("the run is entry %d for data set %s; give the ledger with --ledger",
				entered.Entry, printableName(entered.Dataset)))
		return nil
	}
	book, err := o.Ledger.Read(ctx)
	if err != nil {
		return err
	}
	if !book.Contains(claim.Head) {
		v.add(name, "",
			append(shared,
				fmt.Sprintf(
					"it has no entry %d with the head in the report: the ledger was rewritten, truncated or restored to an "+
						"earlier state, the report was edited, or this is a different ledger",
					entered.Entry)))
		return nil
	}
	account, err := book.Account(entered.Dataset)
	if err != nil {
		v.add(name, "", append(shared, "it does not contain data set "+printableName(entered.Dataset)))
		return nil
	}
	i := slices.IndexFunc(account.Runs, func(r ledger.RunState) bool {
		return r.Sequence == entered.Entry
	})
	if i < 0 {
		v.add(name, "",
			append(shared,
				fmt.Sprintf("entry %d is not a run on data set %s", entered.Entry,
					printableName(entered.Dataset))))
		return nil
	}
	if err := book.CheckClaim(claim); err != nil {
		shared = append(shared, err.Error())
	}
	holds := fmt.Sprintf(
		"entry %d for data set %s is this run, with the same head, steps and price",
		entered.Entry, printableName(entered.Dataset))
	switch run := account.Runs[i]; {
	case run.Release != "":
		holds += ", and this release"
	case run.Nonce == "":
		holds += "; it was written by a version that does not record the release, so another release may claim it, too"
	}
	v.add(name, holds, append(shared, v.entryProblems(account, account.Runs[i])...))
	return nil
}

// sharedProblems lists the other releases that name the entry of a release. Without a ledger, only releases with the
// same head certainly do: entries of two ledgers may have the same number.
func sharedProblems(c ledger.Claim, o VerifyOptions) []string {
	var out []string
	for _, other := range o.Others {
		if other.Release == c.Release || other.Head.Sequence != c.Head.Sequence ||
			o.Ledger == nil && other.Head != c.Head {
			continue
		}
		out = append(out,
			fmt.Sprintf(
				"%s is a different release and also claims entry %d, but an entry belongs to a single run",
				other.Name, c.Head.Sequence))
	}
	return out
}

// entryProblems compares the entry of a run with the report.
func (v *verifier) entryProblems(
	a *ledger.Account,
	run ledger.RunState,
) []string {
	var out []string
	g := v.report.Guarantee
	column := ""
	rows := 0
	if g.Unit != nil {
		column = g.Unit.Column
		rows = g.Unit.MaxRows
	}
	if run.Epsilon != g.Epsilon || run.Delta != g.Delta || run.Relation != g.Relation ||
		run.Unit != column || run.MaxRows != rows {
		out = append(out, "the guarantee in the entry differs from the one in the report")
	}
	if run.Target != strings.ToValidUTF8(v.report.section().target(), "\uFFFD") {
		out = append(out, "the entry has a different target")
	}
	if !run.Committed {
		out = append(out, "the run was reserved but never committed, so its results must not be released")
	}
	if (run.Stopped != nil) != (v.report.HasStopped()) && run.Committed {
		out = append(out,
			"the ledger and the report disagree about whether the run stopped before training")
	}
	leaves := leavesOf(run.Plan, run.Plan.Name)
	same := len(leaves) == len(v.report.Events)
	for i := 0; same && i < len(leaves); i++ {
		e := v.report.Events[i]
		l := leaves[i]
		same = e.ID == l.Name && e.Law == l.Op && e.Draws == l.Draws && nearlyEqual(e.Mu, l.Mu) &&
			nearlyEqual(e.Epsilon, l.Epsilon) && nearlyEqual(e.Delta, l.Delta)
	}
	if !same {
		out = append(out, "the steps of the entry differ from the report")
	}
	if target, err := targetOf(g); err == nil {
		target.Earlier = v.before
		priced, err := repriced(v.report, target)
		if err != nil {
			return out // reported by guarantee
		}
		due, err := a.Price(priced)
		if err != nil || undercharged(due.Cost, run.Charge.Cost) ||
			undercharged(due.Delta, run.Charge.Delta) {
			out = append(out, "the entry was charged less than its steps cost")
		}
	}
	return out
}

// undercharged reports whether less was charged than is due, by more than the differences between processors in the
// last bits.
func undercharged(due, charged int64) bool {
	return float64(due-charged) > 1+computedTolerance*float64(due)
}

// leavesOf lists the leaves beneath a step of a ledger, with their paths as names.
func leavesOf(s ledger.Step, path string) []ledger.Step {
	if len(s.Kids) == 0 {
		if s.Draws == 0 {
			return nil // an empty sequence
		}
		s.Name = path
		return []ledger.Step{s}
	}
	var out []ledger.Step
	for _, kid := range s.Kids {
		out = append(out, leavesOf(kid, path+"/"+kid.Name)...)
	}
	return out
}

// ErrBroken is returned by [Verification.Err].
var ErrBroken = fault.New(fault.Broken, "the release is inconsistent")

// Err returns nil if every check passed or was skipped, and otherwise an error that wraps [ErrBroken].
func (v *Verification) Err() error {
	if n := v.Misfits(); n > 0 {
		return fmt.Errorf("%w: %d of %d checks failed", ErrBroken, n, len(v.Checks))
	}
	return nil
}
