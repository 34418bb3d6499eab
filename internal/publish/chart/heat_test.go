package chart

import (
	"strings"
	"testing"
)

// TestHeatTexts checks that the texts of a map are printed in all cells or left out of all, so that signs are never hidden one by
// one, and that the names of the rows keep their room.
func TestHeatTexts(t *testing.T) {
	h := Heat{
		Title:   "t",
		YLabel:  "area",
		Rows:    []string{"72", "168"},
		Columns: []string{"1", "2", "3", "4", "5", "6", "7"},
		Shares:  [][]float64{make([]float64, 7), make([]float64, 7)},
	}
	for text, want := range map[string]int{
		"-1,930":     14,
		"-1,930,000": 0,
	} {
		h.Texts = [][]string{make([]string, 7), make([]string, 7)}
		for _, row := range h.Texts {
			for j := range row {
				row[j] = text
			}
		}
		if got := strings.Count(string(h.SVG()), ">"+text+"<"); got != want {
			t.Errorf("%q is printed %d times, want %d", text, got, want)
		}
	}
	h.Texts = [][]string{{"1,234,567", "8"}, {"8", "8"}}
	h.Shares = [][]float64{{1, .1}, {.1, .1}}
	h.Columns = []string{"a", "b", "c", "d", "e", "f", "g"}
	for i := range h.Shares {
		h.Shares[i] = append(h.Shares[i], make([]float64, 5)...)
		h.Texts[i] = append(h.Texts[i], "8", "8", "8", "8", "8")
	}
	if strings.Contains(string(h.SVG()), ">8<") {
		t.Error("some texts are printed beside one that does not fit")
	}
	h.Rows[0] = strings.Repeat("w", 30)
	if !strings.Contains(string(h.SVG()), strings.Repeat("w", heatNames-1)+"…") {
		t.Error("a long name is not shortened")
	}
}
