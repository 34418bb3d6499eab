package mechanism

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
)

// keySize is the size in bytes of the run key and of every derived key.
const keySize = 32

// derive returns the key of a purpose: HMAC-SHA-256 of the length-prefixed
// parts under the run key. Prefixes keep ("ab","c") and ("a","bc") apart.
func derive(run [keySize]byte, purpose, path string, index uint64) [keySize]byte {
	h := hmac.New(sha256.New, run[:])
	var n [8]byte
	for _, part := range []string{purpose, path} {
		binary.BigEndian.PutUint64(n[:], uint64(len(part)))
		h.Write(n[:])
		h.Write([]byte(part))
	}
	binary.BigEndian.PutUint64(n[:], index)
	h.Write(n[:])
	var out [keySize]byte
	h.Sum(out[:0])
	return out
}

// stream is a buffered keyed stream of uniform bits.
type stream struct {
	ctr  cipher.Stream
	buf  [1024]byte
	off  int
	word uint64 // bits not yet handed out by bit
	left int
}

// newStream starts the AES-256-CTR stream of a key. A key is used for one
// stream only, so the zero counter block is safe.
func newStream(key [keySize]byte) *stream {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("mechanism: " + err.Error()) // the key size is a constant
	}
	s := &stream{ctr: cipher.NewCTR(block, make([]byte, aes.BlockSize))}
	s.off = len(s.buf)
	return s
}

// uint64 returns 64 uniform bits.
func (s *stream) uint64() uint64 {
	if s.off == len(s.buf) {
		clear(s.buf[:])
		s.ctr.XORKeyStream(s.buf[:], s.buf[:])
		s.off = 0
	}
	v := binary.LittleEndian.Uint64(s.buf[s.off:])
	s.off += 8
	return v
}

// bit returns one uniform bit.
func (s *stream) bit() bool {
	if s.left == 0 {
		s.word, s.left = s.uint64(), 64
	}
	b := s.word&1 == 1
	s.word >>= 1
	s.left--
	return b
}

// below returns a uniform integer in [0, n), n > 0, exactly: words that would
// favour small results are rejected (Lemire's multiply-and-reject).
func (s *stream) below(n uint64) uint64 {
	hi, lo := bits.Mul64(s.uint64(), n)
	if lo < n {
		for t := -n % n; lo < t; {
			hi, lo = bits.Mul64(s.uint64(), n)
		}
	}
	return hi
}

// bernoulli returns true with probability num/den, 0 <= num <= den, den > 0.
func (s *stream) bernoulli(num, den uint64) bool { return s.below(den) < num }
