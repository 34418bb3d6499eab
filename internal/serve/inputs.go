package serve

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync/atomic"

	"github.com/dptrain/dptrain/regression"
)

// An inputCount counts the cells of one input of the model by their state.
type inputCount struct {
	column regression.Column
	states [len(inputStates)]atomic.Int64
}

// inputStates are the states of a cell compared with the released facts about its column: the range of a number, or
// the list of categories.
var inputStates = [...]string{"known", "missing", "below", "above", "unknown"}

// Positions in inputStates.
const (
	stateKnown   = iota // within the range, or a listed category
	stateMissing        // a number that is missing or unreadable
	stateBelow          // below the range of the release
	stateAbove          // above the range of the release
	stateUnknown        // a text outside the list of categories, including an empty one
)

func newInputCounts(m regression.Model) []*inputCount {
	var out []*inputCount
	for _, c := range m.Inputs() {
		out = append(out, &inputCount{column: c})
	}
	return out
}

// countInputs counts the cells of records.
func countInputs(counts []*inputCount, rows regression.Rows) {
	for _, c := range counts {
		var n [len(inputStates)]int64
		switch {
		case rows.Numeric[c.column.Name] != nil:
			for _, x := range rows.Numeric[c.column.Name] {
				n[numberState(x, c.column.Lower, c.column.Upper)]++
			}
		case rows.Labels[c.column.Name] != nil:
			listed := map[string]bool{}
			for _, name := range c.column.Categories {
				listed[name] = true
			}
			for _, text := range rows.Labels[c.column.Name] {
				n[textState(listed[text])]++
			}
		default:
			codes := rows.Codes[c.column.Name]
			for _, code := range codes.Values {
				n[textState(code >= 0 && int(code) < len(codes.Categories))]++
			}
		}
		for state, count := range n {
			c.states[state].Add(count)
		}
	}
}

// numberState returns the state of a number, given the released range.
func numberState(x, lower, upper float64) int {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0):
		return stateMissing
	case x < lower:
		return stateBelow
	case x > upper:
		return stateAbove
	}
	return stateKnown
}

// textState returns the state of a text, given whether it is a listed category.
func textState(listed bool) int {
	if listed {
		return stateKnown
	}
	return stateUnknown
}

// labelValue escapes a text for the value of a Prometheus label.
var labelValue = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// writeInputs writes the counts in the Prometheus text format.
func writeInputs(w io.Writer, counts []*inputCount) {
	fmt.Fprint(w,
		"# HELP dptrain_inputs_total Cells of predicted records by column and state, since the model was loaded.\n# TYPE dptrain_inputs_total counter\n")
	for _, c := range counts {
		for state, name := range inputStates {
			if n := c.states[state].Load(); n > 0 || state == stateKnown {
				fmt.Fprintf(w, "dptrain_inputs_total{column=\"%s\",state=%q} %d\n",
					labelValue.Replace(c.column.Name), name, n)
			}
		}
	}
}
