package mechanism

import (
	"crypto/rand"
	"sync"
)

// NameKey returns a secret key, the same as long as the process lives, under which the names of
// privacy units are hashed when a table is read. Two names of 64 hashed bits meet by chance
// only: without the key nobody can look for names that do.
func NameKey() [keySize]byte { return nameKey() }

// nameKey is one for all tables of a process, so that two of them can be compared.
var nameKey = sync.OnceValue(func() (key [keySize]byte) {
	if fixed, ok := fixedKey("names"); ok {
		return fixed
	}
	if _, err := rand.Read(key[:]); err != nil {
		panic("mechanism: " + err.Error())
	}
	return key
})
