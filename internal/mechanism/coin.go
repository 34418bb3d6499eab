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

// Coins gives every record its own coin: a keyed pseudorandom function of the
// record's identity under a key of this run and this path. The key is fresh
// and secret in every run, so the coins of different identities are independent
// uniform draws whatever the identities are.
//
// With a privacy unit the identity is the unit's name, hashed, and a unit that comes or
// goes does not change the coin of any other. Without one it is the record's place in the
// table, and a record that comes or goes moves the places behind it. The proofs need
// no more than a coupling: as nobody sees the key, the outputs have the law of
// a mixture over independent coins dealt to the records, however the records are
// numbered. So compare the two tables with every record they share holding the same coin;
// what is proved for each such deal holds for the mixture, because the
// hockey-stick divergence is jointly convex. (A replay gives records their coins by
// identities that it makes itself, see package audit.)
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

// MarshalBinary returns the secret key of the coins, for a worker of an [Engine].
func (c Coins) MarshalBinary() ([]byte, error) { return c.key[:], nil }

// UnmarshalBinary reads what MarshalBinary wrote.
func (c *Coins) UnmarshalBinary(key []byte) error {
	if len(key) != len(c.key) {
		return errors.New("the key of coins has another length")
	}
	*c = coinsOf(noise.Key(key))
	return nil
}

func (c Coins) word(record, try uint64) uint64 {
	return wordOf(c.block, new([aes.BlockSize]byte), record, try)
}

// wordOf returns half of a block that is encrypted in b. Blocks of records that follow one another are those of a counter; see
// [tosses.sides].
func wordOf(by cipher.Block, b *[aes.BlockSize]byte, record, try uint64) uint64 {
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
// 2^-53.
func (c Coins) Heads(record uint64, p float64) bool {
	return c.tosses(p).heads(record)
}

// tossRows is how many coins are tossed at a time.
const tossRows = 1 << 11

// tosses are Heads of many records, one after the other.
type tosses struct {
	block cipher.Block
	below uint64 // of 2^53
	place [aes.BlockSize]byte
	room  *tossRoom     // for sides
	pads  cipher.Stream // of the blocks of next and those behind it
	next  uint64        // 0 for none
}

// tossRoom is memory for coins that are tossed at a time.
type tossRoom struct {
	ids [tossRows]uint64
	pad [tossRows * aes.BlockSize]byte
}

var tossRooms = sync.Pool{New: func() any { return new(tossRoom) }}

// tosses returns those with probability p.
func (c Coins) tosses(p float64) *tosses {
	return &tosses{block: c.block, below: uint64(math.Round(min(p, 1) * (1 << 53)))}
}

func (t *tosses) heads(record uint64) bool { return t.is(wordOf(t.block, &t.place, record, 0)) }

// is reports whether a word is heads.
func (t *tosses) is(word uint64) bool { return word>>11 < t.below }

// sides sets each side to 0 if the coin of its record is heads, and else to 1; the other way round if heads is not set. There are
// at most tossRows.
func (t *tosses) sides(sides []uint8, records []uint64, heads bool) {
	is := [2]uint8{1, 0}
	if !heads {
		is = [2]uint8{0, 1}
	}
	if !follow(records) {
		for k, record := range records {
			sides[k] = is[bit(t.heads(record))]
		}
		return
	}
	// The counter mode of AES encrypts the blocks of wordOf, one after the other, several at once.
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
		sides[k] = is[bit(t.is(binary.LittleEndian.Uint64(pad[aes.BlockSize*k:])))]
	}
}

// follow reports whether each record is the one before it plus 1, as places in a table are.
func follow(records []uint64) bool {
	for k := 1; k < len(records); k++ {
		if records[k]-records[0] != uint64(k) || records[k] < records[0] {
			return false
		}
	}
	return len(records) > 0
}

// bit returns 1 for true. Compilers know it without a jump.
func bit(b bool) uint8 {
	if b {
		return 1
	}
	return 0
}

// Odds returns the probability with which Heads is true where it is asked for p.
func Odds(p float64) float64 { return math.Min(1, math.Round(p*(1<<53))/(1<<53)) }
