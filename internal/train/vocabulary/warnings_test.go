package vocabulary

import (
	"strings"
	"testing"

	"github.com/dptrain/dptrain/internal/train/stage"
)

// TestFewClassesAreCountedInWords checks the warning for fewer than two classes.
func TestFewClassesAreCountedInWords(t *testing.T) {
	for want, words := range map[string][]string{
		`No class of the target "y" was found, and two are needed`:       nil,
		`Only one class of the target "y" was found, and two are needed`: {"a"},
	} {
		got := classesFound(stage.Vocabulary{Column: "y", Words: words})
		if len(got) != 1 ||
			got[0].Code != stage.CodeNoClasses ||
			!strings.HasPrefix(got[0].Text, want) {
			t.Errorf(
				"%d classes: %+v",
				len(words), got,
			)
		}
	}
}
