//go:build replay

package secret

import (
	"crypto/sha256"
	"fmt"
	"os"
	"testing"
)

// SeedVariable names the environment variable that chooses the keys of a test, those of its
// sessions too: any text, or "fresh" for keys from the operating system. Unset it
// means the same keys in every run of the tests, so that a test whose odds of a
// false alarm are small but not zero gives the same answer on every machine.
// Only a program that "go test" built from sources with the tag "replay" reads it.
const SeedVariable = "DPTRAIN_TEST_SEED"

// Seed returns the seed of a test's keys; ok is false outside tests and for fresh keys.
func Seed() (seed string, ok bool) {
	seed = os.Getenv(SeedVariable)
	return seed, testing.Testing() && seed != "fresh"
}

// fixedKey returns the key of a test for a purpose that is no session's, unless the seed is
// fresh.
func fixedKey(purpose string) (key [KeySize]byte, ok bool) {
	seed, ok := Seed()
	if !ok {
		return key, false
	}
	return sha256.Sum256(fmt.Appendf(nil, "%q %q", seed, purpose)), true
}
