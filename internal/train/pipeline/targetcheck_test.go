package pipeline

import (
	"math"
	"testing"
)

// TestStopNeeded checks the decision to stop on counts with noise of scale 100/3, as at epsilon 1, and on exact counts.
func TestStopNeeded(t *testing.T) {
	const scale = 100. / 3
	for name, c := range map[string]struct {
		stop Stop
		want bool
	}{
		"empty target": {
			Stop{Readable: 3, Empty: 2990, Scale: scale},
			true,
		},
		"empty target, few records": {
			Stop{
				Readable: -20,
				Empty:    210,
				Scale:    scale,
			},
			false,
		},
		"text target": {Stop{Readable: 0, Text: 700, Scale: scale}, true},
		"few targets, many missing": {
			Stop{Readable: 150, Empty: 9000, Scale: scale},
			false,
		},
		"few targets, more missing": {
			Stop{Readable: 150, Empty: 90_000, Scale: scale},
			true,
		},
		"a hundredth has a target": {
			Stop{Readable: 1000, Empty: 99_000, Scale: scale},
			false,
		},
		"as many texts as numbers": {
			Stop{Readable: 3000, Text: 3000, Scale: scale},
			false,
		},
		"four times as many texts": {
			Stop{Readable: 3000, Text: 12_000, Scale: scale},
			true,
		},
		"no class": {
			Stop{
				Task:     "classification",
				Found:    true,
				Readable: 9,
				Empty:    2990,
				Scale:    scale,
			},
			true,
		},
		"small table": {
			Stop{
				Readable: 20,
				Empty:    -30,
				Scale:    scale,
			},
			false,
		},
		"exact, empty":                {Stop{Empty: 3000}, true},
		"exact, one target in ninety": {Stop{Readable: 30, Empty: 2970 - 270}, false},
	} {
		got := c.stop.isNeeded()
		if got != c.want {
			t.Errorf(
				"%s: %v, want %v",
				name, got, c.want,
			)
		}
	}
}

// TestStopByChance checks that a table with enoughReadable targets is mistaken for one without with at most a third of
// the stated probability, by the exact tail of the noise.
func TestStopByChance(t *testing.T) {
	chance := math.Exp(fewReadable-enoughReadable) / 2
	if chance > stopByChance/3 {
		t.Errorf(
			"%v, at most %v is allowed",
			chance, stopByChance/3,
		)
	}
}
