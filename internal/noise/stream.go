package noise

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"

	"github.com/dptrain/dptrain/internal/noise/secret"
)

// Key is a secret key: the key of a run, or one derived from it.
type Key [secret.KeySize]byte

// FreshKey returns a random key from the operating system. It fails only if the random
// source of the operating system fails.
func FreshKey() (Key, error) {
	key, err := secret.FreshKey()
	return Key(key), err
}

// Derive returns the key for a purpose: the HMAC-SHA-256 of the length-prefixed
// purpose and path and of the index, under k. The length prefixes separate
// ("ab", "c") from ("a", "bc").
func (k Key) Derive(purpose, path string, index uint64) Key {
	mac := hmac.New(sha256.New, k[:])
	var word [8]byte
	for _, part := range []string{purpose, path} {
		binary.BigEndian.PutUint64(word[:], uint64(len(part)))
		mac.Write(word[:])
		mac.Write([]byte(part))
	}
	binary.BigEndian.PutUint64(word[:], index)
	mac.Write(word[:])
	var out Key
	mac.Sum(out[:0])
	return out
}

// Stream is a deterministic stream of uniform random bits under a key. It must
// not be used by several goroutines at once.
type Stream struct {
	ctr    cipher.Stream
	buffer [1024]byte
	offset int // of the next unused byte of buffer

	bits     uint64 // not yet returned by Bit
	bitsLeft int
}

// NewStream returns the AES-256-CTR stream of a key, from its start. A key must
// be used for one stream only, which makes the zero counter block safe.
func NewStream(k Key) *Stream {
	block, err := aes.NewCipher(k[:])
	if err != nil {
		panic("noise: " + err.Error()) // impossible: the key size is a constant
	}
	s := &Stream{ctr: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
	s.offset = len(s.buffer)
	return s
}

// Uint64 returns 64 uniform bits.
func (s *Stream) Uint64() uint64 {
	if s.offset == len(s.buffer) {
		clear(s.buffer[:])
		s.ctr.XORKeyStream(s.buffer[:], s.buffer[:])
		s.offset = 0
	}
	v := binary.LittleEndian.Uint64(s.buffer[s.offset:])
	s.offset += 8
	return v
}

// Bit returns one uniform bit.
func (s *Stream) Bit() bool {
	if s.bitsLeft == 0 {
		s.bits = s.Uint64()
		s.bitsLeft = 64
	}
	b := s.bits&1 == 1
	s.bits >>= 1
	s.bitsLeft--
	return b
}
