//go:build replay

package mechanism

import (
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/dptrain/dptrain/budget"
)

// SeedVariable names the environment variable that chooses the keys of the sessions
// of a test: any text, or "fresh" for keys from the operating system. Unset it
// means the same keys in every run of the tests, so that a test whose odds of a
// false alarm are small but not zero gives the same answer on every machine.
// Only a program that "go test" built from sources with the tag "replay" reads it.
const SeedVariable = "DPTRAIN_TEST_SEED"

// issued counts the sessions of this process by purpose and plan, so that no two
// have the same key, and that a test keeps its keys when others come or go.
var issued = struct {
	sync.Mutex
	by map[[sha256.Size]byte]uint64
}{by: map[[sha256.Size]byte]uint64{}}

// runKey returns the key of a run: in a test the next one of its purpose and plan
// under the seed, in every other program one from the operating system.
func runKey(p *budget.Priced, purpose string) (key [keySize]byte, err error) {
	seed := os.Getenv(SeedVariable)
	if !testing.Testing() || seed == "fresh" {
		_, err = rand.Read(key[:])
		return key, err
	}
	plan := sha256.Sum256(fmt.Appendf(nil, "%q %q %+v %+v", seed, purpose, p.Target(), p.Leaves()))
	issued.Lock()
	defer issued.Unlock()
	issued.by[plan]++
	return derive(plan, purpose, "", issued.by[plan]), nil
}

// fixedKey returns the key of a test for a purpose that is no session's, unless the seed is
// fresh.
func fixedKey(purpose string) (key [keySize]byte, ok bool) {
	seed := os.Getenv(SeedVariable)
	if !testing.Testing() || seed == "fresh" {
		return key, false
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %q", seed, purpose)), true
}
