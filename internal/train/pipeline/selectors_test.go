package pipeline

import (
	"slices"
	"testing"

	"github.com/dptrain/dptrain/internal/mechanism"
	"github.com/dptrain/dptrain/internal/train/method"
	"github.com/dptrain/dptrain/internal/train/selection"
)

// TestMethodsDescribeTheirSelectors checks that the list of selectors agrees with the selectors.
func TestMethodsDescribeTheirSelectors(t *testing.T) {
	for _, m := range Selectors() {
		x := m.New(SelectorSettings{K: 3})
		if x.Name() != m.Name || !ownSelector(x) {
			t.Errorf(
				"%s makes %q, its own: %v",
				m.Name, x.Name(),
				ownSelector(x),
			)
		}
		c, ok := x.(selection.Classed)
		if m.NeedsClasses && !(ok && c.NeedsClasses()) { // one for both reads classes as they are
			t.Errorf(
				"%s: NeedsClasses is %v",
				m.Name, m.NeedsClasses,
			)
		}
		if c, ok := x.(featureChooser); ok != m.Private || ok && c.FeatureCount() != 3 {
			t.Errorf("%s was told to choose 3", m.Name)
		}
		if m.Summary == "" {
			t.Errorf("%s has no summary", m.Name)
		}
	}
	if ownSelector(nil) || ownSelector(foreign{selection.None{}}) {
		t.Error("a selector from elsewhere is taken for one of this package")
	}
}

type foreign struct{ selection.Selector }

// TestKeysReachTheirSelectors checks that every key belongs to a selector, which gets each valid value of the key.
func TestKeysReachTheirSelectors(t *testing.T) {
	for _, k := range SelectorKeys() {
		if !slices.ContainsFunc(Selectors(), func(m SelectorMethod) bool {
			return slices.ContainsFunc(m.Keys, func(own method.Key) bool {
				return own.Name == k.Name
			})
		}) {
			t.Errorf("%s belongs to no selector", k.Name)
		}
		if k.Text == "" ||
			k.Absent == "" && len(k.Words) == 0 && k.Required == "" {
			t.Errorf(
				"%s says too little: %+v",
				k.Name, k,
			)
		}
	}
	made := func(name string, v method.Values) selection.Selector {
		m, _ := SelectorNamed(name)
		return m.New(SelectorSettings{K: 2, Values: v})
	}
	words := func(name string) []string {
		return SelectorKeys()[slices.IndexFunc(SelectorKeys(), func(k method.Key) bool {
			return k.Name == name
		})].Words
	}
	forms := map[mechanism.TopKForm]bool{}
	for _, word := range words("topk") {
		x := made("sis", method.Values{"topk": word}).(selection.SIS)
		forms[x.TopK] = x.TopK.String() == word
	}
	for _, form := range []mechanism.TopKForm{mechanism.OneShot, mechanism.Peeling,
		mechanism.Lipschitz, mechanism.LipschitzExponential} {
		if !forms[form] {
			t.Errorf("no word makes %v", form)
		}
	}
	for _, word := range words("score") {
		x := made("sis", method.Values{"score": word}).(selection.SIS)
		if string(x.Score) != word || x.TopK != mechanism.OneShot {
			t.Errorf("score %s makes %+v", word, x)
		}
	}
	x := made(
		"sublasso",
		method.Values{"lambda": .25, "buckets": 7},
	)
	if x != (selection.SubLasso{
		K:       2,
		Lambda:  .25,
		Buckets: 7,
	}) {
		t.Errorf("sublasso: %+v", x)
	}
	if x := made("fixed", method.Values{"features": []string{"a", "b"}}).(selection.Fixed); !slices.Equal(x.Features, []string{"a", "b"}) {
		t.Errorf("fixed: %+v", x)
	}
	if x := made("dpfs", method.Values{"sizes": []int{2, 4}}).(selection.DPFS); !slices.Equal(x.Sizes, []int{2, 4}) ||
		x.K != 2 {
		t.Errorf("dpfs: %+v", x)
	}
}
