//go:build replay

package audit

import "math"

// boostingClipTables lists the generated tables for the clamps of residuals.
func boostingClipTables() []floorTable {
	// The classes of the cells are no sum of an effect of a and one of b, so the additive model is a compromise between
	// cells. With half of the clamp, records far on the wrong side count less in it.
	cells := cellTable("checks", "ppppqpqqqqqqqpppqppqppqqp", [25]int{
		219, 135, 202, 155, 192,
		445, 44, 204, 37, 88,
		418, 19, 350, 132, 36,
		14, 66, 204, 470, 181,
		232, 130, 136, 195, 78,
	})
	cells.clip.trainers = []string{"boosted-additive"}
	return []floorTable{
		cells,
		{
			// The target has two values, and the share of the upper one rises from 0 to 1 with a. A smaller clamp
			// moves the fit from the mean to the more frequent value.
			name:    "odds",
			columns: "y: {lower: -1, upper: 1}",
			clip: &clipTable{
				columns:  []string{"a"},
				records:  5000,
				epsilon:  12,
				trainers: []string{"boosted-kernel"},
				record:   oddsRecord,
			},
		},
	}
}

func oddsRecord(i int) ([]float64, string) {
	if spreadPoint(i, 1) < spreadPoint(i, 0) {
		return []float64{spreadNumber(i, 0)}, "0.5"
	}
	return []float64{spreadNumber(i, 0)}, "-0.5"
}

// prototypeClipTables lists the generated tables for prototypes of more than two classes.
func prototypeClipTables() []floorTable {
	return []floorTable{
		{
			// Half of the classes are behind the others, seen from the centre. The classes are so small that
			// prototypes stay at the means, and with half of the limit the means of both are equally far out.
			name:    "rings",
			classes: ringClasses,
			clip: &clipTable{
				columns:  []string{"a", "b"},
				records:  1000,
				epsilon:  1,
				trainers: []string{"prototypes"},
				record:   ringRecord,
			},
		},
		{
			// An island of r is next to that of s. With half of the bound the prototypes move too little to tell the two
			// apart.
			name:    "islands",
			classes: []string{"p", "q", "r", "s"},
			clip: &clipTable{
				columns:  []string{"a", "b"},
				records:  1000,
				epsilon:  300,
				trainers: []string{"prototypes"},
				record:   islandRecord,
			},
		},
	}
}

// ringClasses are six classes near the centre, and one behind each.
var ringClasses = []string{
	"c0", "c1", "c2", "c3", "c4", "c5",
	"c6", "c7", "c8", "c9", "c10", "c11",
}

func ringRecord(i int) ([]float64, string) {
	class := int(spreadPoint(i, 0) * float64(len(ringClasses)))
	radius := .4
	if class >= 6 {
		radius = .85
	}
	y, x := math.Sincos(math.Pi / 3 * float64(class%6))
	return []float64{
		radius*x + .14*spreadNumber(i, 1),
		radius*y + .14*spreadNumber(i, 2),
	}, ringClasses[class]
}

// islands are squares of records of one class.
var islands = []struct {
	class      string
	weight     float64
	a, b, half float64 // the centre, and half of a side
}{
	{"p", 8, .12, .02, .09},
	{"q", .66, -.9, .34, .06},
	{"r", 3.2, -.23, .09, .19},
	{"s", 1.3, .69, -.16, .09},
	{"p", 5, -.21, .32, .03},
	{"q", .4, -.11, -.13, .29},
	{"r", 2.5, .89, -.16, .11},
}

func islandRecord(i int) ([]float64, string) {
	total := 0.
	for _, x := range islands {
		total += x.weight
	}
	left := spreadPoint(i, 0) * total
	at := 0
	for at < len(islands)-1 && left > islands[at].weight {
		left -= islands[at].weight
		at++
	}
	x := islands[at]
	return []float64{
		x.a + x.half*spreadNumber(i, 1),
		x.b + x.half*spreadNumber(i, 2),
	}, x.class
}
