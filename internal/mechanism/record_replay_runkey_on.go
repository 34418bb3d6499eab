//go:build replay

package mechanism

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/noise"
	"github.com/dptrain/dptrain/internal/noise/secret"
)

// issued counts the sessions of this process by purpose and plan, so that no two
// have the same key, and that a test keeps its keys when others come or go.
var issued = struct {
	sync.Mutex
	by   map[[sha256.Size]byte]uint64
	last planDigest
}{by: map[[sha256.Size]byte]uint64{}}

// runKey returns the key of a run: in a test the next one of its purpose and plan
// under the seed, in every other program one from the operating system.
func runKey(p *budget.Priced, purpose string) (key noise.Key, err error) {
	seed, ok := secret.Seed()
	if !ok {
		return noise.FreshKey()
	}
	issued.Lock()
	defer issued.Unlock()
	plan := issued.last.hashPlan(seed, purpose, p)
	issued.by[plan]++
	return noise.Key(plan).Derive(purpose, "", issued.by[plan]), nil
}

// A planDigest holds a seed, a purpose and a plan together with their hash. It caches the hash because measurements open
// thousands of sessions of one plan, and encoding the plan takes longer than a session.
type planDigest struct {
	seed    string
	purpose string
	target  budget.Target
	leaves  []budget.PricedLeaf
	hash    [sha256.Size]byte
}

// hashPlan returns the hash of a seed, a purpose and a plan, and keeps it in d.
func (d *planDigest) hashPlan(
	seed, purpose string,
	p *budget.Priced,
) [sha256.Size]byte {
	target := p.Target()
	leaves := p.Leaves()
	if d.leaves != nil && d.seed == seed && d.purpose == purpose && d.target == target &&
		slices.Equal(d.leaves, leaves) {
		return d.hash
	}
	*d = planDigest{seed, purpose, target, leaves,
		sha256.Sum256(fmt.Appendf(nil, "%q %q %+v %+v", seed, purpose, target, leaves))}
	return d.hash
}
