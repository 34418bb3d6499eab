// Package secret holds the secrets of a process that are no session's. It is a part of
// package mechanism in a folder of its own, so that package dataset, which mechanism reads
// records through, can use them.
package secret

import (
	"crypto/rand"
	"encoding/hex"
	"sync"
)

// KeySize is the length of a key in bytes.
const KeySize = 32

// NameKey returns a secret key, the same as long as the process lives, under which the names of
// privacy units are hashed when a table is read. Two names of 64 hashed bits meet by chance
// only: without the key it is infeasible to search for such names.
func NameKey() [KeySize]byte { return nameKey() }

// nameKey is one for all tables of a process, so that two of them can be compared.
var nameKey = sync.OnceValue(func() (key [KeySize]byte) {
	if fixed, ok := fixedKey("names"); ok {
		return fixed
	}
	if _, err := rand.Read(key[:]); err != nil {
		panic("secret: " + err.Error())
	}
	return key
})

// Token returns a text that nobody can guess: 128 bits, for what lets a program of this computer ask.
func Token() string { return rand.Text() }

// Nonce returns 128 bits from the operating system as 32 hex digits, for an entry of a ledger. No two
// entries have the same, whatever was copied or put back between them. It fails only when the operating
// system's random source does.
func Nonce() (string, error) {
	var bits [16]byte
	if _, err := rand.Read(bits[:]); err != nil {
		return "", err
	}
	return hex.EncodeToString(bits[:]), nil
}

// FreshKey returns a key from the operating system, by which the parts of one program know each other. Nothing that is
// released depends on it. It fails only when the operating system's random source does.
func FreshKey() (key [KeySize]byte, err error) {
	_, err = rand.Read(key[:])
	return key, err
}
