package docs

import (
	"io/fs"
	"strings"
	"testing"
)

// TestGuessedLocationsMatch checks that the locations in the table "One guess" of the architecture are right, and that
// most match the guesses.
func TestGuessedLocationsMatch(t *testing.T) {
	const page = "docs/reference/architecture.md"
	text, err := fs.ReadFile(tree, page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(
		string(text),
		"\n## One guess\n",
	)
	section, _, _ := strings.Cut(rest, "\n## ")
	things := 0
	right := 0
	for line := range strings.Lines(section) {
		cells := strings.Split(
			strings.Trim(strings.TrimSpace(line), "|"),
			"|",
		)
		if len(cells) != 4 ||
			!strings.Contains(cells[1], ".go") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(cells[i], " `")
		}
		thing := cells[0]
		guessed := cells[1]
		file := cells[2]
		declaration := cells[3]
		things++
		if file == "" {
			file = guessed
			right++
		} else if _, err := fs.Stat(tree, guessed); err == nil {
			t.Errorf(
				"%s: %s exists, and the table says that it is elsewhere",
				thing, guessed,
			)
		}
		source, err := fs.ReadFile(tree, file)
		if err != nil ||
			!strings.Contains("\n"+string(source), "\n"+declaration) {
			t.Errorf(
				"%s: %q is not in %s: %v",
				thing, declaration, file, err,
			)
		}
	}
	if things != 20 || right < 18 {
		t.Errorf(
			"%d of %d things are found at the first guess, want 18 of 20",
			right, things,
		)
	}
}
