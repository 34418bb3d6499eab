package pipeline

import (
	"strings"
	"testing"
)

// TestCureNamesBothMarks checks that the remedy for a target without numbers covers a comma as decimal mark and as thousands
// mark: with the wrong one, 50,123 would be read as 50.123.
func TestCureNamesBothMarks(t *testing.T) {
	cure := (&Stop{Text: 100}).Cure()
	for _, want := range []string{
		"written 1,5 add --decimal ,",
		"written 1,500 add --thousands ,",
		"--task classification",
	} {
		if !strings.Contains(cure, want) {
			t.Errorf("%q does not contain %q", cure, want)
		}
	}
}
