package report

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/dptrain/dptrain/internal/train/pipeline"
	"github.com/dptrain/dptrain/internal/train/stage"
)

// Codes of warnings whose content has its own row in a report: that the run stopped, and that the noise may hide
// errors above the limit.
const (
	noTargetCode    = stage.CodeNoTarget
	largeErrorsCode = stage.CodeLargeErrors
)

// HasStopped reports whether the run stopped before it trained anything.
func (r *Report) HasStopped() bool {
	return r.training().Stopped != nil
}

// WhyNoModel states why there is no model: the method abstained, too few classes were found, or the run stopped before
// training. It is "" for a report of a model.
func (r *Report) WhyNoModel() string {
	switch {
	case r.Model.Kind != "":
		return ""
	case r.Stopped != nil:
		return "the run stopped before training, because " + r.Stopped.Meaning
	case r.lacksClasses():
		return "fewer than two classes were found"
	}
	return r.Model.Method + " abstained"
}

// endedEarly reports whether the run trained no model because it stopped, or because too few classes were found.
func (r *Report) endedEarly() bool {
	return r.HasStopped() || r.lacksClasses()
}

// lacksClasses reports whether the run trained no model because too few classes were found.
func (r *Report) lacksClasses() bool {
	return r.training().Model.Kind == "" && slices.ContainsFunc(r.Warnings, func(w pipeline.Warning) bool {
		return w.Code == stage.CodeNoClasses
	})
}

// stoppedText describes why a run stopped and how much it spent.
func (r *Report) stoppedText() string {
	spent := "Nothing was released or spent."
	if r.Stopped.Scale > 0 {
		spent = fmt.Sprintf("Only these counts were released; they spent epsilon %s of %s.",
			number(r.Stopped.Spent), number(r.Guarantee.Epsilon))
	}
	return r.Stopped.Meaning + ". " + spent
}

// stopProblems lists the contradictions in the report of a run that stopped: such a run released its first step, or
// no step if the target is public, and has neither a model nor a metric.
func stopProblems(r *Report) []string {
	var out []string
	for _, e := range r.Events {
		lead := strings.HasPrefix(e.ID, leadPrefix(r))
		switch {
		case lead && (e.Released != e.Draws || e.Taken != nil):
			out = append(out,
				printableName(e.ID)+": the run stopped because of this step, but did not take it")
		case !lead && (e.Released != 0 || e.Taken == nil || *e.Taken):
			out = append(out, printableName(e.ID)+": the run stopped before this step, but took it")
		}
	}
	if r.Model.Kind != "" || len(r.Features.Selected) > 0 ||
		!reflect.DeepEqual(r.Metrics, Metrics{}) {
		out = append(out, "the run stopped, but there is a model or a metric")
	}
	return out
}

// leadPrefix starts the names of the steps on all records.
func leadPrefix(r *Report) string {
	root := ""
	if len(r.Events) > 0 {
		root, _, _ = strings.Cut(r.Events[0].ID, "/")
	}
	return root + "/" + pipeline.AllName + "/"
}
