// Package secret holds the secrets of a process that do not belong to a session. It is separate
// from package mechanism so that package dataset, which mechanism imports, can use it.
package secret

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// NameKey returns a secret key under which the names of privacy units are hashed when a table is
// read. It does not change during a process. Two names have the same 64-bit hash by chance only:
// without the key it is infeasible to search for such names.
func NameKey() [KeySize]byte {
	return nameKey()
}

// nameKey returns the same key for all tables of a process, so that two tables can be compared.
var nameKey = sync.OnceValue(func() (key [KeySize]byte) {
	if fixed, ok := fixedKey("names"); ok {
		return fixed
	}
	if _, err := rand.Read(key[:]); err != nil {
		panic("secret: " + err.Error())
	}
	return key
})

// Token returns an unguessable text of 128 random bits, which authorises programs of this computer.
func Token() string {
	return rand.Text()
}

// Nonce returns 128 bits from the operating system as 32 hex digits, for an entry of a ledger. Two
// entries have different nonces even if the ledger was copied or restored between them. Nonce fails
// only if the operating system's random source fails.
func Nonce() (string, error) {
	var bits [16]byte
	if _, err := rand.Read(bits[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(bits[:]), nil
}

// FreshKey returns a key from the operating system, with which the parts of one program authenticate each other. Releases
// do not depend on it. It fails only if the operating system's random source fails.
func FreshKey() (key [KeySize]byte, err error) {
	_, err = rand.Read(key[:])
	return key, err
}
