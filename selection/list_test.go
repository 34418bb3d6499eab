package selection

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/method"
)

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
		if m.Summary == "" {
			t.Errorf("%s has no summary", m.Name)
		}
	}
	if Own(nil) || Own(foreign{None{}}) {
		t.Error("a selector from elsewhere is taken for one of this package")
	}
}

type foreign struct{ Selector }

// TestKeysReachTheirSelectors: every key belongs to a selector, which gets each value that
// the key may have.
func TestKeysReachTheirSelectors(t *testing.T) {
	for _, k := range Keys() {
		if !slices.ContainsFunc(Methods(), func(m Method) bool { return m.Has(k.Name) }) {
			t.Errorf("%s belongs to no selector", k.Name)
		}
		if k.Text == "" || k.Absent == "" && len(k.Words) == 0 && k.Required == "" {
			t.Errorf("%s says too little: %+v", k.Name, k)
		}
	}
	made := func(name string, v method.Values) Selector {
		m, _ := MethodNamed(name)
		return m.New(Settings{K: 2, Values: v})
	}
	words := func(name string) []string {
		return Keys()[slices.IndexFunc(Keys(), func(k method.Key) bool { return k.Name == name })].Words
	}
	forms := map[mechanism.TopKForm]bool{}
	for _, word := range words("topk") {
		x := made("sis", method.Values{"topk": word}).(SIS)
		forms[x.TopK] = x.TopK.String() == word
	}
	for _, form := range []mechanism.TopKForm{mechanism.OneShot, mechanism.Peeling, mechanism.Lipschitz, mechanism.LipschitzExponential} {
		if !forms[form] {
			t.Errorf("no word makes %v", form)
		}
	}
	for _, word := range words("score") {
		if x := made("sis", method.Values{"score": word}).(SIS); string(x.Score) != word || x.TopK != mechanism.OneShot {
			t.Errorf("score %s makes %+v", word, x)
		}
	}
	if x := made("sublasso", method.Values{"lambda": .25, "buckets": 7}); x != (SubLasso{K: 2, Lambda: .25, Buckets: 7}) {
		t.Errorf("sublasso: %+v", x)
	}
	if x := made("fixed", method.Values{"features": []string{"a", "b"}}).(Fixed); !slices.Equal(x.Features, []string{"a", "b"}) {
		t.Errorf("fixed: %+v", x)
	}
	if x := made("dpfs", method.Values{"sizes": []int{2, 4}}).(DPFS); !slices.Equal(x.Sizes, []int{2, 4}) || x.K != 2 {
		t.Errorf("dpfs: %+v", x)
	}
}
