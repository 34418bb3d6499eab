package docs

import (
	"slices"
	"strings"
	"testing"
)

// maxReadmeWords limits the words of README.md outside its blocks, so that the page with the output of `dptrain fit`
// stays at about 700 words.
const maxReadmeWords = 520

// TestReadmeIsShort counts the words of README.md outside blocks.
func TestReadmeIsShort(t *testing.T) {
	count := 0
	for _, l := range readPages(t)["README.md"].Prose {
		count += len(strings.Fields(l.Text))
	}
	if count > maxReadmeWords {
		t.Errorf(
			"README.md has %d words outside its blocks, want at most %d",
			count,
			maxReadmeWords,
		)
	}
}

// TestReadmeNumbers checks that every number in the table "Accuracy" of README.md is in a row of the same table of
// data on docs/lab/accuracy.md, which names the scripts that measured it.
func TestReadmeNumbers(t *testing.T) {
	pages := readPages(t)
	measured := map[string][]string{}
	for _, l := range pages["docs/lab/accuracy.md"].Prose {
		cells := tableCells(l.Text)
		if len(cells) > 1 {
			measured[cells[0]] = append(measured[cells[0]], cells[1:]...)
		}
	}
	inSection := false
	compared := 0
	for _, l := range pages["README.md"].Prose {
		if strings.HasPrefix(l.Text, "## ") {
			inSection = l.Text == "## Accuracy"
		}
		cells := tableCells(l.Text)
		if !inSection ||
			len(cells) < 2 ||
			cells[0] == "table" ||
			strings.HasPrefix(cells[0], "-") {
			continue
		}
		for _, value := range cells[1:] {
			compared++
			if !slices.Contains(measured[cells[0]], value) {
				t.Errorf(
					"README.md:%d: %s of %s is not on docs/lab/accuracy.md",
					l.Number,
					value,
					cells[0],
				)
			}
		}
	}
	if compared < 25 {
		t.Errorf("%d numbers were compared", compared)
	}
}

// tableCells returns the cells of a row of a table, numbers without the zero before their point and without emphasis.
func tableCells(line string) []string {
	line = strings.TrimSpace(line)
	if !strings.HasPrefix(line, "|") {
		return nil
	}
	cells := strings.Split(strings.Trim(line, "|"), "|")
	for i, c := range cells {
		c = strings.Trim(strings.TrimSpace(c), "*")
		if strings.HasPrefix(c, "0.") {
			c = c[1:]
		}
		cells[i] = c
	}
	return cells
}
