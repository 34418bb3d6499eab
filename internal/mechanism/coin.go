package mechanism

import (
	"crypto/aes"
	"crypto/cipher"
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"sync"

	"github.com/dptrain/dptrain/internal/noise"
)

// Coins assigns every record its own coin: a keyed pseudorandom function of the
// record's identity under a key of this run and this path. The key is fresh
// and secret in every run, so the coins of different identities are independent
// uniform draws for any identities.
//
// With a privacy unit the identity is the hash of the unit's name, and adding or removing
// a unit does not change the coin of any other unit. Without a privacy unit it is the
// record's position in the table, and adding or removing a record shifts the positions
// behind it. The proofs need no more than a coupling. The key is secret, so the outputs
// have the distribution of a mixture over independent coins, however the records are
// numbered. Compare the two tables with the same coin for every record they share; what
// is proved for each assignment of coins holds for the mixture, because the hockey-stick
// divergence is jointly convex. (A replay assigns coins by identities of its own, see
// package audit.)
//
// Coins never come from a noise stream. A Coins value may be used by several
// goroutines at once.
type Coins struct {
	key   noise.Key
	block cipher.Block
	fault coinFault
}

// Coins returns the coins of this session's path and the given name.
func (s *Session) Coins(name string) Coins {
	c := coinsOf(s.core.key.Derive("coin", s.join(name), 0))
	c.fault = s.core.tap.coinFault()
	return c
}

func coinsOf(key noise.Key) Coins {
	block, err := aes.NewCipher(key[:])
	if err != nil {
		panic("mechanism: " + err.Error()) // the key size is a constant
	}
	return Coins{key: key, block: block}
}

// MarshalBinary returns the key of the coins, which is secret, for a worker of an [Engine].
func (c Coins) MarshalBinary() ([]byte, error) { return c.key[:], nil }

// UnmarshalBinary sets the coins to those of a key from MarshalBinary.
func (c *Coins) UnmarshalBinary(key []byte) error {
	if len(key) != len(c.key) {
		return errors.New("the key of coins has another length")
	}
	*c = coinsOf(noise.Key(key))
	return nil
}

func (c Coins) word(record, try uint64) uint64 {
	return coinWord(c.block, new([aes.BlockSize]byte), record, try)
}

// coinWord returns 64 pseudorandom bits of a record: half of an encrypted block. It uses b as a buffer. The blocks of
// consecutive records are those of a counter, which [tosses.sides] relies on.
func coinWord(by cipher.Block, b *[aes.BlockSize]byte, record, try uint64) uint64 {
	binary.BigEndian.PutUint64(b[:8], try)
	binary.BigEndian.PutUint64(b[8:], record)
	by.Encrypt(b[:], b[:])
	return binary.LittleEndian.Uint64(b[:8])
}

// Below returns the record's uniform coin in [0, m), m >= 1.
func (c Coins) Below(record uint64, m int) int {
	n := uint64(m)
	for try := uint64(0); ; try++ {
		hi, lo := bits.Mul64(c.word(record, try), n)
		if lo >= n || lo >= -n%n {
			return int(hi)
		}
	}
}

// Heads returns true with probability p in [0, 1], rounded to a multiple of
// 2^-53; see [Odds].
func (c Coins) Heads(record uint64, p float64) bool {
	return c.tosses(p).heads(record)
}

// tossRows is the number of coins that are tossed at a time.
const tossRows = 1 << 11

// tosses computes [Coins.Heads] of many records for one goroutine.
type tosses struct {
	block cipher.Block
	below uint64 // of 2^53
	place [aes.BlockSize]byte
	room  *tossRoom     // memory for sides
	pads  cipher.Stream // the encrypted blocks from record next on
	next  uint64        // 0 if pads is not set
}

// tossRoom is memory for tossRows coins.
type tossRoom struct {
	ids [tossRows]uint64
	pad [tossRows * aes.BlockSize]byte
}

var tossRooms = sync.Pool{New: func() any { return new(tossRoom) }}

// tosses returns coins that are heads with probability p.
func (c Coins) tosses(p float64) *tosses {
	return &tosses{block: c.block, below: uint64(math.Round(min(p, 1) * (1 << 53)))}
}

func (t *tosses) heads(record uint64) bool { return t.isHeads(coinWord(t.block, &t.place, record, 0)) }

// isHeads reports whether the coin with these bits is heads.
func (t *tosses) isHeads(word uint64) bool { return word>>11 < t.below }

// sides sets each side to 0 if the coin of its record equals heads, and otherwise to 1. There are at most tossRows
// records.
func (t *tosses) sides(sides []uint8, records []uint64, heads bool) {
	is := [2]uint8{1, 0}
	if !heads {
		is = [2]uint8{0, 1}
	}
	if !consecutive(records) {
		for k, record := range records {
			sides[k] = is[bit(t.heads(record))]
		}
		return
	}
	// The counter mode of AES encrypts the same blocks as coinWord, several at once.
	pad := t.room.pad[:aes.BlockSize*len(records)]
	clear(pad)
	if t.next == 0 || records[0] != t.next {
		binary.BigEndian.PutUint64(t.place[:8], 0)
		binary.BigEndian.PutUint64(t.place[8:], records[0])
		t.pads = cipher.NewCTR(t.block, t.place[:])
	}
	t.pads.XORKeyStream(pad, pad)
	t.next = records[0] + uint64(len(records))
	for k := range records {
		sides[k] = is[bit(t.isHeads(binary.LittleEndian.Uint64(pad[aes.BlockSize*k:])))]
	}
}

// consecutive reports whether every record is its predecessor plus 1, as positions in a table are.
func consecutive(records []uint64) bool {
	for k := 1; k < len(records); k++ {
		if records[k]-records[0] != uint64(k) || records[k] < records[0] {
			return false
		}
	}
	return len(records) > 0
}

// bit returns 1 for true and 0 for false. It compiles to code without a branch.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// Odds returns the exact probability with which [Coins.Heads] returns true for p.
func Odds(p float64) float64 { return math.Min(1, math.Round(p*(1<<53))/(1<<53)) }
