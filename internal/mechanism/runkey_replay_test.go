//go:build replay

package mechanism

import (
	"crypto/sha256"
	"testing"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// TestRunKey checks that under a seed the keys of a process are a function of the plan, the purpose and the number of
// earlier keys, and that without a seed they come from the operating system.
func TestRunKey(t *testing.T) {
	one := pricedPlan(t, budget.AddRemove)
	two := pricedPlan(t, budget.Substitute)
	next := func(p *budget.Priced, purpose string) noise.Key {
		t.Helper()
		key, err := runKey(p, purpose)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	before := issued.by
	issued.by = map[[sha256.Size]byte]uint64{}
	t.Cleanup(func() {
		issued.by = before
	})
	t.Setenv(secret.SeedVariable, "of TestRunKey")
	seen := map[noise.Key]bool{}
	for range 3 {
		for _, p := range []*budget.Priced{one, two} {
			for _, purpose := range []string{"run", "rehearsal"} {
				seen[next(p, purpose)] = true
			}
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d keys of 12 sessions", len(seen))
	}
	clear(issued.by)
	for range 3 {
		if !seen[next(one, "run")] {
			t.Error("a key does not come back with its seed")
		}
	}
	t.Setenv(secret.SeedVariable, "another")
	clear(issued.by)
	if seen[next(one, "run")] {
		t.Error("two seeds have one key")
	}
	t.Setenv(secret.SeedVariable, "fresh")
	clear(issued.by)
	key := next(one, "run")
	clear(issued.by)
	if next(one, "run") == key {
		t.Error("fresh keys repeat")
	}
}
