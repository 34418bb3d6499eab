package stage

import (
	"fmt"
	"strings"
)

// Severity grades a warning.
type Severity string

// The severities, after the classes that privacy libraries use.
const (
	Critical    Severity = "critical"    // the number must not be relied on
	Theoretical Severity = "theoretical" // a limitation of the guarantee
	Negligible  Severity = "negligible"  // for completeness
)

// A Warning is a public remark on a run: it depends on the plan and on
// released values only.
type Warning struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Text     string   `json:"text"`
}

// mostListed is the maximum number of columns that a warning names.
const mostListed = 40

// ListNames lists names of columns, the first of many.
func ListNames(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = fmt.Sprintf("%q", name)
	}
	return ListParts(quoted)
}

// ListParts lists things, the first of many.
func ListParts(parts []string) string {
	if n := len(parts); n > mostListed {
		return fmt.Sprintf(
			"%s and %d more (columns in report.json lists them)",
			strings.Join(parts[:mostListed], ", "),
			n-mostListed,
		)
	}
	return strings.Join(parts, ", ")
}
