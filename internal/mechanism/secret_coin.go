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

// Coins assigns a coin to every record: a keyed pseudorandom function of the record's identity
// under a key of this run and this path. The key is fresh and secret in every run, so the coins of
// different identities are independent and uniform.
//
// With a privacy unit the identity is the hash of the unit's name, and adding or removing a unit
// does not change the coin of any other unit. Without a privacy unit it is the record's position
// in the table, and adding or removing a record shifts all later positions. The proofs need a
// coupling only. The key is secret, so the outputs have the distribution of a mixture over
// independent coins for any numbering of the records. Compare the two tables with the same coin
// for every record that both contain: a bound that is proved for each assignment of coins holds
// for the mixture, because the hockey-stick divergence is jointly convex. (A replay assigns coins
// by its own identities, see package audit.)
//
// Coins do not come from a noise stream. A Coins value may be used by several goroutines at once.
type Coins struct {
	key   noise.Key
	block cipher.Block
	fault coinFault
}

// Coins returns the coins of this session's path and the given name.
func (s *Session) Coins(name string) Coins {
	c := coinsOf(s.core.key.Derive("coin", s.childPath(name), 0))
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
func (c Coins) MarshalBinary() ([]byte, error) {
	return c.key[:], nil
}

// UnmarshalBinary sets the coins to those of a key from MarshalBinary.
func (c *Coins) UnmarshalBinary(key []byte) error {
	if len(key) != len(c.key) {
		return errors.New("the key of coins has another length")
	}
	*c = coinsOf(noise.Key(key))
	return nil
}

func (c Coins) randomWord(record, try uint64) uint64 {
	return coinWord(c.block, new([aes.BlockSize]byte), record, try)
}

// coinWord returns 64 pseudorandom bits of a record: half of an encrypted block. It uses b as a buffer. The blocks of
// consecutive records are those of a counter, which [tosses.assignSides] relies on.
func coinWord(
	by cipher.Block,
	b *[aes.BlockSize]byte,
	record, try uint64,
) uint64 {
	binary.BigEndian.PutUint64(b[:8], try)
	binary.BigEndian.PutUint64(b[8:], record)
	by.Encrypt(b[:], b[:])
	return binary.LittleEndian.Uint64(b[:8])
}

// Uniform returns the record's uniform coin in [0, m), m >= 1.
func (c Coins) Uniform(record uint64, m int) int {
	n := uint64(m)
	for try := uint64(0); ; try++ {
		hi, lo := bits.Mul64(c.randomWord(record, try), n)
		if lo >= n || lo >= -n%n {
			return int(hi)
		}
	}
}

// Heads reports whether the record's coin is heads, which has probability p in [0, 1], rounded to a
// multiple of 2^-53; see [Odds].
func (c Coins) Heads(record uint64, p float64) bool {
	return c.newTosser(p).tossRecord(record)
}

// tossRows is the number of coins that are tossed at a time.
const tossRows = 1 << 11

// tosser computes [Coins.Heads] of many records for one goroutine.
type tosser struct {
	block      cipher.Block
	threshold  uint64 // a coin is heads if its first 53 bits are below threshold
	counter    [aes.BlockSize]byte
	buffer     *tossBuffer
	keystream  cipher.Stream // the encrypted blocks of the records from nextRecord on
	nextRecord uint64        // 0 if keystream is not set
}

// tossBuffer is memory for tossRows coins.
type tossBuffer struct {
	ids [tossRows]uint64
	pad [tossRows * aes.BlockSize]byte
}

var tossBuffers = sync.Pool{New: func() any {
	return new(tossBuffer)
}}

// newTosser returns a tosser of coins that are heads with probability p.
func (c Coins) newTosser(p float64) *tosser {
	return &tosser{
		block:     c.block,
		threshold: uint64(math.Round(min(p, 1) * (1 << 53))),
	}
}

// tossRecord reports whether the coin of a record is heads.
func (t *tosser) tossRecord(record uint64) bool {
	return t.isHeads(coinWord(t.block, &t.counter, record, 0))
}

// isHeads reports whether the coin with these bits is heads.
func (t *tosser) isHeads(word uint64) bool {
	return word>>11 < t.threshold
}

// assignSides sets each side to 0 if the coin of its record equals heads, and otherwise to 1, for at most tossRows records.
func (t *tosser) assignSides(sides []uint8, records []uint64, heads bool) {
	is := [2]uint8{1, 0}
	if !heads {
		is = [2]uint8{0, 1}
	}
	if !areConsecutive(records) {
		for k, record := range records {
			sides[k] = is[boolBit(t.tossRecord(record))]
		}
		return
	}
	// The counter mode of AES encrypts the same blocks as coinWord, several at once.
	pad := t.buffer.pad[:aes.BlockSize*len(records)]
	clear(pad)
	if t.nextRecord == 0 || records[0] != t.nextRecord {
		binary.BigEndian.PutUint64(t.counter[:8], 0)
		binary.BigEndian.PutUint64(t.counter[8:], records[0])
		t.keystream = cipher.NewCTR(t.block, t.counter[:])
	}
	t.keystream.XORKeyStream(pad, pad)
	t.nextRecord = records[0] + uint64(len(records))
	for k := range records {
		sides[k] = is[boolBit(t.isHeads(binary.LittleEndian.Uint64(pad[aes.BlockSize*k:])))]
	}
}

// areConsecutive reports whether every record is its predecessor plus 1, as positions in a table are.
func areConsecutive(records []uint64) bool {
	for k := 1; k < len(records); k++ {
		if records[k]-records[0] != uint64(k) || records[k] < records[0] {
			return false
		}
	}
	return len(records) > 0
}

// boolBit returns 1 for true and 0 for false. It compiles to code without a branch.
func boolBit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// Odds returns the exact probability with which [Coins.Heads] returns true for p.
func Odds(p float64) float64 {
	return math.Min(1, math.Round(p*(1<<53))/(1<<53))
}
