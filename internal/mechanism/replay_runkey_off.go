//go:build !replay

package mechanism

import (
	"crypto/rand"

	"github.com/dptrain/dptrain/budget"
)

// runKey draws the key of a run from the operating system. It fails only when
// the operating system's random source does.
func runKey(*budget.Priced, string) (key [keySize]byte, err error) {
	_, err = rand.Read(key[:])
	return key, err
}
