package dataset

import "testing"

// TestSlabFits: a slab is used again for a batch of its own shape alone.
func TestSlabFits(t *testing.T) {
	shape := func(kinds ...Kind) (out []column) {
		for _, k := range kinds {
			out = append(out, column{kind: k})
		}
		return out
	}
	cols := shape(Numeric, Category, Numeric)
	s := newSlab(cols, true, 9)
	if !s.fits(cols, true, 9) {
		t.Error("a slab does not fit where it was made for")
	}
	if s.fits(cols, false, 9) || s.fits(cols, true, 8) || s.fits(cols[:2], true, 9) || s.fits(shape(Numeric, Numeric, Numeric), true, 9) ||
		s.fits(shape(Category, Category, Numeric), true, 9) || (slab{}).fits(cols, true, 9) {
		t.Error("a slab fits a batch of another shape")
	}
}
