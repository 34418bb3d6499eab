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

// fixedKey is for tests with the tag "replay" only.
func fixedKey(string) (key [keySize]byte, ok bool) { return key, false }
