//go:build replay

package mechanism

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"sync"

	"github.com/dptrain/dptrain/budget"
	"github.com/dptrain/dptrain/internal/mechanism/secret"
)

// issued counts the sessions of this process by purpose and plan, so that no two
// have the same key, and that a test keeps its keys when others come or go.
var issued = struct {
	sync.Mutex
	by map[[sha256.Size]byte]uint64
}{by: map[[sha256.Size]byte]uint64{}}

// runKey returns the key of a run: in a test the next one of its purpose and plan
// under the seed, in every other program one from the operating system.
func runKey(p *budget.Priced, purpose string) (key [keySize]byte, err error) {
	seed, ok := secret.Seed()
	if !ok {
		_, err = rand.Read(key[:])
		return key, err
	}
	plan := sha256.Sum256(fmt.Appendf(nil, "%q %q %+v %+v", seed, purpose, p.Target(), p.Leaves()))
	issued.Lock()
	defer issued.Unlock()
	issued.by[plan]++
	return derive(plan, purpose, "", issued.by[plan]), nil
}
