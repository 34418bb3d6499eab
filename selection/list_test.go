package selection

import "testing"

// TestMethodsDescribeTheirSelectors: what the list says of a selector the selector says too.
func TestMethodsDescribeTheirSelectors(t *testing.T) {
	for _, m := range Methods() {
		x := m.New(Settings{K: 3})
		if x.Name() != m.Name || !Own(x) {
			t.Errorf("%s makes %q, its own: %v", m.Name, x.Name(), Own(x))
		}
		if c, ok := x.(Classed); (ok && c.NeedsClasses()) != m.NeedsClasses {
			t.Errorf("%s: NeedsClasses is %v", m.Name, m.NeedsClasses)
		}
		if c, ok := x.(Chooser); ok != m.Private || ok && c.Told() != 3 {
			t.Errorf("%s was told to choose 3", m.Name)
		}
	}
	if Own(nil) || Own(foreign{None{}}) {
		t.Error("a selector from elsewhere is taken for one of this package")
	}
}

type foreign struct{ Selector }
